import { err, ok, type Result } from "../../ids/result.ts";
import type { Clock } from "../../ports.ts";
import type { TableHistoryError } from "../../problems/errors.ts";
import { bodyKey, formatPointer, POINTER_KEY, type Pointer } from "../../published/kv.ts";
import { REVISION_MAX } from "../../routing/index.ts";
import { compileBody, type LoadFailure, readBody, readPointer, within } from "../table/kv.ts";
import {
  afterStep,
  beforeStep,
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
import type { RevisionStore } from "./storage.ts";

export interface KvSyncDeps {
  readonly rows: RevisionStore;
  readonly log: RevisionLog;
  readonly kv: KVNamespace;
  readonly clock: Clock;
}

/** Somebody waits for a look at KV. */
const READ_DEADLINE_MS = 1_500;

/** Nobody waits for a write, but it must end. */
const WRITE_DEADLINE_MS = 10_000;

/** What KV was found to hold; `undefined` for nothing that is a pointer. */
export interface KvSnapshot {
  readonly pointer: Pointer | undefined;
  readonly askedAtMs: number;
  /** Why it could not be read. */
  readonly failure: string | undefined;
}

/** The copy of the truth in KV, which is what the isolates read: looked at, taken over where it is ahead, and written. */
export class KvSync {
  readonly #deps: KvSyncDeps;
  #reading: Promise<Result<KvSnapshot, TableHistoryError>> | undefined;

  constructor(deps: KvSyncDeps) {
    this.#deps = deps;
  }

  /**
   * Looks what KV holds. What somebody else published after the revision in force is taken over; anything else that differs is written again. An
   * error where it cannot be told what is in force. Whoever comes meanwhile gets the same look.
   */
  reconcile(): Promise<Result<KvSnapshot, TableHistoryError>> {
    this.#reading ??= this.#snapshot().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Makes the steps that are due. When the next one is, Unix ms; `undefined` when all is quiet. */
  async run(): Promise<number | undefined> {
    const { rows, clock } = this.#deps;
    for (;;) {
      const { publication } = rows.state();
      const step = publication && nextStep(publication);
      if (publication === undefined || step === undefined) return undefined;
      if (step.atMs > clock.nowMs()) return step.atMs;
      if (step.do === "put-pointer" && !(await this.#isStillDue(publication, step))) continue;
      const started = beforeStep(publication, step, clock.nowMs());
      this.#save(started);
      this.#settle(started, step, await this.#make(started, step));
    }
  }

  async #snapshot(): Promise<Result<KvSnapshot, TableHistoryError>> {
    const { rows, clock, kv } = this.#deps;
    const read = await readPointer(kv, READ_DEADLINE_MS);
    const askedAtMs = clock.nowMs();
    if (!read.ok && read.error.reason !== "not-published") {
      if (!rows.state().isBegun) return err(unavailable(read.error));
      return ok({ pointer: undefined, askedAtMs, failure: whyOf(read.error) });
    }
    const pointer = read.ok ? read.value : undefined;
    const taken = await this.#compare(pointer);
    return taken.ok ? ok({ pointer, askedAtMs, failure: undefined }) : taken;
  }

  async #compare(pointer: Pointer | undefined): Promise<Result<undefined, TableHistoryError>> {
    const { rows, clock } = this.#deps;
    if (pointer !== undefined && this.#isForeign(pointer)) {
      const isAhead = pointer.revision > rows.head();
      const taken = await this.#takeOver(pointer);
      if (isAhead || !taken.ok) return taken;
    }
    const state = rows.state();
    const { publication } = state;
    if (!state.isBegun) rows.save({ ...state, isBegun: true });
    if (publication?.isHeld && !isSamePointer(pointer, publication.pointer))
      this.#save(restart(publication, clock.nowMs()));
    return ok(undefined);
  }

  /**
   * Somebody else published: under a number that nobody here gave, or under one that was given to a canary or to a revision that
   * KV has not taken yet. He could not know of either.
   */
  #isForeign({ revision, digest }: Pointer): boolean {
    const { rows, log } = this.#deps;
    if (revision > rows.head()) return true;
    const { publication, foreign } = rows.state();
    const known = publication === undefined ? 0 : lastConfirmedRevision(publication);
    return revision > Math.max(known, foreign) && rows.revision(revision)?.digest !== digest && log.hasNumbers(1);
  }

  /**
   * Looks once more what KV holds right before it gets a pointer: what somebody else put there since the last look is taken
   * over, and nothing is written over what cannot be read.
   */
  async #isStillDue(publication: Publication, step: Step): Promise<boolean> {
    const { rows, kv, clock } = this.#deps;
    const read = await readPointer(kv, WRITE_DEADLINE_MS);
    const failure = read.ok || !isPassing(read.error) ? await this.#foreign(read) : whyOf(read.error);
    const latest = rows.state().publication;
    if (latest === undefined || !isSamePointer(latest.pointer, publication.pointer)) return false;
    if (failure === undefined) return true;
    this.#save(afterStep(latest, step, { kind: "failed", why: failure, isUnknown: false }, clock.nowMs()));
    return false;
  }

  /** Takes over what is news. Why that cannot be done just now; `undefined` when there is nothing left to be taken over. */
  async #foreign(read: Result<Pointer, LoadFailure>): Promise<string | undefined> {
    if (!read.ok || !this.#isForeign(read.value)) return undefined;
    const taken = await this.#takeOver(read.value);
    return taken.ok ? undefined : taken.error.why;
  }

  async #takeOver(pointer: Pointer): Promise<Result<undefined, TableHistoryError>> {
    const { rows, log, kv } = this.#deps;
    const { digest, revision } = pointer;
    const bytes = await readBody(kv, digest, READ_DEADLINE_MS);
    const table = bytes.ok ? compileBody(bytes.value, digest, revision) : bytes;
    if (bytes.ok && table.ok) {
      if (this.#isForeign(pointer)) log.takeOver(pointer, new Uint8Array(bytes.value));
      return ok(undefined);
    }
    // What cannot be read just now may be in force: nobody may publish over it unseen. What is broken never is.
    if (!table.ok && isPassing(table.error)) return err(unavailable(table.error));
    // The last number of all would leave none for the next, and nobody serves what is broken.
    const named = revision < REVISION_MAX ? revision : 0;
    rows.save({ ...rows.state(), isBegun: true, foreign: Math.max(rows.state().foreign, named) });
    return ok(undefined);
  }

  async #make({ pointer }: Publication, step: Step): Promise<Outcome> {
    const { kv, rows } = this.#deps;
    if (step.do === "read-back") {
      const read = await readPointer(kv, WRITE_DEADLINE_MS);
      if (!read.ok && isPassing(read.error)) return failed(read.error);
      if (read.ok && this.#isForeign(read.value)) await this.#takeOver(read.value);
      return { kind: "read", pointer: read.ok ? read.value : undefined };
    }
    const value = step.do === "put-body" ? rows.body(step.digest) : formatPointer(pointer);
    if (value === undefined) throw new Error("the text of a revision in force is gone");
    const key = step.do === "put-body" ? bodyKey(step.digest) : POINTER_KEY;
    const put = await within(() => kv.put(key, value), WRITE_DEADLINE_MS);
    return put.ok ? { kind: "done" } : failed(put.error);
  }

  /** A publication that began meanwhile has steps of its own, and only has to know of a pointer that came late, or may come. */
  #settle(made: Publication, step: Step, outcome: Outcome): void {
    const { rows, clock } = this.#deps;
    const latest = rows.state().publication;
    if (latest === undefined || isSamePointer(latest.pointer, made.pointer)) {
      this.#save(afterStep(made, step, outcome, clock.nowMs()));
    } else if (step.do === "put-pointer") this.#save(markUncertain(latest, clock.nowMs()));
  }

  #save(publication: Publication): void {
    const { rows } = this.#deps;
    rows.save({ ...rows.state(), publication });
  }
}

/** It may be gone at the next try, and says nothing about what KV holds. */
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

const whyOf = (failure: LoadFailure): string =>
  "why" in failure ? `${failure.reason}: ${failure.why}` : failure.reason;
