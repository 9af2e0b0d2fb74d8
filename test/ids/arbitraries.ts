import fc from "fast-check";
import { type Layout, type LayoutTable, type Row, uuidText, type Words } from "../../src/ids/index.ts";
import { HEX } from "../../src/ids/text/alphabets.ts";
import { radixText } from "../../src/ids/text/radix.ts";

export const anyWord: fc.Arbitrary<number> = fc.oneof(
  fc.integer({ min: 0, max: 0xffffffff }),
  fc.constantFrom(0, 1, 0x7fffffff, 0x80000000, 0xffffffff),
);

export const anyWords = (count = 4): fc.Arbitrary<Words> => fc.array(anyWord, { minLength: count, maxLength: count });

/** Valid words: every field in range, and the ID not below its minimum. */
export const anyFitting = (layout: Layout): fc.Arbitrary<Words> => {
  const fields = layout.fields.filter(({ role }) => role !== "fixed");
  const values = fields.map((field) => {
    const max = BigInt(field.max);
    return fc
      .oneof(fc.bigInt({ min: 0n, max }), fc.constantFrom(0n, max, max >> 1n))
      .map((value) => [field.name, value]);
  });
  return fc
    .tuple(...values)
    .map((entries) => layout.encode(Object.fromEntries(entries) as Record<string, bigint>))
    .filter((words) => words.ok)
    .map((words) => (words.ok ? words.value : []));
};

/** Row widths that add up to `bits`. */
const anyWidths = (bits: number): fc.Arbitrary<readonly number[]> =>
  fc.uniqueArray(fc.integer({ min: 1, max: bits - 1 }), { maxLength: 12 }).map((cuts) => {
    const ends = [...cuts.toSorted((a, b) => a - b), bits];
    return ends.map((end, index) => end - (ends[index - 1] ?? 0));
  });

/**
 * A row of at least one bit, with its role chosen by `dice`. Rows of one role sometimes share a name, which splits the
 * field.
 */
const rowOf = (bits: number, index: number, dice: number): Row => {
  if (dice % 4 === 0 && bits <= 16) return { field: `fixed${index % 2}`, bits, role: "fixed", value: dice % 2 ** bits };
  if (dice % 4 === 1) return { field: "time", bits, role: "time", unit: "us", epochMs: -86_400_000 };
  if (dice % 4 === 2) return { field: `key${index % 2}`, bits, role: "key" };
  return { field: `random${index % 3}`, bits, role: "random" };
};

/** Keeps fixed fields within 53 bits, the limit of `checkTable`: three of 16 bits. */
const withinLimits = (rows: readonly Row[]): readonly Row[] => {
  const seen = new Map<string, number>();
  return rows.map((row, index): Row => {
    const count = (seen.get(row.field) ?? 0) + 1;
    seen.set(row.field, count);
    return row.role === "fixed" && count > 3 ? { field: `extra${index}`, bits: row.bits, role: "key" } : row;
  });
};

/** Valid tables of any shape. Half of them reorder bytes. */
export const anyTable = (bits = 128): fc.Arbitrary<LayoutTable> =>
  fc
    .tuple(
      anyWidths(bits),
      fc.array(fc.nat(), { minLength: 13, maxLength: 13 }),
      fc.option(
        fc.shuffledSubarray(
          Array.from({ length: bits / 8 }, (_, byte) => byte),
          { minLength: bits / 8 },
        ),
        { nil: undefined },
      ),
    )
    .map(([widths, dice, octetOrder]) => ({
      name: "generated",
      title: "Generated",
      source: "this test",
      text: bits === 128 ? uuidText : radixText({ alphabet: HEX, bits, width: bits / 4 }),
      rows: withinLimits(widths.map((width, index) => rowOf(width, index, dice[index] as number))),
      ...(octetOrder === undefined ? {} : { octetOrder }),
    }));

/** Near misses of a text: one UTF-16 unit replaced, inserted or removed. */
export const anyDamage = (text: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.nat(text.length),
      fc.constantFrom("replace", "insert", "remove"),
      fc.oneof(
        fc.nat(0xffff),
        fc.constantFrom(0, 9, 32, 45, 71, 103, 0x130, 0x131, 0x660, 0xff11, 0xd800, 0xdc00, 0xfeff),
      ),
    )
    .map(([at, how, code]) => {
      const unit = how === "remove" ? "" : String.fromCharCode(code);
      return text.slice(0, at) + unit + text.slice(how === "insert" ? at : at + 1);
    });
