import { type Fleet, kvUse, MONTH_SECONDS, objectUse } from "./figures.ts";
import type { Inputs } from "./inputs.ts";
import { cpuSeconds } from "./isolate-figures.ts";
import { dollars, PRICES, type Price } from "./prices.ts";

/** One line of the bill of 30 days. */
export interface BillLine {
  readonly what: string;
  readonly formula: string;
  readonly units: number;
  readonly price: Price;
  readonly dollars: number;
}

const line = (formula: string, units: number, price: Price): BillLine => ({
  what: price.what,
  formula,
  units,
  price,
  dollars: dollars(price, units),
});

const OBJECT_GB = 0.128;

/** What is paid for, in a month. */
export interface Use {
  readonly requests: number;
  readonly cpuSeconds: number;
  readonly kvReads: number;
  readonly kvWrites: number;
  readonly objectCalls: number;
  readonly rowsWritten: number;
}

export function useOf(fleet: Fleet): Use {
  const kv = kvUse(fleet);
  const objects = objectUse(fleet);
  const cpu = cpuSeconds(fleet);
  const calls = objects.reports + objects.scrapes + objects.alarms + objects.sequences + objects.publishing;
  return {
    requests: fleet.inputs.requestsPerSecond * MONTH_SECONDS,
    cpuSeconds: cpu.requests + cpu.compiling,
    kvReads: kv.pointerReads + kv.bodyReads + kv.pageReads,
    kvWrites: kv.writes,
    objectCalls: calls * MONTH_SECONDS,
    rowsWritten: objects.rows * MONTH_SECONDS,
  };
}

export const bill = (fleet: Fleet): readonly BillLine[] => billOf(useOf(fleet), fleet.inputs);

/** Objects that are never at rest: the counters, and the sequences. */
export const billOf = (use: Use, { mintNames }: Inputs): readonly BillLine[] => [
  line("R", use.requests, PRICES.requests),
  line("(requests + compiling) × 1,000", use.cpuSeconds * 1_000, PRICES.cpuMs),
  line("pointers + bodies + pages", use.kvReads, PRICES.kvReads),
  line("bodies and pointers, parts of packs", use.kvWrites, PRICES.kvWrites),
  line("reports, scrapes, alarms, blocks, publishing", use.objectCalls, PRICES.objectCalls),
  line("(1 + g) × 0.128 GB × 2,592,000 s", (1 + mintNames) * OBJECT_GB * MONTH_SECONDS, PRICES.objectGbSeconds),
  line("rows written", use.rowsWritten, PRICES.rowsWritten),
];

/** Logs and traces, by the old price and by the new one, with a share of all requests sampled. */
export function logBill({ inputs }: Fleet, sampling: number): readonly BillLine[] {
  const { requestsPerSecond, eventsPerRequest, eventOctets, logDays } = inputs;
  const events = requestsPerSecond * eventsPerRequest * sampling * MONTH_SECONDS;
  const gb = (events * eventOctets) / 1e9;
  return [
    line("R e h", events, PRICES.events),
    line("R e h × octets", gb, PRICES.eventGb),
    line("a day's × days kept", (gb / 30) * logDays, PRICES.eventGbMonths),
  ];
}

export const total = (lines: readonly BillLine[]): number => lines.reduce((sum, { dollars: own }) => sum + own, 0);

/** With the old price a day takes so many events of an account; of what is beyond, one in a hundred is kept. */
export const EVENTS_PER_DAY_MAX = 5e9;

/** The largest share of requests that stays below it. */
export const samplingMax = ({ inputs }: Fleet): number =>
  Math.min(1, EVENTS_PER_DAY_MAX / (inputs.requestsPerSecond * inputs.eventsPerRequest * 86_400));
