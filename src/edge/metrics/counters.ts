import type { CountedEvents, RequestLine } from "../../ports.ts";
import type { OriginFault } from "../../proxy/errors.ts";
import { BUCKETS_MS, type MetricName, overflowKey, seriesKey } from "./catalogue.ts";

/** A mutable count. */
interface Cell {
  count: number;
}

interface Histogram {
  readonly buckets: number[];
  sumMs: number;
}

interface RegionCells {
  readonly request: Histogram;
  readonly origin: Histogram;
  readonly entities: Map<string | undefined, Map<string, Cell>>;
  attempts: number;
  retries: number;
}

/** The outcome of a response is the class of its status: index 1 is 1xx. */
const CLASSES = ["0xx", "1xx", "2xx", "3xx", "4xx", "5xx"] as const;

/**
 * Counts of this isolate since its last report. Cells are in maps by the names of a request line, so that counting allocates
 * no string and no object. Series keys are made when the counts are drained.
 */
export class IsolateCounters {
  #regions = new Map<string | undefined, RegionCells>();
  #events = new Map<string, Cell>();

  request({ entity, region, outcome, status, ms, originMs, attempts }: RequestLine): void {
    const cells = this.#of(region);
    let outcomes = cells.entities.get(entity);
    if (outcomes === undefined) {
      outcomes = new Map();
      cells.entities.set(entity, outcomes);
    }
    const shown = outcome === "answered" ? (CLASSES[Math.floor(status / 100)] ?? "0xx") : outcome;
    raise(outcomes, shown);
    observe(cells.request, ms);
    if (originMs !== undefined) observe(cells.origin, originMs);
    if (attempts > 1) cells.retries += attempts - 1;
  }

  attempt(region: string, fault: OriginFault | undefined): void {
    this.#of(region).attempts++;
    if (fault !== undefined) raise(this.#events, seriesKey("origin_faults_total", region, fault));
  }

  breakerOpened(region: string): void {
    raise(this.#events, seriesKey("breaker_openings_total", region));
  }

  event<Name extends keyof CountedEvents>(name: Name, labels: CountedEvents[Name]): void {
    raise(this.#events, seriesKey(`${name}_total`, ...labels));
  }

  /** Returns all counts as series and resets them. */
  *drain(): IterableIterator<readonly [key: string, by: number]> {
    const regions = this.#regions;
    const events = this.#events;
    this.#regions = new Map();
    this.#events = new Map();
    for (const [key, { count }] of events) yield [key, count];
    for (const [name = "", cells] of regions) yield* seriesOf(name, cells);
  }

  #of(region: string | undefined): RegionCells {
    let cells = this.#regions.get(region);
    if (cells === undefined) {
      cells = { request: histogram(), origin: histogram(), entities: new Map(), attempts: 0, retries: 0 };
      this.#regions.set(region, cells);
    }
    return cells;
  }
}

const histogram = (): Histogram => ({ buckets: new Array(BUCKETS_MS.length + 1).fill(0), sumMs: 0 });

function observe(into: Histogram, ms: number): void {
  let index = 0;
  while (index < BUCKETS_MS.length && ms > (BUCKETS_MS[index] as number)) index++;
  into.buckets[index] = (into.buckets[index] as number) + 1;
  // A clock may step back; a counter must not.
  if (ms > 0) into.sumMs += ms;
}

function raise(cells: Map<string, Cell>, key: string): void {
  const cell = cells.get(key);
  if (cell === undefined) cells.set(key, { count: 1 });
  else cell.count++;
}

function* seriesOf(region: string, cells: RegionCells): IterableIterator<readonly [string, number]> {
  for (const [entity = "", outcomes] of cells.entities) {
    for (const [outcome, { count }] of outcomes) yield [seriesKey("requests_total", entity, region, outcome), count];
  }
  if (cells.attempts > 0) yield [seriesKey("origin_attempts_total", region), cells.attempts];
  if (cells.retries > 0) yield [seriesKey("origin_retries_total", region), cells.retries];
  yield* histogramSeries("request_duration_seconds", region, cells.request);
  yield* histogramSeries("origin_duration_seconds", region, cells.origin);
}

function* histogramSeries(
  name: MetricName,
  region: string,
  { buckets, sumMs }: Histogram,
): IterableIterator<readonly [string, number]> {
  for (const [index, count] of buckets.entries()) if (count > 0) yield [seriesKey(name, region, String(index)), count];
  if (sumMs > 0) yield [seriesKey(name, region, "sum"), sumMs];
}

/** Sums by series, up to a limit. Further series are summed as `(other)`, so that totals stay correct. */
export class SeriesTotals {
  readonly #sums: Map<string, number>;
  readonly #seriesMax: number;

  constructor(seriesMax: number, sums: Iterable<readonly [string, number]> = []) {
    this.#seriesMax = seriesMax;
    this.#sums = new Map(sums);
  }

  get size(): number {
    return this.#sums.size;
  }

  /** The key under which it was added. */
  add(key: string, by: number): string {
    const sum = this.#sums.get(key);
    if (sum === undefined && this.#sums.size >= this.#seriesMax) {
      const other = overflowKey(key);
      this.#sums.set(other, (this.#sums.get(other) ?? 0) + by);
      return other;
    }
    this.#sums.set(key, (sum ?? 0) + by);
    return key;
  }

  addAll(others: Iterable<readonly [string, number]>): void {
    for (const [key, by] of others) this.add(key, by);
  }

  get(key: string): number {
    return this.#sums.get(key) ?? 0;
  }

  [Symbol.iterator](): IterableIterator<[string, number]> {
    return this.#sums[Symbol.iterator]();
  }
}
