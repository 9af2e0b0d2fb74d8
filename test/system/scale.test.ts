import { describe, expect, it } from "vitest";
import { seededChance } from "../../bench/scale/chance.ts";
import { fleetOf } from "../../bench/scale/figures.ts";
import { MILLION } from "../../bench/scale/inputs.ts";
import { missedShare } from "../../bench/scale/large-packs.ts";
import { locationsOf, sumOver } from "../../bench/scale/locations.ts";
import { laterReads } from "../../bench/scale/packs.ts";
import { dollars, PRICES } from "../../bench/scale/prices.ts";
import { breakerShareInSecond, propagationOf } from "../../bench/scale/propagation.ts";
import {
  newValueReads,
  readsUntilCached,
  reportSecondsFor,
  reportsPerSecond,
  survival,
  timesPerLife,
} from "../../bench/scale/renewal.ts";
import { RequestQueue } from "../../bench/scale/request-queue.ts";
import { blocksPerLife, chanceOfMint } from "../../bench/scale/simulated-blocks.ts";
import { pagesKept } from "../../bench/scale/simulated-pages.ts";
import { simulate } from "../../bench/scale/simulation.ts";
import { money, shown } from "../../bench/scale/text.ts";
import { compare } from "../../bench/scale.bench.ts";
import { PackPage } from "../../src/routing/pack/page.ts";

describe("locations", () => {
  it("share all traffic, the k-th 1/k of the first, and have an isolate at least", () => {
    const locations = locationsOf({ ...MILLION, requestsPerSecond: 5_000 });
    expect(sumOver(locations, ({ requestsPerSecond }) => requestsPerSecond)).toBeCloseTo(5_000);
    expect(locations).toHaveLength(300);
    expect(locations[9]?.requestsPerSecond).toBeCloseTo((locations[0]?.requestsPerSecond ?? 0) / 10);
    expect(locations.at(-1)).toMatchObject({ isolates: 1 });
    expect(sumOver(locations, (at) => at.isolates * at.isolateRequestsPerSecond)).toBeCloseTo(5_000);
  });
});

describe("what is done once in a pause", () => {
  it("has a chance of e^(-pause/life) to come again, a little more with jitter", () => {
    expect(survival(30, 0, 60)).toBeCloseTo(Math.exp(-0.5), 10);
    const steps = Array.from({ length: 1_000 }, (_, at) => Math.exp(-(27 + (6 * (at + 0.5)) / 1_000) / 60));
    expect(survival(30, 0.1, 60)).toBeCloseTo(steps.reduce((sum, step) => sum + step, 0) / 1_000, 7);
  });

  it("is done once in a life without a second request, and life / pause times in a long one", () => {
    expect(timesPerLife(0.9, 1e-9, 1)).toBeCloseTo(1);
    expect(timesPerLife(survival(10, 0, 1e6), 1e6, 1e6)).toBeCloseTo(1e5 + 0.5, 0);
  });

  it("needs the least REPORT_SECONDS that keeps to the calls of so many objects", () => {
    const { locations } = fleetOf(MILLION);
    const callsAt = (reportSeconds: number): number => reportsPerSecond({ ...MILLION, reportSeconds }, locations);
    for (const objects of [1, 3]) {
      const seconds = reportSecondsFor(MILLION, locations, objects);
      expect(callsAt(seconds)).toBeLessThanOrEqual(500 * objects);
      expect(callsAt(seconds - 1)).toBeGreaterThan(500 * objects);
    }
  });
});

describe("reads of a new value", () => {
  it("are as many as isolates ask before the cache has it, by drawing them", () => {
    const { uniform } = seededChance(3);
    const draw = (isolates: number, fillSeconds: number): number => {
      const times = Array.from({ length: isolates }, () => 30 * uniform());
      const first = Math.min(...times);
      return times.filter((seconds) => seconds <= first + fillSeconds).length;
    };
    for (const [isolates, fillSeconds] of [
      [1, 0.5],
      [6, 3],
      [100, 0.5],
    ] as const) {
      let sum = 0;
      for (let at = 0; at < 4_000; at++) sum += draw(isolates, fillSeconds);
      expect(readsUntilCached(isolates, fillSeconds, 30) / (sum / 4_000)).toBeCloseTo(1, 1);
    }
  });

  it("are one for each isolate where the cache takes longer than a cycle", () => {
    expect(readsUntilCached(50, 60, 30)).toBe(50);
    const { locations, isolates } = fleetOf(MILLION);
    expect(newValueReads({ ...MILLION, bodyFillSeconds: 60 }, locations)).toBe(isolates);
  });
});

