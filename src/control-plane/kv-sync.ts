import { compileBody } from "../edge/table/compile-text.ts";
import { type LoadFailure, readBody, readPointer, within } from "../edge/table/kv.ts";
import { bodyKey, formatPointer, POINTER_KEY, type Pointer } from "../formats/kv.ts";
import { err, ok, type Result } from "../ids/result.ts";
import type { Clock } from "../ports/gateway.ts";
import type { TableHistoryError } from "../problems/errors.ts";
import { REVISION_MAX } from "../routing/index.ts";
import {
  afterStep,
  isSamePointer,
  lastConfirmedRevision,
  markUncertain,
  nextStep,
  type Outcome,
  type Publication,
  restart,
  type Step,
} from "./publication.ts";
import type { RevisionLog } from "./revisions.ts";
import type { StoredForms } from "./stored-forms.ts";

const DEADLINES = {
  /** A caller waits for reads. */
  readMs: 1_500,
  /** No caller waits for writes, but they must end. */
  writeMs: 10_000,
};

export type KvDeadlines = typeof DEADLINES;

export interface KvSyncOptions {
  readonly deadlines?: KvDeadlines | undefined;
  /** `undefined`: isolates compile tables themselves. */
  readonly forms?: StoredForms | undefined;
}

/** The state of KV; `pointer` is `undefined` if KV has no valid pointer. */
export type KvSnapshot = Readonly<{ pointer: Pointer | undefined; askedAtMs: number; failure: string | undefined }>;

