import type { Inputs } from "./inputs.ts";
import { isolatesOf, type Location, locationsOf, sumOver } from "./locations.ts";
import { coldPartsPerSecond, packParts, packReads } from "./packs.ts";
import { breakerShareInSecond, propagationOf } from "./propagation.ts";
import { largestSecond, newValueReads, pointerReadsPerSecond, reportsPerSecond, startsPerSecond } from "./renewal.ts";
import { blocksPerLife, chanceOfMint } from "./simulated-blocks.ts";

/** One figure: what it is, the formula in the symbols of the inputs, and its value. */
export interface Figure {
  readonly what: string;
  readonly formula: string;
  readonly value: number;
  readonly unit: string;
}

export const MONTH_SECONDS = 30 * 86_400;
export const MONTH_DAYS = 30;

/** What several figures share. */
export interface Fleet {
  readonly inputs: Inputs;
  readonly locations: readonly Location[];
  readonly isolates: number;
  /** Requests a second that an isolate gets on average. */
  readonly isolateRequestsPerSecond: number;
  readonly startsPerSecond: number;
}

export function fleetOf(inputs: Inputs): Fleet {
  const locations = locationsOf(inputs);
  const isolates = isolatesOf(locations);
  const isolateRequestsPerSecond = inputs.requestsPerSecond / isolates;
  return { inputs, locations, isolates, isolateRequestsPerSecond, startsPerSecond: startsPerSecond(inputs, locations) };
}

const figure = (what: string, formula: string, value: number, unit: string): Figure => ({ what, formula, value, unit });

export function fleetFigures({ inputs, locations, isolates, startsPerSecond: starts }: Fleet): readonly Figure[] {
  const [first] = locations;
  const last = locations.at(-1);
  return [
    figure("requests in a month", "R × 2,592,000 s", inputs.requestsPerSecond * MONTH_SECONDS, ""),
    figure("requests of the busiest location", "R / Σ k^−z", first?.requestsPerSecond ?? 0, "1/s"),
    figure("requests of the quietest", "the same / L^z", last?.requestsPerSecond ?? 0, "1/s"),
    figure("isolates, N", "Σ ⌈r / u⌉ over the requests r of each location", isolates, ""),
    figure("isolates that begin", "Σ N / (μ + 1/u)", starts, "1/s"),
  ];
}

/** If each isolate that begins, and each with a new pack, read what its requests need. */
const packReadsUncached = ({ inputs, isolates, startsPerSecond: starts }: Fleet): number =>
  (isolates + (starts * 86_400) / inputs.packsPerDay) * packParts(inputs);

export interface KvUse {
  readonly pointerReads: number;
  readonly bodyReads: number;
  readonly pageReads: number;
  readonly writes: number;
}

/** KV in a month. */
export function kvUse(fleet: Fleet): KvUse {
  const { inputs, locations } = fleet;
  const perValue = newValueReads(inputs, locations);
  const revisions = inputs.revisionsPerDay * MONTH_DAYS;
  const packs = inputs.packsPerDay * MONTH_DAYS;
  return {
    pointerReads: pointerReadsPerSecond(inputs, locations) * MONTH_SECONDS,
    bodyReads: perValue * revisions,
    pageReads: packReads(inputs, locations) * packs,
    writes: 2 * revisions + packParts(inputs) * packs,
  };
}

export function kvFigures(fleet: Fleet): readonly Figure[] {
  const { inputs, locations, isolates } = fleet;
  const perValue = newValueReads(inputs, locations);
  const hits = (isolates - perValue) / isolates;
  const use = kvUse(fleet);
  return [
    figure(
      "pointer reads",
      "Σ N / (1 − q) / (μ + 1/u); q = e^(−T/μ) · sinh(jT/μ) / (jT/μ) · u / (u + 1/μ)",
      pointerReadsPerSecond(inputs, locations),
      "1/s",
    ),
    figure("pointer reads, roughly", "N / T", isolates / inputs.refreshSeconds, "1/s"),
    figure("body reads for one revision", "Σ i x + 1 − x^i; x = w / (T + 1/u), i isolates of a location", perValue, ""),
    figure("of all isolates served by the edge's cache", "(N − the same) / N", hits * 100, "%"),
    figure("without the edge's cache", "N", isolates, ""),
    figure("parts of a pack", "1 + ⌈9 n / 1 MiB⌉", packParts(inputs), ""),
    figure(
      "page and header reads for one pack",
      "as body reads for each part; pages after a random wait of pages / (u y)",
      packReads(inputs, locations),
      "",
    ),
    figure(
      "parts that isolates load because they begin",
      "Σ starts × (1 + pages × q); q = a / (a + 1/μ), a = u y / pages",
      coldPartsPerSecond(inputs, locations),
      "1/s",
    ),
    figure("parts that they load of one new pack", "N × parts", isolates * packParts(inputs), ""),
    figure("all parts without the edge's cache", "(N + starts × 86,400 s / Q) × parts", packReadsUncached(fleet), ""),
    figure("pointer reads in a month", "× 2,592,000 s", use.pointerReads, ""),
    figure("body reads in a month", "× 30 V", use.bodyReads, ""),
    figure("page reads in a month", "× 30 Q", use.pageReads, ""),
    figure("writes in a month", "30 (2 V + parts of a pack × Q)", use.writes, ""),
  ];
}

