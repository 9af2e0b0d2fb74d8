import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../../src/edge/config.ts";
import type { Env } from "../../../src/edge/env.ts";
import { pooledEntropy } from "../../../src/edge/platform.ts";
import { isolateMinters } from "../../../src/features/mint/edge/minters.ts";
import type { MinterPorts } from "../../../src/features/mint/edge/numbered-minter.ts";
import type { SequenceUse } from "../../../src/features/mint/edge/sequences.ts";
import { durableSequences } from "../../../src/features/mint/edge/sequences.ts";
import { fieldOf, luuid, PRIMARY_KEY_MAX } from "../../../src/ids/index.ts";
import { wordsIn } from "../../../src/ids/mint/mint.ts";
import { hasKey, type KeyRange, parseKeyRange, sharedKey } from "../../../src/ids/tools/key-range.ts";

const { SEQUENCES } = env as Env;
const waitUntil = () => undefined;

const minters = (primaryKeys: MinterPorts["primaryKeys"]) =>
  isolateMinters({
    clock: { nowMs: () => 0 },
    entropy: pooledEntropy(),
    sequences: durableSequences(SEQUENCES, { nowMs: () => 0, waitUntil }),
    primaryKeys,
  });

const keysOf = async (gateway: ReturnType<typeof minters>, group: number, count: number): Promise<number[]> => {
  const minted = await gateway.mint({ layout: luuid, keys: { group } }, count);
  if (!minted.ok) throw new Error(minted.error.reason);
  return wordsIn(minted.value, 4).map((words) => fieldOf(luuid, "primaryKey").read(words));
};

describe("the range of a deployment's primary keys", () => {
  it.each(["1/3", "2/3", "0/1", "0/1024", "1023/1024"])("%s is a part", (text) => {
    const { first, last } = parseKeyRange(text) as KeyRange;
    expect(first).toBeGreaterThan(0);
    expect(last).toBeGreaterThan(first);
    expect(last).toBeLessThanOrEqual(PRIMARY_KEY_MAX);
  });

  it.each([2, 3, 7, 1024])("%i parts leave no key out and share none", (parts) => {
    const ranges = Array.from({ length: parts }, (_, part) => parseKeyRange(`${part}/${parts}`) as KeyRange);
    expect([ranges[0]?.first, ranges.at(-1)?.last]).toEqual([1, PRIMARY_KEY_MAX]);
    for (const [at, { first }] of ranges.entries()) if (at > 0) expect(first).toBe((ranges[at - 1]?.last ?? 0) + 1);
  });

  it.each(["", "4/4", "1", "1/0", "01/4", "1/4 ", "-1/4", "1/1025", "1-999"])("%j is none", (text) => {
    expect(parseKeyRange(text)).toBeUndefined();
    const { primaryKeys, faults } = readConfig({ SEQUENCE_RANGE: text });
    expect([primaryKeys, faults.map(({ setting }) => setting)]).toEqual(["faulty", ["SEQUENCE_RANGE"]]);
  });

  it("begins at its first key, and shows it in a sample", async () => {
    const part = minters(readConfig({ SEQUENCE_RANGE: "2/4" }).primaryKeys);
    const first = 2 ** 47;
    const sample = await part.sample({ layout: luuid, keys: { group: 1 } }, 1);
    expect(sample.ok && sample.value && fieldOf(luuid, "primaryKey").read(sample.value)).toBe(first);
    expect(await keysOf(part, 1, 3)).toEqual([first, first + 1, first + 2]);
  });

  it("is never left: what it has not is refused", async () => {
    const narrow = minters({ first: 10, last: 12 });
    expect(await keysOf(narrow, 2, 3)).toEqual([10, 11, 12]);
    expect(await narrow.mint({ layout: luuid, keys: { group: 2 } }, 1)).toMatchObject({
      error: { reason: "sequence-exhausted" },
    });
    // A sequence never goes back, whatever the setting says later.
    expect(await minters({ first: 1, last: 12 }).mint({ layout: luuid, keys: { group: 2 } }, 1)).toMatchObject({
      error: { reason: "sequence-exhausted" },
    });
  });

  it("mints nothing where the setting is faulty", async () => {
    const faulty = minters("faulty");
    const refused = { ok: false, error: { reason: "sequence-unavailable", name: "luuid-3", isRangeInvalid: true } };
    expect(await faulty.mint({ layout: luuid, keys: { group: 3 } }, 1)).toEqual(refused);
    expect(await faulty.sample({ layout: luuid, keys: { group: 3 } }, 1)).toEqual(refused);
  });
});

