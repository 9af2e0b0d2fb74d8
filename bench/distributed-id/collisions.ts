import {
  type DistributedIdKind,
  type DistributedIdState,
  declareLayout,
  distributedIdKind,
  fieldOf,
  startDistributedId,
} from "../../src/ids/index.ts";
import { needed } from "../lib/random.ts";
import type { Section } from "../lib/report.ts";
import { SimulatedGenerator, START_MS } from "./generator.ts";

/**
 * How often two replicas generate the same ID. Collisions of 48 random bits are too rare to observe, so the simulation has
 * 16, with increments seven bits shorter as in the original. A pair of one timestamp then collides 2^32 times as often.
 */

const RANDOM_BITS = 16;
const RARITY_FACTOR = 2 ** (distributedIdKind.random.bits - RANDOM_BITS);
/** Mean increments that fit into the random part. */
const STEPS = 256;

export interface Load {
  readonly replicas: number;
  /** IDs per replica and millisecond. Default: the generator's maximum. */
  readonly rate?: number;
  /** IDs per collision in the worst case (README of Architect.Identities, The degenerate worst case). */
  readonly published?: number;
}

const LOADS: readonly Load[] = [
  { replicas: 2, published: 3500e9 },
  { replicas: 10, published: 350e9 },
  { replicas: 100, published: 35e9 },
  { replicas: 10, rate: 16 },
  { replicas: 10, rate: 1 },
];

/** A published figure has one or two digits. */
const PUBLISHED_TOLERANCE = 0.1;

export function collisions(count: number, say: (line: string) => void): Section {
  const results = LOADS.map((load) => {
    const { ids, pairs } = simulate(load, count);
    say(`${nameOf(load)}: ${pairs} collisions among ${ids} IDs of ${RANDOM_BITS} random bits`);
    return { load, ids, pairs, idsPerCollision: idsPerCollision(load) };
  });
  return {
    title: "DistributedId: collisions",
    note:
      "All replicas generate in the same milliseconds. Simulated with 16 random bits, scaled to 48 by 2^32. Calculated from " +
      "the density of a generator's IDs. Published: Architect.Identities 2.1.1.",
    columns: ["replicas and IDs", "IDs", "collisions", "IDs per collision, at 48 bits", "calculated", "published"],
    rows: results.map(({ load, ids, pairs, idsPerCollision: calculated }) => [
      nameOf(load),
      `${ids}`,
      `${pairs}`,
      pairs === 0 ? null : ((ids / pairs) * RARITY_FACTOR).toPrecision(3),
      calculated.toPrecision(3),
      load.published?.toPrecision(3) ?? null,
    ]),
    ...failureOf(results),
  };
}

const nameOf = ({ replicas, rate }: Load): string =>
  `${replicas} replicas, ${rate === undefined ? "maximum rate" : `${rate} per ms`}`;

/**
 * A replica has an ID at position u (0 to 1) of the random part with probability (1 + min(k - 1, 256u)) / 2^48. Here k is
 * its IDs per millisecond: the first is uniform, the others follow at the mean increment. Two replicas collide with the
 * square of that.
 */
export function idsPerCollision({ replicas, rate = STEPS + 1 }: Load): number {
  const turn = Math.min(1, (rate - 1) / STEPS);
  const meetings = ((1 + STEPS * turn) ** 3 - 1) / (3 * STEPS) + (1 - turn) * rate ** 2;
  const idsOfOne = Math.min(rate, STEPS / 2 + 2 / 3);
  const pairs = (replicas * (replicas - 1)) / 2;
  return (idsOfOne * replicas) / ((pairs * meetings) / 2 ** distributedIdKind.random.bits);
}

function simulate({ replicas, rate }: Load, count: number): { readonly ids: number; readonly pairs: number } {
  const endMs = START_MS + Math.max(1, Math.round(count / replicas / (rate ?? STEPS / 2)));
  const seen = new Map<number, number>();
  let ids = 0;
  let pairs = 0;
  for (let replica = 0; replica < replicas; replica++) {
    for (const { lastMs, lastRandom } of idsOfReplica(replica, rate, endMs)) {
      const place = (lastMs - START_MS) * 2 ** RANDOM_BITS + Number(lastRandom);
      const before = seen.get(place) ?? 0;
      seen.set(place, before + 1);
      pairs += before;
      ids += 1;
    }
  }
  return { ids, pairs };
}

/** A replica's IDs before `endMs`. Without a rate: as many as the bits allow. */
function* idsOfReplica(replica: number, rate: number | undefined, endMs: number): Generator<DistributedIdState> {
  const nowMs = START_MS + scaledKind.leewayMs;
  const generator = new SimulatedGenerator(scaledKind, replica + 1, startDistributedId, nowMs);
  for (let id = 0; ; id++) {
    if (rate !== undefined) generator.nowMs = nowMs + Math.floor(id / rate);
    const state = generator.next();
    if (state.lastMs >= endMs) return;
    yield state;
  }
}

/** A DistributedId with a narrower random part. */
const scaledLayout = needed(
  declareLayout({
    name: "scaled",
    rows: [
      { field: "mintedAt", bits: 48, role: "time", unit: "ms", epochMs: 0 },
      { field: "random", bits: RANDOM_BITS, role: "random" },
    ],
    text: "hex",
  }),
);

const scaledKind: DistributedIdKind = {
  ...distributedIdKind,
  layout: scaledLayout,
  time: fieldOf(scaledLayout, "mintedAt"),
  random: fieldOf(scaledLayout, "random"),
  epochMs: 0,
  incrementBits: RANDOM_BITS - 7,
};

interface Result {
  readonly load: Load;
  readonly ids: number;
  readonly pairs: number;
  readonly idsPerCollision: number;
}

function failureOf(results: readonly Result[]): Pick<Section, "failure"> {
  for (const { load, ids, pairs, idsPerCollision: calculated } of results) {
    const expected = (ids * RARITY_FACTOR) / calculated;
    // The calculation ignores the overflow into the next millisecond, up to an eighth of the collisions. Collisions of one
    // millisecond cluster, so the noise exceeds that of independent events.
    if (Math.abs(pairs - expected) > 0.15 * expected + 10 * Math.sqrt(expected) + 1) {
      return { failure: `${nameOf(load)}: ${pairs} collisions, expected ${expected.toFixed(1)}` };
    }
    if (load.published !== undefined && Math.abs(calculated / load.published - 1) > PUBLISHED_TOLERANCE) {
      return { failure: `${nameOf(load)}: one collision per ${calculated} IDs, published ${load.published}` };
    }
  }
  return {};
}
