import { distributedId128Kind, distributedIdKind } from "../../src/ids/index.ts";
import { randomBelow, seededWords } from "../lib/random.ts";
import type { Bench, Cell, Section } from "../lib/report.ts";
import { collisions } from "./collisions.ts";
import { SimulatedGenerator, START_MS } from "./generator.ts";

/** DistributedId generators against the published figures of Architect.Identities 2.1.1 (README, Rate Limits). */
export const distributedIdBench: Bench = {
  name: "distributed-id",
  run: async ({ count = IDS_DEFAULT, progress }) => {
    const say = (line: string) => progress(`DistributedId: ${line}`);
    return [rates(count, say), order(count, say), collisions(count, say)];
  },
};

const IDS_DEFAULT = 2_000_000;

/** "128K" and "roughly 128" have two significant digits. */
const TOLERANCE = 0.02;

interface Rate {
  readonly what: string;
  readonly simulated: number;
  /** By calculation: a mean increment of 2^40, and room for 2^47 on average. */
  readonly calculated: number;
  readonly published: number | null;
}

/** IDs per timestamp: the first, then uniform steps up to 2^41 (or 2^58) through the rest of 2^48 (or 2^75). */
const perTimestamp = (randomBits: number, incrementBits: number): number => 2 ** (randomBits - incrementBits) + 2 / 3;

function rates(count: number, say: (line: string) => void): Section {
  const generator = new SimulatedGenerator(distributedIdKind, 1);
  const calculated = perTimestamp(48, 41);
  const rows: Rate[] = [];
  const add = (row: Rate): void => {
    say(`${row.what}: ${row.simulated.toFixed(1)}`);
    rows.push(row);
  };
  const burst = { calculated: calculated * 1000, published: 128_000 };
  add({ what: "IDs at once, clock stopped", simulated: generator.burst(), ...burst });
  const sustainedMs = Math.ceil(count / calculated);
  let sustained = 0;
  for (let ms = 0; ms < sustainedMs; ms++) {
    generator.nowMs += 1;
    sustained += generator.burst();
  }
  add({ what: "IDs per ms after that", simulated: sustained / sustainedMs, calculated, published: 128 });
  generator.nowMs += 1000;
  add({ what: "IDs at once after a second of rest", simulated: generator.burst(), ...burst });
  for (let ms = 0; ms < 2000; ms++) {
    generator.nowMs += 1;
    for (let id = 0; id < calculated / 2; id++) generator.next();
  }
  add({ what: "IDs at once after two seconds at half the rate", simulated: generator.burst(), ...burst });
  add({
    what: "DistributedId128: IDs in one ms, random part starting at 0",
    simulated: new SimulatedGenerator(distributedId128Kind, 1, { lastMs: START_MS, lastRandom: 0n }).burst(),
    calculated: 2 * perTimestamp(75, 58),
    published: null,
  });
  return {
    title: "DistributedId: rates",
    note: "Simulated with the library's own step. Published: Architect.Identities 2.1.1.",
    columns: ["what", "simulated", "calculated", "published"],
    rows: rows.map(({ what, simulated, calculated: expected, published }): Cell[] => [
      what,
      simulated.toFixed(simulated < 1000 ? 2 : 0),
      expected.toFixed(expected < 1000 ? 2 : 0),
      published === null ? null : String(published),
    ]),
    ...failureOf(count, rows),
  };
}

/** Each millisecond's room is random, so the tolerance grows with the noise of small samples. */
function failureOf(count: number, rows: readonly Rate[]): Pick<Section, "failure"> {
  const noise = 5 / Math.sqrt(Math.max(10, count / perTimestamp(48, 41)));
  const wrong = rows.find(({ simulated, calculated }) => Math.abs(simulated / calculated - 1) > TOLERANCE + noise);
  return wrong === undefined ? {} : { failure: `${wrong.what}: ${wrong.simulated}, expected ${wrong.calculated}` };
}

interface Adjustments {
  readonly what: string;
  /** Maximum lag of the clock. It is adjusted about every 200 IDs. */
  readonly behindMsMax: number;
  /** IDs per ms. */
  readonly rate: number;
  readonly published: string | null;
}

const ADJUSTMENTS: readonly Adjustments[] = [
  { what: "never, at full rate", behindMsMax: 0, rate: 1000, published: "0" },
  { what: "by up to 1 s, 10 IDs per ms", behindMsMax: 1000, rate: 10, published: "0" },
  { what: "by up to 1 s, at full rate", behindMsMax: 1000, rate: 1000, published: "0" },
  { what: "by up to 10 s, 10 IDs per ms", behindMsMax: 10_000, rate: 10, published: null },
  { what: "by up to 10 s, at full rate", behindMsMax: 10_000, rate: 1000, published: null },
];

function order(count: number, say: (line: string) => void): Section {
  const results = ADJUSTMENTS.map((adjustments, seed) => {
    const result = { ...adjustments, ...keepOrder(adjustments, Math.ceil(count / 4), seed + 1) };
    say(`clock set back ${result.what}: ${result.falls} of ${result.ids} out of order`);
    return result;
  });
  const wrong = results.find(({ published, falls }) => published !== null && falls > 0);
  return {
    title: "DistributedId: order",
    note: "IDs not greater than the previous one, while the clock is set back at random.",
    columns: ["clock set back", "IDs", "out of order", "published", "ms waited"],
    rows: results.map(({ what, ids, falls, published, waits }) => [what, `${ids}`, `${falls}`, published, `${waits}`]),
    ...(wrong === undefined ? {} : { failure: `${wrong.falls} IDs out of order, the clock set back ${wrong.what}` }),
  };
}

function keepOrder({ behindMsMax, rate }: Adjustments, ids: number, seed: number) {
  const generator = new SimulatedGenerator(distributedIdKind, seed);
  const random = seededWords(seed);
  let behindMs = 0;
  let falls = 0;
  let last = { lastMs: Number.NEGATIVE_INFINITY, lastRandom: 0n };
  for (let id = 0; id < ids; id++) {
    if (randomBelow(random, rate) === 0) generator.nowMs += 1;
    if (randomBelow(random, 200) === 0) {
      const trueMs = generator.nowMs + behindMs;
      behindMs = randomBelow(random, behindMsMax + 1);
      generator.nowMs = trueMs - behindMs;
    }
    const state = generator.next();
    const rises = state.lastMs > last.lastMs || (state.lastMs === last.lastMs && state.lastRandom > last.lastRandom);
    if (!rises) falls += 1;
    last = state;
  }
  return { ids, falls, waits: generator.waits };
}
