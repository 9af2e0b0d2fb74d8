import { type ClassCounts, judgeCanary, STATUS_CLASSES } from "../../formats/canary-verdict.ts";
import type { HistorySeries, HistorySpan, MetricsHistory, TableFigures } from "../../formats/console-api.ts";
import type { RecentTraffic } from "../../formats/region-state.ts";
import { CATALOGUE, type ProblemSlug } from "../../problems/catalogue.ts";
import { BUCKETS_MS, keyParts, OTHER, OWN } from "./catalogue.ts";
import { IsolateTableReports, type ReportedTable } from "./isolates.ts";

/** An hour by 10 s, as often as isolates report. Older figures than a month's are in the operator's monitoring. */
const SPANS: Readonly<Record<HistorySpan, { readonly stepSeconds: number; readonly steps: number }>> = {
  hour: { stepSeconds: 10, steps: 360 },
  day: { stepSeconds: 300, steps: 288 },
  month: { stepSeconds: 7_200, steps: 360 },
};

const RECENT_SECONDS = 60;

/** Regions and problems of one step; the rest is counted as `(other)`. A step with all of them has 12 KB. */
const REGIONS_MAX = 32;
const PROBLEMS_MAX = 64;

const BUCKETS = BUCKETS_MS.length + 1;

/** Places in a region's row: counts, then the buckets of both histograms. */
const [REQUESTS, ERRORS, REFUSED, FAULTS, OWN_BUCKETS] = [0, 1, 2, 3, 4] as const;
const ORIGIN_BUCKETS = OWN_BUCKETS + BUCKETS;
/** Milliseconds that requests took together. It is stored beside the row: former versions know rows of one length alone. */
const BUSY = ORIGIN_BUCKETS + BUCKETS;
const ROW_LENGTH = BUSY + 1;

/** Places in the row of a table while a canary runs. */
const TABLE_BUCKETS = 2;
const TABLE_LENGTH = TABLE_BUCKETS + BUCKETS;

/** Reports within one step, by region. Requests that were sent nowhere have an empty one. */
interface Step {
  readonly regions: Map<string, number[]>;
  readonly problems: Map<string, number>;
  /** `stable` and `canary`, while a canary runs. */
  readonly tables: Map<string, number[]>;
  /** Counts of the same tables, in the order of `STATUS_CLASSES`. */
  readonly classes: Map<string, number[]>;
}

/** One step as it is stored: members may be added, none may change. */
interface StoredStep {
  readonly regions: readonly (readonly [name: string, row: readonly number[]])[];
  readonly problems: readonly (readonly [slug: string, count: number])[];
  readonly tables?: StoredStep["regions"];
  readonly classes?: StoredStep["regions"];
  readonly busy?: StoredStep["problems"];
}

export type HistoryRow = Readonly<{ span: string; at: number; step: string }>;

