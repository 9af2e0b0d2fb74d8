import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readDemoTable } from "./demo/demo.ts";
import { type Stack, startStack } from "./stack.ts";
import { growthDuring } from "./table/memory.ts";

const IDS = 100_000;
const FILLER = "x".repeat(440);
const GROWTH_BYTES_MAX = 32 * 1024 * 1024;

const internal = (index: number): string => `01990f04-d900-8009-8040-${index.toString(16).padStart(12, "0")}`;

/** 50 MB of JSON with an ID in each item, written as fast as it is taken. */
async function writeItems(response: import("node:http").ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "application/json" });
  response.write('{"items":[');
  for (let index = 0; index < IDS; index += 100) {
    const items = Array.from({ length: 100 }, (_, offset) => {
      const id = internal(index + offset);
      return `{"id":"${id}","note":"${id}","text":"${FILLER}"}`;
    });
    if (!response.write((index === 0 ? "" : ",") + items.join(","))) await once(response, "drain");
  }
  response.end("]}");
}

const CODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: brotliCompressSync,
  gzip: gzipSync,
  "x-gzip": gzipSync,
  deflate: deflateSync,
};

let server: Server;
let stack: Stack;
let id: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url?.endsWith("/items")) {
      void writeItems(response);
      return;
    }
    const coding = decodeURIComponent(/\/coded\/([^?]+)/.exec(request.url ?? "")?.[1] ?? "");
    const body = JSON.stringify({ id: internal(7) });
    const codings = coding.toLowerCase().split(/, */);
    const coded = request.url?.endsWith("?plain")
      ? Buffer.from(body)
      : codings.reduce<Buffer>((bytes, each) => CODERS[each]?.(bytes) ?? bytes, Buffer.from(body));
    const sent = request.url?.endsWith("?cut") ? coded.subarray(0, -6) : coded;
    response.writeHead(200, { "content-type": "application/json", ...(coding ? { "content-encoding": coding } : {}) });
    response.end(coding ? sent : body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  // Results of GraphQL and of lists would show the internal IDs of public entities.
  const { graphql: _, ...demo } = readDemoTable();
  const region = { origins: [{ url: `http://127.0.0.1:${port}` }] };
  const { list: __, ...listed } = demo.entities["order"] as (typeof demo.entities)[string];
  const order = { ...listed, public: true, publicFields: ["/id", "/items/*/id"] };
  const declared = {
    ...demo,
    regions: { eu: region, us: region, ap: region },
    entities: { ...demo.entities, order },
    moved: {},
  } as typeof demo;
  const key = Buffer.alloc(32, "k").toString("base64");
  stack = await startStack(declared, { PUBLIC_ID_KEYS: JSON.stringify({ sealed: [{ id: "2026", key }] }) });
  const minted = await fetch(`${stack.url}/mint`, { method: "POST", body: '{"entity":"order","country":"DE"}' });
  id = ((await minted.json()) as { readonly ids: readonly [string] }).ids[0];
});

afterAll(async () => {
  await stack?.stop();
  server?.close();
});

describe("50 MB of JSON with 100,000 IDs", () => {
  it("stream through with public IDs in place of internal ones, and memory flat", async () => {
    // The first pass brings the process to its working size; a second body of 50 MB must find room in that.
    await readItems();
    let seen = { bytes: 0, shown: 0, leaked: 0 };
    const growth = await growthDuring(stack.gateway.pid, async () => {
      seen = await readItems();
    });
    expect(seen.bytes).toBeGreaterThan(50_000_000);
    expect([seen.shown, seen.leaked]).toEqual([IDS, 0]);
    expect(growth).toBeLessThan(GROWTH_BYTES_MAX);
  }, 60_000);
});

async function readItems() {
  const seen = { bytes: 0, shown: 0, leaked: 0 };
  let rest = "";
  const response = await fetch(`${stack.url}/orders/${id}/items`);
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    seen.bytes += chunk.length;
    const text = rest + decoder.decode(chunk, { stream: true });
    const end = text.lastIndexOf("}");
    seen.shown += text.slice(0, end).match(/"id":"[0-9A-Za-z]{44}"/g)?.length ?? 0;
    seen.leaked += text.slice(0, end).match(/"id":"[0-9a-f]{8}-/g)?.length ?? 0;
    rest = text.slice(end);
  }
  return seen;
}

describe("a coded answer, though it was asked not to be", () => {
  // Codings have no case (RFC 9110 §8.4.1).
  it.each(["gzip", "br", "GZIP", "x-gzip", "X-Gzip", "deflate", "gzip, gzip", "deflate, GZIP", "Identity"])(
    "is decoded, and its IDs are public: %s",
    async (coding) => {
      const response = await fetch(`${stack.url}/orders/${id}/coded/${encodeURIComponent(coding)}`);
      expect(response.headers.get("content-encoding")).toBeNull();
      expect(((await response.json()) as { readonly id: string }).id).toMatch(/^[0-9A-Za-z]{44}$/);
    },
  );

  it.each([
    ["BR", "its coding br cannot be decoded"],
    ["zstd", "its coding zstd cannot be decoded"],
    ["gzip, Squeeze", "its coding squeeze cannot be decoded"],
    ["gzip, gzip, gzip, gzip", "its coding gzip, gzip, gzip, gzip cannot be decoded"],
    ["GZIP?plain", "its body is not JSON in the coding gzip"],
    ["x-gzip?plain", "its body is not JSON in the coding x-gzip"],
    ["deflate?plain", "its body is not JSON in the coding deflate"],
    ["x-gzip?cut", "its body is not JSON in the coding x-gzip"],
    ["deflate?cut", "its body is not JSON in the coding deflate"],
    ["GZIP?cut", "its body is not JSON in the coding gzip"],
    ["gzip, gzip?cut", "its body is not JSON in the coding gzip, gzip"],
  ])("is withheld when its coding cannot be undone: %s", async (coding, why) => {
    const path = encodeURIComponent(coding).replace("%3F", "?");
    const response = await fetch(`${stack.url}/orders/${id}/coded/${path}`);
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({
      type: "/-/problems/answer-withheld",
      detail: expect.stringContaining(why),
    });
  });

  it("that is not coded as it says is an answer of the gateway", async () => {
    for (const coding of ["gzip", "br"]) {
      const response = await fetch(`${stack.url}/orders/${id}/coded/${coding}?plain`);
      expect([coding, response.status]).toEqual([coding, 502]);
    }
  });
});
