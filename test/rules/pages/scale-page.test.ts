import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { type Inputs, MILLION, PRICES } from "../../../bench/scale/inputs.ts";
import { dollars } from "../../../bench/scale/model.ts";
import { scalePage } from "../../../bench/scale/page.ts";
import { comparisons, isWithin, simulate, THINNED } from "../../../bench/scale/simulation.ts";

const fileAt = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

it("docs/design/scale.md is what npm run generate writes", () => {
  expect(fileAt("docs/design/scale.md")).toBe(scalePage());
});

it.each([1, 2])("the simulation of seed %d keeps to the formulas", (seed) => {
  expect(comparisons(seed).filter((compared) => !isWithin(compared))).toEqual([]);
});

it("gives the same for a seed, and something else for another; a wrong formula is noticed", () => {
  const few: Inputs = { ...THINNED, requestsPerSecond: 100, locations: 5 };
  expect(simulate(few, 4)).toEqual(simulate(few, 4));
  expect(simulate(few, 4)).not.toEqual(simulate(few, 5));
  expect(isWithin({ what: "reads", formula: 10, simulated: 11.1, band: 0.1 })).toBe(false);
});

it("prices are those of the examples in the price lists", () => {
  expect(dollars(PRICES.requests, 15e6)).toBeCloseTo(1.5);
  expect(dollars(PRICES.cpuMs, 7 * 15e6)).toBeCloseTo(1.5);
  expect([dollars(PRICES.logGb, 75), dollars(PRICES.logGbMonths, 20), dollars(PRICES.kvReads, 5)]).toEqual([
    6.25, 0.8, 0,
  ]);
});

/** Numbers in the source and the measurements, and how many of each make the input. */
const IN_SOURCE: readonly (readonly [keyof Inputs, path: string, found: RegExp, times?: number])[] = [
  ["refreshSeconds", "wrangler.toml", /^TABLE_REFRESH_SECONDS = "(.+)"$/m],
  ["reportSeconds", "wrangler.toml", /^REPORT_SECONDS = "(.+)"$/m],
  ["logSampling", "wrangler.toml", /^\[observability\]\nenabled = true\nhead_sampling_rate = (.+)$/m],
  ["refreshJitter", "src/edge/table/isolate-table.ts", /^const JITTER = (.+);$/m],
  ["saveSeconds", "src/edge/metrics/object.ts", /^const SAVE_MS = (.+);$/m, 0.001],
  ["blockNumbers", "src/features/mint/edge/sequences.ts", /^const BLOCK_NUMBERS = (.+);$/m],
  ["pageCacheBytes", "src/edge/chunks/store.ts", /^const CHUNK_BYTES_MAX_DEFAULT = (.+);$/m],
  ["cpuSeconds", "docs/design/performance.md", /^\| processor time of a proxied request, µs \| (.+) \|$/m, 1e-6],
  [
    "compileSeconds",
    "docs/design/performance.md",
    /^\| compiling the promised table in workerd, ms .+ \| (.+) \|$/m,
    1e-3,
  ],
  ["tableBytes", "docs/design/performance.md", /^\| the promised table in memory, MiB \| (.+) \|$/m, 2 ** 20],
  [
    "loadBytes",
    "docs/design/performance.md",
    /^\| making it takes at most, besides the table, MiB \| (.+) \|$/m,
    2 ** 20,
  ],
];

it.each(IN_SOURCE.map((row) => [row[0], row] as const))(
  "input %s is what the source says",
  (key, [, path, pattern, times = 1]) => {
    const factors = (pattern.exec(fileAt(path))?.[1] ?? "not found").replaceAll("_", "").split(" * ").map(Number);
    expect(MILLION[key] / factors.reduce((product, factor) => product * factor, times)).toBeCloseTo(1, 9);
  },
);
