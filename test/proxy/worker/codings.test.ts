import { expect, it } from "vitest";
import { collect } from "../../../src/proxy/body.ts";
import { decodedBody } from "../../../src/proxy/codings.ts";
import { WHOLE_BYTES_MAX } from "../../../src/proxy/decompress.ts";
import { joinBytes } from "../../../src/routing/bytes.ts";

const bytesOf = async (stream: ReadableStream<Uint8Array>): Promise<Uint8Array> =>
  new Uint8Array(await new Response(stream).arrayBuffer());

/** In a coding once or more. */
async function coded(content: Uint8Array, field: string): Promise<Uint8Array> {
  let bytes = content;
  for (const coding of field.split(", ")) {
    const format = coding === "deflate" ? "deflate" : "gzip";
    bytes = await bytesOf(new Response(bytes).body?.pipeThrough(new CompressionStream(format)) as ReadableStream);
  }
  return bytes;
}

/** Gives a little at a time, and counts. */
function slowly(bytes: Uint8Array, pieceBytes: number) {
  const seen = { bytes: 0, isCancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = bytes.slice(seen.bytes, seen.bytes + pieceBytes);
        seen.bytes += piece.length;
        if (piece.length === 0) controller.close();
        else controller.enqueue(piece);
      },
      cancel() {
        seen.isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { seen, body };
}

function decoded(body: ReadableStream<Uint8Array>, field: string): ReadableStream<Uint8Array> {
  const result = decodedBody(body, field, { asksReadable: false });
  if (!result.ok) throw new Error(result.error.coding);
  return result.value;
}

const FIELDS = ["gzip", "x-gzip", "deflate", "gzip, gzip", "deflate, gzip", "gzip, deflate, gzip"];
const textOf = (stream: ReadableStream<Uint8Array>): Promise<string> => new Response(stream).text();
const NUMBERS = Array.from({ length: 20_000 }, (_, at) => `${at * 7919};`).join("");
const TEXT = new TextEncoder().encode(NUMBERS);

it.each(FIELDS)("%s is decoded whole, whatever the pieces are", async (field) => {
  const bytes = await coded(TEXT, field);
  for (const pieceBytes of [4_096, 5_000, bytes.length]) {
    expect((await textOf(decoded(slowly(bytes, pieceBytes).body, field))) === NUMBERS).toBe(true);
  }
  const empty = await coded(new Uint8Array(), field);
  expect((await bytesOf(decoded(slowly(empty, 5).body, field))).length).toBe(0);
});

it.each(FIELDS)("%s that breaks off breaks the stream", async (field) => {
  const bytes = await coded(TEXT, field);
  await expect(bytesOf(decoded(slowly(bytes.slice(0, -9), 500).body, field))).rejects.toThrow();
});

it("what is not coded as it says ends the origin's answer", async () => {
  const { seen, body } = slowly(joinBytes([TEXT, TEXT, TEXT]), 500);
  await expect(bytesOf(decoded(body, "gzip"))).rejects.toThrow();
  expect(seen.isCancelled).toBe(true);
});

/** A thousand bytes of one. */
const ZEROS = new Uint8Array(30_000_000);

/** Does not get shorter by a coding: so much is read before any is given. */
const noise = (): Uint8Array =>
  joinBytes(Array.from({ length: 8 }, () => crypto.getRandomValues(new Uint8Array(WHOLE_BYTES_MAX / 8))));

it.each(["gzip", "deflate"])("%s is decoded no faster than it is read", async (field) => {
  const { seen, body } = slowly(await coded(joinBytes([noise(), ZEROS]), field), 4_000);
  const reader = decoded(body, field).getReader();
  await reader.read();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(seen.bytes).toBeLessThanOrEqual(WHOLE_BYTES_MAX + 8_000);
  await reader.cancel();
  expect(seen.isCancelled).toBe(true);
});

it("the limit of a reader ends a body in two codings", async () => {
  const bytes = await coded(ZEROS, "gzip, gzip");
  expect(bytes.length).toBeLessThan(1_000);
  expect(await collect(decoded(slowly(bytes, 1_000).body, "gzip, gzip"), 100_000)).toBeUndefined();
});
