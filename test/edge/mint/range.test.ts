import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../../src/edge/config.ts";
import type { Env } from "../../../src/edge/env.ts";
import { isolateMinters } from "../../../src/edge/mint/minters.ts";
import type { MinterPorts } from "../../../src/edge/mint/numbered-minter.ts";
import { durableSequences } from "../../../src/edge/mint/sequences.ts";
import type { SequenceUse } from "../../../src/edge/mint/use.ts";
import { pooledEntropy } from "../../../src/edge/platform.ts";
import { fieldOf, luuid, PRIMARY_KEY_MAX } from "../../../src/ids/index.ts";
import { wordsIn } from "../../../src/ids/mint/mint.ts";
import { type KeyRange, parseKeyRange } from "../../../src/ids/tools/key-range.ts";

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
    const refused = { ok: false, error: { reason: "sequence-unavailable", name: "luuid-3" } };
    expect(await faulty.mint({ layout: luuid, keys: { group: 3 } }, 1)).toEqual(refused);
    expect(await faulty.sample({ layout: luuid, keys: { group: 3 } }, 1)).toEqual(refused);
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
