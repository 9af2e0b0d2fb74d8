import { describe, expect, it } from "vitest";
import { decompress } from "../../../src/proxy/decompress.ts";
import { joinBytes } from "../../../src/routing/bytes.ts";

/** Gzip is a series of members (RFC 1952 §2.2). */

type Bytes = Uint8Array<ArrayBuffer>;

const joined = (...parts: readonly Uint8Array[]) => joinBytes(parts) as Bytes;
const bytesOf = (text: string) => new TextEncoder().encode(text) as Bytes;
const MAGIC = Uint8Array.of(0x1f, 0x8b, 8);
const MIB = 1024 * 1024;

async function gzip(bytes: Bytes): Promise<Bytes> {
  const coded = new Response(bytes).body?.pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(coded).arrayBuffer());
}

const series = async (...parts: readonly Bytes[]): Promise<Bytes> => joined(...(await Promise.all(parts.map(gzip))));

/** One stored block (RFC 1951 §3.2.4): its bytes stand in the member as they are. */
async function stored(bytes: Bytes): Promise<Bytes> {
  const coded = await gzip(bytes);
  const length = Uint8Array.of(
    1,
    bytes.length & 255,
    bytes.length >> 8,
    ~bytes.length & 255,
    (~bytes.length >> 8) & 255,
  );
  return joined(coded.subarray(0, 10), length, bytes, coded.subarray(-8));
}

/** Bytes that no coding makes shorter. */
const noise = (length: number): Bytes => {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, Math.min(length, at + 65_536)));
  return bytes;
};

function inChunks(bytes: Bytes, size: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull: (controller) => {
      if (at >= bytes.length) controller.close();
      else controller.enqueue(bytes.slice(at, at + size));
      at += size;
    },
  });
}

/** The bytes given, and whether they ended well. */
async function read(bytes: Bytes, size = 4096) {
  const given: Uint8Array[] = [];
  const reader = decompress(inChunks(bytes, size), "gzip").getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) given.push(next.value);
    return { given: joined(...given), isWhole: true };
  } catch {
    return { given: joined(...given), isWhole: false };
  }
}

const one = bytesOf('{"id":');
const two = bytesOf('"a"}');
const none = bytesOf("");

describe("a gzip body", () => {
  it.each<readonly [string, () => Promise<Bytes>, () => Bytes | Promise<Bytes>]>([
    ["of one member", () => series(one), () => one],
    ["of one empty member", () => series(none), () => none],
    ["of two", () => series(one, two), () => joined(one, two)],
    ["with empty ones", () => series(none, one, none, none, two, none), () => joined(one, two)],
    ["of 300", () => series(...Array<Bytes>(300).fill(two)), () => joined(...Array<Bytes>(300).fill(two))],
    ["with headers in its content", () => stored(joined(one, MAGIC, MAGIC, two)), () => joined(one, MAGIC, MAGIC, two)],
    [
      "with a whole member in its content, and one more",
      async () => joined(await stored(await series(one)), await gzip(two)),
      async () => joined(await series(one), two),
    ],
    ["of one long member", () => series(new Uint8Array(17 * MIB)), () => new Uint8Array(17 * MIB)],
  ])("%s is decoded to its last byte", async (_, coded, decoded) => {
    const content = await decoded();
    for (const size of [MIB, 40]) {
      const { given, isWhole } = await read(await coded(), size);
      expect([isWhole, given.length]).toEqual([true, content.length]);
      expect(given.every((byte, at) => byte === content[at])).toBe(true);
    }
  });

  it("that is long is decoded as it comes", async () => {
    const content = noise(2 * MIB);
    const { given, isWhole } = await read(await gzip(content), 65_536);
    expect([isWhole, given.length]).toEqual([true, content.length]);
  });

  it.each<readonly [string, (coded: Bytes) => Bytes]>([
    ["is empty", () => none],
    ["is no gzip", () => one],
    ["ends in its header", (coded) => coded.subarray(0, 5)],
    ["ends in its last trailer", (coded) => coded.subarray(0, -6)],
    ["ends in a later header", (coded) => joined(coded, MAGIC)],
    ["goes on after its end", (coded) => joined(coded, bytesOf("more"))],
    ["has another sum", (coded) => coded.map((byte, at) => (at === coded.length - 5 ? byte ^ 1 : byte))],
    ["has another length", (coded) => coded.map((byte, at) => (at === coded.length - 1 ? byte ^ 1 : byte))],
  ])("that %s breaks before any of it is given", async (_, change) => {
    for (const coded of [await series(one), await series(one, two)]) {
      const { given, isWhole } = await read(change(coded));
      expect([isWhole, given.length]).toEqual([false, 0]);
    }
  });

  it("that looks like many members and is none costs a bounded number of trials", async () => {
    const headers = joinBytes(Array<Bytes>(20_000).fill(joined(MAGIC, noise(17)))) as Bytes;
    expect(await read(await stored(headers.subarray(0, 65_000)))).toMatchObject({ isWhole: true });
    expect(await read(headers)).toMatchObject({ isWhole: false });
  });

  it("that is not wanted any more, or breaks, lets its origin go", async () => {
    let isCancelled = false;
    const source = (pull: (controller: ReadableStreamDefaultController<Uint8Array>) => void) =>
      new ReadableStream<Uint8Array>({
        pull,
        cancel: () => {
          isCancelled = true;
        },
      });
    const reader = decompress(
      source(() => undefined),
      "gzip",
    ).getReader();
    void reader.read().catch(() => undefined);
    await reader.cancel();
    expect(isCancelled).toBe(true);

    isCancelled = false;
    const endless = source((controller) => controller.enqueue(new Uint8Array(65_536)));
    await expect(new Response(decompress(endless, "gzip")).bytes()).rejects.toThrow();
    expect(isCancelled).toBe(true);
  });
});