export interface ObjectUse {
  readonly reports: number;
  readonly scrapes: number;
  readonly alarms: number;
  readonly sequences: number;
  readonly publishing: number;
  readonly rows: number;
}

/**
 * Publishing, by revision: one call, a look at the status, and the alarms: one that writes, and others, ever later, until KV shows
 * after 60 s what was written.
 */
export const CALLS_PER_REVISION = 9;

/** Blocks of numbers that all isolates take, each second. */
function blocksPerSecond(inputs: Inputs, locations: readonly Location[]): number {
  const { mintsPerSecond, requestsPerSecond, mintNames, blockNumbers, isolateLifeSeconds } = inputs;
  return sumOver(locations, (at) => {
    const perSecond = (at.isolateRequestsPerSecond * mintsPerSecond) / requestsPerSecond / mintNames;
    const perLife = blocksPerLife(chanceOfMint(perSecond, isolateLifeSeconds), blockNumbers);
    return startsPerSecond(inputs, [at]) * mintNames * perLife;
  });
}

/** Calls of Durable Objects in a second, and rows that they write in a second. */
export function objectUse({ inputs, locations }: Fleet): ObjectUse {
  const { scrapeSeconds, checkSeconds, saveSeconds, revisionsPerDay, series } = inputs;
  const sequences = blocksPerSecond(inputs, locations);
  const alarms = 1 / saveSeconds + 1 / checkSeconds;
  return {
    reports: reportsPerSecond(inputs, locations),
    // Each asks for the totals and brings a report along; the timer of the platform comes once a minute.
    scrapes: 2 / scrapeSeconds + 1 / 60,
    alarms,
    sequences,
    publishing: (CALLS_PER_REVISION * revisionsPerDay) / 86_400,
    rows: series / saveSeconds + alarms + sequences,
  };
}

export function objectFigures(fleet: Fleet): readonly Figure[] {
  const { inputs, isolates, isolateRequestsPerSecond: perIsolate } = fleet;
  const use = objectUse(fleet);
  const breakers = isolates * breakerShareInSecond(inputs, perIsolate);
  return [
    figure("reports, to one object", "as pointer reads, with S for T and j = 0", use.reports, "1/s"),
    figure("the same, roughly", "N / S", isolates / inputs.reportSeconds, "1/s"),
    figure("reports in the busiest second of an hour", "r + √(2 r ln 3,600)", largestSecond(use.reports, 3_600), "1/s"),
    figure(
      "reports in the second in which an origin dies",
      "N × the most of 1 s of an Erlang distribution (b, u o)",
      breakers,
      "1/s",
    ),
    figure("scrapes and the platform's timer", "2 / 15 s + 1 / 60 s", use.scrapes, "1/s"),
    figure("alarms: writing, and rounds of checks", "1 / A + 1 / `CHECK_SECONDS`", use.alarms, "1/s"),
    figure(
      "blocks of numbers, to g objects",
      "Σ starts × g q / (1 − q^B); q = a / (a + 1/μ), a = u m / (R g)",
      use.sequences,
      "1/s",
    ),
    figure("blocks, to each of them", "the same / g", use.sequences / inputs.mintNames, "1/s"),
    figure("publishing, to the truth", `${CALLS_PER_REVISION} V / 86,400 s`, use.publishing, "1/s"),
    figure(
      "octets of reports",
      "reports × 200 series × 60",
      (use.reports * inputs.reportedSeries * inputs.seriesOctets) / 1e6,
      "MB/s",
    ),
    figure("rows written", "M / A + alarms + blocks", use.rows, "1/s"),
  ];
}

export function propagationFigures({ inputs, isolates, isolateRequestsPerSecond }: Fleet): readonly Figure[] {
  const { quantile, worstSeconds } = propagationOf(inputs, isolateRequestsPerSecond, isolates);
  return [
    figure("half of all isolates", "median of P + V + W + w", quantile(0.5), "s"),
    figure("90 of 100", "its 90th percentile", quantile(0.9), "s"),
    figure("99 of 100", "its 99th percentile", quantile(0.99), "s"),
    figure("all of them", "P + K + (1 + j) T + ln(N) / u + w", worstSeconds, "s"),
  ];
}
