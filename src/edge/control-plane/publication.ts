import type { Pointer } from "../../published/kv.ts";

/**
 * Bringing KV to the last revision, as steps: each body, then the pointer, then reading it back. Pure: what is known goes in,
 * and what to do next comes out. What is known is kept on disk, so that a step that was cut short is made again.
 */
export interface Publication {
  /** What KV is to hold. */
  readonly pointer: Pointer;
  /** Bodies that it names and that were not put yet. */
  readonly bodiesLeft: readonly string[];
  readonly isPut: boolean;
  /**
   * The last revision before this one that KV was seen to hold: who writes to KV beside the object saw that one, and takes a
   * number above it. `undefined` in what a former version of the code wrote.
   */
  readonly over?: number | undefined;
  /** Whether the pointer was read back. */
  readonly isHeld: boolean;
  /** Tries in a row that failed, or that read something else. */
  readonly tries: number;
  /** No step before this, Unix ms. */
  readonly dueMs: number;
  /** When a pointer was last sent to KV, Unix ms; whether it arrived may not be known. */
  readonly pointerAtMs: number;
  /** Until then an older pointer that was sent may still arrive over a newer one, Unix ms; 0 for never. */
  readonly doubtUntilMs: number;
  readonly lastError: string | undefined;
}

export type Step =
  | { readonly do: "put-body"; readonly digest: string; readonly atMs: number }
  | { readonly do: "put-pointer" | "read-back"; readonly atMs: number };

export type Outcome =
  | { readonly kind: "done" }
  /** `isUnknown`: it may have been done, or be done later. */
  | { readonly kind: "failed"; readonly why: string; readonly isUnknown: boolean }
  /** What KV holds; `undefined` for nothing that is a pointer. */
  | { readonly kind: "read"; readonly pointer: Pointer | undefined };

/** KV takes one write a second for a key, and refuses the others. */
export const POINTER_MS_MIN = 1_100;

const BACKOFF_MS_MAX = 60_000;

/** A KV value that was read may be served again for so long, whatever was written since. */
const KV_STALE_MS = 60_000;

/** Read-backs until the pointer is written again: longer than KV shows what is stale. */
const READ_BACKS_MAX = 7;

/** What is to be in KV now, after whatever was to be before. */
export function startPublication(pointer: Pointer, before: Publication | undefined, nowMs: number): Publication {
  return {
    pointer,
    bodiesLeft: bodiesOf(pointer),
    isPut: false,
    over: before === undefined ? 0 : lastConfirmedRevision(before),
    isHeld: false,
    tries: 0,
    dueMs: nowMs,
    pointerAtMs: before?.pointerAtMs ?? 0,
    doubtUntilMs: before?.doubtUntilMs ?? 0,
    lastError: undefined,
  };
}

/** KV holds it already: it was found there. A pointer of what was to be before may still be on its way. */
export function adoptPublication(pointer: Pointer, before: Publication | undefined, nowMs: number): Publication {
  const found = { ...startPublication(pointer, before, nowMs), bodiesLeft: [], isPut: true, isHeld: true };
  return before === undefined || before.isHeld ? found : markUncertain(found, nowMs);
}

/** The last revision that KV was seen to hold, of those that the object knows. */
export const lastConfirmedRevision = ({ isHeld, pointer, over }: Publication): number =>
  isHeld ? pointer.revision : (over ?? pointer.revision);

/** After a restart: a pointer may be on its way that nobody waits for any more. */
export function resumePublication(publication: Publication, nowMs: number): Publication {
  return publication.isHeld ? publication : markUncertain(publication, nowMs);
}

/** An older pointer may arrive, or has just arrived: KV is to be read again when it shows nothing stale any more. */
export function markUncertain(publication: Publication, nowMs: number): Publication {
  return { ...publication, doubtUntilMs: Math.max(publication.doubtUntilMs, nowMs + KV_STALE_MS) };
}

/** `undefined`: KV holds it, and all is quiet. */
export function nextStep(publication: Publication): Step | undefined {
  const { bodiesLeft, isPut, isHeld, dueMs, pointerAtMs, doubtUntilMs } = publication;
  const [digest] = bodiesLeft;
  if (digest !== undefined) return { do: "put-body", digest, atMs: dueMs };
  if (!isPut) return { do: "put-pointer", atMs: Math.max(dueMs, pointerAtMs + POINTER_MS_MIN) };
  if (!isHeld) return { do: "read-back", atMs: dueMs };
  return doubtUntilMs > 0 ? { do: "read-back", atMs: Math.max(dueMs, doubtUntilMs) } : undefined;
}

/** To be written down before the step itself. */
export function beforeStep(publication: Publication, step: Step, nowMs: number): Publication {
  return step.do === "put-pointer" ? { ...publication, pointerAtMs: nowMs } : publication;
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
  // It was there before, or stale reads are over: it has to be written again.
  if (publication.isHeld || publication.tries + 1 >= READ_BACKS_MAX)
    return { ...restart(publication, nowMs), lastError };
  return { ...later(publication, nowMs), lastError };
}

/** From the bodies on. */
export function restart(publication: Publication, nowMs: number): Publication {
  return startPublication(publication.pointer, publication, nowMs);
}

function later(publication: Publication, nowMs: number): Publication {
  const tries = publication.tries + 1;
  return { ...publication, tries, dueMs: nowMs + Math.min(BACKOFF_MS_MAX, POINTER_MS_MIN * 2 ** (tries - 1)) };
}

export function isSamePointer(a: Pointer | undefined, b: Pointer): boolean {
  return a !== undefined && a.revision === b.revision && a.digest === b.digest && a.change === b.change;
}

const bodiesOf = ({ digest, canary }: Pointer): readonly string[] =>
  canary === undefined || canary.digest === digest ? [digest] : [digest, canary.digest];
