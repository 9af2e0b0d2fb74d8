import fc from "fast-check";
import { expect, it } from "vitest";
import { KeySet, PAGES_MAX } from "../../../src/cli/commands/luuid/key-set.ts";

const key = fc.tuple(
  fc.constantFrom(0, 1, 4095),
  fc.oneof(
    fc.nat(20),
    fc.integer({ min: 65_530, max: 65_545 }),
    fc.maxSafeNat().map((any) => any % 2 ** 48),
  ),
);

it("knows the keys that a set knows", () => {
  fc.assert(
    fc.property(fc.array(key, { maxLength: 300 }), fc.array(key, { maxLength: 100 }), (added, asked) => {
      const keys = new KeySet();
      const model = new Set<string>();
      for (const [group, primaryKey] of added) {
        const name = `${group}/${primaryKey}`;
        expect(keys.add(group, primaryKey)).toBe(!model.has(name));
        model.add(name);
      }
      expect(keys.size).toBe(model.size);
      for (const [group, primaryKey] of [...added, ...asked]) {
        expect(keys.has(group, primaryKey)).toBe(model.has(`${group}/${primaryKey}`));
      }
    }),
  );
});

it.each([
  ["rising", (at: number) => at],
  ["falling", (at: number) => 20_000 - at],
  ["scattered", (at: number) => (at * 7919) % 65_536],
])("keeps a full page of %s keys as bits", (_, keyAt) => {
  const keys = new KeySet();
  for (let at = 0; at < 20_000; at++) expect(keys.add(3, keyAt(at))).toBe(true);
  for (let at = 0; at < 20_000; at++) expect(keys.add(3, keyAt(at))).toBe(false);
  expect([keys.size, keys.isFull, keys.has(4, keyAt(1))]).toEqual([20_000, false, false]);
});

it("is full before scattered keys use up the memory", () => {
  const keys = new KeySet();
  for (let at = 0; at <= PAGES_MAX; at++) keys.add(at % 4096, Math.floor(at / 4096) * 65_536);
  expect(keys.isFull).toBe(true);
});
