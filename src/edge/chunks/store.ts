import { type Err, err, type Result } from "../../ids/result.ts";
import type { Entropy } from "../../ports/gateway.ts";
import type { LocationOptions } from "../origins/moved-memory.ts";
import { raceCacheAndKv, setLast } from "../platform.ts";
import { edgeTableCache } from "../table/edge-cache.ts";
import { KV_CACHE_SECONDS, type LoadFailure, within } from "../table/kv.ts";

export interface Chunk {
  readonly bytes: number;
  /** Set by every look-up. The store clears it and evicts the chunk if nothing set it again. */
  isUsed: boolean;
}

/** A value in KV. Its key is or contains a digest, so it never changes. */
export interface ChunkSource<Value> {
  readonly key: string;
  /** Verifies and decodes the bytes. It also runs for a read that no request waits for any more. */
  readonly open: (bytes: ArrayBuffer) => Promise<Result<Value, string>>;
  /** For the read. A request may wait for less. */
  readonly deadlineMs: number;
}

export interface ChunkFailure {
  readonly why: string;
  /** When the chunk may be read again. */
  readonly retryAfterMs: number;
  /** False while a failed chunk waits for its next read: one log line is enough. */
  readonly isNew: boolean;
}

export interface ChunkStoreOptions extends LocationOptions {
  readonly kv: KVNamespace;
  readonly entropy: Entropy;
  /** The longest time between two reads of a chunk that fails, up to a minute. */
  readonly retryMsMax: number;
  readonly chunkBytesMax?: number;
  /** How long a request waits for a chunk before its 503, and how long a single read probes a failing KV. */
  readonly chunkDeadlineMs?: number;
}

export const CHUNK_DEADLINE_MS = 2_000;

const CHUNK_BYTES_MAX_DEFAULT = 16 * 1024 * 1024;

/** `isOfStore`: KV failed, not the chunk. */
type ReadFailure = Readonly<{ why: string; isOfStore: boolean }>;

type Flight<Value> = Readonly<{ startedAtMs: number; answer: Promise<Result<Value, ReadFailure>> }>;

/** An isolate's chunks from the edge's cache or KV, verified, within a bound of bytes. Concurrent requests for a chunk share one read. */
export function chunkStore(options: ChunkStoreOptions) {
  const { kv, clock, waitUntil, chunkBytesMax = CHUNK_BYTES_MAX_DEFAULT } = options;
  const cache = edgeTableCache(options.cache, options.namespace, clock);
  const backoff = retryBackoff(options);
  const flights = new Map<string, Flight<unknown>>();
  /** The oldest first, with what removes it from its users. */
  const chunks = new Map<Chunk, () => void>();
  let heldBytes = 0;

  /** `waitMs`: how long this request can wait. */
  async function load<Value>(
    source: ChunkSource<Value>,
    waitMs: number = source.deadlineMs,
  ): Promise<Result<Value, ChunkFailure>> {
    const { key, deadlineMs } = source;
    const wait = backoff.of(key);
    if (wait !== undefined) return err({ ...wait, isNew: false });
    const flight = (flights.get(key) as Flight<Value> | undefined) ?? start(source);
    const leftMs = flight.startedAtMs + deadlineMs - clock.nowMs();
    const restMs = Math.min(waitMs, leftMs);
    // A read can die with the request that started it. Others wait until its deadline and count it as a KV timeout.
    const answer = restMs > 0 ? await within(() => flight.answer, restMs) : err(undefined);
    if (answer.ok) return answer.value.ok ? answer.value : fail(key, answer.value.error);
    // The read goes on: a request without time left is no evidence against KV.
    if (restMs < leftMs) return fail(key, { why: "it did not arrive in time", isOfStore: false });
    if (flights.get(key) === flight) flights.delete(key);
    return fail(key, { why: formatFailure({ reason: "store-timeout", deadlineMs }), isOfStore: true });
  }

  /** Starts the backoff of a key, also for a fault that the store cannot see. */
  function fail(key: string, { why, isOfStore }: ReadFailure): Err<ChunkFailure> {
    const isNew = backoff.failed(key, why, isOfStore);
    return err({ why, retryAfterMs: backoff.of(key)?.retryAfterMs ?? 0, isNew });
  }

  /** Counts a chunk and evicts by second chance (Corbató 1969): the oldest, unless it was used since it was last passed over. */
  function keep(chunk: Chunk, drop: () => void): void {
    for (const [oldest, dropOldest] of chunks) {
      if (heldBytes + chunk.bytes <= chunkBytesMax) break;
      chunks.delete(oldest);
      if (oldest.isUsed) {
        oldest.isUsed = false;
        chunks.set(oldest, dropOldest);
        continue;
      }
      dropOldest();
      heldBytes -= oldest.bytes;
    }
    // The new chunk stays, even if it alone is too large.
    chunk.isUsed = false;
    chunks.set(chunk, drop);
    heldBytes += chunk.bytes;
  }

  function start<Value>(source: ChunkSource<Value>): Flight<Value> {
    const { key, open } = source;
    const read = raceCacheAndKv(cache.part(key, open), () => readKv(source)).then((answer) => {
      if (answer.ok) backoff.succeeded(key);
      return answer;
    });
    const answer = read.finally(() => {
      if (flights.get(key) === flight) flights.delete(key);
    });
    const flight = { startedAtMs: clock.nowMs(), answer };
    flights.set(key, flight);
    waitUntil(answer);
    return flight;
  }

  async function readKv<Value>({ key, open, deadlineMs }: ChunkSource<Value>): Promise<Result<Value, ReadFailure>> {
    if (!backoff.beginRead()) return err({ why: "KV failed just before", isOfStore: false });
    const read = await within(async () => {
      const bytes = await kv.get(key, { type: "arrayBuffer", cacheTtl: KV_CACHE_SECONDS });
      return bytes === null ? null : { bytes, opened: await open(bytes) };
    }, deadlineMs);
    if (!read.ok) return err({ why: formatFailure(read.error), isOfStore: true });
    backoff.answered();
    if (read.value === null) return err({ why: `KV has no ${key}`, isOfStore: false });
    const { bytes, opened } = read.value;
    if (!opened.ok) return err({ why: opened.error, isOfStore: false });
    waitUntil(cache.putPart(key, bytes));
    return opened;
  }

  return { load, fail, keep };
}