/** The traffic of the last hour and the last day in bounded space. A report counts in the step in which it arrives. */
export class TrafficHistory {
  /** By span: steps by their start in Unix seconds. */
  readonly #steps: Readonly<Record<HistorySpan, Map<number, Step>>> = {
    hour: new Map(),
    day: new Map(),
    month: new Map(),
  };
  readonly #changed = new Set<string>();
  readonly #isolates = new IsolateTableReports();

  /** Rows that another version wrote in another way are left out. */
  constructor(rows: Iterable<HistoryRow> = []) {
    for (const { span, at, step } of rows) {
      const read = isSpan(span) ? readStep(step) : undefined;
      if (isSpan(span) && read !== undefined) this.#steps[span].set(at, read);
    }
  }

  /** Counts one report: sums by the keys of `seriesKey`. */
  add(sums: Iterable<readonly [key: string, by: number]>, nowMs: number, table?: ReportedTable): void {
    if (table !== undefined) this.#isolates.add(table, nowMs);
    const counts = [...sums].filter(([, by]) => by > 0);
    if (counts.length === 0) return;
    for (const span of SPAN_NAMES) {
      const at = stepAt(span, nowMs);
      const steps = this.#steps[span];
      const step = steps.get(at) ?? { regions: new Map(), problems: new Map(), tables: new Map(), classes: new Map() };
      for (const [key, by] of counts) addCount(step, keyParts(key), by);
      if (step.regions.size + step.tables.size === 0) continue;
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

  /** Rows that changed since the last call, and from when on rows of a span are kept. */
  takeChanges(nowMs: number): { readonly rows: readonly HistoryRow[]; readonly keptFrom: Record<HistorySpan, number> } {
    const rows = [...this.#changed].flatMap((name): HistoryRow[] => {
      const [span = "", text = ""] = name.split(" ");
      const at = Number(text);
      const step = isSpan(span) ? this.#steps[span].get(at) : undefined;
      return step === undefined ? [] : [{ span, at, step: JSON.stringify(storedStep(step)) }];
    });
    this.#changed.clear();
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
    const first = Math.max(last - lengthOf(span) + stepSeconds, stepAt(span, sinceMs), stepAt(span, from * 1000));
    const at: number[] = [];
    for (let start = first; start <= last; start += stepSeconds) at.push(start);
    const steps = at.map((start) => this.#steps[span].get(start));
    const names = new Set(steps.flatMap((step) => [...(step?.regions.keys() ?? [])]));
    const slugs = new Set(steps.flatMap((step) => [...(step?.problems.keys() ?? [])]));
    const ofRegion = (name: string) => seriesOf(steps.map((step) => step?.regions.get(name)));
    return {
      source: "all",
      span,
      stepSeconds,
      since: new Date(sinceMs).toISOString(),
      at,
      total: seriesOf(steps.map((step) => step && sumOf([...step.regions.values()]))),
      regions: Object.fromEntries([...names].filter((name) => name !== "").map((name) => [name, ofRegion(name)])),
      problems: Object.fromEntries(
        [...slugs].map((slug) => [slug, steps.map((step) => step?.problems.get(slug) ?? 0)]),
      ),
      ...figuresOf(steps, (ofCanary) => nowMs / 1000 - (at[ofCanary] ?? 0)),
      isolates: this.#isolates.read(nowMs),
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
  total: seriesOf([]),
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

/** Counts of one metric: `labels` as its series has them. */
type Counter = (step: Step, labels: readonly string[], by: number) => void;

/** Metrics that a step keeps. */
const COUNTERS: ReadonlyMap<string, Counter> = new Map<string, Counter>([
  ["requests_total", countRequests],
  ["request_duration_seconds", countDurations],
  ["origin_duration_seconds", (step, labels, by) => addDuration(step, labels, ORIGIN_BUCKETS, by)],
  ["origin_faults_total", (step, [region = ""], by) => addToRegion(step, region, FAULTS, by)],
  ["canary_requests_total", countCanaryRequests],
  ["canary_responses_total", countCanaryResponses],
  ["canary_duration_seconds", countCanaryDurations],
]);

function addCount(step: Step, [name = "", ...labels]: readonly string[], by: number): void {
  COUNTERS.get(name)?.(step, labels, by);
}

function countRequests(step: Step, [entity, region = "", outcome = ""]: readonly string[], by: number): void {
  // The gateway's own pages: the console would count itself.
  if (outcome === "own" || entity === OWN) return;
  const { status, isProblem } = readOutcome(outcome);
  addToRegion(step, region, REQUESTS, by);
  if (status >= 500) addToRegion(step, region, ERRORS, by);
  else if (status >= 400) addToRegion(step, region, REFUSED, by);
  if (!isProblem) return;
  const kept = step.problems.has(outcome) || step.problems.size < PROBLEMS_MAX ? outcome : OTHER;
  step.problems.set(kept, (step.problems.get(kept) ?? 0) + by);
}

function countDurations(step: Step, labels: readonly string[], by: number): void {
  const [region = "", bucket] = labels;
  if (bucket === "sum" && region !== "") addToRegion(step, region, BUSY, by);
  else addDuration(step, labels, OWN_BUCKETS, by);
}

/** `start`: the first place of the histogram. */
function addDuration(step: Step, [region = "", bucket = ""]: readonly string[], start: number, by: number): void {
  // Without a region it is of the gateway's own pages too.
  if (region !== "" && Number(bucket) < BUCKETS) addToRegion(step, region, start + Number(bucket), by);
}

function countCanaryRequests({ tables }: Step, [side, outcome]: readonly string[], by: number): void {
  addToTable(tables, TABLE_LENGTH, side, REQUESTS, by);
  if (outcome === "error") addToTable(tables, TABLE_LENGTH, side, ERRORS, by);
}

function countCanaryResponses({ classes }: Step, [side, status]: readonly string[], by: number): void {
  const place = (STATUS_CLASSES as readonly (string | undefined)[]).indexOf(status);
  if (place !== -1) addToTable(classes, STATUS_CLASSES.length, side, place, by);
}

function countCanaryDurations({ tables }: Step, [side, bucket]: readonly string[], by: number): void {
  if (Number(bucket) < BUCKETS) addToTable(tables, TABLE_LENGTH, side, TABLE_BUCKETS + Number(bucket), by);
}

function addToRegion({ regions }: Step, region: string, place: number, by: number): void {
  const kept = regions.has(region) || regions.size < REGIONS_MAX ? region : OTHER;
  const row = regions.get(kept) ?? new Array<number>(ROW_LENGTH).fill(0);
  row[place] = (row[place] as number) + by;
  regions.set(kept, row);
}

function addToTable(
  rows: Map<string, number[]>,
  length: number,
  side: string | undefined,
  place: number,
  by: number,
): void {
  if (side !== "stable" && side !== "canary") return;
  const row = rows.get(side) ?? new Array<number>(length).fill(0);
  row[place] = (row[place] as number) + by;
  rows.set(side, row);
}

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
    const figures: TableFigures = { requests, errors, classes, p50: quantile(buckets, 0.5), p99 };
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

/** The class of an origin's status such as `2xx`, or the slug of a problem. */
function readOutcome(outcome: string): { readonly status: number; readonly isProblem: boolean } {
  if (/^[0-5]xx$/.test(outcome)) return { status: Number(outcome[0]) * 100, isProblem: false };
  if (outcome === "client-left") return { status: 499, isProblem: true };
  // Any client can name this gateway in `cdn-loop`. The first request of a true loop gets the 508 of an origin.
  if (outcome === "loop-detected") return { status: 400, isProblem: true };
  const known = Object.hasOwn(CATALOGUE, outcome) ? CATALOGUE[outcome as ProblemSlug].status : undefined;
  return { status: known ?? 500, isProblem: true };
}

function seriesOf(rows: readonly (readonly number[] | undefined)[]): HistorySeries {
  const counts = (place: number) => rows.map((row) => row?.[place] ?? 0);
  const times = (place: number, share: number) =>
    rows.map((row) => (row === undefined ? null : quantile(row.slice(place, place + BUCKETS), share)));
  return {
    requests: counts(REQUESTS),
    errors: counts(ERRORS),
    refused: counts(REFUSED),
    faults: counts(FAULTS),
    busyMs: counts(BUSY),
    p50: times(OWN_BUCKETS, 0.5),
    p99: times(OWN_BUCKETS, 0.99),
    originP50: times(ORIGIN_BUCKETS, 0.5),
    originP99: times(ORIGIN_BUCKETS, 0.99),
  };
}

const sumOf = (rows: readonly (readonly number[])[], length = ROW_LENGTH): readonly number[] =>
  Array.from({ length }, (_, place) => rows.reduce((sum, row) => sum + (row[place] ?? 0), 0));

/** Within its bucket a time is taken to be spread evenly, as Prometheus does. Beyond the last bound it is that bound. */
function quantile(buckets: readonly number[], share: number): number | null {
  const count = buckets.reduce((sum, one) => sum + one, 0);
  if (count === 0) return null;
  let left = share * count;
  for (const [index, one] of buckets.entries()) {
    const upper = BUCKETS_MS[index];
    if (upper === undefined) break;
    const lower = BUCKETS_MS[index - 1] ?? 0;
    if (one > 0 && left <= one) return Math.round((lower + ((upper - lower) * left) / one) * 10) / 10;
    left -= one;
  }
  return BUCKETS_MS.at(-1) ?? null;
}

const storedStep = ({ regions, problems, tables, classes }: Step): StoredStep => ({
  regions: Array.from(regions, ([name, row]) => [name, row.slice(0, BUSY)]),
  busy: Array.from(regions, ([name, row]) => [name, Math.round(row[BUSY] as number)]),
  problems: [...problems],
  ...(tables.size === 0 ? {} : { tables: [...tables] }),
  ...(classes.size === 0 ? {} : { classes: [...classes] }),
});

function readStep(text: string): Step | undefined {
  const { regions, problems, tables = [], classes = [], busy = [] }: StoredStep = JSON.parse(text);
  const isReadable =
    regions.every(([, row]) => row.length === BUSY) && tables.every(([, row]) => row.length === TABLE_LENGTH);
  if (!isReadable) return undefined;
  const busyOf = new Map(busy);
  return {
    regions: new Map(regions.map(([name, row]) => [name, [...row, busyOf.get(name) ?? 0]])),
    problems: new Map(problems),
    tables: new Map(tables.map(([name, row]) => [name, [...row]])),
    classes: new Map(classes.map(([name, row]) => [name, [...row]])),
  };
}
