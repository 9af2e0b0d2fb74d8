import type { Pointer } from "../formats/kv.ts";

/** Publishing to KV in steps: each body, the pointer, then its read-back. The state is on disk: an interrupted step runs again. */
export interface Publication {
  readonly pointer: Pointer;
  readonly bodiesLeft: readonly string[];
  readonly isPut: boolean;
  /** Whether the pointer was read back. */
  readonly isHeld: boolean;
  /** Consecutive attempts that failed or read another pointer. */
  readonly tries: number;
  /** No step before this, Unix ms. */
  readonly dueMs: number;
  /** When a pointer was last sent to KV, Unix ms; its arrival may be unknown. */
  readonly pointerAtMs: number;
  /** Until then a delayed write of an older pointer may overwrite a newer one, Unix ms; 0 for never. */
  readonly doubtUntilMs: number;
  readonly lastError: string | undefined;
}

export type Step =
  | { readonly do: "put-body"; readonly digest: string; readonly atMs: number }
  | { readonly do: "put-pointer" | "read-back"; readonly atMs: number };

export type Outcome =
  | { readonly kind: "done" }
  /** `isUnknown`: it may have happened, or may still happen. */
  | { readonly kind: "failed"; readonly why: string; readonly isUnknown: boolean }
  /** The pointer in KV; `undefined` if it is missing or malformed. */
  | { readonly kind: "read"; readonly pointer: Pointer | undefined };

/** KV accepts one write per second to a key. */
export const POINTER_MS_MIN = 1_100;

const BACKOFF_MS_MAX = 60_000;

/** How long KV may serve a stale value after a write. */
const KV_STALE_MS = 60_000;

/** Read-backs before the pointer is written again: longer than KV serves stale values. */
const READ_BACKS_MAX = 7;

/** Starts to publish a pointer; `before` is the publication that it replaces. */
export function startPublication(pointer: Pointer, before: Publication | undefined, nowMs: number): Publication {
  return {
    pointer,
    bodiesLeft: [...new Set([pointer.digest, pointer.canary?.digest ?? pointer.digest])],
    isPut: false,
    isHeld: false,
    tries: 0,
    dueMs: nowMs,
    pointerAtMs: before?.pointerAtMs ?? 0,
    doubtUntilMs: before?.doubtUntilMs ?? 0,
    lastError: undefined,
  };
}

/** An older pointer may overwrite this one: read KV again when it serves nothing stale any more. */
export const markUncertain = (publication: Publication, nowMs: number): Publication => ({
  ...publication,
  doubtUntilMs: Math.max(publication.doubtUntilMs, nowMs + KV_STALE_MS),
});

/** `undefined`: the pointer is confirmed, and nothing is left to do. */
export function nextStep(publication: Publication): Step | undefined {
  const { bodiesLeft, isPut, isHeld, dueMs, pointerAtMs, doubtUntilMs } = publication;
  const [digest] = bodiesLeft;
  if (digest !== undefined) return { do: "put-body", digest, atMs: dueMs };
  if (!isPut) return { do: "put-pointer", atMs: Math.max(dueMs, pointerAtMs + POINTER_MS_MIN) };
  if (!isHeld) return { do: "read-back", atMs: dueMs };
  return doubtUntilMs > 0 ? { do: "read-back", atMs: Math.max(dueMs, doubtUntilMs) } : undefined;
}

export function afterStep(publication: Publication, step: Step, outcome: Outcome, nowMs: number): Publication {
  if (outcome.kind === "failed") {
    const next = { ...later(publication, nowMs), lastError: `${step.do}: ${outcome.why}` };
    return step.do === "put-pointer" && outcome.isUnknown ? markUncertain(next, nowMs) : next;
  }
  const next = { ...publication, tries: 0, dueMs: nowMs };
  if (outcome.kind === "read") return afterReading(publication, outcome.pointer, nowMs);
  if (step.do === "put-body") {
    return { ...next, bodiesLeft: publication.bodiesLeft.filter((digest) => digest !== step.digest) };
  }
  return { ...next, isPut: true };
}

function afterReading(publication: Publication, read: Pointer | undefined, nowMs: number): Publication {
  if (isSamePointer(read, publication.pointer)) {
    const doubtUntilMs = nowMs >= publication.doubtUntilMs ? 0 : publication.doubtUntilMs;
    return { ...publication, tries: 0, dueMs: nowMs, isHeld: true, doubtUntilMs, lastError: undefined };
  }
  const lastError = `read-back: KV holds ${read === undefined ? "no pointer" : `revision ${read.revision}`}`;
  // It was confirmed before, or stale reads are over: write it again.
  if (publication.isHeld || publication.tries + 1 >= READ_BACKS_MAX)
    return { ...restart(publication, nowMs), lastError };
  return { ...later(publication, nowMs), lastError };
}

export const restart = (publication: Publication, nowMs: number): Publication =>
  startPublication(publication.pointer, publication, nowMs);

function later(publication: Publication, nowMs: number): Publication {
  const tries = publication.tries + 1;
  return { ...publication, tries, dueMs: nowMs + Math.min(BACKOFF_MS_MAX, POINTER_MS_MIN * 2 ** (tries - 1)) };
}

export const isSamePointer = (a: Pointer | undefined, b: Pointer): boolean =>
  a !== undefined && a.revision === b.revision && a.digest === b.digest && a.change === b.change;
