import { err, ok, type Result } from "../ids/result.ts";
import type { Clock } from "../ports.ts";
import { raceCacheAndKv } from "./nearest.ts";
import type { RetryBackoff } from "./part-waits.ts";
import type { TableCache } from "./table-cache.ts";
import { KV_CACHE_SECONDS, type LoadFailure, within } from "./table-store.ts";

export interface PackPartsOptions {
  readonly kv: KVNamespace;
  readonly cache: TableCache;
  readonly clock: Clock;
  readonly waits: RetryBackoff;
  /** Keeps a read going when the request that began it is over: others wait for it. */
  readonly waitUntil: (work: Promise<unknown>) => void;
}

/** Verifies the bytes of a part and keeps what is made of them, or says what is wrong with them. */
export type OpenPart = (bytes: ArrayBuffer) => Promise<Result<undefined, string>>;

export interface PartFailure {
  readonly why: string;
  /** When the part may be asked for again. */
  readonly retryAfterMs: number;
  /** Whether it is the first to be told: those that wait for a failed part are not worth a line each. */
  readonly isNew: boolean;
}

interface Trouble {
  readonly why: string;
  /** KV failed, and not the part. */
  readonly isOfStore: boolean;
}

type Answer = Result<undefined, Trouble>;

/** Loads headers and pages, from the edge's cache or else from KV: each once at a time, and after a failure not before its wait is over. */
export function packParts({ kv, cache, clock, waits, waitUntil }: PackPartsOptions) {
  const flights = new Map<string, { readonly sinceMs: number; readonly answer: Promise<Answer> }>();

  const readKv = async (key: string, open: OpenPart, deadlineMs: number): Promise<Answer> => {
    if (!waits.beginRead()) return err({ why: "KV failed just before", isOfStore: false });
    const read = await within(async () => {
      const bytes = await kv.get(key, { type: "arrayBuffer", cacheTtl: KV_CACHE_SECONDS });
      return bytes === null ? null : { bytes, opened: await open(bytes) };
    }, deadlineMs);
    if (!read.ok) return err({ why: formatFailure(read.error), isOfStore: true });
    waits.answered();
    if (read.value === null) return err({ why: `KV has no ${key}`, isOfStore: false });
    const { bytes, opened } = read.value;
    if (!opened.ok) return err({ why: opened.error, isOfStore: false });
    waitUntil(cache.putPart(key, bytes));
    return opened;
  };

  const begin = (key: string, open: OpenPart, deadlineMs: number) => {
    const fetch = async (): Promise<Answer> => {
      const answer = await raceCacheAndKv(cache.part(key, open), () => readKv(key, open, deadlineMs));
      if (answer.ok) waits.succeeded(key);
      return answer;
    };
    const answer = fetch().finally(() => {
      if (flights.get(key)?.answer === answer) flights.delete(key);
    });
    const flight = { sinceMs: clock.nowMs(), answer };
    flights.set(key, flight);
    waitUntil(answer);
    return flight;
  };

  const fail = (key: string, { why, isOfStore }: Trouble): Result<undefined, PartFailure> => {
    const isNew = waits.failed(key, why, isOfStore);
    return err({ why, retryAfterMs: waits.of(key)?.retryAfterMs ?? 0, isNew });
  };

  /**
   * Whoever comes while a part is on its way waits for the same answer. `deadlineMs`: what a read may take; `waitMs`: what this one
   * has left to wait for it.
   */
  return async (
    key: string,
    open: OpenPart,
    deadlineMs: number,
    waitMs = deadlineMs,
  ): Promise<Result<undefined, PartFailure>> => {
    const wait = waits.of(key);
    if (wait !== undefined) return err({ ...wait, isNew: false });
    const flight = flights.get(key) ?? begin(key, open, deadlineMs);
    const leftMs = flight.sinceMs + deadlineMs - clock.nowMs();
    const restMs = Math.min(waitMs, leftMs);
    // A read may die with the request that began it: it blocks nobody for long, and counts as one that KV did not answer.
    const answer = restMs > 0 ? await within(() => flight.answer, restMs) : err(undefined);
    if (answer.ok) return answer.value.ok ? ok(undefined) : fail(key, answer.value.error);
    // Whoever has no time left says nothing of KV, and the read goes on.
    if (restMs < leftMs) return fail(key, { why: "it did not come in time", isOfStore: false });
    if (flights.get(key) === flight) flights.delete(key);
    return fail(key, { why: formatFailure({ reason: "store-slow", deadlineMs }), isOfStore: true });
  };
}

export function formatFailure(failure: LoadFailure): string {
  if (failure.reason === "store-slow") return `KV did not answer within ${failure.deadlineMs} ms`;
  return failure.reason === "store-failed" ? `KV failed: ${failure.why}` : failure.reason;
}