describe("parts of packs", () => {
  it("are read by those who ask before the cache has them, by drawing them", () => {
    const { uniform, exponential } = seededChance(8);
    for (const [isolates, waitSeconds] of [
      [1, 9],
      [3, 0.1],
      [40, 9],
      [1_500, 9],
    ] as const) {
      let reads = 0;
      for (let at = 0; at < 1_000; at++) {
        const asked = Array.from({ length: isolates }, () => 30 * uniform() + exponential(waitSeconds));
        const first = asked.reduce((least, seconds) => Math.min(least, seconds));
        reads += asked.filter((seconds) => seconds <= first + 0.5).length;
      }
      expect(laterReads(isolates, 0.5, 30, waitSeconds) / (reads / 1_000)).toBeCloseTo(1, 1);
    }
    // Without a wait to speak of they are asked for as any value is.
    expect(laterReads(100, 0.5, 30, 1e-3)).toBeCloseTo(readsUntilCached(100, 0.5, 30), 1);
  });

  it("wait for none where all are kept, and for all that are not where they are looked into alike", () => {
    expect(missedShare([0.5, 0.3, 0.2], 3)).toBe(0);
    expect(missedShare(new Array(64).fill(1 / 64), 16)).toBeCloseTo(0.75, 6);
    // Of two that are kept one is the page of half of all looks, unless the last two were for others: 0.5 × 0.25 + 0.5 × 0.99.
    expect(missedShare([0.5, ...new Array(50).fill(0.01)], 2)).toBeCloseTo(0.62, 2);
  });

  it("have room in memory for so many full pages as the input says", () => {
    const ranges = MILLION.pageOctets / MILLION.rangeOctets;
    const records = Uint32Array.from({ length: 2 * Math.floor(ranges) }, (_, at) => (at % 2 === 0 ? at * 50 : 0));
    const { bytes } = new PackPage(records);
    expect(bytes / ranges).toBeCloseTo(MILLION.rangeMemoryOctets, 3);
    expect(pagesKept(MILLION)).toBe(Math.floor(MILLION.packMemoryOctets / bytes));
  });
});

describe("blocks of numbers", () => {
  it("are as many in a life as its numbers begin, by drawing them", () => {
    const { uniform } = seededChance(2);
    for (const [perSecond, lifeSeconds] of [
      [0.1, 1_800],
      [0.001, 100],
    ] as const) {
      const chance = chanceOfMint(perSecond, lifeSeconds);
      let blocks = 0;
      for (let life = 0; life < 20_000; life++) {
        blocks += Math.ceil(Math.floor(Math.log(uniform()) / Math.log(chance)) / 64);
      }
      expect(blocksPerLife(chance, 64) / (blocks / 20_000)).toBeCloseTo(1, 1);
    }
  });
});

describe("propagation", () => {
  it("is the sum of two uniform times where there is no jitter and no wait", () => {
    const inputs = { ...MILLION, refreshJitter: 1e-6, publishSeconds: 2, bodyFillSeconds: 0.5 };
    const { quantile, worstSeconds } = propagationOf(inputs, 1e4, 1);
    expect(quantile(0.5)).toBeCloseTo(2.5 + 45, 0);
    expect(quantile(0.99)).toBeCloseTo(2.5 + 90 - Math.sqrt(2 * 0.01 * 60 * 30), 0);
    expect(worstSeconds).toBeCloseTo(92.5, 1);
  });

  it("tells of breakers within a second where an origin gets much, and later where it gets little", () => {
    expect(breakerShareInSecond(MILLION, 100)).toBeGreaterThan(0.999);
    // One request in three: the fifth of them comes after 150 s or so, within tens of seconds.
    expect(breakerShareInSecond(MILLION, 0.1)).toBeLessThan(0.02);
  });
});

it("takes the earliest of all streams first", () => {
  const { uniform } = seededChance(5);
  const first = Float64Array.from({ length: 37 }, uniform);
  const queue = new RequestQueue(first.slice());
  expect(queue.seconds).toBe(Math.min(...first));
  let before = 0;
  const seen = new Set<number>();
  for (let at = 0; at < 2_000; at++) {
    expect(queue.seconds).toBeGreaterThanOrEqual(before);
    before = queue.seconds;
    seen.add(queue.stream);
    queue.postpone(uniform());
  }
  expect(seen.size).toBe(37);
});

it("gives the same for a seed, and something else for another", () => {
  const inputs = { ...MILLION, requestsPerSecond: 100, locations: 5, isolateRequestsPerSecond: 2 };
  const plan = { inputs, fromSeconds: 0, toSeconds: 120, publishedAtSeconds: 5 };
  expect(simulate({ ...plan, seed: 4 })).toEqual(simulate({ ...plan, seed: 4 }));
  expect(simulate({ ...plan, seed: 4 })).not.toEqual(simulate({ ...plan, seed: 5 }));
});

describe("money", () => {
  it("is that of the examples in the price lists", () => {
    expect(dollars(PRICES.requests, 15e6)).toBeCloseTo(1.5);
    expect(dollars(PRICES.cpuMs, 7 * 15e6)).toBeCloseTo(1.5);
    expect(dollars(PRICES.events, 2 * 1e9 * 0.1)).toBeCloseTo(108);
    expect(dollars(PRICES.eventGb, 75)).toBeCloseTo(6.25);
    expect(dollars(PRICES.eventGbMonths, 20)).toBeCloseTo(0.8);
    expect(dollars(PRICES.kvWrites, 5)).toBe(0);
  });

  it("and figures are written with three digits", () => {
    expect([shown(0.0123456), shown(1_234_567), shown(20_400), shown(999.6)]).toEqual([
      "0.0123",
      "1.23 million",
      "20,400",
      "1,000",
    ]);
    expect([money(0), money(787_252), money(2_125_000)]).toEqual(["$0", "$787,000", "$2.13 million"]);
  });
});

describe("the report of the benchmark", () => {
  const kept = { what: "reads", unit: "1/s", formula: 10, simulated: 11, band: 0.2 };

  it("shows the ratio over all seeds beside its band", () => {
    const section = compare([[kept], [{ ...kept, simulated: 9 }], [{ ...kept, simulated: 10 }]]);
    expect(section.rows).toEqual([
      ["reads, 1/s", 10, { median: 10, min: 9, max: 11 }, { median: 1, min: 0.9, max: 1.1 }, 20],
    ]);
    expect(section).not.toHaveProperty("failure");
  });

  it("fails where one seed is out of it", () => {
    expect(compare([[kept], [{ ...kept, simulated: 13 }]]).failure).toContain('"reads"');
  });
});
