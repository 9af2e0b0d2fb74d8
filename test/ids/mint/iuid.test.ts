import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  CLOCK_BEHIND_MS_MAX,
  formatUuid,
  type IuidState,
  iuid,
  mintIuid,
  type RandomWords,
  readUuid,
  startIuid,
} from "../../../src/ids/index.ts";
import { scripted, seeded } from "./scripted-entropy.ts";

const NOW_MS = 1_756_893_600_000;
const TIME_END_MS = 2 ** 48;

const start = (country = 5, service = 1): IuidState => {
  const state = startIuid({ country, service });
  if (!state.ok) throw new Error(JSON.stringify(state.error));
  return state.value;
};

/** A minter whose last ID was this one. */
const following = (text: string): IuidState => {
  const words = readUuid(text, 0, 36);
  if (words === undefined) throw new Error(`${text} is no UUID`);
  return { lastMs: iuid.mintedAtMs?.(words) ?? Number.NaN, lastWords: words };
};

const mint = (state: IuidState, nowMs: number, entropy: RandomWords): string => {
  const minted = mintIuid(state, nowMs, entropy);
  if (!minted.ok) return JSON.stringify(minted.error);
  expect(minted.value.state).toEqual(following(formatUuid(minted.value.words)));
  return formatUuid(minted.value.words);
};

describe("one step", () => {
  const last = "01990f04-d900-8005-8040-000000000001";
  test.each([
    ["a first ID", start(), NOW_MS, [0, 1], "01990f04-d900-8005-8040-000000000001"],
    [
      "a first ID has its top random bit clear",
      start(),
      NOW_MS,
      [0xffffffff, 0xffffffff],
      "01990f04-d900-8005-805f-ffffffffffff",
    ],
    ["a first ID in the first millisecond of all", start(), 0, [0, 0], "00000000-0000-8005-8040-000000000000"],
    ["a new millisecond draws afresh", following(last), NOW_MS + 1, [7, 9], "01990f04-d901-8005-8040-000700000009"],
    ["a standing clock adds at least 1", following(last), NOW_MS, [0], "01990f04-d900-8005-8040-000000000002"],
    [
      "a standing clock adds at most 2^32",
      following(last),
      NOW_MS,
      [0xffffffff],
      "01990f04-d900-8005-8040-000100000001",
    ],
    [
      "a clock that is a second behind goes on",
      following(last),
      NOW_MS - 1000,
      [0],
      "01990f04-d900-8005-8040-000000000002",
    ],
    [
      "a carry stays inside of the random part",
      following("01990f04-d900-8005-8040-0000ffffffff"),
      NOW_MS,
      [0],
      "01990f04-d900-8005-8040-000100000000",
    ],
    [
      "the greatest random part",
      following("01990f04-d900-8005-807f-fffffffffffe"),
      NOW_MS,
      [0],
      "01990f04-d900-8005-807f-ffffffffffff",
    ],
    [
      "a random part that is used up takes the next millisecond",
      following("01990f04-d900-8005-807f-ffffffffffff"),
      NOW_MS,
      [0, 3, 4],
      "01990f04-d901-8005-8040-000300000004",
    ],
    [
      "and does so behind a clock that stepped back",
      following("01990f04-d900-8005-807f-ffffffffffff"),
      NOW_MS - CLOCK_BEHIND_MS_MAX,
      [0, 3, 4],
      "01990f04-d901-8005-8040-000300000004",
    ],
    [
      "a clock more than a minute behind",
      following(last),
      NOW_MS - CLOCK_BEHIND_MS_MAX - 1,
      [],
      '{"reason":"clock-behind","behindMs":60001,"toleranceMs":60000}',
    ],
    [
      "the last millisecond of all",
      following("ffffffff-fffe-8005-8040-000000000001"),
      TIME_END_MS - 1,
      [0, 0],
      "ffffffff-ffff-8005-8040-000000000000",
    ],
    [
      "no millisecond after the last one",
      following("ffffffff-ffff-8005-807f-ffffffffffff"),
      TIME_END_MS - 1,
      [0],
      '{"reason":"key-out-of-range","field":"mintedAt","value":"281474976710656","max":"281474976710655"}',
    ],
  ])("%s", (_name, state, nowMs, words, expected) => {
    expect(mint(state, nowMs, scripted(...words))).toBe(expected);
  });
});

test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, TIME_END_MS])("the clock reading %d is refused", (nowMs) => {
  const error = { reason: "key-out-of-range", field: "mintedAt", value: String(nowMs), max: "281474976710655" };
  expect(mintIuid(start(), nowMs, scripted())).toEqual({ ok: false, error });
});

test.each([-1, 0.5, Number.NaN, Number.NEGATIVE_INFINITY, 256, 2 ** 32])("the key %d is refused", (value) => {
  const refused = (field: string) => ({
    ok: false,
    error: { reason: "key-out-of-range", field, value: String(value), max: "255" },
  });
  expect(startIuid({ country: value, service: 1 })).toEqual(refused("country"));
  expect(startIuid({ country: 1, service: value })).toEqual(refused("service"));
});

test("every country and service stands in every ID", () => {
  const wrong = Array.from({ length: 0x10000 }, (_, key) => key).filter((key) => {
    const minted = mintIuid(start(key >>> 8, key & 0xff), NOW_MS, seeded(key));
    if (!minted.ok || !iuid.fits(minted.value.words)) return true;
    const { country, service } = iuid.decode(minted.value.words);
    return country !== key >>> 8 || service !== (key & 0xff);
  });
  expect(wrong).toEqual([]);
});

test("whatever the clock does, IDs only rise, and stay less than a minute ahead of it", () => {
  const step = fc.oneof(
    fc.constant(0),
    fc.integer({ min: -70_000, max: 70_000 }),
    fc.constantFrom(1, -1, -60_000, 3_600_000),
  );
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 100 }),
      fc.integer(),
      fc.nat(0xff),
      fc.nat(0xff),
      (steps, seed, country, service) => {
        const entropy = seeded(seed);
        let state = start(country, service);
        let nowMs = NOW_MS;
        let last = "";
        for (const stepMs of steps) {
          nowMs += stepMs;
          const minted = mintIuid(state, nowMs, entropy);
          expect(minted.ok).toBe(state.lastMs - nowMs <= CLOCK_BEHIND_MS_MAX);
          if (!minted.ok) continue;
          state = minted.value.state;
          const text = formatUuid(minted.value.words);
          expect(text > last).toBe(true);
          expect(iuid.parse(text).ok && iuid.decode(minted.value.words)).toMatchObject({ country, service });
          expect(state.lastMs).toBeGreaterThanOrEqual(nowMs);
          last = text;
        }
      },
    ),
  );
});

test("a hundred thousand IDs of one millisecond rise and need no other", () => {
  const entropy = seeded(1);
  let state = start();
  for (let count = 0; count < 100_000; count++) {
    const minted = mintIuid(state, NOW_MS, entropy);
    if (!minted.ok) throw new Error(minted.error.reason);
    if (formatUuid(minted.value.words) <= formatUuid(state.lastWords) && count > 0)
      throw new Error(`ID ${count} is not greater`);
    state = minted.value.state;
  }
  expect(state.lastMs).toBe(NOW_MS);
});
