import { DurableObject } from "cloudflare:workers";
import type { Env } from "../edge/env.ts";
import type { ControlPlaneNews, NewsQuery } from "../edge/events/protocol.ts";
import { tellOfNews } from "../edge/events/tell.ts";
import { isLate } from "../edge/machines/late.ts";
import { systemClock, systemPause } from "../edge/platform.ts";
import type { FormSeal } from "../edge/table/form-seal.ts";
import { readPointer, sha256, tableText } from "../edge/table/kv.ts";
import { PART_STORES } from "../features/part-stores.ts";
import type { Pointer } from "../formats/kv.ts";
import type { Machines } from "../formats/machines.ts";
import { START_AUTHOR } from "../formats/start-table.ts";
import type { TableRevision } from "../formats/table-api.ts";
import { err, ok, type Result } from "../ids/result.ts";
import type {
  ChangeRequest,
  PageQuery,
  RejectedChange,
  RevisionContent,
  TableAction,
  TableHistory,
  TableStatus,
} from "../ports/admin.ts";
import type { Clock } from "../ports/gateway.ts";
import type { TableChangeError, TableHistoryError } from "../problems/errors.ts";
import type { CanarySelector, Fault } from "../routing/index.ts";
import { AnnouncedPointer, HeardMachines, type PointerAnswer, type PointerCall } from "./announced.ts";
import type { PartStore } from "./feature.ts";
import { type KvDeadlines, type KvSnapshot, kvSync } from "./kv-sync.ts";
import { markUncertain, nextStep } from "./publication.ts";
import { bundledRevision, type DraftOf, RevisionLog } from "./revisions.ts";
import { readStartTable, type StartTable } from "./start-table.ts";
import { type StoredForms, storedForms } from "./stored-forms.ts";

/** Changes that the log of events reads at once. */
const NEWS_MAX = 100;

/** How often the log of events is told that edges ask. */
const MACHINES_TOLD_MS = 60_000;

/** Only an import waits for it. */
const OUTRANK_READ_MS = 10_000;

const START_NOTE = "The table that the gateway was started with.";

export interface ControlPlaneDeps {
  /** The table that was deployed with the code, or its JSON text: revision 0. */
  readonly bundled: unknown;
  readonly clock?: Clock;
  /** Schedules `alarm`, Unix ms. */
  readonly wakeAt?: (atMs: number) => Promise<void>;
  /** By which machines tell this object from another one. */
  readonly name?: string;
  readonly pause?: (ms: number) => Promise<void>;
  readonly kvDeadlines?: KvDeadlines;
  /** Vouches for checked tables; `undefined`: isolates check and compile them. */
  readonly seal?: FormSeal | undefined;
  readonly reportForm?: (why: string) => void;
  /** Whether KV limits writes to a key; by default it does. */
  readonly isKvLimited?: boolean;
  /** KV holds the last change. */
  readonly onHeld?: (pointer: Pointer) => void;
}

/**
 * A deployment's control plane. Isolates route by KV and never wait for it. Every call reads KV first; the alarm repeats writes.
 * Calls of features are members of each object.
 */
export class ControlPlane extends DurableObject<Env> implements TableHistory {
  readonly #parts: readonly PartStore[];
  readonly #wakeAt: (atMs: number) => Promise<void>;
  readonly #clock: Clock;
  readonly #pause: (ms: number) => Promise<void>;
  #machinesToldMs = Number.NEGATIVE_INFINITY;
  readonly #announced = new AnnouncedPointer();
  readonly #machines = new HeardMachines();
  readonly #name: string;
  #beginning: Promise<Result<undefined, TableChangeError>> | undefined;
  #log!: RevisionLog;
  #sync!: ReturnType<typeof kvSync>;
  #forms: StoredForms | undefined;
  /** The platform delivers no call before; tests await it. */
  readonly ready: Promise<void>;

