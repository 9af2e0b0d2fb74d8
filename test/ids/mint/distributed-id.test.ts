import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  compareWords,
  customGenerator,
  type DistributedIdGenerator,
  type DistributedIdKind,
  distributedId128Kind,
  distributedIdGenerator,
  distributedIdKind,
  incrementalGenerator,
  type RandomWords,
  startDistributedId,
  stepDistributedId,
  type Words,
} from "../../../src/ids/index.ts";
import { runs } from "../../setup/property-runs.ts";
import { readCases, unhandled } from "../layouts/vector-file.ts";
import { seeded } from "./scripted-entropy.ts";

const NOW_MS = 1_577_836_800_000;

const kinds: Readonly<Record<string, DistributedIdKind>> = {
  DistributedId: distributedIdKind,
  DistributedId128: distributedId128Kind,
};

/** The random words for these random parts. */
const drawing = (values: readonly string[], bits: number): RandomWords => {
  const count = Math.ceil(bits / 32);
  const words = values.flatMap((value) =>
    Array.from({ length: count }, (_, word) =>
      Number(BigInt.asUintN(32, BigInt(value) >> BigInt(32 * (count - 1 - word)))),
    ),
  );
  const rest = words.values();
  return { word: () => rest.next().value as number };
};

test.each(readCases("distributed-id-generator"))("$id $op", async (vector) => {
  if (vector.op !== "generate") unhandled(vector);
  const input = vector.input as unknown as { kind: string; clockUnixMs: readonly number[]; random: readonly string[] };
  const rules = kinds[input.kind] ?? unhandled(vector);
  const clock = input.clockUnixMs.values();
  let sleeps = 0;
  let clockReads = 0;
  const generator = distributedIdGenerator(rules, {
    nowMs: () => {
      clockReads += 1;
      return clock.next().value ?? Number.NaN;
    },
    entropy: drawing(input.random, rules.random.bits),
    sleep: (durationMs) => {
      expect(durationMs).toBe(1);
      sleeps += 1;
      return Promise.resolve();
    },
  });
  const ids: string[] = [];
  for (let call = 0; call < input.random.length; call++) {
    const words = await generator.next();
    ids.push(words.ok ? rules.layout.format(words.value) : "THROW");
  }
  expect({ ids, sleeps, clockReads }).toEqual(vector.fields);
});

/** IDs minted while the clock stands still, until the step asks to wait. */
const burst = (rules: DistributedIdKind, seed: number): readonly Words[] => {
  const entropy = seeded(seed);
  const ids: Words[] = [];
  let state = startDistributedId;
  for (;;) {
    const random = BigInt(entropy.word()) * 2n ** 48n + BigInt(entropy.word()) * 2n ** 32n + BigInt(entropy.word());
    const step = stepDistributedId(rules, state, NOW_MS, BigInt.asUintN(rules.random.bits, random));
    if (!step.ok) throw new Error(JSON.stringify(step.error));
    if (step.value.kind === "wait") return ids;
    state = step.value.state;
    ids.push(step.value.words);
  }
};

test.each(Object.entries(kinds))(
  "IDs of %s rise while the clock stands still, until it waits",
  (name, rules) => {
    const ids = burst(rules, 7);
    // Published: a burst of about 128,000. DistributedId128 has one millisecond: 2^75 values at 2^57 per step.
    const falls = ids.filter((words, index) => index > 0 && compareWords(ids[index - 1] as Words, words) !== -1);
    expect([falls, ids.filter((words) => rules.layout.misfit(words) !== undefined)]).toEqual([[], []]);
    // Random parts near the maximum overflow within a few IDs.
    if (name === "DistributedId") {
      expect(ids.length).toBeGreaterThan(120_000);
      expect(ids.length).toBeLessThan(136_000);
    } else expect(ids.length).toBeGreaterThan(1000);
  },
  120_000,
);

