import { describe, expect, it } from "vitest";
import { READ_BODY_BYTES_MAX, readRequestBody } from "../../../src/proxy/body.ts";

const read = (init: RequestInit, keepBytesMax = 0, idleMs = 0) =>
  readRequestBody(new Request("https://gw.test/orders/1", init), keepBytesMax, idleMs, Date.now);

const post = (body: BodyInit, headers: Record<string, string> = {}): RequestInit => ({ method: "POST", body, headers });

/** Bytes that come one by one, and then end, break or never end. */
const drip = (times: number, end: "close" | "break" | "hang") =>
  new ReadableStream({
    type: "bytes",
    async start(controller) {
      for (let at = 0; at < times; at++) {
        await new Promise((resolve) => setTimeout(resolve, 30));
        controller.enqueue(new Uint8Array(1));
      }
      if (end === "close") controller.close();
      if (end === "break") controller.error(new Error("gone"));
    },
  });

describe("what a request brings", () => {
  it("is nothing", async () => {
    expect(await read({})).toEqual({ kind: "none" });
    expect(await read(post("", { "content-length": "0" }))).toEqual({ kind: "none" });
  });

  it("is streamed unless the entity keeps bodies of its length", async () => {
    expect(await read(post("12345", { "content-length": "5" }))).toMatchObject({ kind: "stream", length: "5" });
    expect(await read(post("12345", { "content-length": "5" }), 4)).toMatchObject({ kind: "stream" });
    const kept = await read(post("12345", { "content-length": "5" }), 5);
    expect(typeof kept === "object" && kept.kind === "kept" && new TextDecoder().decode(kept.bytes)).toBe("12345");
    expect(await read(post("12345", { "transfer-encoding": "chunked" }), 5)).toMatchObject({ kind: "stream" });
  });

  it("may come slowly, but not stop", async () => {
    const slow = await read(post(drip(5, "close"), { "content-length": "5" }), 5, 5_000);
    expect(slow).toMatchObject({ kind: "kept" });
    expect(await read(post(drip(2, "hang"), { "content-length": "5" }), 5, 60)).toBe("late");
    expect(await read(post(drip(2, "break"), { "content-length": "5" }), 5, 5_000)).toBe("broken");
  });

  it("is refused in codings that the runtime would drop", async () => {
    expect(await read(post("x", { "transfer-encoding": "gzip, chunked" }))).toBe("coded");
  });

  it("is refused when its length is no exact number", async () => {
    expect(await read(post("x", { "content-length": "9007199254740993" }))).toBe("too-large");
  });
});

it("a body of a read has a bound of its own", () => {
  expect(READ_BODY_BYTES_MAX).toBe(1_048_576);
});
