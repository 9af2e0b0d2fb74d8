import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  everyLayout,
  type FieldValue,
  formatAs,
  isoTime,
  type Layout,
  parseAs,
  parseId,
  recognise,
  textsOf,
  type Words,
} from "../../../src/ids/index.ts";
import { runs } from "../../setup/property-runs.ts";
import { anyDamage, anyFitting } from "../arbitraries.ts";
import { slowDecode, slowFits, slowInRange } from "../oracle.ts";

/** Properties of every layout. */

const anyBits = (layout: Layout): fc.Arbitrary<Words> => {
  const bits = layout.table.rows.reduce((sum, row) => sum + row.bits, 0);
  const top = 2 ** (((bits - 1) % 32) + 1) - 1;
  const rest = fc.array(fc.integer({ min: 0, max: 0xffffffff }), {
    minLength: Math.ceil(bits / 32) - 1,
    maxLength: Math.ceil(bits / 32) - 1,
  });
  return fc.tuple(fc.integer({ min: 0, max: top }), rest).map(([first, others]) => [first, ...others]);
};

const big = (values: Readonly<Record<string, FieldValue>>): Record<string, bigint> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, BigInt(value)]));

describe.each(everyLayout)("$name", (layout) => {
  test("agrees with bit strings on any bits", () => {
    fc.assert(
      fc.property(fc.oneof(anyBits(layout), anyFitting(layout)), (words) => {
        expect(layout.fits(words)).toBe(slowFits(layout.table, words) && slowInRange(layout.table, words));
        expect(layout.misfit(words) === undefined).toBe(layout.fits(words));
        expect(big(layout.decode(words))).toEqual(slowDecode(layout.table, words));
      }),
      { numRuns: runs(50) },
    );
  });

  test("decoding and encoding, printing and reading undo each other", () => {
    fc.assert(
      fc.property(anyFitting(layout), (words) => {
        expect(layout.encode(layout.decode(words))).toEqual({ ok: true, value: words });
        expect(layout.parse(layout.format(words))).toEqual({ ok: true, value: words });
        const texts = Object.entries(textsOf(layout, words));
        expect(texts[0]?.[1]).toBe(layout.format(words));
        for (const [, text] of texts) expect(JSON.stringify(text)).toBe(`"${text}"`);
        for (const [name, text] of texts) {
          expect(parseAs(layout, name, text)).toEqual({ ok: true, value: words });
          expect(formatAs(layout, name, words)).toEqual({ ok: true, value: text });
        }
      }),
      { numRuns: runs(50) },
    );
  });

  test("the short way to parse says the same", () => {
    fc.assert(
      fc.property(fc.oneof(anyFitting(layout), anyBits(layout)), (words) => {
        const text = layout.format(words);
        const parsed = layout.parse(text);
        expect(parseId(layout.table, text)).toEqual(
          parsed.ok
            ? {
                ok: true,
                value: { fields: layout.decode(parsed.value), mintedAtMs: layout.mintedAtMs?.(parsed.value) },
              }
            : parsed,
        );
      }),
      { numRuns: runs(50) },
    );
  });

  test("a text that is damaged by one unit is refused, or is the one text of another value", () => {
    const anyText = anyFitting(layout).map((words) => layout.format(words));
    fc.assert(
      fc.property(anyText.chain(anyDamage), (damaged) => {
        const parsed = layout.parse(damaged);
        expect(parseId(layout.table, damaged).ok).toBe(parsed.ok);
        if (!parsed.ok) return;
        // Only case may differ from the canonical text.
        expect(layout.format(parsed.value).toLowerCase()).toBe(damaged.toLowerCase());
      }),
      { numRuns: runs(50) },
    );
  });

  test.each(["", " ", "\0", "\ufeff", "\u0660", "%00", "../..", "'", "-", "0x0", "𝟘", "0".repeat(5_000_000)])(
    "hostile text %#",
    (text) => {
      expect(layout.parse(text).ok).toBe(false);
      expect(recognise(text, [{ layout }], 0).readings).toEqual([]);
    },
  );

  test("an unknown text form is named", () => {
    expect(parseAs(layout, "runes", "0")).toMatchObject({
      ok: false,
      error: { reason: "unknown-text", text: "runes" },
    });
    expect(formatAs(layout, "runes", layout.fixed.value)).toMatchObject({ ok: false });
  });
});

test("two longs cannot hold a DistributedId128 of the year 9000", () => {
  const layout = everyLayout.find(({ name }) => name === "distributed-id-128") as Layout;
  const mintedAt = Date.UTC(9000, 0, 1) + 8_520_336_000_000;
  const words = layout.encode({ mintedAt, random: 0n });
  expect(words.ok && isoTime(layout.mintedAtMs?.(words.value) ?? 0)).toBe("9000-01-01T00:00:00.000Z");
  expect(words.ok && formatAs(layout, "longs", words.value)).toEqual({
    ok: false,
    error: { reason: "unwritable", text: "longs" },
  });
  expect(words.ok && Object.keys(textsOf(layout, words.value))).toEqual(["uuid", "hex", "base62", "decimal"]);
});