  constructor(context: DurableObjectState, env: Env, deps: ControlPlaneDeps) {
    super(context, env);
    const { storage } = context;
    const { bundled, kvDeadlines, clock = systemClock, wakeAt = (atMs) => storage.setAlarm(atMs) } = deps;
    const { seal, reportForm: report = () => undefined } = deps;
    const kv = env.TABLE_KV;
    const record = (entry: Parameters<RevisionLog["record"]>[0]) => this.#log.record(entry);
    this.#parts = PART_STORES.map((feature) => feature.open({ storage, kv, clock, record }));
    Object.assign(this, ...this.#parts.map(({ calls }) => calls));
    this.#wakeAt = wakeAt;
    this.#clock = clock;
    this.#pause = deps.pause ?? systemPause;
    this.#name = deps.name ?? crypto.randomUUID();
    this.ready = context.blockConcurrencyWhile(async () => {
      const log = new RevisionLog(storage, clock, await bundledRevision(bundled));
      const state = log.state();
      // A write from before a restart may still be in flight.
      if (state.publication?.isHeld === false)
        log.save({ ...state, publication: markUncertain(state.publication, clock.nowMs()) });
      this.#log = log;
      this.#forms = seal && storedForms({ log, kv, clock, seal, report });
      const { isKvLimited: isLimited } = deps;
      const onHeld = (pointer: Pointer): void => {
        this.#announced.set(pointer);
        deps.onHeld?.(pointer);
      };
      this.#sync = kvSync(log, kv, clock, { deadlines: kvDeadlines, forms: this.#forms, isLimited, onHeld });
    });
  }

  override async alarm(): Promise<void> {
    const atMs = await this.#sync.run();
    if (atMs !== undefined) await this.#wakeAt(atMs);
  }

  text(revision: number | undefined): Promise<Result<RevisionContent, TableChangeError>> {
    return this.#reconciled(() => this.#log.text(revision ?? this.#log.current().revision));
  }

  revisions(pageQuery: PageQuery) {
    return this.#reconciled<readonly TableRevision[], never>(() => ok(this.#log.revisions(pageQuery)));
  }

  /** Works while KV cannot be read: the audit has the changes rejected for that reason. */
  async audit(pageQuery: PageQuery) {
    await this.#reconciled(() => ok(undefined));
    return ok(this.#log.audit(pageQuery));
  }

  status(): Promise<Result<TableStatus, TableHistoryError>> {
    return this.#reconciled<TableStatus, never>(({ pointer, askedAtMs, failure }) => {
      const { publication } = this.#log.state();
      return ok({
        truth: this.#log.current(),
        canary: this.#log.canary(),
        kv: pointer && { revision: pointer.revision, digest: pointer.digest, canary: pointer.canary },
        askedAtMs,
        isPending: publication !== undefined && !publication.isHeld,
        lastError: publication?.lastError ?? failure,
      });
    });
  }

  async partFaults(bytes: Uint8Array): Promise<Result<readonly Fault[], TableHistoryError>> {
    return ok(await this.#partFaults(bytes));
  }

  async publish(request: ChangeRequest, bytes: Uint8Array) {
    const digest = await sha256(bytes);
    return this.#made("publish", request, await this.#partFaults(bytes), () =>
      ok({ kind: "publish", digest, bytes, basedOn: request.expectedRevision }),
    );
  }

  async rollback(request: ChangeRequest, to: number) {
    return this.#made("rollback", request, await this.#faultsOfParts(to), () => this.#log.repeat("rollback", to));
  }

  async startCanary(request: ChangeRequest, bytes: Uint8Array, audience: CanarySelector) {
    const digest = await sha256(bytes);
    return this.#made("canary", request, await this.#partFaults(bytes), () =>
      ok({ kind: "canary", digest, bytes, basedOn: this.#log.current().revision, audience }),
    );
  }

  async promote(request: ChangeRequest) {
    const known = await this.#faultsOfParts(this.#log.canary()?.revision);
    return this.#made("promote", request, known, (canary) =>
      canary === undefined ? err({ reason: "no-canary" }) : this.#log.repeat("promote", canary.revision),
    );
  }

  abort(request: ChangeRequest) {
    return this.#changed("abort", request, () => this.#log.abort(request));
  }

  async recordRejection(refused: RejectedChange): Promise<Result<undefined, never>> {
    this.#log.record(refused);
    return ok(undefined);
  }

