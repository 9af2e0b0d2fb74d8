import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { everyLayout, fromBytes, type Layout, layoutNamed, toBytes, type Words } from "../../../src/ids/index.ts";
import { wordsToBig } from "../../../src/ids/layout/words.ts";
import { anyFitting } from "../arbitraries.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const ofHex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "hex"));
const layout = (name: string): Layout => layoutNamed(name) as Layout;
const bitsOf = ({ table }: Layout): number => table.rows.reduce((sum, { bits }) => sum + bits, 0);
/** The slow way: the number in hexadecimal. */
const oracle = (of: Layout, words: Words): string =>
  wordsToBig(words)
    .toString(16)
    .padStart(bitsOf(of) / 4, "0");

const whole = everyLayout.filter((of) => bitsOf(of) % 8 === 0);

describe("bytes of every layout", () => {
  it("but a CUID's are whole", () => {
    expect(everyLayout.filter((of) => !whole.includes(of)).map(({ name }) => name)).toEqual(["cuid"]);
    expect(toBytes(layout("cuid"), "cixf7yuht000001s2wpvr6uqa")).toEqual({
      ok: false,
      error: { reason: "not-whole-bytes", layout: "cuid", bits: 126 },
    });
    expect(fromBytes(layout("cuid"), new Uint8Array(16)).ok).toBe(false);
  });

  it.each(whole)("$name: of its bits, and back, as Uint8Array, Buffer and ArrayBuffer", (of) => {
    fc.assert(
      fc.property(anyFitting(of), (words) => {
        const text = of.format(words);
        const bytes = toBytes(of, text);
        if (!bytes.ok) throw new Error(bytes.error.reason);
        expect(hex(bytes.value)).toBe(oracle(of, words));
        expect(bytes.value.buffer.byteLength).toBe(bytes.value.length);
        for (const stored of [bytes.value, Buffer.from(bytes.value), bytes.value.buffer]) {
          expect(fromBytes(of, stored)).toEqual({ ok: true, value: text });
        }
      }),
    );
  });

  it.each(whole)("$name: as a uniqueidentifier if it has 128 bits", (of) => {
    fc.assert(
      fc.property(anyFitting(of), (words) => {
        const text = of.format(words);
        const bytes = toBytes(of, text, "uniqueidentifier");
        if (!bytes.ok) {
          expect(bytes.error).toEqual({ reason: "no-guid", layout: of.name, bits: bitsOf(of) });
          return;
        }
        const plain = oracle(of, words);
        const swapped = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
        expect(hex(bytes.value)).toBe(swapped.map((at) => plain.slice(2 * at, 2 * at + 2)).join(""));
        expect(fromBytes(of, bytes.value, "uniqueidentifier")).toEqual({ ok: true, value: text });
      }),
    );
  });
});

/** A GUID as Microsoft's documentation of `Guid.ToByteArray` prints it, and its bytes. */
it("a Guid's bytes are those of .NET", () => {
  const bytes = ofHex("c98b91356d19ea409779889d79b753f0");
  expect(fromBytes(layout("uuid"), bytes, "uniqueidentifier")).toEqual({
    ok: true,
    value: "35918bc9-196d-40ea-9779-889d79b753f0",
  });
});

const IUID = "019b76daa8008005804000000000001f";
describe("refused", () => {
  it.each([
    ["bytes too few", "iuid", IUID.slice(2), "text", { reason: "byte-length", expected: 16, actual: 15 }],
    ["bytes too many", "iuid", `${IUID}00`, "text", { reason: "byte-length", expected: 16, actual: 17 }],
    ["no bytes", "snowflake", "", "text", { reason: "byte-length", expected: 8, actual: 0 }],
    ["another version", "iuid", "019b76daa8007005804000000000001f", "text", { reason: "fixed-bits", field: "version" }],
    ["stored as a Guid", "iuid", "da769b0100a80580804000000000001f", "text", { reason: "fixed-bits" }],
    ["read as a Guid", "iuid", IUID, "uniqueidentifier", { reason: "fixed-bits" }],
    ["below 28 digits", "distributed-id", "00".repeat(16), "text", { reason: "range" }],
    ["no Guid", "snowflake", "00".repeat(8), "uniqueidentifier", { reason: "no-guid", layout: "snowflake", bits: 64 }],
  ] as const)("%s", (_, name, bytes, order, error) => {
    expect(fromBytes(layout(name), ofHex(bytes), order)).toMatchObject({ ok: false, error });
  });

  it.each([
    ["a text", "0123456789abcdef"],
    ["an array", Array(16).fill(1)],
    ["a view of wider numbers", new Uint16Array(16)],
    ["nothing", null],
  ])("%s instead of bytes", (_, bytes) => {
    expect(fromBytes(layout("uuid"), bytes as never)).toEqual({ ok: false, error: { reason: "not-bytes" } });
  });

  it.each([
    ["019b76daa8008005804000000000001f", "shape"],
    ["019b76da-a800-7005-8040-00000000001f", "fixed-bits"],
    ["", "empty"],
  ])("the text %j", (text, reason) => {
    expect(toBytes(layout("iuid"), text)).toMatchObject({ ok: false, error: { reason } });
  });
});

it("bytes of another realm, as in test runners, are bytes", () => {
  const bytes: Uint8Array = runInNewContext("Uint8Array.from({ length: 16 }, (_, at) => at)");
  expect(bytes instanceof Uint8Array).toBe(false);
  expect(fromBytes(layout("uuid"), bytes)).toEqual({ ok: true, value: "00010203-0405-0607-0809-0a0b0c0d0e0f" });
});
