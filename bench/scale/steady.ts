import type { Compared } from "./compared.ts";
import { type Fleet, fleetOf, MONTH_DAYS, MONTH_SECONDS, objectUse } from "./figures.ts";
import { type Inputs, MILLION } from "./inputs.ts";
import { cpuSeconds } from "./isolate-figures.ts";
import { bill, billOf, total, type Use } from "./money.ts";
import { coldPartsPerSecond, packParts, packReads } from "./packs.ts";
import { propagationOf } from "./propagation.ts";
import { largestSecond, newValueReads, pointerReadsPerSecond, reportsPerSecond } from "./renewal.ts";
import { type Outcome, simulate } from "./simulation.ts";

/** Two minutes of an ordinary day, in which one table with a new pack is published. */

/**
 * All locations, and as many isolates as in earnest, each with a hundredth of its requests: what an isolate does depends on
 * requests by the wait for the next one alone, and the formulas have that wait too. Mints and looks into packs are not thinned
 * as far: each request of the simulation makes one of either.
 */
export const THINNED: Inputs = { ...MILLION, requestsPerSecond: 10_000, isolateRequestsPerSecond: 1 };

const FROM = 20;
const SECONDS = 120;

export function steady(seed: number): readonly Compared[] {
  const fleet = fleetOf(THINNED);
  const plan = { inputs: THINNED, seed, fromSeconds: FROM, toSeconds: FROM + SECONDS, publishedAtSeconds: FROM };
  const found = simulate(plan);
  return [
    ...isolatesAndKv(fleet, found),
    ...objects(fleet, found),
    ...propagation(fleet, found),
    ...money(fleet, found),
  ];
}

const rate = (what: string, count: number, formula: number, band: number, figure = what): Compared => ({
  ...{ what, figure, formula, band },
  unit: "1/s",
  simulated: count / SECONDS,
});

const number = (what: string, simulated: number, formula: number, band: number, figure = what): Compared => ({
  ...{ what, figure, formula, simulated, band },
  unit: "",
});

function isolatesAndKv({ inputs, locations, isolates, startsPerSecond }: Fleet, found: Outcome): readonly Compared[] {
  return [
    rate("requests", found.requests, inputs.requestsPerSecond, 0.01, "requests in a month"),
    rate("isolates that begin", found.starts, startsPerSecond, 0.15),
    rate("pointer reads", found.pointerReads, pointerReadsPerSecond(inputs, locations), 0.02),
    number("body reads for one revision", found.bodyReads, newValueReads(inputs, locations), 0.1),
    number("page and header reads for one pack", found.partReads, packReads(inputs, locations), 0.08),
    rate("parts that isolates load because they begin", found.coldParts, coldPartsPerSecond(inputs, locations), 0.15),
    number("parts that they load of one new pack", found.newParts, isolates * packParts(inputs), 0.05),
  ];
}

function objects(fleet: Fleet, found: Outcome): readonly Compared[] {
  const { inputs, locations } = fleet;
  const reports = reportsPerSecond(inputs, locations);
  const { sequences } = objectUse(fleet);
  const ofOne = (sequences / inputs.mintNames) * SECONDS;
  return [
    rate("reports, to one object", found.reports, reports, 0.02),
    {
      what: "reports in the busiest second",
      figure: "reports in the busiest second of an hour",
      unit: "1/s",
      formula: largestSecond(reports, SECONDS),
      simulated: Math.max(...found.reportsBySecond),
      band: 0.08,
    },
    rate("blocks of numbers, to g objects", sum(found.blocks), sequences, 0.05),
    rate(
      "blocks, to the one of them that gets most",
      Math.max(...found.blocks),
      largestSecond(ofOne, inputs.mintNames) / SECONDS,
      0.1,
      "blocks, to each of them",
    ),
  ];
}

function propagation({ inputs, isolates, isolateRequestsPerSecond }: Fleet, found: Outcome): readonly Compared[] {
  const { quantile, worstSeconds } = propagationOf(inputs, isolateRequestsPerSecond, isolates);
  const time = (what: string, share: number, formula: number, band: number, figure: string): Compared => ({
    ...{ what, figure, formula, band },
    unit: "s",
    simulated: quantileOf(found, share),
  });
  return [
    time("new table: half of all isolates", 0.5, quantile(0.5), 0.2, "half of all isolates"),
    time("90 of 100", 0.9, quantile(0.9), 0.15, "90 of 100"),
    time("99 of 100", 0.99, quantile(0.99), 0.08, "99 of 100"),
    time("all of them, at most", 1, worstSeconds, 0.15, "all of them"),
  ];
}

/** A month of what was counted: rates go on, and what one publication costs comes again as often as there are some. */
function money(fleet: Fleet, found: Outcome): readonly Compared[] {
  const { inputs } = fleet;
  const use = simulatedUse(fleet, found);
  const [calculated, simulated] = [bill(fleet), billOf(use, inputs)];
  const compiling = use.cpuSeconds - (found.requests / SECONDS) * inputs.cpuSeconds * MONTH_SECONDS;
  return [
    {
      ...number("processors that are busy compiling", compiling, cpuSeconds(fleet).compiling, 0.15),
      simulated: compiling / MONTH_SECONDS,
      formula: cpuSeconds(fleet).compiling / MONTH_SECONDS,
    },
    ...calculated.flatMap(({ what, dollars, units }, at): Compared[] =>
      // What costs nothing, and what is no matter of chance, is no figure to compare.
      dollars === 0 || units === simulated[at]?.units
        ? []
        : [
            {
              what: `bill: ${what}`,
              figure: what,
              unit: "$",
              formula: dollars,
              simulated: simulated[at]?.dollars ?? 0,
              band: 0.05,
            },
          ],
    ),
    {
      what: "bill of a month",
      figure: "**together**",
      unit: "$",
      formula: total(calculated),
      simulated: total(simulated),
      band: 0.02,
    },
  ];
}

function simulatedUse({ inputs, isolates, ...fleet }: Fleet, found: Outcome): Use {
  const { revisionsPerDay, packsPerDay, cpuSeconds: perRequest, compileSeconds } = inputs;
  const [revisions, packs] = [revisionsPerDay * MONTH_DAYS, packsPerDay * MONTH_DAYS];
  const month = (count: number): number => (count / SECONDS) * MONTH_SECONDS;
  const { scrapes, alarms, publishing, rows, sequences } = objectUse({ inputs, isolates, ...fleet });
  const blocks = month(sum(found.blocks));
  return {
    requests: month(found.requests),
    cpuSeconds: month(found.requests) * perRequest + (month(found.starts) + found.changes * revisions) * compileSeconds,
    kvReads: month(found.pointerReads) + found.bodyReads * revisions + found.partReads * packs,
    kvWrites: 2 * revisions + packParts(inputs) * packs,
    // Timers are no matter of chance.
    objectCalls: month(found.reports) + blocks + (scrapes + alarms + publishing) * MONTH_SECONDS,
    rowsWritten: blocks + (rows - sequences) * MONTH_SECONDS,
  };
}

const sum = (counts: readonly number[]): number => counts.reduce((before, count) => before + count, 0);

function quantileOf({ propagationSeconds }: Outcome, share: number): number {
  const last = propagationSeconds.length - 1;
  return propagationSeconds[Math.min(last, Math.floor(share * propagationSeconds.length))] as number;
}
