import fc from "fast-check";
import { expect, test } from "vitest";
import { formatShortKey, PRIMARY_KEY_MAX, parseShortKey, readShortKey } from "../../../src/ids/index.ts";
import { runs } from "../../setup/property-runs.ts";
import { anyDamage } from "../arbitraries.ts";

test("every primary key has one short key", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (number) => {
      const key = number % (PRIMARY_KEY_MAX + 1);
      const text = formatShortKey(key);
      expect(parseShortKey(text)).toEqual({ ok: true, value: key });
      expect(readShortKey(`/person/${text}/x`, 8, 8 + text.length)).toBe(key);
    }),
  );
});

test("what parses is canonical", () => {
  const damaged = fc.nat(0xffffff).chain((key) => anyDamage(formatShortKey(key)));
  fc.assert(
    fc.property(damaged, (text) => {
      const key = parseShortKey(text);
      expect(key.ok).toBe(/^(0|[1-9a-f][0-9a-f]{0,11})$/.test(text));
      if (key.ok) expect(formatShortKey(key.value)).toBe(text);
    }),
    { numRuns: runs(500) },
  );
});

test.each([
  ["", { reason: "empty" }],
  ["23122E", { reason: "alphabet", at: 5 }],
  ["0x2f", { reason: "alphabet", at: 1 }],
  ["-1", { reason: "alphabet", at: 0 }],
  [" 2f", { reason: "whitespace", at: 0 }],
  ["2f\n", { reason: "whitespace", at: 2 }],
  ["\uff12", { reason: "alphabet", at: 0 }],
  ["2\0", { reason: "alphabet", at: 1 }],
  ["\ud800", { reason: "alphabet", at: 0 }],
  ["1000000000000", { reason: "length", expected: "1 to 12", actual: 13 }],
  ["0023122e", { reason: "shape", at: 0, suggestion: "23122e" }],
  ["000", { reason: "shape", at: 0, suggestion: "0" }],
])("%j is no short key", (text, error) => {
  expect(parseShortKey(text)).toEqual({ ok: false, error });
});

test.each([
  [0, 13],
  [-1, 3],
  [3, 3],
  [3, 1],
  [2, 7],
])("nothing from %d to %d", (start, end) => {
  expect(readShortKey("23122e", start, end)).toBeUndefined();
});