describe("a range from a first key on", () => {
  const range = (text: string) => parseKeyRange(text) as KeyRange;
  const refused = (group: number, least: number) => ({
    ok: false,
    error: { reason: "sequence-range-refused", name: `luuid-${group}`, least },
  });
  const mint = (text: string, group: number) => minters(range(text)).mint({ layout: luuid, keys: { group } }, 1);

  it.each([
    ["0/4 from 5000", 5000],
    ["1/4 from 5000", 5001],
    ["3/4 from 5001", 5003],
    ["0/4 from 5001", 5004],
    ["0/1 from 1", 1],
    ["1023/1024 from 1", 1023],
  ])("%s begins at %i", (text, first) => expect(range(text).first).toBe(first));

  it.each([
    "1/4 from",
    "1/4 from 0",
    "1/4 from 05",
    "1/4 from -1",
    "1/4 from 1e3",
    "1/4 from 4c4b",
    "1/4  from 5",
    "1/4 from 5 ",
    "from 5",
    "4/4 from 5",
    `1/4 from ${PRIMARY_KEY_MAX - 2}`,
    "1/4 FROM 5",
  ])("%j is none", (text) => expect(parseKeyRange(text)).toBeUndefined());

  it.each([1, 2, 3, 4, 7, 1024])("%i parts share no key and leave none out, to the end of the field", (parts) => {
    const from = 4999;
    const all = Array.from({ length: parts }, (_, part) => range(`${part}/${parts} from ${from}`));
    const count = (key: number) => all.filter((each) => hasKey(each, key)).length;
    for (let key = from - 2; key < from + 2 * parts; key++) expect(count(key)).toBe(key < from ? 0 : 1);
    for (let key = PRIMARY_KEY_MAX; key > PRIMARY_KEY_MAX - parts; key--) expect(count(key)).toBe(1);
    for (const [at, one] of all.entries()) {
      expect(all.slice(at + 1).filter((other) => sharedKey(one, other) !== undefined)).toEqual([]);
    }
  });

  it.each([
    ["0/4 from 100", "0/2 from 200", 200],
    ["1/4 from 100", "0/2 from 200", undefined],
    ["0/4 from 100", "0/4", 100],
    ["1/4 from 100", "3/4", 211_106_232_532_993],
    ["2/4 from 100", "5/6 from 50", undefined],
    ["1/4 from 100", "5/6 from 50", 101],
  ])("%s and %s share first %s", (one, other, key) => {
    expect([sharedKey(range(one), range(other)), sharedKey(range(other), range(one))]).toEqual([key, key]);
  });

  it("gives short keys, block after block, that no other part gives", async () => {
    const given = new Set<number>();
    for (const part of [0, 1, 2, 3]) {
      const gateway = minters(range(`${part}/4 from 5000`));
      const sample = await gateway.sample({ layout: luuid, keys: { group: 100 + part } }, 1);
      expect(sample.ok && sample.value && fieldOf(luuid, "primaryKey").read(sample.value)).toBe(5000 + part);
      const keys = [...(await keysOf(gateway, 100 + part, 150)), ...(await keysOf(gateway, 100 + part, 3))];
      expect(keys).toEqual(Array.from({ length: 153 }, (_, at) => 5000 + part + 4 * at));
      for (const key of keys) given.add(key);
      // Another isolate goes on behind the blocks of the first one.
      const [next = 0] = await keysOf(minters(range(`${part}/4 from 5000`)), 100 + part, 1);
      expect([next % 4, next > Math.max(...keys)]).toEqual([part, true]);
    }
    expect(given.size).toBe(4 * 153);
  });

  it("is refused unless it begins above all keys that were given", async () => {
    await keysOf(minters(range("0/4")), 110, 3);
    // A block of 64 is counted as given.
    expect(await mint("0/4 from 64", 110)).toEqual(refused(110, 65));
    expect(await keysOf(minters(range("0/4 from 65")), 110, 2)).toEqual([68, 72]);
  });

  it.each(["0/4", "0/1", "1/4", "3/4"])("is not left for %s: others have the keys between", async (text) => {
    const group = 120 + Number(text[0]) + 10 * Number(text[2]);
    await keysOf(minters(range("1/4 from 1000")), group, 2);
    const used = 1001 + 63 * 4;
    expect(await mint(text, group)).toEqual(refused(group, used + 1));
    const whole = await minters(undefined).mint({ layout: luuid, keys: { group } }, 1);
    expect(whole).toEqual(refused(group, used + 1));
    expect(await keysOf(minters(range("1/4 from 1000")), group, 1)).toEqual([used + 4]);
  });

  it("is changed to other parts from a number above its keys", async () => {
    await keysOf(minters(range("1/4 from 1000")), 180, 2);
    for (const text of ["1/8 from 1000", "1/4 from 1001", "2/4 from 1253"])
      expect(await mint(text, 180)).toEqual(refused(180, 1254));
    expect(await keysOf(minters(range("1/8 from 1254")), 180, 2)).toEqual([1257, 1265]);
    expect(await mint("1/4 from 1000", 180)).toMatchObject({ error: { reason: "sequence-range-refused" } });
  });

  it("ends where the field does", async () => {
    const from = PRIMARY_KEY_MAX - 9;
    const gateway = minters(range(`3/4 from ${from}`));
    expect(await keysOf(gateway, 190, 2)).toHaveLength(2);
    expect(await gateway.mint({ layout: luuid, keys: { group: 190 } }, 2)).toMatchObject({
      error: { reason: "sequence-exhausted" },
    });
  });
});

describe("the end of a range", () => {
  it("is announced at 90 and at 99 percent, once for all isolates", async () => {
    const uses: SequenceUse[] = [];
    const isolates = Array.from({ length: 4 }, () =>
      durableSequences(SEQUENCES, { nowMs: () => 0, waitUntil, onUse: (use) => uses.push(use) }),
    );
    for (let turn = 0; turn < 200; turn++) {
      const taken = await isolates[turn % 4]?.take("end", 64, { first: 1001, max: 1000 + 12_800 });
      if (taken?.ok !== true) break;
    }
    const announced = uses.filter(({ isFirst }) => isFirst);
    expect(announced.map(({ percent }) => percent)).toEqual([90, 99]);
    expect(announced[0]).toMatchObject({ name: "end", max: 13_800 });
    expect(announced[0]?.last).toBeGreaterThanOrEqual(1000 + 11_520);
    expect(new Set(uses.map(({ percent }) => percent))).toEqual(new Set([0, 90, 99]));
  });
});
