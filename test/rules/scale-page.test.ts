import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { comparisons } from "../../bench/scale/comparison.ts";
import { INPUT_ROWS, type Inputs, MILLION } from "../../bench/scale/inputs.ts";
import { scalePage } from "../../bench/scale/page.ts";

const fileAt = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

describe("docs/scale.md", () => {
  it("is what npm run generate writes, with a simulation that keeps to the formulas", () => {
    const page = scalePage();
    expect(fileAt("docs/scale.md")).toBe(page);
    expect(page).toContain("| holds |");
    expect(page).not.toContain("does not hold");
  });

  it("says beside a figure how far the simulation is from it", () => {
    const page = fileAt("docs/scale.md");
    const figures = comparisons(1).flatMap(({ figure }) => figure ?? []);
    expect(figures.length).toBeGreaterThan(20);
    expect(new Set(figures).size).toBe(figures.length);
    const rows = page.split("\n").filter((line) => / \| [±+−]\d+\.\d %\s\|$/.test(line));
    expect(rows.map((row) => row.slice(2, row.indexOf(" | "))).toSorted()).toEqual(figures.toSorted());
  });

  it("says of every input what it is and where it comes from", () => {
    expect(INPUT_ROWS.map(({ key }) => key).toSorted()).toEqual(Object.keys(MILLION).toSorted());
    for (const { what, from } of INPUT_ROWS)
      expect([what, from]).toEqual([expect.stringMatching(/\S/), expect.stringMatching(/\S/)]);
    const symbols = INPUT_ROWS.map(({ symbol }) => symbol).filter((symbol) => symbol !== "");
    expect(new Set(symbols).size).toBe(symbols.length);
  });
});

/** What the source says in numbers, and how many of it make the input. */
const IN_SOURCE: readonly (readonly [keyof Inputs, path: string, found: RegExp, times?: number])[] = [
  ["refreshSeconds", "wrangler.toml", /^TABLE_REFRESH_SECONDS = "(.+)"$/m],
  ["reportSeconds", "wrangler.toml", /^REPORT_SECONDS = "(.+)"$/m],
  ["checkSeconds", "wrangler.toml", /^CHECK_SECONDS = "(.+)"$/m],
  ["logSampling", "wrangler.toml", /^\[observability\]\nenabled = true\nhead_sampling_rate = (.+)$/m],
  ["logSampling", "wrangler.toml", /^\[observability\.traces\]\nenabled = true\nhead_sampling_rate = (.+)$/m],
  ["refreshJitter", "src/edge/tables.ts", /^const JITTER = (.+);$/m],
  ["saveSeconds", "src/edge/traffic-reports.ts", /^const SAVE_MS = (.+);$/m, 0.001],
  ["blockNumbers", "src/edge/sequences.ts", /^const BLOCK_NUMBERS = (.+);$/m],
  ["breakerFailures", "src/routing/carriage.ts", /^const BREAKER_FAILURES = (.+);$/m],
  ["movedEntries", "src/edge/moved-memory.ts", /^const ENTRIES_MAX = (.+);$/m],
  ["isolateSeries", "src/edge/traffic.ts", /^export const ISOLATE_SERIES_MAX = (.+);$/m],
  ["pageOctets", "src/routing/pack/format.ts", /^export const PAGE_OCTETS_MAX = (.+);$/m],
  ["packMemoryOctets", "src/edge/packs.ts", /^const PAGE_OCTETS_MAX_DEFAULT = (.+);$/m],
  // What was measured stands in one place.
  ["cpuSeconds", "docs/performance.md", /^\| processor time of a proxied request, µs \| (.+) \|$/m, 1e-6],
  [
    "compileSeconds",
    "docs/performance.md",
    /^\| compiling the promised table in workerd, ms of the processor \| (.+) \|$/m,
    1e-3,
  ],
  ["tableOctets", "docs/performance.md", /^\| the promised table in memory, MiB \| (.+) \|$/m, 2 ** 20],
  ["loadOctets", "docs/performance.md", /^\| making it takes at most, besides the table, MiB \| (.+) \|$/m, 2 ** 20],
];

it.each(IN_SOURCE.map((row) => [row[0], row] as const))(
  "input %s is what the source says",
  (key, [, path, pattern, times = 1]) => {
    const text = pattern.exec(fileAt(path))?.[1] ?? "not found";
    const factors = text.replaceAll("_", "").split(" * ").map(Number);
    const said = factors.reduce((product, factor) => product * factor, times);
    expect(MILLION[key] / said).toBeCloseTo(1, 9);
  },
);