  /** The table that this start of a self-hosted gateway hands over is in force when this ends. */
  begin(): Promise<Result<undefined, TableChangeError>> {
    this.#beginning ??= this.#begin().finally(() => {
      this.#beginning = undefined;
    });
    return this.#beginning;
  }

  async #begin(): Promise<Result<undefined, TableChangeError>> {
    const folder = this.env.START_TABLE;
    const published = folder === undefined ? ok(undefined) : await this.#publishAtStart(await readStartTable(folder));
    return published.ok ? this.#untilHeld() : published;
  }

  /** Once a start: a table that is published later stays in force. */
  async #publishAtStart({ id, isFirst, bytes, readFile }: StartTable): Promise<Result<unknown, TableChangeError>> {
    const status = await this.status();
    if (!status.ok || this.#log.state().start === id) return status;
    const text = tableText(bytes);
    if (text.ok) for (const part of this.#parts) await part.take(text.value, readFile, START_AUTHOR);
    const { truth, canary } = status.value;
    if (isFirst ? truth.revision === 0 : truth.digest !== (await sha256(bytes))) {
      const request = { expectedRevision: canary?.revision ?? truth.revision, author: START_AUTHOR, note: START_NOTE };
      const made = await this.publish(request, bytes);
      if (!made.ok) return made;
    }
    this.#log.save({ ...this.#log.state(), start: id });
    return ok(undefined);
  }

  async #untilHeld(): Promise<Result<undefined, TableHistoryError>> {
    this.#sync.retryNow();
    for (;;) {
      const atMs = await this.#sync.run();
      const { publication } = this.#log.state();
      if (publication === undefined || publication.isHeld) return ok(undefined);
      const { lastError } = publication;
      if (lastError !== undefined) return err({ reason: "control-plane-unavailable", why: lastError });
      await this.#pause(Math.max(0, (atMs ?? 0) - this.#clock.nowMs()));
    }
  }

  /** The history was imported. KV may have the table of the start before. */
  async imported(): Promise<void> {
    const read = await readPointer(this.env.TABLE_KV, OUTRANK_READ_MS);
    if (read.ok) this.#log.outrank(read.value);
  }

  /** An isolate found no form of this version for the table of a digest. */
  async renewForm(digest: string): Promise<void> {
    // The table may be one that a former version left in KV.
    await this.#reconciled(() => ok(undefined));
    await this.#forms?.renew(digest);
  }

  /** For the mirrors of edges: KV is read for the first of them alone. */
  async pointer({ tag, waitMs, ...machines }: PointerCall): Promise<Result<PointerAnswer, TableHistoryError>> {
    this.#hear(machines);
    const known = await this.#announcedPointer();
    return known.ok ? ok(await this.#announced.next(tag, waitMs)) : known;
  }

  #hear(machines: Omit<PointerCall, "tag" | "waitMs">): void {
    const nowMs = this.#clock.nowMs();
    this.#machines.add(machines, nowMs);
    if (machines.edge === undefined || nowMs - this.#machinesToldMs < MACHINES_TOLD_MS) return;
    this.#machinesToldMs = nowMs;
    // It watches machines, and without traffic nothing else wakes it.
    this.ctx.waitUntil(tellOfNews(this.env));
  }

  /** Changes that the log of events has not read yet, and machines. */
  async news({ audit, since, machines }: NewsQuery): Promise<ControlPlaneNews> {
    const changes = this.#log.changesAfter(audit, since, NEWS_MAX);
    const isMore = changes.length === NEWS_MAX;
    return { changes, isMore, ...(machines && { machines: await this.machines() }) };
  }

  /** The machines that were heard of lately. */
  async machines(): Promise<Machines> {
    const known = await this.#announcedPointer();
    const { revision, change } = (known.ok ? this.#announced.pointer : undefined) ?? {};
    const published = revision === undefined || change === undefined ? undefined : { revision, change };
    const isUnpublished = known.ok && published === undefined ? true : undefined;
    return { ...this.#machines.read(this.#clock.nowMs()), published, isUnpublished, object: this.#name };
  }

  /** Reads KV if the pointer in it is not known yet. */
  async #announcedPointer(): Promise<Result<undefined, TableHistoryError>> {
    if (this.#announced.isKnown) return ok(undefined);
    return this.#reconciled<undefined, TableHistoryError>(({ pointer, failure }) => {
      const { publication } = this.#log.state();
      const held = failure !== undefined && publication?.isHeld ? publication.pointer : pointer;
      if (failure !== undefined && held === undefined)
        return err({ reason: "control-plane-unavailable", why: failure });
      // A change may have come into force meanwhile.
      if (!this.#announced.isKnown) this.#announced.set(held);
      return ok(undefined);
    });
  }

  async #partFaults(bytes: Uint8Array): Promise<readonly Fault[]> {
    const text = tableText(bytes);
    if (!text.ok) return [];
    return (await Promise.all(this.#parts.map((part) => part.faultsOf(text.value)))).flat();
  }

  async #faultsOfParts(revision: number | undefined): Promise<readonly Fault[]> {
    const text = revision === undefined ? undefined : this.#log.text(revision);
    return text?.ok ? this.#partFaults(text.value.bytes) : [];
  }

  /** Reads or changes after KV was compared with the log. `refuse`: answers when it cannot be. */
  async #reconciled<Value, Failure>(
    use: (snapshot: KvSnapshot) => Result<Value, Failure>,
    refuse: (error: TableHistoryError) => Result<Value, Failure | TableHistoryError> = err,
  ): Promise<Result<Value, Failure | TableHistoryError>> {
    const snapshot = await this.#sync.reconcile();
    if (!snapshot.ok) return refuse(snapshot.error);
    const used = use(snapshot.value);
    // Sets the alarm before the response: a crash afterwards still leads to the write to KV.
    const { publication } = this.#log.state();
    const step = publication && nextStep(publication);
    if (step !== undefined) await this.#wakeAt(step.atMs);
    return used;
  }

  #made(action: TableAction, request: ChangeRequest, known: readonly Fault[], draftOf: DraftOf) {
    return this.#changed(action, request, () => this.#log.change(action, request, known, draftOf));
  }

  #changed(action: TableAction, request: ChangeRequest, change: () => Result<TableRevision, TableChangeError>) {
    const refuse = (error: TableHistoryError) => this.#log.reject(action, request, { ...error, outcome: "none" });
    // Operators may have decided otherwise since.
    const inTime = () =>
      isLate(request.notAfterMs, this.#clock.nowMs())
        ? refuse({
            reason: "control-plane-unavailable",
            why: "the change came after its caller had given up, or their clocks differ",
          })
        : change();
    return this.#reconciled(inTime, refuse);
  }
}