test.each(Object.entries(kinds))("IDs of %s rise while the clock is set back by less than a second", (_name, rules) => {
  const anyStep = fc.record({
    backMs: fc.oneof(fc.constant(0), fc.integer({ min: -30, max: 999 })),
    // Random parts near the end of the field use it up within a few IDs.
    random: fc.oneof(fc.bigInt({ min: 0n, max: BigInt(rules.random.max) }), fc.constant(BigInt(rules.random.max))),
  });
  fc.assert(
    fc.property(fc.array(anyStep, { minLength: 2, maxLength: 40 }), (steps) => {
      let state = startDistributedId;
      let latestMs = NOW_MS;
      const ids: Words[] = [];
      for (const { backMs, random } of steps) {
        let nowMs = latestMs - backMs;
        let step = stepDistributedId(rules, state, nowMs, random);
        while (step.ok && step.value.kind === "wait") {
          nowMs += step.value.sleepMs;
          step = stepDistributedId(rules, state, nowMs, random);
        }
        latestMs = Math.max(latestMs, nowMs);
        if (!step.ok || step.value.kind === "wait") throw new Error(JSON.stringify(step));
        state = step.value.state;
        ids.push(step.value.words);
      }
      for (const [index, words] of ids.slice(1).entries()) expect(compareWords(ids[index] as Words, words)).toBe(-1);
    }),
    { numRuns: runs(100) },
  );
});

describe("a clock that is set back", () => {
  const step = (rules: DistributedIdKind, lastMs: number, lastRandom: bigint, nowMs: number, random: bigint) => {
    const next = stepDistributedId(rules, { lastMs, lastRandom }, nowMs, random);
    return next.ok && next.value.kind === "id" ? [next.value.state.lastMs, next.value.state.lastRandom] : next;
  };
  const full = distributedIdKind.random.max as bigint | number;

  test.each([
    ["room in the random part: it grows, however far the clock is", NOW_MS, 5n, NOW_MS - 3_600_000, 6n, [NOW_MS, 11n]],
    ["an increment of 0 counts as 1", NOW_MS, 5n, NOW_MS, 2n ** 41n, [NOW_MS, 6n]],
    ["a fresh 0 counts as 1", NOW_MS - 2000, 5n, NOW_MS, 0n, [NOW_MS - 1000, 1n]],
    ["used up, and leeway left", NOW_MS - 2, BigInt(full), NOW_MS, 6n, [NOW_MS - 1, 6n]],
    ["used up, beyond a second: starts over", NOW_MS + 1000, BigInt(full), NOW_MS, 6n, [NOW_MS - 1000, 6n]],
  ])("%s", (_name, lastMs, lastRandom, nowMs, random, expected) => {
    expect(step(distributedIdKind, lastMs, lastRandom, nowMs, random)).toEqual(expected);
  });

  test("used up, within a second: waits", () => {
    expect(step(distributedIdKind, NOW_MS + 999, BigInt(full), NOW_MS, 6n)).toEqual({
      ok: true,
      value: { kind: "wait", sleepMs: 1 },
    });
  });
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, -2_208_988_800_001, 0])(
  "a clock that reads %d is refused",
  (nowMs) => {
    expect(stepDistributedId(distributedIdKind, startDistributedId, nowMs, 1n)).toMatchObject({
      ok: false,
      error: { reason: "key-out-of-range", field: "mintedAt" },
    });
  },
);

test("calls that overlap get IDs in the order of the calls", async () => {
  let nowMs = NOW_MS;
  const generator = distributedIdGenerator(distributedId128Kind, {
    nowMs: () => nowMs,
    entropy: { word: () => 0xffffffff },
    sleep: () => {
      nowMs += 1;
      return Promise.resolve();
    },
  });
  const ids = await Promise.all(Array.from({ length: 50 }, () => generator.next()));
  const texts = ids.map((id) => (id.ok ? distributedId128Kind.layout.format(id.value) : "none"));
  expect(texts.toSorted()).toEqual(texts);
  expect(new Set(texts).size).toBe(50);
  expect(nowMs).toBeGreaterThan(NOW_MS);
});

describe("generators for tests", () => {
  const takeTwo = async (
    generator: DistributedIdGenerator,
    { layout }: DistributedIdKind,
  ): Promise<readonly string[]> => {
    const texts: string[] = [];
    for (let call = 0; call < 2; call++) {
      const words = await generator.next();
      texts.push(words.ok ? layout.format(words.value) : "none");
    }
    return texts;
  };

  test("incremental", async () => {
    const texts = await takeTwo(incrementalGenerator(distributedIdKind, 7n), distributedIdKind);
    expect(texts).toEqual(["1065896647567315933593600007", "1065896647567315933593600008"]);
  });

  test("custom", async () => {
    const words = [1, 2, 3, 4];
    expect(
      await takeTwo(
        customGenerator(() => words),
        distributedId128Kind,
      ),
    ).toEqual(["00000001-0000-0002-0000-000300000004", "00000001-0000-0002-0000-000300000004"]);
  });
});
