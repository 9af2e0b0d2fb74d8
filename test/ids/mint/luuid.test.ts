import fc from "fast-check";
import { expect, test } from "vitest";
import { formatUuid, luuid, mintLuuid, PRIMARY_KEY_MAX } from "../../../src/ids/index.ts";
import { scripted, seeded } from "./scripted-entropy.ts";

test.each([
  [{ group: 0, primaryKey: 1 }, [0, 0], "00000000-0001-6000-a000-000000000000"],
  [{ group: 0xaa1, primaryKey: 0x23122e }, [0x078928ef, 0x27ab7c62], "00000023-122e-6aa1-a789-28ef27ab7c62"],
  [{ group: 4095, primaryKey: PRIMARY_KEY_MAX }, [0xffffffff, 0xffffffff], "ffffffff-ffff-6fff-afff-ffffffffffff"],
])("%o", (keys, words, expected) => {
  const minted = mintLuuid(keys, scripted(...words));
  expect(minted.ok && formatUuid(minted.value)).toBe(expected);
});

test("any keys and random bits come back", () => {
  fc.assert(
    fc.property(fc.nat(4095), fc.maxSafeNat(), fc.integer(), (group, number, seed) => {
      const primaryKey = number % (PRIMARY_KEY_MAX + 1);
      const minted = mintLuuid({ group, primaryKey }, seeded(seed));
      const [head, tail] = [seeded(seed)].map((entropy) => [entropy.word(), entropy.word()] as const)[0] ?? [0, 0];
      const random = (BigInt(head & 0x0fffffff) << 32n) | BigInt(tail);
      expect(minted.ok && luuid.fits(minted.value) && luuid.decode(minted.value)).toEqual({
        group,
        primaryKey,
        random,
        version: 6,
        variant: 10,
      });
    }),
  );
});

test.each([-1, 0.5, Number.NaN, 4096, Number.POSITIVE_INFINITY])("the group %d is refused", (group) => {
  const error = { reason: "key-out-of-range", field: "group", value: String(group), max: "4095" };
  expect(mintLuuid({ group, primaryKey: 1 }, scripted())).toEqual({ ok: false, error });
});

test.each([-1, 0.5, Number.NaN, 2 ** 48, Number.POSITIVE_INFINITY])("the primary key %d is refused", (primaryKey) => {
  const error = { reason: "key-out-of-range", field: "primaryKey", value: String(primaryKey), max: "281474976710655" };
  expect(mintLuuid({ group: 1, primaryKey }, scripted())).toEqual({ ok: false, error });
});