/** Synchronizes the revision log with KV, from which isolates read: imports newer revisions and writes what is missing. */
export function kvSync(
  log: RevisionLog,
  kv: KVNamespace,
  clock: Clock,
  { deadlines = DEADLINES, forms }: KvSyncOptions,
) {
  const save = (publication: Publication): void => log.save({ ...log.state(), publication });
  let reading: Promise<Result<KvSnapshot, TableHistoryError>> | undefined;

  /** A newer revision of another publisher is imported; any other difference is written again. Concurrent callers share one read. */
  function reconcile(): Promise<Result<KvSnapshot, TableHistoryError>> {
    reading ??= snapshot().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  /** Runs the steps that are due. Returns the time of the next one, Unix ms; `undefined` if there is none. */
  async function run(): Promise<number | undefined> {
    for (;;) {
      const { publication } = log.state();
      const step = publication && nextStep(publication);
      if (publication === undefined || step === undefined) return undefined;
      if (step.atMs > clock.nowMs()) return step.atMs;
      if (step.do === "put-pointer" && !(await isStillDue(publication, step))) continue;
      const started = step.do === "put-pointer" ? { ...publication, pointerAtMs: clock.nowMs() } : publication;
      save(started);
      settle(started, step, await make(started, step));
    }
  }

  async function snapshot(): Promise<Result<KvSnapshot, TableHistoryError>> {
    const read = await readPointer(kv, deadlines.readMs);
    const askedAtMs = clock.nowMs();
    if (!read.ok && read.error.reason !== "not-published") {
      if (!log.state().isBegun) return err(unavailable(read.error));
      return ok({ pointer: undefined, askedAtMs, failure: whyOf(read.error) });
    }
    const pointer = read.ok ? read.value : undefined;
    const taken = await compare(pointer);
    return taken.ok ? ok({ pointer, askedAtMs, failure: undefined }) : taken;
  }

  async function compare(pointer: Pointer | undefined): Promise<Result<undefined, TableHistoryError>> {
    if (pointer !== undefined && isForeign(pointer)) {
      const isAhead = pointer.revision > log.head();
      const taken = await takeOver(pointer);
      if (isAhead || !taken.ok) return taken;
    }
    const state = log.state();
    const { publication } = state;
    if (!state.isBegun) log.save({ ...state, isBegun: true });
    if (publication?.isHeld && !isSamePointer(pointer, publication.pointer)) save(restart(publication, clock.nowMs()));
    return ok(undefined);
  }

  /** Whether another publisher wrote the pointer: its number is unused, or of what other publishers cannot see yet. */
  function isForeign({ revision, digest }: Pointer): boolean {
    if (revision > log.head()) return true;
    const { publication, foreign } = log.state();
    const known = publication === undefined ? 0 : lastConfirmedRevision(publication);
    const own = log.revision(revision);
    // This log never puts a canary's number into force.
    const isOwn = own?.digest === digest && own.kind !== "canary";
    return revision > Math.max(known, foreign) && !isOwn && log.hasNumbers(1);
  }

  /** Reads KV again just before a pointer is written, and imports a newer revision of another publisher. */
  async function isStillDue(publication: Publication, step: Step): Promise<boolean> {
    const read = await readPointer(kv, deadlines.writeMs);
    const taken = read.ok && isForeign(read.value) ? await takeOver(read.value) : ok(undefined);
    const unread = read.ok || !isPassing(read.error) ? undefined : whyOf(read.error);
    const failure = taken.ok ? unread : taken.error.why;
    const latest = log.state().publication;
    if (latest === undefined || !isSamePointer(latest.pointer, publication.pointer)) return false;
    if (failure === undefined) return true;
    save(afterStep(latest, step, { kind: "failed", why: failure, isUnknown: false }, clock.nowMs()));
    return false;
  }

  async function takeOver(pointer: Pointer): Promise<Result<undefined, TableHistoryError>> {
    const { digest, revision } = pointer;
    const bytes = await readBody(kv, digest, deadlines.readMs);
    const table = bytes.ok ? compileBody(bytes.value, digest, revision) : bytes;
    if (bytes.ok && table.ok) {
      if (isForeign(pointer)) log.takeOver(pointer, new Uint8Array(bytes.value));
      return ok(undefined);
    }
    // An unreadable table may be in force, so it must not be overwritten. A broken table never is.
    if (!table.ok && isPassing(table.error)) return err(unavailable(table.error));
    // The highest number would leave none for the next revision, and isolates never serve a broken table.
    const named = revision < REVISION_MAX ? revision : 0;
    log.save({ ...log.state(), isBegun: true, foreign: Math.max(log.state().foreign, named) });
    return ok(undefined);
  }

  async function make({ pointer }: Publication, step: Step): Promise<Outcome> {
    if (step.do === "read-back") {
      const read = await readPointer(kv, deadlines.writeMs);
      if (!read.ok && isPassing(read.error)) return failed(read.error);
      if (read.ok && isForeign(read.value)) await takeOver(read.value);
      return { kind: "read", pointer: read.ok ? read.value : undefined };
    }
    const value = step.do === "put-body" ? log.body(step.digest) : formatPointer(pointer);
    if (value === undefined) throw new Error("the text of a revision in force is gone");
    const key = step.do === "put-body" ? bodyKey(step.digest) : POINTER_KEY;
    // A reader of the pointer finds the form, unless it could not be written.
    const form = step.do === "put-body" ? forms?.write(step.digest) : undefined;
    const put = await within(() => kv.put(key, value), deadlines.writeMs);
    await form;
    return put.ok ? { kind: "done" } : failed(put.error);
  }

  /** A publication that began meanwhile has its own steps. It only has to expect a late write of this pointer. */
  function settle(made: Publication, step: Step, outcome: Outcome): void {
    const latest = log.state().publication;
    if (latest === undefined || isSamePointer(latest.pointer, made.pointer)) {
      save(afterStep(made, step, outcome, clock.nowMs()));
    } else if (step.do === "put-pointer") save(markUncertain(latest, clock.nowMs()));
  }

  return { reconcile, run };
}

/** Transient: a retry may succeed, and the contents of KV are unknown. */
const isPassing = ({ reason }: LoadFailure): boolean => reason === "store-failed" || reason === "store-timeout";

const failed = (failure: LoadFailure): Outcome => ({
  kind: "failed",
  why: whyOf(failure),
  isUnknown: failure.reason === "store-timeout",
});

const unavailable = (failure: LoadFailure): TableHistoryError => ({
  reason: "control-plane-unavailable",
  why: `KV cannot be read (${whyOf(failure)})`,
});

const whyOf = (failure: LoadFailure) => ("why" in failure ? `${failure.reason}: ${failure.why}` : failure.reason);
