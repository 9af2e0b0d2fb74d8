import type { ProblemSample } from "../../formats/console-api.ts";
import { SAMPLES_MAX, type SampledProblems, type SampledRequest } from "./request-shares.ts";

/** The last requests that had a problem, for a while. Pure. */

const PROBLEMS_MAX = 64;

/** Paths hold IDs, which may be personal. */
export const KEPT_MS = 3_600_000;

export class RecentProblems {
  readonly #requests: Map<string, readonly SampledRequest[]>;
  readonly #changed = new Set<string>();

  constructor(stored: Iterable<readonly [string, readonly SampledRequest[]]> = []) {
    this.#requests = new Map(stored);
  }

  /** Nothing is kept longer because the clock of an isolate is ahead. */
  add(problems: SampledProblems, nowMs: number): void {
    for (const [slug, requests] of problems) {
      const known = this.#requests.get(slug) ?? [];
      const timed = requests.map((request) => ({ ...request, atMs: Math.min(request.atMs, nowMs) }));
      const last = [...known, ...timed].toSorted((a, b) => a.atMs - b.atMs).slice(-SAMPLES_MAX);
      // Map order: the problem that was heard of last is last.
      this.#requests.delete(slug);
      this.#requests.set(slug, last);
      this.#changed.add(slug);
    }
    for (const slug of [...this.#requests.keys()].slice(0, -PROBLEMS_MAX)) this.#forget(slug);
    this.#forgetOld(nowMs);
  }

  /** Newest first. */
  read(slug: string, nowMs: number): readonly ProblemSample[] {
    return (this.#requests.get(slug) ?? [])
      .filter(({ atMs }) => atMs > nowMs - KEPT_MS)
      .toReversed()
      .map(({ atMs, method, path, region, status }) => ({
        at: new Date(atMs).toISOString(),
        method,
        path,
        region: region ?? null,
        status,
      }));
  }

  /** When the next one is to be forgotten, Unix ms. */
  get dueMs(): number {
    const first = [...this.#requests.values()].map(([oldest]) => oldest?.atMs ?? Number.POSITIVE_INFINITY);
    return Math.min(Number.POSITIVE_INFINITY, ...first) + KEPT_MS;
  }

  /** Problems whose requests changed since the last call; `undefined`: none is left. */
  takeChanges(nowMs: number): readonly (readonly [string, readonly SampledRequest[] | undefined])[] {
    this.#forgetOld(nowMs);
    const changes = Array.from(this.#changed, (slug) => [slug, this.#requests.get(slug)] as const);
    this.#changed.clear();
    return changes;
  }

  forgetAll(): void {
    for (const slug of [...this.#requests.keys()]) this.#forget(slug);
  }

  #forgetOld(nowMs: number): void {
    for (const [slug, requests] of this.#requests) {
      const kept = requests.filter(({ atMs }) => atMs > nowMs - KEPT_MS);
      if (kept.length === requests.length) continue;
      this.#changed.add(slug);
      if (kept.length === 0) this.#forget(slug);
      else this.#requests.set(slug, kept);
    }
  }

  #forget(slug: string): void {
    this.#requests.delete(slug);
    this.#changed.add(slug);
  }
}
