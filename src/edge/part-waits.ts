import type { Clock, Entropy } from "../ports.ts";

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
