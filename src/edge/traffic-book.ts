import type { Checked } from "./active-checks.ts";
import { seriesKey } from "./traffic-catalogue.ts";
import { applyUpdate, hintOf, type OriginHint, type OriginState, withCheck } from "./traffic-origins.ts";
import type { MetricsStorage } from "./traffic-rows.ts";
import type { MetricsReport, MetricsTotals } from "./traffic-store.ts";
import { SeriesTotals } from "./traffic-sums.ts";

/** Series kept at most. A sum costs about 200 bytes of memory and a row on disk. */
export const SERIES_MAX = 20_000;

/** Origins kept at most, and for how long after they were last heard of. */
const ORIGINS_MAX = 4_096;
const ORIGIN_DAYS = 1;

const DAY_MS = 86_400_000;

/**
 * All that isolates have reported, in memory, with what has changed since it was last written to disk. What was not written is
 * lost when the object ends; what was shown was written before, so that no sum that anybody saw ever goes back.
 */
export class MetricsAggregate {
  readonly #rows: MetricsStorage;
  readonly #sinceMs: number;
  readonly #sums: SeriesTotals;
  readonly #origins: Map<string, OriginState>;
  readonly #changedSums = new Set<string>();
  readonly #changedOrigins = new Set<string>();

  constructor(rows: MetricsStorage, nowMs: number) {
    const { sinceMs, sums, origins } = rows.load(nowMs);
    this.#rows = rows;
    this.#sinceMs = sinceMs;
    this.#sums = new SeriesTotals(SERIES_MAX, sums);
    this.#origins = new Map(origins);
  }

  get isChanged(): boolean {
    return this.#changedSums.size > 0 || this.#changedOrigins.size > 0;
  }

  enter({ sums, origins }: MetricsReport, nowMs: number): void {
    for (const [key, by] of sums) this.#changedSums.add(this.#sums.add(key, by));
    this.#changedSums.add(this.#sums.add(seriesKey("reports_total"), 1));
    for (const news of origins) this.#turn(news.url, applyUpdate(this.#origins.get(news.url), news, nowMs));
  }

  enterCheck({ url, path, check }: Checked): void {
    this.#turn(url, withCheck(this.#origins.get(url), path, check));
  }

  hints(): readonly OriginHint[] {
    return [...this.#origins].flatMap(([url, state]) => hintOf(url, state) ?? []);
  }

  /** Writes first: see above. */
  totals(nowMs: number): MetricsTotals {
    this.save(nowMs);
    return { sinceMs: this.#sinceMs, sums: new Map(this.#sums), origins: this.#origins };
  }

  save(nowMs: number): void {
    this.#dropOld(nowMs);
    for (const key of this.#changedSums) this.#rows.saveSum(key, this.#sums.get(key));
    for (const url of this.#changedOrigins) {
      const state = this.#origins.get(url);
      if (state !== undefined) this.#rows.saveOrigin(url, state);
    }
    this.#changedSums.clear();
    this.#changedOrigins.clear();
  }

  #turn(url: string, state: OriginState): void {
    // The one heard of last stands last.
    this.#origins.delete(url);
    this.#origins.set(url, state);
    this.#changedOrigins.add(url);
  }

  #dropOld(nowMs: number): void {
    for (const [url, { heardAtMs }] of this.#origins) {
      if (this.#origins.size <= ORIGINS_MAX && nowMs - heardAtMs < ORIGIN_DAYS * DAY_MS) continue;
      this.#origins.delete(url);
      this.#rows.dropOrigin(url);
    }
  }
}
