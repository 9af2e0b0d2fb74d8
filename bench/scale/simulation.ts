import { type Chance, seededChance } from "./chance.ts";
import type { Inputs } from "./inputs.ts";
import { SimulatedIsolate } from "./isolate.ts";
import { type Location, locationsOf } from "./locations.ts";
import { packPages } from "./packs.ts";
import { RequestQueue } from "./request-queue.ts";
import { chanceOfMint, drawLeft, SimulatedBlocks } from "./simulated-blocks.ts";
import { pagesKept, SimulatedPages } from "./simulated-pages.ts";

/** What happens, in seconds from the start. What is counted is counted from `fromSeconds` to `toSeconds`. */
export interface Plan {
  readonly inputs: Inputs;
  readonly seed: number;
  readonly fromSeconds: number;
  readonly toSeconds: number;
  /** A new table, with a new pack in the place of the one before. */
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
  /** Isolates that took up the new table. */
  readonly changes: number;
  /** Headers and pages that isolates needed and did not have: those that began, and those that went over to the new pack. */
  readonly coldParts: number;
  readonly newParts: number;
  /** Those of the new pack that their location did not have either. */
  readonly partReads: number;
  readonly reports: number;
  /** Blocks that each sequence was asked for. */
  readonly blocks: readonly number[];
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
  /** The same of the new pack's header, and behind it of its pages. */
  readonly partsAtSeconds: Float64Array;
}

/** A stream of requests, and the isolate that it meets: the last one, until that ends. */
interface Stream {
  readonly place: Place;
  readonly meanGapSeconds: number;
  isolate: SimulatedIsolate;
  pages: SimulatedPages;
  blocks: SimulatedBlocks;
  startSeconds: number;
  endSeconds: number;
  /** Whether its parts are those of the pack that it began with. */
  isCold: boolean;
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
  readonly #blocks: number[];
  readonly #pages: number;
  readonly #pagesKept: number;
  #requests = 0;
  #pointerReads = 0;
  #bodyReads = 0;
  #starts = 0;
  #changes = 0;
  #coldParts = 0;
  #newParts = 0;
  #partReads = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#inputs = plan.inputs;
    this.#chance = seededChance(plan.seed);
    this.#pages = packPages(plan.inputs);
    this.#pagesKept = pagesKept(plan.inputs);
    this.#blocks = new Array(plan.inputs.mintNames).fill(0);
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
      changes: this.#changes,
      coldParts: this.#coldParts,
      newParts: this.#newParts,
      partReads: this.#partReads,
      blocks: this.#blocks,
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
    const partsAtSeconds = new Float64Array(1 + this.#pages).fill(Number.POSITIVE_INFINITY);
    const place: Place = { seesAtSeconds, bodyAtSeconds: Number.POSITIVE_INFINITY, partsAtSeconds };
    const chance = chanceOfMint(isolateRequestsPerSecond * this.#mintsOfName, isolateLifeSeconds);
    const left = () => drawLeft(chance, this.#inputs.blockNumbers, uniform);
    return Array.from({ length: isolates }, () => {
      const ends = exponential(isolateLifeSeconds);
      const endSeconds =
        deployedWithinSeconds === undefined ? ends : Math.min(ends, fromSeconds + deployedWithinSeconds * uniform());
      return {
        place,
        meanGapSeconds: 1 / isolateRequestsPerSecond,
        isolate: new SimulatedIsolate(this.#inputs, uniform, refreshSeconds * uniform(), reportSeconds * uniform()),
        pages: this.#oldPages(isolateRequestsPerSecond),
        blocks: new SimulatedBlocks(this.#inputs, left),
        startSeconds: Number.NEGATIVE_INFINITY,
        endSeconds,
        isCold: false,
        hasNew: false,
        failures: 0,
      };
    });
  }

  /** Mints of one sequence for each request. */
  get #mintsOfName(): number {
    const { mintsPerSecond, mintNames, requestsPerSecond } = this.#inputs;
    return mintsPerSecond / requestsPerSecond / mintNames;
  }

  /** Those that an isolate has loaded by now, whose age is as random as its life. */
  #oldPages(requestsPerSecond: number): SimulatedPages {
    const { exponential, uniform } = this.#chance;
    const { isolateLifeSeconds, packShare } = this.#inputs;
    const pages = new SimulatedPages(this.#pages, this.#pagesKept);
    const looks = exponential(isolateLifeSeconds) * requestsPerSecond * packShare;
    for (let page = 0; page < this.#pages; page++) if (uniform() > Math.exp(-looks / this.#pages)) pages.load(page);
    return pages;
  }

  #meet(stream: Stream, nowSeconds: number): void {
    const { fromSeconds, originDiesAtSeconds = Number.POSITIVE_INFINITY } = this.#plan;
    const isCounted = nowSeconds >= fromSeconds;
    if (isCounted) this.#requests++;
    if (nowSeconds >= stream.endSeconds) this.#start(stream, nowSeconds, isCounted);
    if (stream.isolate.looks(nowSeconds)) this.#look(stream, nowSeconds, isCounted);
    if (this.#chance.uniform() < this.#inputs.packShare) this.#lookIntoPack(stream, nowSeconds, isCounted);
    this.#mint(stream, isCounted);
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
    stream.pages = new SimulatedPages(this.#pages, this.#pagesKept);
    stream.blocks = new SimulatedBlocks(this.#inputs);
    stream.startSeconds = nowSeconds;
    stream.isCold = true;
    stream.failures = 0;
  }

  #lookIntoPack(stream: Stream, nowSeconds: number, isCounted: boolean): void {
    const page = Math.floor(this.#chance.uniform() * this.#pages);
    if (!stream.pages.lacks(page)) return;
    stream.pages.load(page);
    this.#loadPart(stream, 1 + page, nowSeconds, isCounted);
  }

  #loadPart({ place, hasNew, isCold }: Stream, part: number, nowSeconds: number, isCounted: boolean): void {
    if (isCounted && isCold) this.#coldParts++;
    else if (isCounted) this.#newParts++;
    const atSeconds = place.partsAtSeconds[part] as number;
    // The pack before is in every cache.
    if (!hasNew || nowSeconds >= atSeconds) return;
    if (isCounted) this.#partReads++;
    place.partsAtSeconds[part] = Math.min(atSeconds, nowSeconds + this.#inputs.bodyFillSeconds);
  }

  #mint({ blocks }: Stream, isCounted: boolean): void {
    const { mintNames } = this.#inputs;
    const wanted = this.#mintsOfName * mintNames + this.#chance.uniform();
    for (let at = 1; at <= wanted; at++) {
      const name = Math.floor(this.#chance.uniform() * mintNames);
      if (blocks.take(name) && isCounted) this.#blocks[name] = (this.#blocks[name] as number) + 1;
    }
  }

  #look(stream: Stream, nowSeconds: number, isCounted: boolean): void {
    const { bodyFillSeconds } = this.#inputs;
    if (isCounted) this.#pointerReads++;
    const { place } = stream;
    const isNew = !stream.hasNew && nowSeconds >= place.seesAtSeconds;
    const isFirst = stream.startSeconds === nowSeconds;
    stream.hasNew ||= isNew;
    if (isNew && !isFirst) {
      stream.isCold = false;
      stream.pages.change();
    }
    if (isNew || isFirst) this.#loadPart(stream, 0, nowSeconds, isCounted);
    if (!isNew) return;
    if (isCounted) this.#changes++;
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
