import { judgeCanary } from "../../formats/canary-verdict.ts";
import type { HistorySpan, MetricsHistory, TableFigures } from "../../formats/console-api.ts";
import type { RecentTraffic } from "../../formats/region-state.ts";
import { type ClassCounts, STATUS_CLASSES } from "../../formats/status-classes.ts";
import { BUCKETS_MS } from "./catalogue.ts";
import { IsolateTableReports, type ReportedTable } from "./isolates.ts";
import { sumOfCounts } from "./route-counts.ts";
import {
  addReport,
  addStep,
  BUSY,
  type Counted,
  emptyStep,
  isEmpty,
  ORIGIN_BUCKETS,
  quantile,
  readStep,
  type Step,
  seriesOf,
  storedStep,
  sumOf,
  TABLE_LENGTH,
  tableSteps,
} from "./steps.ts";

/** An hour by 10 s, as often as isolates report. Older figures than a month's are in the operator's monitoring. */
const SPANS: Readonly<Record<HistorySpan, { readonly stepSeconds: number; readonly steps: number }>> = {
  hour: { stepSeconds: 10, steps: 360 },
  day: { stepSeconds: 300, steps: 288 },
  month: { stepSeconds: 7_200, steps: 360 },
};

const RECENT_SECONDS = 60;

export type HistoryRow = Readonly<{ span: string; at: number; step: string }>;

/** Facts of the object that keeps a history. `reports`: how many it was sent, as stored with the history. */
interface Known {
  readonly nowMs: number;
  readonly sinceMs: number;
  readonly reports: number;
}

/** Stored with the newest step of the month: former versions count reports, and no month. */
interface MonthMark {
  /** Unix seconds: since when the month is counted. */
  readonly since: number;
  readonly reports: number;
}

type Reported = Omit<Counted, "sums"> & { readonly table?: ReportedTable | undefined };

