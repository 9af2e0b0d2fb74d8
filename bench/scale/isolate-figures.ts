import { type Figure, type Fleet, MONTH_SECONDS } from "./figures.ts";
import type { Inputs } from "./inputs.ts";

const figure = (what: string, formula: string, value: number, unit: string): Figure => ({ what, formula, value, unit });

const MIB = 2 ** 20;

/** Seconds of processors in a month: requests, and each isolate's compiling of each table. */
export function cpuSeconds({ inputs, isolates, startsPerSecond }: Fleet): { requests: number; compiling: number } {
  const { requestsPerSecond, cpuSeconds: perRequest, compileSeconds, revisionsPerDay } = inputs;
  const compilesPerSecond = startsPerSecond + (isolates * revisionsPerDay) / 86_400;
  return {
    requests: requestsPerSecond * perRequest * MONTH_SECONDS,
    compiling: compilesPerSecond * compileSeconds * MONTH_SECONDS,
  };
}

export function cpuFigures(fleet: Fleet): readonly Figure[] {
  const { inputs, isolateRequestsPerSecond } = fleet;
  const { requests, compiling } = cpuSeconds(fleet);
  return [
    figure("processors that are busy with requests", "R c", requests / MONTH_SECONDS, ""),
    figure("of an isolate's one processor", "R / N × c", isolateRequestsPerSecond * inputs.cpuSeconds * 100, "%"),
    figure("requests that a processor can do", "1 / c", 1 / inputs.cpuSeconds, "1/s"),
    figure("processors that are busy compiling", "(starts + N V / 86,400 s) k", compiling / MONTH_SECONDS, ""),
    figure("pause of an isolate for a new table", "k", inputs.compileSeconds * 1_000, "ms"),
  ];
}

/** Octets of an isolate: at rest, and while the next table is made beside the one in force. */
export function memoryOctets(inputs: Inputs, requestsPerSecond: number): { atRest: number; refreshing: number } {
  const { tableOctets, packMemoryOctets, emptyIsolateOctets, loadOctets } = inputs;
  const entries = (inputs.movedEntries + inputs.isolateSeries) * inputs.entryOctets;
  const underWay = requestsPerSecond * inputs.answerSeconds * inputs.requestOctets;
  const atRest = emptyIsolateOctets + tableOctets + packMemoryOctets + entries + underWay;
  return { atRest, refreshing: atRest + tableOctets + loadOctets };
}

export function memoryFigures({ inputs, isolateRequestsPerSecond: perIsolate }: Fleet): readonly Figure[] {
  const { atRest, refreshing } = memoryOctets(inputs, perIsolate);
  const underWay = perIsolate * inputs.answerSeconds;
  return [
    figure("requests under way", "R / N × a", underWay, ""),
    figure("their buffers", "R / N × a × 128 KiB", (underWay * inputs.requestOctets) / MIB, "MiB"),
    figure("the promised table", "measured", inputs.tableOctets / MIB, "MiB"),
    figure("pages of packs at most", "the cap", inputs.packMemoryOctets / MIB, "MiB"),
    figure(
      "moved entities and series at most",
      "(10,000 + 2,000) × 200",
      ((inputs.movedEntries + inputs.isolateSeries) * inputs.entryOctets) / MIB,
      "MiB",
    ),
    figure("together, with an empty isolate", "the sum", atRest / MIB, "MiB"),
    figure("while the next such table is made", "the sum + table + what making it takes", refreshing / MIB, "MiB"),
  ];
}

/** What one request may ask of others at most, by the part of the gateway that asks. Awaited or left running. */
const SUBREQUESTS: readonly (readonly [what: string, when: string, most: number])[] = [
  ["origins", "always one; all attempts, a followed 421, and its shadow", 6],
  ["moved entities", "one look into the edge's cache, one entry put there", 2],
  [
    "table",
    "once in T the pointer, which is put into the cache; a new body and a canary's: cache, KV, and put there",
    8,
  ],
  ["pages", "a page of a pack that is not in memory, and the header: cache, KV, and put there", 6],
  ["report", "once in S", 1],
  ["numbers", "a block for a minted LUUID, at most four tries", 8],
];

export const subrequestFigures = (): readonly Figure[] => [
  ...SUBREQUESTS.map(([what, when, most]) => figure(what, when, most, "")),
  figure(
    "all at once",
    "the sum",
    SUBREQUESTS.reduce((sum, [, , most]) => sum + most, 0),
    "",
  ),
];
