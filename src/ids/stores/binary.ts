import type { Layout, ParseError, Words } from "../layout/layout.ts";
import { err, ok, type Result } from "../result.ts";

/** IDs as the bytes that binary columns hold: `BINARY(16)`, `bytea`, `BLOB`, `RAW(16)`, and the bytes of a `uniqueidentifier`. */

/**
 * `text`: the ID's bits, most significant first, as `BINARY(16)`, `bytea`, `BLOB` and `uuid` hold them.
 * `uniqueidentifier`: as SQL Server stores a GUID and as `Guid.ToByteArray()` of .NET writes one, for 128 bits alone.
 */
export type ByteOrder = "text" | "uniqueidentifier";

/** Why bytes and an ID are not each other's. */
export type BytesError =
  | { readonly reason: "not-bytes" }
  | { readonly reason: "byte-length"; readonly expected: number; readonly actual: number }
  /** The layout's bits are no whole bytes, as of a CUID. Store its text. */
  | { readonly reason: "not-whole-bytes"; readonly layout: string; readonly bits: number }
  /** A `uniqueidentifier` has 128 bits. */
  | { readonly reason: "no-guid"; readonly layout: string; readonly bits: number };

/** For each stored byte of a `uniqueidentifier`: its position in the text. The order is its own inverse. */
const GUID_ORDER = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15] as const;

const GUID_BITS = 128;

/**
 * The bytes of an ID in its canonical text, as many as the layout has: 16 of a UUID, 8 of a Snowflake, 20 of a KSUID. The array
 * owns its buffer: `Buffer.from(bytes.buffer)` is a view for drivers that take a `Buffer` alone.
 */
export const toBytes = (
  layout: Layout,
  text: string,
  order: ByteOrder = "text",
): Result<Uint8Array<ArrayBuffer>, ParseError | BytesError> => {
  const fault = layoutFault(layout, order);
  if (fault !== undefined) return err(fault);
  const words = layout.parse(text);
  if (!words.ok) return words;
  const bytes = new Uint8Array(layout.table.text.bits / 8);
  for (const [at, place] of placesOf(bytes.length, order).entries())
    bytes[at] = byteOf(words.value, place, bytes.length);
  return ok(bytes);
};

/**
 * The canonical text of an ID in bytes: a `Uint8Array`, so a `Buffer` too, or the `ArrayBuffer` that libSQL returns. Fixed bits
 * and ranges are checked, so that bytes in the wrong order are refused where the layout has such bits.
 */
export const fromBytes = (
  layout: Layout,
  bytes: Uint8Array | ArrayBuffer,
  order: ByteOrder = "text",
): Result<string, ParseError | BytesError> => {
  const fault = layoutFault(layout, order);
  if (fault !== undefined) return err(fault);
  const stored = viewOf(bytes);
  if (stored === undefined) return err({ reason: "not-bytes" });
  const expected = layout.table.text.bits / 8;
  if (stored.length !== expected) return err({ reason: "byte-length", expected, actual: stored.length });
  const words = layout.fixed.value.map(() => 0);
  for (const [at, place] of placesOf(expected, order).entries()) {
    const { word, shift } = standOf(words, place, expected);
    words[word] = ((words[word] as number) | ((stored[at] as number) << shift)) >>> 0;
  }
  const misfit = layout.misfit(words);
  return misfit === undefined ? ok(layout.format(words)) : err(misfit);
};

const layoutFault = ({ name, table }: Layout, order: ByteOrder): BytesError | undefined => {
  const { bits } = table.text;
  if (bits % 8 !== 0) return { reason: "not-whole-bytes", layout: name, bits };
  return order === "uniqueidentifier" && bits !== GUID_BITS ? { reason: "no-guid", layout: name, bits } : undefined;
};

/** By its tag: test runners and `vm` have several realms, where `instanceof` is false for a `Buffer`. */
const viewOf = (bytes: Uint8Array | ArrayBuffer): Uint8Array | undefined => {
  const tag = Object.prototype.toString.call(bytes);
  if (tag === "[object Uint8Array]") return bytes as Uint8Array;
  return tag === "[object ArrayBuffer]" ? new Uint8Array(bytes as ArrayBuffer) : undefined;
};

/** For each stored byte: its position in the text. */
const placesOf = (count: number, order: ByteOrder): readonly number[] =>
  order === "uniqueidentifier" ? GUID_ORDER : Array.from({ length: count }, (_, at) => at);

const byteOf = (words: Words, place: number, count: number): number => {
  const { word, shift } = standOf(words, place, count);
  return ((words[word] as number) >>> shift) & 0xff;
};

/** Unused bits of the words are in front. */
const standOf = ({ length }: Words, place: number, count: number) => {
  const byte = place + 4 * length - count;
  return { word: byte >>> 2, shift: 24 - 8 * (byte & 3) };
};
