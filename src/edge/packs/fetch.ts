import { err, ok, type Result } from "../../ids/result.ts";
import type { Clock, Entropy } from "../../ports.ts";
import { raceCacheAndKv } from "../platform.ts";
import type { TableCache } from "../table/edge-cache.ts";
import { KV_CACHE_SECONDS, type LoadFailure, within } from "../table/kv.ts";

/**
 * When a part of a pack may be read again that could not be had. The first wait is short, since KV is often back in a moment;
 * each further failure doubles it, up to the interval in which the pointer is read too. And where reads fail in a row because
 * KV throws or does not answer, KV itself is left alone in the same way, however many parts are wanted.
 */
export interface RetryBackoff {
  /** What the part failed for, and when KV may be asked for it again; `undefined` where it may be asked for now. */
  of(key: string): { readonly why: string; readonly retryAfterMs: number } | undefined;
  /** Whether KV may be asked now. While it fails one read at a time may try. */
  beginRead(): boolean;
  /** KV has answered, whatever it said. */
  answered(): void;
  /** `isOfStore`: KV failed, and not the part. `false` where the part is waited for already: nothing new. */
  failed(key: string, why: string, isOfStore: boolean): boolean;
  succeeded(key: string): void;
}

export interface RetryBackoffOptions {
  readonly clock: Clock;
  readonly entropy: Entropy;
  /** Between two looks at the pointer: the longest wait, where it is not longer than a minute. */
  readonly intervalMs: number;
  /** After so long a read that has not ended is taken for dead. */
  readonly deadlineMs: number;
}

const FIRST_MS = 1_000;

/** Who looks for a new table once a day does not want to be without a page for a day. */
const LONGEST_MS = 60_000;

/** Isolates that fail together drift apart by up to this share of a wait, either way. */
const JITTER = 0.1;

/** One read that fails is no reason to leave all others undone. */
const STORE_FAILURES_FREE = 2;

/** Waits that are remembered: more than any table in force has parts. */
const WAITS_MAX = 1_024;

interface Wait {
  readonly failures: number;
  readonly dueMs: number;
  readonly why: string;
}

const NO_WAIT: Wait = { failures: 0, dueMs: 0, why: "" };

export function retryBackoff({ clock, entropy, intervalMs, deadlineMs }: RetryBackoffOptions): RetryBackoff {
  const waits = new Map<string, Wait>();
  let store = NO_WAIT;
  let isTrying = false;
  const longestMs = Math.min(intervalMs, LONGEST_MS);

  const after = (last: Wait, why: string, free: number): Wait => {
    const nowMs = clock.nowMs();
    // Whoever comes after a long quiet time begins anew: it was asked for less often than the interval allows.
    const failures = nowMs - last.dueMs > longestMs ? 1 : last.failures + 1;
    const doubledMs = failures <= free ? 0 : FIRST_MS * 2 ** (failures - free - 1);
    const jitter = 1 - JITTER + (2 * JITTER * entropy.word()) / 2 ** 32;
    return { failures, dueMs: nowMs + Math.min(doubledMs, longestMs) * jitter, why };
  };
  const isOver = ({ dueMs }: Wait): boolean => clock.nowMs() >= dueMs;

  return {
    of(key) {
      const wait = waits.get(key);
      if (wait === undefined || isOver(wait)) return undefined;
      return { why: wait.why, retryAfterMs: Math.max(wait.dueMs, store.dueMs) - clock.nowMs() };
    },
    beginRead() {
      if (!isOver(store)) return false;
      if (store.failures > STORE_FAILURES_FREE) {
        isTrying = true;
        store = { ...store, dueMs: clock.nowMs() + deadlineMs };
      }
      return true;
    },
    answered() {
      store = NO_WAIT;
      isTrying = false;
    },
    failed(key, why, isOfStore) {
      const last = waits.get(key) ?? NO_WAIT;
      if (!isOver(last)) return false;
      waits.delete(key);
      waits.set(key, after(last, why, 0));
      const [oldest] = waits.size > WAITS_MAX ? waits.keys() : [];
      if (oldest !== undefined) waits.delete(oldest);
      if (isOfStore && (isTrying || isOver(store))) {
        isTrying = false;
        store = after(store, why, STORE_FAILURES_FREE);
      }
      return true;
    },
    succeeded(key) {
      waits.delete(key);
    },
  };
}

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
    return fail(key, { why: formatFailure({ reason: "store-timeout", deadlineMs }), isOfStore: true });
  };
}

export function formatFailure(failure: LoadFailure): string {
  if (failure.reason === "store-timeout") return `KV did not answer within ${failure.deadlineMs} ms`;
  return failure.reason === "store-failed" ? `KV failed: ${failure.why}` : failure.reason;
}
