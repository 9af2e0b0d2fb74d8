import { type Chance, seededChance } from "./chance.ts";
import type { Inputs } from "./inputs.ts";
import { SimulatedIsolate } from "./isolate.ts";
import { type Location, locationsOf } from "./locations.ts";
import { RequestQueue } from "./request-queue.ts";

/** What happens, in seconds from the start. What is counted is counted from `fromSeconds` to `toSeconds`. */
export interface Plan {
  readonly inputs: Inputs;
  readonly seed: number;
  readonly fromSeconds: number;
  readonly toSeconds: number;
  /** A new table. */
  readonly publishedAtSeconds?: number;
  /** New code ends every isolate within this time from `fromSeconds` on. */
  readonly deployedWithinSeconds?: number;
  /** Requests to one origin fail from then on. */
  readonly originDiesAtSeconds?: number;
}

export interface Outcome {
  readonly requests: number;
  readonly pointerReads: number;
  readonly bodyReads: number;
  readonly starts: number;
  readonly reports: number;
  /** In each second. */
  readonly reportsBySecond: readonly number[];
  /** When each stream of requests was first decided by the new table, seconds after it was published, sorted. */
  readonly propagationSeconds: readonly number[];
}

/** A place whose edge's cache and view of KV its isolates share. */
interface Place {
  /** When KV shows the new pointer here. */
  readonly seesAtSeconds: number;
  /** When the edge's cache has the new body. */
  bodyAtSeconds: number;
}

/** A stream of requests, and the isolate that it meets: the last one, until that ends. */
interface Stream {
  readonly place: Place;
  readonly meanGapSeconds: number;
  isolate: SimulatedIsolate;
  endSeconds: number;
  hasNew: boolean;
  failures: number;
}

/** Request by request: each stream has an isolate, that looks for a table and reports by the rules of the source. */
export function simulate(plan: Plan): Outcome {
  const run = new Run(plan);
  run.toEnd();
  return run.outcome();
}

class Run {
  readonly #plan: Plan;
  readonly #inputs: Inputs;
  readonly #chance: Chance;
  readonly #streams: readonly Stream[];
  readonly #queue: RequestQueue;
  readonly #propagation: number[] = [];
  readonly #reports: number[];
  #requests = 0;
  #pointerReads = 0;
  #bodyReads = 0;
  #starts = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#inputs = plan.inputs;
    this.#chance = seededChance(plan.seed);
    this.#streams = locationsOf(plan.inputs).flatMap((location) => this.#streamsOf(location));
    this.#queue = new RequestQueue(
      Float64Array.from(this.#streams, ({ meanGapSeconds }) => this.#chance.exponential(meanGapSeconds)),
    );
    this.#reports = new Array(Math.ceil(plan.toSeconds - plan.fromSeconds)).fill(0);
  }

  toEnd(): void {
    const { toSeconds } = this.#plan;
    while (this.#queue.seconds < toSeconds) {
      const stream = this.#streams[this.#queue.stream] as Stream;
      this.#meet(stream, this.#queue.seconds);
      this.#queue.postpone(this.#chance.exponential(stream.meanGapSeconds));
    }
  }

  outcome(): Outcome {
    return {
      requests: this.#requests,
      pointerReads: this.#pointerReads,
      bodyReads: this.#bodyReads,
      starts: this.#starts,
      reports: this.#reports.reduce((sum, count) => sum + count, 0),
      reportsBySecond: this.#reports,
      propagationSeconds: this.#propagation.toSorted((a, b) => a - b),
    };
  }

  /** Isolates that have run for long: each at some place of its cycles. */
  #streamsOf({ isolates, isolateRequestsPerSecond }: Location): Stream[] {
    const { kvDelaySeconds, publishSeconds, refreshSeconds, reportSeconds, isolateLifeSeconds } = this.#inputs;
    const { publishedAtSeconds = Number.POSITIVE_INFINITY, fromSeconds, deployedWithinSeconds } = this.#plan;
    const { uniform, exponential } = this.#chance;
    const seesAtSeconds = publishedAtSeconds + publishSeconds + kvDelaySeconds * uniform();
    const place: Place = { seesAtSeconds, bodyAtSeconds: Number.POSITIVE_INFINITY };
    return Array.from({ length: isolates }, () => {
      const ends = exponential(isolateLifeSeconds);
      const endSeconds =
        deployedWithinSeconds === undefined ? ends : Math.min(ends, fromSeconds + deployedWithinSeconds * uniform());
      return {
        place,
        meanGapSeconds: 1 / isolateRequestsPerSecond,
        isolate: new SimulatedIsolate(this.#inputs, uniform, refreshSeconds * uniform(), reportSeconds * uniform()),
        endSeconds,
        hasNew: false,
        failures: 0,
      };
    });
  }

  #meet(stream: Stream, nowSeconds: number): void {
    const { fromSeconds, originDiesAtSeconds = Number.POSITIVE_INFINITY } = this.#plan;
    const isCounted = nowSeconds >= fromSeconds;
    if (isCounted) this.#requests++;
    if (nowSeconds >= stream.endSeconds) this.#start(stream, nowSeconds, isCounted);
    if (stream.isolate.looks(nowSeconds)) this.#look(stream, nowSeconds, isCounted);
    const isUrgent = nowSeconds >= originDiesAtSeconds && this.#opensBreaker(stream);
    if (!stream.isolate.reports(nowSeconds, isUrgent) || !isCounted) return;
    const second = Math.floor(nowSeconds - fromSeconds);
    this.#reports[second] = (this.#reports[second] as number) + 1;
  }

  /** The isolate before has ended. */
  #start(stream: Stream, nowSeconds: number, isCounted: boolean): void {
    if (isCounted) this.#starts++;
    stream.endSeconds = nowSeconds + this.#chance.exponential(this.#inputs.isolateLifeSeconds);
    stream.isolate = new SimulatedIsolate(this.#inputs, this.#chance.uniform);
    stream.failures = 0;
  }

  #look(stream: Stream, nowSeconds: number, isCounted: boolean): void {
    const { bodyFillSeconds } = this.#inputs;
    if (isCounted) this.#pointerReads++;
    const { place } = stream;
    if (stream.hasNew || nowSeconds < place.seesAtSeconds) return;
    stream.hasNew = true;
    if (nowSeconds < place.bodyAtSeconds) {
      if (isCounted) this.#bodyReads++;
      place.bodyAtSeconds = Math.min(place.bodyAtSeconds, nowSeconds + bodyFillSeconds);
    }
    this.#propagation.push(nowSeconds + bodyFillSeconds - (this.#plan.publishedAtSeconds ?? 0));
  }

  /** Whether this request opens the breaker of the dead origin. */
  #opensBreaker(stream: Stream): boolean {
    const { originShare, breakerFailures } = this.#inputs;
    if (stream.failures >= breakerFailures || this.#chance.uniform() >= originShare) return false;
    stream.failures++;
    return stream.failures === breakerFailures;
  }
}
