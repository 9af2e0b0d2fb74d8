import { compileBody } from "../edge/table/compile-text.ts";
import { type LoadFailure, readBody, readPointer, within } from "../edge/table/kv.ts";
import { bodyKey, formatPointer, POINTER_KEY, type Pointer } from "../formats/kv.ts";
import { err, ok, type Result } from "../ids/result.ts";
import type { Clock } from "../ports/gateway.ts";
import type { TableHistoryError } from "../problems/errors.ts";
import {
  afterStep,
  isSamePointer,
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

/** Until KV is read again. */
const UNREAD_MS = 5_000;

export type KvDeadlines = typeof DEADLINES;

export interface KvSyncOptions {
  readonly deadlines?: KvDeadlines | undefined;
  /** `undefined`: isolates compile tables themselves. */
  readonly forms?: StoredForms | undefined;
  /** Whether KV accepts one write per second to a key, as Cloudflare's does. */
  readonly isLimited?: boolean | undefined;
  /** KV was read and holds the pointer of the last change. */
  readonly onHeld?: ((pointer: Pointer) => void) | undefined;
}

/** The state of KV; `pointer` is `undefined` if KV has no valid pointer. */
export type KvSnapshot = Readonly<{ pointer: Pointer | undefined; askedAtMs: number; failure: string | undefined }>;

/** Copies the revision log to KV, from which isolates read. It is the only writer of these keys. */
export function kvSync(
  log: RevisionLog,
  kv: KVNamespace,
  clock: Clock,
  { deadlines = DEADLINES, forms, isLimited = true, onHeld }: KvSyncOptions,
) {
  const save = (publication: Publication): void => log.save({ ...log.state(), publication });
  let reading: Promise<Result<KvSnapshot, TableHistoryError>> | undefined;
  let running: Promise<number | undefined> | undefined;

  /** Writes again what KV lacks. Concurrent callers share one read. */
  function reconcile(): Promise<Result<KvSnapshot, TableHistoryError>> {
    reading ??= snapshot().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  /** Runs the steps that are due. Returns the time of the next one, Unix ms; `undefined` if there is none. */
  function run(): Promise<number | undefined> {
    running ??= makeSteps().finally(() => {
      running = undefined;
    });
    return running;
  }

  /** Steps that failed and wait for their next attempt are due now. */
  function retryNow(): void {
    const { publication } = log.state();
    if (publication?.isHeld === false && publication.lastError !== undefined) save(restart(publication, clock.nowMs()));
  }

  async function makeSteps(): Promise<number | undefined> {
    // A former version may have left steps that would overwrite a table of others.
    if (log.state().ownsKv !== true && !(await reconcile()).ok) return clock.nowMs() + UNREAD_MS;
    for (;;) {
      const { publication } = log.state();
      const step = publication && nextStep(publication);
      if (publication === undefined || step === undefined) return undefined;
      if (step.atMs > clock.nowMs()) return step.atMs;
      if (step.do === "put-pointer" && !(await isStillDue(publication))) continue;
      const isCounted = isLimited && step.do === "put-pointer";
      const started = isCounted ? { ...publication, pointerAtMs: clock.nowMs() } : publication;
      save(started);
      settle(started, step, await make(started, step));
    }
  }

  /** A newer pointer must be seen before a lower one overwrites it, and a change may have come meanwhile. */
  async function isStillDue({ pointer }: Publication): Promise<boolean> {
    const read = await readPointer(kv, deadlines.writeMs);
    if (read.ok) log.supersede(read.value);
    return isSamePointer(log.state().publication?.pointer, pointer);
  }

  async function snapshot(): Promise<Result<KvSnapshot, TableHistoryError>> {
    const read = await readPointer(kv, deadlines.readMs);
    const askedAtMs = clock.nowMs();
    if (!read.ok && read.error.reason !== "not-published") {
      if (log.state().ownsKv !== true) return err(unavailable(read.error));
      return ok({ pointer: undefined, askedAtMs, failure: whyOf(read.error) });
    }
    const pointer = read.ok ? read.value : undefined;
    const taken = await compare(pointer);
    return taken.ok ? ok({ pointer, askedAtMs, failure: undefined }) : taken;
  }

  async function compare(pointer: Pointer | undefined): Promise<Result<undefined, TableHistoryError>> {
    if (log.state().ownsKv !== true) return adopt(pointer);
    if (pointer !== undefined) log.supersede(pointer);
    const { publication } = log.state();
    if (publication?.isHeld && !isSamePointer(pointer, publication.pointer)) save(restart(publication, clock.nowMs()));
    return ok(undefined);
  }

  /** Once: former versions let others write KV, and a history may be lost. Isolates serve the table in KV, so it stays in force. */
  async function adopt(pointer: Pointer | undefined): Promise<Result<undefined, TableHistoryError>> {
    const own = log.revision(pointer?.revision ?? 0);
    // This log never puts a canary's number into force.
    const isOwn = own?.digest === pointer?.digest && own?.kind !== "canary";
    const found = pointer && !isOwn ? await readTable(kv, pointer, deadlines.readMs) : undefined;
    if (found?.ok === false) return found;
    if (log.state().ownsKv === true) return ok(undefined);
    if (pointer !== undefined && found?.value !== undefined) log.adopt(pointer, found.value);
    else log.save({ ...log.state(), ownsKv: true });
    return compare(pointer);
  }

  async function make({ pointer }: Publication, step: Step): Promise<Outcome> {
    if (step.do === "read-back") {
      const read = await readPointer(kv, deadlines.writeMs);
      if (!read.ok && isPassing(read.error)) return failed(read.error);
      if (read.ok) log.supersede(read.value);
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
      const next = afterStep(made, step, outcome, clock.nowMs());
      save(next);
      if (next.isHeld) onHeld?.(next.pointer);
    } else if (step.do === "put-pointer") save(markUncertain(latest, clock.nowMs()));
  }

  return { reconcile, retryNow, run };
}

/** The text that isolates serve by a pointer; `undefined`: they serve none. */
async function readTable(
  kv: KVNamespace,
  { digest, revision }: Pointer,
  deadlineMs: number,
): Promise<Result<Uint8Array | undefined, TableHistoryError>> {
  const bytes = await readBody(kv, digest, deadlineMs);
  const table = bytes.ok ? compileBody(bytes.value, digest, revision) : bytes;
  // An unreadable table may be in force, so it must not be overwritten. A broken table never is.
  if (!table.ok && isPassing(table.error)) return err(unavailable(table.error));
  return ok(bytes.ok && table.ok ? new Uint8Array(bytes.value) : undefined);
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
