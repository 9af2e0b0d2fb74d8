import { createHash } from "node:crypto";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DemoStack, startDemoStack } from "../stack.ts";
import { growthDuring } from "../table/memory.ts";

let stack: DemoStack;
let id: string;
beforeAll(async () => {
  stack = await startDemoStack({ REQUEST_LOG: "json" });
  const response = await fetch(`${stack.url}/mint`, { method: "POST", body: '{"entity":"order","country":"DE"}' });
  id = ((await response.json()) as { readonly ids: readonly [string] }).ids[0];
});
afterAll(() => stack?.stop());

const BYTES = 100 * 1024 * 1024;
const GROWTH_BYTES_MAX = 64 * 1024 * 1024;

const CHUNK = Buffer.from(Uint8Array.from({ length: 64 * 1024 }, (_, index) => index & 0xff));

function* chunks(): Generator<Buffer> {
  for (let sent = 0; sent < BYTES; sent += CHUNK.length) yield CHUNK;
}

function wholeHash(): string {
  const hash = createHash("sha256");
  for (const chunk of chunks()) hash.update(chunk);
  return hash.digest("hex");
}

describe.each(["/orders/", "/any/"])("100 MB through %s, without buffering", (prefix) => {
  it("up", async () => {
    let received: { readonly bytes?: number; readonly sha256?: string } = {};
    const growth = await growthDuring(stack.gateway.pid, async () => {
      const body = ReadableStream.from(chunks());
      const init = { method: "POST", body, duplex: "half" } as RequestInit;
      const response = await fetch(`${stack.url}${prefix}${id}/upload`, init);
      received = (await response.json()) as typeof received;
    });
    expect(received).toMatchObject({ bytes: BYTES, sha256: wholeHash() });
    expect(growth).toBeLessThan(GROWTH_BYTES_MAX);
  });

  it("down", async () => {
    const hash = createHash("sha256");
    let bytes = 0;
    const growth = await growthDuring(stack.gateway.pid, async () => {
      const response = await fetch(`${stack.url}${prefix}${id}/download?bytes=${BYTES}`);
      for await (const chunk of response.body ?? []) {
        hash.update(chunk);
        bytes += chunk.length;
      }
    });
    expect(bytes).toBe(BYTES);
    expect(hash.digest("hex")).toBe(wholeHash());
    expect(growth).toBeLessThan(GROWTH_BYTES_MAX);
  });

  it("down to a client that reads nothing for a while: the origin waits", async () => {
    const growth = await growthDuring(
      stack.gateway.pid,
      () =>
        new Promise<void>((resolve, reject) => {
          const call = request(`${stack.url}${prefix}${id}/download?bytes=${BYTES}`, (response) => {
            response.pause();
            setTimeout(() => {
              response.destroy();
              resolve();
            }, 1500);
          });
          call.on("error", reject);
          call.end();
        }),
    );
    expect(growth).toBeLessThan(GROWTH_BYTES_MAX);
  });
});

describe("server-sent events", () => {
  it("arrive one by one, as they are sent", async () => {
    const response = await fetch(`${stack.url}/any/${id}/events?count=5`);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const arrivals: { readonly atMs: number; readonly text: string }[] = [];
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      arrivals.push({ atMs: performance.now(), text: decoder.decode(chunk, { stream: true }) });
    }
    expect(arrivals.map(({ text }) => (text.match(/^id:/gm) ?? []).length)).toEqual([1, 1, 1, 1, 1]);
    const gaps = arrivals.slice(1).map(({ atMs }, index) => atMs - (arrivals[index]?.atMs ?? 0));
    // Sent 200 ms apart: buffered ones would arrive together.
    expect(Math.min(...gaps)).toBeGreaterThan(50);
  });
});

describe("a WebSocket", () => {
  it.each(["/orders/", "/any/"])("through %s echoes text, octets and the close code", async (prefix) => {
    const socket = new WebSocket(`${stack.url.replace("http", "ws")}${prefix}${id}/echo`);
    socket.binaryType = "arraybuffer";
    const messages: unknown[] = [];
    const closed = new Promise<CloseEvent>((resolve) => socket.addEventListener("close", resolve));
    const done = new Promise<void>((resolve, reject) => {
      socket.addEventListener("error", () => reject(new Error("the WebSocket failed")));
      socket.addEventListener("message", ({ data }) => {
        if (messages.push(data) === 3) resolve();
      });
    });
    await new Promise((resolve) => socket.addEventListener("open", resolve));
    socket.send("жолхат");
    socket.send(new Uint8Array([0, 255, 128]));
    socket.send("x".repeat(100_000));
    await done;
    expect(messages[0]).toBe("жолхат");
    expect(new Uint8Array(messages[1] as ArrayBuffer)).toEqual(new Uint8Array([0, 255, 128]));
    expect(messages[2]).toHaveLength(100_000);
    socket.close(4001, "enough");
    const { code, reason } = await closed;
    expect([code, reason]).toEqual([4001, "enough"]);
  });
});

describe("what the origin sends is what the client gets", () => {
  it("a redirect is not followed", async () => {
    const url = `${stack.url}/orders/${id}/status/302?location=http://127.0.0.1:1/elsewhere`;
    const response = await fetch(url, { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([302, "http://127.0.0.1:1/elsewhere"]);
  });

  it("a leaving client ends the origin's work", async () => {
    const leaving = new AbortController();
    const response = await fetch(`${stack.url}/orders/${id}/events?count=1000`, { signal: leaving.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    leaving.abort();
    await expect(reader?.read()).rejects.toThrow();
  });
});
