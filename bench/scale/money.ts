import { type Fleet, kvUse, MONTH_SECONDS, objectUse } from "./figures.ts";
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

/** Objects that are never at rest: the counters, and the sequences. */
export function bill(fleet: Fleet): readonly BillLine[] {
  const { inputs } = fleet;
  const kv = kvUse(fleet);
  const objects = objectUse(fleet);
  const cpu = cpuSeconds(fleet);
  const calls = objects.reports + objects.scrapes + objects.alarms + objects.sequences + objects.publishing;
  return [
    line("R", inputs.requestsPerSecond * MONTH_SECONDS, PRICES.requests),
    line("(requests + compiling) × 1,000", (cpu.requests + cpu.compiling) * 1_000, PRICES.cpuMs),
    line("pointers + bodies + pages", kv.pointerReads + kv.bodyReads + kv.pageReads, PRICES.kvReads),
    line("bodies and pointers, parts of packs", kv.writes, PRICES.kvWrites),
    line("reports, scrapes, alarms, blocks, publishing", calls * MONTH_SECONDS, PRICES.objectCalls),
    line(
      "(1 + g) × 0.128 GB × 2,592,000 s",
      (1 + inputs.mintNames) * OBJECT_GB * MONTH_SECONDS,
      PRICES.objectGbSeconds,
    ),
    line("rows written", objects.rows * MONTH_SECONDS, PRICES.rowsWritten),
  ];
}

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
