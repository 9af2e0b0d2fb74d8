import { expect, it } from "vitest";
import {
  CLOCK_BEHIND_MS_MAX,
  mintHotguid,
  mintIuid,
  type RandomWords,
  startHotguid,
  startIuid,
  type Words,
} from "../../../src/ids/index.ts";
import { mintHotguids, withShardKey } from "../../../src/ids/mint/hotguid.ts";
import { mintIuids } from "../../../src/ids/mint/iuid.ts";
import { type MintedBatch, type MintResult, rowsOf } from "../../../src/ids/mint/mint.ts";
import { seeded } from "./scripted-entropy.ts";

const NOW_MS = 1_756_893_600_000;
const TIME_END_MS = 2 ** 48;
const SECONDS_END = 2 ** 32;

const started = <State>(state: { readonly ok: boolean; readonly value?: State }): State => {
  if (state.value === undefined) throw new Error("the minter does not start");
  return state.value;
};

const IUID = started(startIuid({ country: 5, service: 1 }));
const HOTGUID = started(startHotguid({ machine: 0xaabbcc, process: 0x0102 }, { shardKey: 208 }));

/** One by one, as far as it goes. */
function oneByOne<State>(
  mint: (state: State, nowMs: number, entropy: RandomWords) => MintResult<State>,
  start: State,
  nowMs: number,
): MintedBatch<State> {
  const entropy = seeded(7);
  const ids: Words[] = [];
  let state = start;
  while (ids.length < 300) {
    const next = mint(state, nowMs, entropy);
    if (!next.ok) return { state, rows: rowsOf(ids), error: next.error };
    state = next.value.state;
    ids.push(next.value.words);
  }
  return { state, rows: rowsOf(ids), error: undefined };
}

/** An iUID whose random part has so much left; below 0, nothing. */
const nearEnd = (lastMs: number, left: number) => {
  const lastWords = [...IUID.lastWords];
  lastWords[0] = Math.floor(lastMs / 2 ** 16);
  lastWords[1] = ((lastWords[1] as number) | ((lastMs % 2 ** 16) << 16)) >>> 0;
  lastWords[2] = ((lastWords[2] as number) | (0x3f_ffff - Math.max(left, 0))) >>> 0;
  lastWords[3] = left < 0 ? 0xffff_ffff : 0;
  return { lastMs, lastWords };
};

it.each([
  ["from the first on", IUID, NOW_MS],
  ["within the last millisecond", nearEnd(NOW_MS, 10_000), NOW_MS],
  ["over the end of a millisecond's random part", nearEnd(NOW_MS, 20), NOW_MS],
  ["over the end of all time", nearEnd(TIME_END_MS - 1, 20), TIME_END_MS - 1],
  ["too far behind", nearEnd(NOW_MS + CLOCK_BEHIND_MS_MAX, 20), NOW_MS],
  ["too far behind after one", nearEnd(NOW_MS + CLOCK_BEHIND_MS_MAX, -1), NOW_MS],
])("iUIDs at once are those one by one: %s", (_, start, nowMs) => {
  expect(mintIuids(start, 300, nowMs, seeded(7))).toEqual(oneByOne(mintIuid, start, nowMs));
});

const counted = (lastSecond: number, left: number) => ({ ...HOTGUID, lastSecond, lastCounter: 0xff_ffff - left });

it.each([
  ["from the first on", HOTGUID, NOW_MS],
  ["within the last second", counted(NOW_MS / 1000, 10_000), NOW_MS],
  ["over the end of a second's counter", counted(NOW_MS / 1000, 20), NOW_MS],
  ["over the end of all time", counted(SECONDS_END - 1, 20), (SECONDS_END - 1) * 1000],
  ["too far behind", counted((NOW_MS + CLOCK_BEHIND_MS_MAX) / 1000, 20), NOW_MS],
  ["too far behind after one", counted((NOW_MS + CLOCK_BEHIND_MS_MAX) / 1000, 0), NOW_MS],
])("HotGuids at once are those one by one: %s", (_, start, nowMs) => {
  expect(mintHotguids(start, 300, nowMs, seeded(7))).toEqual(oneByOne(mintHotguid, start, nowMs));
});

it("HotGuids of another shard key go on in order", () => {
  const own = mintHotguids(HOTGUID, 3, NOW_MS, seeded(7));
  const others = mintHotguids(withShardKey(own.state, 840), 3, NOW_MS, seeded(7));
  expect(others.state).toMatchObject({ lastSecond: own.state.lastSecond, lastCounter: own.state.lastCounter + 3 });
});