export function formatFailure(failure: LoadFailure): string {
  if (failure.reason === "store-timeout") return `KV did not answer within ${failure.deadlineMs} ms`;
  return failure.reason === "store-failed" ? `KV failed: ${failure.why}` : failure.reason;
}

const FIRST_WAIT_MS = 1_000;

/** An interval of a day must not keep a chunk away for a day. */
const WAIT_MS_MAX = 60_000;

/** Share of a wait, either way, so that isolates that failed together do not retry together. */
const JITTER = 0.1;

/** Failures of KV in a row before it is left alone: one slow read must not stop all others. */
const STORE_FAILURES_FREE = 2;

/** More than the parts of any table in force. */
const WAITS_MAX = 1_024;

type Wait = Readonly<{ failures: number; dueMs: number; why: string }>;

const NO_WAIT: Wait = { failures: 0, dueMs: 0, why: "" };

type BackoffOptions = Pick<ChunkStoreOptions, "clock" | "entropy" | "retryMsMax" | "chunkDeadlineMs">;

/** Exponential backoff with jitter, for each key and for KV as a whole. */
export function retryBackoff({ clock, entropy, retryMsMax, chunkDeadlineMs = CHUNK_DEADLINE_MS }: BackoffOptions) {
  const waits = new Map<string, Wait>();
  const waitMsMax = Math.min(retryMsMax, WAIT_MS_MAX);
  const isOver = ({ dueMs }: Wait): boolean => clock.nowMs() >= dueMs;
  let store = NO_WAIT;
  let isProbing = false;

  /** Why the key failed and when it may be read again; `undefined` when it may be read now. */
  function of(key: string): Pick<ChunkFailure, "why" | "retryAfterMs"> | undefined {
    const wait = waits.get(key);
    if (wait === undefined || isOver(wait)) return undefined;
    return { why: wait.why, retryAfterMs: Math.max(wait.dueMs, store.dueMs) - clock.nowMs() };
  }

  /** Whether KV may be read now. While it fails, one read at a time probes it. */
  function beginRead(): boolean {
    if (!isOver(store)) return false;
    isProbing = store.failures > STORE_FAILURES_FREE;
    // A probe that dies must not block those after it.
    if (isProbing) store = { ...store, dueMs: clock.nowMs() + chunkDeadlineMs };
    return true;
  }

  function answered(): void {
    store = NO_WAIT;
    isProbing = false;
  }

  /** False when the key waits already: nothing new. */
  function failed(key: string, why: string, isOfStore: boolean): boolean {
    const last = waits.get(key) ?? NO_WAIT;
    if (!isOver(last)) return false;
    setLast(waits, key, after(last, why, 0), WAITS_MAX);
    if (isOfStore && (isProbing || isOver(store))) {
      isProbing = false;
      store = after(store, why, STORE_FAILURES_FREE);
    }
    return true;
  }

  function after(last: Wait, why: string, free: number): Wait {
    const nowMs = clock.nowMs();
    // After a quiet time longer than the longest wait the series starts again.
    const failures = nowMs - last.dueMs > waitMsMax ? 1 : last.failures + 1;
    const doubledMs = failures <= free ? 0 : FIRST_WAIT_MS * 2 ** (failures - free - 1);
    const jitter = 1 - JITTER + (2 * JITTER * entropy.word()) / 2 ** 32;
    return { failures, dueMs: nowMs + Math.min(doubledMs, waitMsMax) * jitter, why };
  }

  return { of, beginRead, answered, succeeded: (key: string) => waits.delete(key), failed };
}
