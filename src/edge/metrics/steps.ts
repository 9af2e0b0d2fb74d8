import type { ClassSeries, HistorySeries, TableSteps } from "../../formats/console-api.ts";
import { STATUS_CLASSES } from "../../formats/status-classes.ts";
import { CATALOGUE, type ProblemSlug } from "../../problems/catalogue.ts";
import { BUCKETS_MS, keyParts, OTHER, OWN } from "./catalogue.ts";
import type { RouteCount } from "./request-shares.ts";
import { RouteCounts, type StoredCount } from "./route-counts.ts";

/** Counts of one step of the history, in bounded space. Pure. */

/** Regions and problems of one step; the rest is counted as `(other)`. A step with all of them has 12 KB, and 16 KB of routes. */
const REGIONS_MAX = 32;
const PROBLEMS_MAX = 64;

const BUCKETS = BUCKETS_MS.length + 1;

/** Places in a region's row: counts, then the buckets of both histograms. */
const [REQUESTS, ERRORS, REFUSED, FAULTS, OWN_BUCKETS] = [0, 1, 2, 3, 4] as const;
export const ORIGIN_BUCKETS = OWN_BUCKETS + BUCKETS;
/** Milliseconds that requests took together. It is stored beside the row: former versions know rows of one length alone. */
export const BUSY = ORIGIN_BUCKETS + BUCKETS;
const ROW_LENGTH = BUSY + 1;

/** Places in the row of a table while a canary runs. */
const TABLE_BUCKETS = 2;
export const TABLE_LENGTH = TABLE_BUCKETS + BUCKETS;

/** Answers of a region in the order of `STATUS_CLASSES`. */
export type RegionClasses = readonly (readonly [region: string, counts: readonly number[]])[];

/** The part of a report that a step counts. Absent: the report is of a former version. */
export interface Counted {
  /** Sums by the keys of `seriesKey`. */
  readonly sums: Iterable<readonly [key: string, by: number]>;
  readonly routes?: readonly RouteCount[] | undefined;
  readonly classes?: RegionClasses | undefined;
}

/** Reports within one step, by region. Requests that were sent nowhere have an empty one. */
export interface Step {
  readonly regions: Map<string, number[]>;
  readonly problems: Map<string, number>;
  /** `stable` and `canary`, while a canary runs. */
  readonly tables: Map<string, number[]>;
  /** Counts of the same tables, in the order of `STATUS_CLASSES`. */
  readonly classes: Map<string, number[]>;
  /** The same of regions. */
  readonly regionClasses: Map<string, number[]>;
  readonly routes: RouteCounts;
}

/** One step as it is stored: members may be added, none may change. */
interface StoredStep {
  readonly regions: readonly (readonly [name: string, row: readonly number[]])[];
  readonly problems: readonly (readonly [slug: string, count: number])[];
  readonly tables?: StoredStep["regions"];
  readonly classes?: StoredStep["regions"];
  readonly busy?: StoredStep["problems"];
  readonly regionClasses?: StoredStep["regions"];
  readonly routes?: readonly StoredCount[];
}

export const emptyStep = (): Step => ({
  regions: new Map(),
  problems: new Map(),
  tables: new Map(),
  classes: new Map(),
  regionClasses: new Map(),
  routes: new RouteCounts(),
});

/** Own pages alone make no step. */
export const isEmpty = ({ regions, tables }: Step): boolean => regions.size + tables.size === 0;

export function addReport(step: Step, { sums, routes = [], classes = [] }: Counted): void {
  for (const [key, by] of sums) addCount(step, keyParts(key), by);
  for (const count of routes) step.routes.add(count);
  for (const [region, counts] of classes) addClasses(step, region, counts);
}

/** Counts what another step has. */
export function addStep(step: Step, other: Step): void {
  for (const [region, row] of other.regions)
    addRow(step.regions, step.regions.has(region) || step.regions.size < REGIONS_MAX ? region : OTHER, row);
  for (const [slug, by] of other.problems) addToProblem(step, slug, by);
  for (const [side, row] of other.tables) addRow(step.tables, side, row);
  for (const [side, row] of other.classes) addRow(step.classes, side, row);
  for (const [region, row] of other.regionClasses) addClasses(step, region, row);
  step.routes.addAll(other.routes);
}

/** Its requests are counted before, and say whether the region has a name here. */
const addClasses = ({ regions, regionClasses }: Step, region: string, counts: readonly number[]): void =>
  addRow(regionClasses, regions.has(region) ? region : OTHER, counts);

function addRow(rows: Map<string, number[]>, name: string, counts: readonly number[]): void {
  const row = rows.get(name) ?? [];
  // A later version may have more classes.
  const length = Math.max(row.length, counts.length);
  rows.set(
    name,
    Array.from({ length }, (_, place) => (row[place] ?? 0) + (counts[place] ?? 0)),
  );
}

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
  if (isProblem) addToProblem(step, outcome, by);
}