/** The traffic of an hour, a day and a month in bounded space. A report counts in the step in which it arrives. */
export class TrafficHistory {
  /** By span: steps by their start in Unix seconds. */
  readonly #steps: Readonly<Record<HistorySpan, Map<number, Step>>> = {
    hour: new Map(),
    day: new Map(),
    month: new Map(),
  };
  readonly #changed = new Set<string>();
  readonly #isolates = new IsolateTableReports();
  #monthSince = 0;
  /** Whether a report came that is not stored. */
  #isHeard = false;

  /** Rows that another version wrote in another way are left out. `known`: of a history that is kept. */
  constructor(rows: Iterable<HistoryRow> = [], known?: Known) {
    let newest: HistoryRow | undefined;
    for (const row of rows) {
      const { span, at, step } = row;
      const read = isSpan(span) ? readStep(step) : undefined;
      if (isSpan(span) && read !== undefined) this.#steps[span].set(at, read);
      if (span === "month" && at > (newest?.at ?? 0)) newest = row;
    }
    if (known !== undefined) this.#monthSince = this.#restoreMonth(newest, known);
  }

  /** Since when the month is counted. Reports that a former version counted are in the day alone, as long as that has them. */
  #restoreMonth(newest: HistoryRow | undefined, { nowMs, sinceMs, reports }: Known): number {
    const mark: MonthMark | undefined = newest && JSON.parse(newest.step).month;
    if (mark?.reports === reports) return mark.since;
    const { month, day } = this.#steps;
    const dayFrom = stepAt("day", nowMs) - lengthOf("day") + SPANS.day.stepSeconds;
    const since = Math.max(dayFrom, Math.floor(sinceMs / 1000));
    const isInDay = newest !== undefined && mark !== undefined && newest.at >= dayFrom;
    const from = isInDay ? newest.at : stepAt("month", since * 1000);
    for (const at of month.keys()) if (at >= from) month.delete(at);
    for (const [dayAt, step] of day) {
      const at = stepAt("month", dayAt * 1000);
      if (at < from || dayAt < dayFrom) continue;
      const own = month.get(at) ?? emptyStep();
      addStep(own, step);
      month.set(at, own);
      this.#changed.add(`month ${at}`);
    }
    return isInDay ? mark.since : since;
  }

  /** Counts one report. */
  add(sums: Counted["sums"], nowMs: number, { table, ...figures }: Reported = {}): void {
    if (table !== undefined) this.#isolates.add(table, nowMs);
    const counts = [...sums].filter(([, by]) => by > 0);
    this.#isHeard = true;
    if (counts.length === 0) return;
    for (const span of SPAN_NAMES) {
      const at = stepAt(span, nowMs);
      const steps = this.#steps[span];
      const step = steps.get(at) ?? emptyStep();
      addReport(step, { sums: counts, ...figures });
      if (isEmpty(step)) continue;
      steps.set(at, step);
      this.#changed.add(`${span} ${at}`);
      for (const old of steps.keys()) if (old <= at - lengthOf(span)) steps.delete(old);
    }
  }

  /** Figures of the last minute and the step that is not over, by region. */
  recent(nowMs: number): ReadonlyMap<string, RecentTraffic> {
    const last = stepAt("hour", nowMs);
    const steps = [...this.#steps.hour].flatMap(([at, step]) =>
      at >= last - RECENT_SECONDS && at <= last ? [step] : [],
    );
    const names = new Set(steps.flatMap(({ regions }) => [...regions.keys()]));
    return new Map(
      Array.from(names, (name) => {
        const row = sumOf(steps.flatMap(({ regions }) => [regions.get(name) ?? []]));
        const [requests = 0, errors = 0, , faults = 0] = row;
        const answers = row.slice(ORIGIN_BUCKETS, BUSY).reduce((sum, count) => sum + count, 0);
        return [name, { requests, errors, faults, answers }] as const;
      }),
    );
  }

  /** Rows that changed since the last call, and from when on rows of a span are kept. `reports`: stored with them. */
  takeChanges(
    nowMs: number,
    reports = 0,
  ): { readonly rows: readonly HistoryRow[]; readonly keptFrom: Record<HistorySpan, number> } {
    const newest = Math.max(...this.#steps.month.keys());
    if (this.#isHeard && newest > 0) this.#changed.add(`month ${newest}`);
    const month: MonthMark = { since: this.#monthSince, reports };
    const rows = [...this.#changed].flatMap((name): HistoryRow[] => {
      const [span = "", text = ""] = name.split(" ");
      const at = Number(text);
      const step = isSpan(span) ? this.#steps[span].get(at) : undefined;
      if (step === undefined) return [];
      const stored = { ...storedStep(step), ...(span === "month" ? { month } : {}) };
      return [{ span, at, step: JSON.stringify(stored) }];
    });
    this.#changed.clear();
    this.#isHeard = false;
    const keptFrom = (span: HistorySpan) => stepAt(span, nowMs) - lengthOf(span) + SPANS[span].stepSeconds;
    return { rows, keptFrom: { hour: keptFrom("hour"), day: keptFrom("day"), month: keptFrom("month") } };
  }

  /** Every step of the span up to now, or from the one that `from` (Unix seconds) is in. */
  read(
    span: HistorySpan,
    { nowMs, sinceMs, from = 0 }: { nowMs: number; sinceMs: number; from?: number },
  ): MetricsHistory {
    const { stepSeconds } = SPANS[span];
    const last = stepAt(span, nowMs);
    const ownSinceMs = span === "month" ? Math.max(sinceMs, this.#monthSince * 1000) : sinceMs;
    const first = Math.max(last - lengthOf(span) + stepSeconds, stepAt(span, ownSinceMs), stepAt(span, from * 1000));
    const at: number[] = [];
    for (let start = first; start <= last; start += stepSeconds) at.push(start);
    const steps = at.map((start) => this.#steps[span].get(start));
    const names = new Set(steps.flatMap((step) => [...(step?.regions.keys() ?? [])]));
    const slugs = new Set(steps.flatMap((step) => [...(step?.problems.keys() ?? [])]));
    const ofRegion = (name: string) =>
      seriesOf(
        steps.map((step) => step?.regions.get(name)),
        steps.map((step) => step?.regionClasses.get(name)),
      );
    return {
      source: "all",
      span,
      stepSeconds,
      since: new Date(ownSinceMs).toISOString(),
      at,
      total: seriesOf(
        steps.map((step) => step && sumOf([...step.regions.values()])),
        steps.map((step) => step && sumOf([...step.regionClasses.values()])),
      ),
      regions: Object.fromEntries([...names].filter((name) => name !== "").map((name) => [name, ofRegion(name)])),
      problems: Object.fromEntries(
        [...slugs].map((slug) => [slug, steps.map((step) => step?.problems.get(slug) ?? 0)]),
      ),
      ...figuresOf(steps, (ofCanary) => nowMs / 1000 - (at[ofCanary] ?? 0)),
      isolates: this.#isolates.read(nowMs),
      routes: sumOfCounts(steps.flatMap((step) => step?.routes ?? [])),
    };
  }
}

/** Where the counters cannot be read. */
export const noHistory = (span: HistorySpan): MetricsHistory => ({
  source: "none",
  span,
  stepSeconds: SPANS[span].stepSeconds,
  since: null,
  at: [],
  total: seriesOf([], []),
  regions: {},
  problems: {},
  ...figuresOf([]),
  isolates: { count: 0, shown: [] },
});

const SPAN_NAMES = ["hour", "day", "month"] as const;

const isSpan = (text: string): text is HistorySpan => Object.hasOwn(SPANS, text);

const lengthOf = (span: HistorySpan): number => SPANS[span].steps * SPANS[span].stepSeconds;

const stepAt = (span: HistorySpan, ms: number): number =>
  Math.floor(ms / 1000 / SPANS[span].stepSeconds) * SPANS[span].stepSeconds;

/** Over all steps together: quantiles of steps cannot be added up. `secondsSince`: since the start of a step. */
function figuresOf(
  steps: readonly (Step | undefined)[],
  secondsSince: (step: number) => number = () => 0,
): Pick<MetricsHistory, "tables" | "canaryVerdict"> {
  const ofSide = (side: keyof MetricsHistory["tables"]) => {
    const rows = steps.flatMap((step) => [step?.tables.get(side) ?? []]);
    const [requests = 0, errors = 0, ...buckets] = sumOf(rows, TABLE_LENGTH);
    const counts = sumOf(
      steps.flatMap((step) => [step?.classes.get(side) ?? []]),
      STATUS_CLASSES.length,
    );
    const classes = Object.fromEntries(STATUS_CLASSES.map((name, at) => [name, counts[at] ?? 0])) as ClassCounts;
    const p99 = quantile(buckets, 0.99);
    const p50 = quantile(buckets, 0.5);
    const figures: TableFigures = { requests, errors, classes, p50, p99, steps: tableSteps(steps, side) };
    return { figures, times: { buckets, p99 } };
  };
  const stable = ofSide("stable");
  const canary = ofSide("canary");
  const begun = steps.findIndex((step) => step?.classes.has("canary"));
  const canaryVerdict = judgeCanary(stable.figures.classes, canary.figures.classes, {
    seconds: begun === -1 ? 0 : secondsSince(begun),
    boundsMs: BUCKETS_MS,
    stable: stable.times,
    canary: canary.times,
  });
  return { tables: { stable: stable.figures, canary: canary.figures }, canaryVerdict };
}
