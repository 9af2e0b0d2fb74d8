import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  CLOCK_BEHIND_MS_MAX,
  formatUuid,
  type HotguidState,
  hotguid,
  mintHotguid,
  skipHotguids,
  startHotguid,
} from "../../../src/ids/index.ts";
import { scripted, seeded } from "./scripted-entropy.ts";

const NOW_MS = 1_665_657_600_000;
const SECOND = NOW_MS / 1000;
const LAST_SECOND = 2 ** 32 - 1;
const COUNTER_MAX = 0xffffff;
/** The machine and process bytes of the published vectors. */
const IDENTITY = { machine: 0xaabbcc, process: 0x0102 };

const start = (shardKey = 208): HotguidState => {
  const state = startHotguid(IDENTITY, { shardKey });
  if (!state.ok) throw new Error(JSON.stringify(state.error));
  return state.value;
};

/** A minter whose last ID had this second and counter. */
const following = (second: number, counter: number): HotguidState => {
  const base = hotguid.encode({ ...IDENTITY, mintedAt: second, counter: 0, shardKey: 208 });
  if (!base.ok) throw new Error(JSON.stringify(base.error));
  return { base: base.value, lastSecond: second, lastCounter: counter };
};

describe("one step", () => {
  test.each([
    ["a first ID: the counter is incremented before use", start(), NOW_MS, [0], "6347eb00-bbaa-01cc-0200-0001d0000000"],
    ["the start stays below 500,000", start(), NOW_MS, [0xffffffff], "6347eb00-bbaa-01cc-0207-a120d0000000"],
    ["the last millisecond of a second", start(), NOW_MS + 999, [0], "6347eb00-bbaa-01cc-0200-0001d0000000"],
    ["a new second starts anew", following(SECOND, 9), NOW_MS + 1000, [0], "6347eb01-bbaa-01cc-0200-0001d0000000"],
    ["the same second counts on", following(SECOND, 0x010202), NOW_MS + 1, [], "6347eb00-bbaa-01cc-0201-0203d0000000"],
    [
      "a clock behind counts on",
      following(SECOND, 0x010202),
      NOW_MS - CLOCK_BEHIND_MS_MAX,
      [],
      "6347eb00-bbaa-01cc-0201-0203d0000000",
    ],
    ["the greatest counter", following(SECOND, COUNTER_MAX - 1), NOW_MS, [], "6347eb00-bbaa-01cc-02ff-ffffd0000000"],
    [
      "a counter that is used up takes the next second",
      following(SECOND, COUNTER_MAX),
      NOW_MS,
      [0],
      "6347eb01-bbaa-01cc-0200-0001d0000000",
    ],
  ])("%s", (_name, state, nowMs, words, expected) => {
    const minted = mintHotguid(state, nowMs, scripted(...words));
    expect(minted.ok && formatUuid(minted.value.words)).toBe(expected);
  });

  test.each([
    [
      "a clock more than a minute behind",
      following(SECOND, 1),
      NOW_MS - CLOCK_BEHIND_MS_MAX - 1,
      { reason: "clock-behind", behindMs: 60_001, toleranceMs: 60_000 },
    ],
    [
      "no second after the last one",
      following(LAST_SECOND, COUNTER_MAX),
      LAST_SECOND * 1000,
      { reason: "key-out-of-range", field: "mintedAt", value: "4294967296", max: "4294967295" },
    ],
    [
      "a clock in the year 2106 and beyond",
      start(),
      2 ** 32 * 1000,
      { reason: "key-out-of-range", field: "mintedAt", value: "4294967296", max: "4294967295" },
    ],
    [
      "a clock before 1970",
      start(),
      -1,
      { reason: "key-out-of-range", field: "mintedAt", value: "-1", max: "4294967295" },
    ],
    [
      "a clock that is no number",
      start(),
      Number.NaN,
      { reason: "key-out-of-range", field: "mintedAt", value: "NaN", max: "4294967295" },
    ],
    [
      "half a millisecond",
      start(),
      NOW_MS + 0.5,
      { reason: "key-out-of-range", field: "mintedAt", value: "1665657600.0005", max: "4294967295" },
    ],
  ])("refuses %s", (_name, state, nowMs, error) => {
    expect(mintHotguid(state, nowMs, scripted())).toEqual({ ok: false, error });
  });
});

test.each([-1, 0.5, Number.NaN, 2 ** 32, Number.POSITIVE_INFINITY])("the shard key %d is refused", (shardKey) => {
  const error = { reason: "key-out-of-range", field: "shardKey", value: String(shardKey), max: "4294967295" };
  expect(startHotguid(IDENTITY, { shardKey })).toEqual({ ok: false, error });
});

test.each([
  [{ machine: 2 ** 24, process: 0 }, "machine"],
  [{ machine: 0, process: 2 ** 16 }, "process"],
  [{ machine: -1, process: 0 }, "machine"],
])("the identity %o is refused", (identity, field) => {
  expect(startHotguid(identity, { shardKey: 0 })).toMatchObject({ ok: false, error: { field } });
});

test("whatever the clock does, IDs only rise, with one identity and key", () => {
  const step = fc.oneof(
    fc.constant(0),
    fc.integer({ min: -70_000, max: 70_000 }),
    fc.constantFrom(1, 999, -60_000, 3_600_000),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), fc.integer(), fc.nat(0xffffffff), (steps, seed, shardKey) => {
      const entropy = seeded(seed);
      let state = start(shardKey);
      let nowMs = NOW_MS;
      let last = "";
      for (const stepMs of steps) {
        nowMs += stepMs;
        const minted = mintHotguid(state, nowMs, entropy);
        expect(minted.ok).toBe(state.lastSecond * 1000 - nowMs <= CLOCK_BEHIND_MS_MAX);
        if (!minted.ok) continue;
        state = minted.value.state;
        const text = formatUuid(minted.value.words);
        expect(text > last).toBe(true);
        expect(hotguid.decode(minted.value.words)).toEqual({
          ...IDENTITY,
          shardKey,
          mintedAt: state.lastSecond,
          counter: state.lastCounter,
        });
        last = text;
      }
    }),
  );
});

test("a second holds all counters that are left, and the next second takes over", () => {
  let state = following(SECOND, COUNTER_MAX - 3);
  const seconds: number[] = [];
  for (let count = 0; count < 5; count++) {
    const minted = mintHotguid(state, NOW_MS, seeded(count + 1));
    if (!minted.ok) throw new Error(minted.error.reason);
    state = minted.value.state;
    seconds.push(state.lastSecond - SECOND);
  }
  expect(seconds).toEqual([0, 0, 0, 1, 1]);
});

test.each([Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY, -0.5])(
  "%d skipped IDs leave none to be repeated",
  (count) => {
    const state = following(SECOND, 7);
    const minted = mintHotguid(skipHotguids(state, count), NOW_MS, seeded(1));
    expect(minted).toMatchObject({ ok: true, value: { state: { lastSecond: SECOND + 1 } } });
  },
);

test.each([0, 1, 500])("%d skipped IDs are skipped", (count) => {
  const minted = mintHotguid(skipHotguids(following(SECOND, 7), count), NOW_MS, seeded(1));
  expect(minted).toMatchObject({ ok: true, value: { state: { lastSecond: SECOND, lastCounter: 8 + count } } });
});