function addToProblem({ problems }: Step, slug: string, by: number): void {
  const kept = problems.has(slug) || problems.size < PROBLEMS_MAX ? slug : OTHER;
  problems.set(kept, (problems.get(kept) ?? 0) + by);
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

/** The class of an origin's status such as `2xx`, or the slug of a problem. */
function readOutcome(outcome: string): { readonly status: number; readonly isProblem: boolean } {
  if (/^[0-5]xx$/.test(outcome)) return { status: Number(outcome[0]) * 100, isProblem: false };
  if (outcome === "client-left") return { status: 499, isProblem: true };
  // Any client can name this gateway in `cdn-loop`. The first request of a true loop gets the 508 of an origin.
  if (outcome === "loop-detected") return { status: 400, isProblem: true };
  const known = Object.hasOwn(CATALOGUE, outcome) ? CATALOGUE[outcome as ProblemSlug].status : undefined;
  return { status: known ?? 500, isProblem: true };
}

/** `classes`: of the same steps. */
export function seriesOf(
  rows: readonly (readonly number[] | undefined)[],
  classes: readonly (readonly number[] | undefined)[],
): HistorySeries {
  return {
    requests: countsOf(rows, REQUESTS),
    errors: countsOf(rows, ERRORS),
    refused: countsOf(rows, REFUSED),
    faults: countsOf(rows, FAULTS),
    busyMs: countsOf(rows, BUSY),
    p50: timesOf(rows, OWN_BUCKETS, 0.5),
    p99: timesOf(rows, OWN_BUCKETS, 0.99),
    originP50: timesOf(rows, ORIGIN_BUCKETS, 0.5),
    originP99: timesOf(rows, ORIGIN_BUCKETS, 0.99),
    classes: classSeries(classes),
  };
}

/** Those of a table while a canary runs. */
export function tableSteps(steps: readonly (Step | undefined)[], side: "stable" | "canary"): TableSteps {
  const rows = steps.map((step) => step?.tables.get(side));
  const classes = steps.map((step) => step?.classes.get(side));
  const refused = REFUSED_CLASSES.map((name) => countsOf(classes, STATUS_CLASSES.indexOf(name)));
  return {
    requests: countsOf(rows, REQUESTS),
    errors: countsOf(rows, ERRORS),
    refused: steps.map((_, at) => refused.reduce((sum, counts) => sum + (counts[at] as number), 0)),
    p50: timesOf(rows, TABLE_BUCKETS, 0.5),
    p99: timesOf(rows, TABLE_BUCKETS, 0.99),
    classes: classSeries(classes),
  };
}

const REFUSED_CLASSES = ["404", "421", "4xx"] as const;

const classSeries = (rows: readonly (readonly number[] | undefined)[]): ClassSeries =>
  Object.fromEntries(
    STATUS_CLASSES.map((name, place) => [name, countsOf(rows, place)] as const).filter(([, counts]) =>
      counts.some((count) => count > 0),
    ),
  );

const countsOf = (rows: readonly (readonly number[] | undefined)[], place: number): readonly number[] =>
  rows.map((row) => row?.[place] ?? 0);

const timesOf = (rows: readonly (readonly number[] | undefined)[], place: number, share: number) =>
  rows.map((row) => (row === undefined ? null : quantile(row.slice(place, place + BUCKETS), share)));

export const sumOf = (rows: readonly (readonly number[])[], length = ROW_LENGTH): readonly number[] =>
  Array.from({ length }, (_, place) => rows.reduce((sum, row) => sum + (row[place] ?? 0), 0));

/** Within its bucket a time is taken to be spread evenly, as Prometheus does. Beyond the last bound it is that bound. */
export function quantile(buckets: readonly number[], share: number): number | null {
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

export const storedStep = ({ regions, problems, tables, classes, regionClasses, routes }: Step): StoredStep => ({
  regions: Array.from(regions, ([name, row]) => [name, row.slice(0, BUSY)]),
  busy: Array.from(regions, ([name, row]) => [name, Math.round(row[BUSY] as number)]),
  problems: [...problems],
  ...(tables.size === 0 ? {} : { tables: [...tables] }),
  ...(classes.size === 0 ? {} : { classes: [...classes] }),
  ...(regionClasses.size === 0 ? {} : { regionClasses: [...regionClasses] }),
  ...(routes.size === 0 ? {} : { routes: routes.stored() }),
});

export function readStep(text: string): Step | undefined {
  const {
    regions,
    problems,
    tables = [],
    classes = [],
    busy = [],
    regionClasses = [],
    routes,
  }: StoredStep = JSON.parse(text);
  const isReadable =
    regions.every(([, row]) => row.length === BUSY) && tables.every(([, row]) => row.length === TABLE_LENGTH);
  if (!isReadable) return undefined;
  const busyOf = new Map(busy);
  const rowsOf = (rows: StoredStep["regions"]) => new Map(rows.map(([name, row]) => [name, [...row]]));
  return {
    regions: new Map(regions.map(([name, row]) => [name, [...row, busyOf.get(name) ?? 0]])),
    problems: new Map(problems),
    tables: rowsOf(tables),
    classes: rowsOf(classes),
    regionClasses: rowsOf(regionClasses),
    routes: new RouteCounts(routes),
  };
}
