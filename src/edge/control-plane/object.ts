import { DurableObject } from "cloudflare:workers";
import type {
  ChangeRequest,
  PackPartRequest,
  PackReceipt,
  PageQuery,
  RejectedChange,
  RevisionContent,
  TableAction,
  TableStatus,
} from "../../admin-ports.ts";
import { ok, type Result } from "../../ids/result.ts";
import type { Clock } from "../../ports.ts";
import type { PackChangeError, TableChangeError, TableHistoryError } from "../../problems/errors.ts";
import type { TableRevision } from "../../published/table-api.ts";
import { type CanarySelector, declaredPacks, type Fault } from "../../routing/index.ts";
import type { ControlPlaneRpc, Env } from "../env.ts";
import { PackUploads } from "../pages/uploads.ts";
import { systemClock } from "../platform.ts";
import { sha256, tableText } from "../table/table-bytes.ts";
import { KvSync } from "./kv-sync.ts";
import { nextStep, resumePublication } from "./publication.ts";
import { bundledRevision, type NewText, RevisionLog } from "./revisions.ts";
import { RevisionStore } from "./storage.ts";

export interface ControlPlaneDeps {
  /** The table that was deployed with the code: revision 0. */
  readonly bundled: unknown;
  readonly clock?: Clock;
  /** Schedules `alarm`, Unix ms. */
  readonly wakeAt?: (atMs: number) => Promise<void>;
}

/**
 * The control plane of a deployment, one Durable Object: the revision log, its copy in KV and the upload of packs. Isolates
 * route by KV and never wait for this object. Every call reads KV first; the alarm repeats writes until KV is up to date.
 */
export class ControlPlane extends DurableObject<Env> implements ControlPlaneRpc {
  readonly #rows: RevisionStore;
  readonly #packs: PackUploads;
  readonly #wakeAt: (atMs: number) => Promise<void>;
  #log!: RevisionLog;
  #sync!: KvSync;
  /** The platform delivers no call before; tests await it. */
  readonly ready: Promise<void>;

  constructor(context: DurableObjectState, env: Env, deps: ControlPlaneDeps) {
    super(context, env);
    const { storage } = context;
    const { bundled, clock = systemClock, wakeAt = (atMs) => storage.setAlarm(atMs) } = deps;
    const kv = env.TABLE_KV;
    this.#rows = new RevisionStore(storage);
    this.#packs = new PackUploads({ storage, kv, clock });
    this.#wakeAt = wakeAt;
    const state = this.#rows.state();
    if (state.publication !== undefined)
      this.#rows.save({ ...state, publication: resumePublication(state.publication, clock.nowMs()) });
    this.ready = context.blockConcurrencyWhile(async () => {
      const rows = this.#rows;
      this.#log = new RevisionLog({ rows, clock, bundled: await bundledRevision(bundled) });
      this.#sync = new KvSync({ rows, log: this.#log, kv, clock });
    });
  }

  /** Makes the writes to KV that are due. */
  override async alarm(): Promise<void> {
    const atMs = await this.#sync.run();
    if (atMs !== undefined) await this.#wakeAt(atMs);
  }

  text(revision: number | undefined): Promise<Result<RevisionContent, TableChangeError>> {
    return this.#reconciled(() => this.#log.text(revision ?? this.#log.current().revision));
  }

  revisions(pageQuery: PageQuery) {
    return this.#reconciled<readonly TableRevision[], never>(() => ok(this.#rows.revisions(pageQuery)));
  }

  /** Works while KV cannot be read: the audit has the changes rejected for that reason. */
  async audit(pageQuery: PageQuery) {
    await this.#reconciled(() => ok(undefined));
    return ok(this.#rows.audit(pageQuery));
  }

  async status(): Promise<Result<TableStatus, TableHistoryError>> {
    const snapshot = await this.#sync.reconcile();
    if (!snapshot.ok) return snapshot;
    await this.#wake();
    const { pointer, askedAtMs, failure } = snapshot.value;
    const { publication } = this.#rows.state();
    return ok({
      truth: this.#log.current(),
      canary: this.#log.canary(),
      kv: pointer && { revision: pointer.revision, digest: pointer.digest, canary: pointer.canary },
      askedAtMs,
      isPending: publication !== undefined && !publication.isHeld,
      lastError: publication?.lastError ?? failure,
    });
  }

  async packFaults(bytes: Uint8Array): Promise<Result<readonly Fault[], TableHistoryError>> {
    return ok(await this.#packFaults(bytes));
  }

  async publish(request: ChangeRequest, bytes: Uint8Array) {
    const text = await this.#newText(bytes);
    return this.#changed("publish", request, () => this.#log.publish(request, text));
  }

  async rollback(request: ChangeRequest, to: number) {
    const known = await this.#faultsOfPacks(to);
    return this.#changed("rollback", request, () => this.#log.rollback(request, to, known));
  }

  async startCanary(request: ChangeRequest, bytes: Uint8Array, audience: CanarySelector) {
    const text = await this.#newText(bytes);
    return this.#changed("canary", request, () => this.#log.startCanary(request, text, audience));
  }

  async promote(request: ChangeRequest) {
    const known = await this.#faultsOfPacks(this.#log.canary()?.revision);
    return this.#changed("promote", request, () => this.#log.promote(request, known));
  }

  abort(request: ChangeRequest) {
    return this.#changed("abort", request, () => this.#log.abort(request));
  }

  async recordRejection(refused: RejectedChange): Promise<Result<undefined, never>> {
    this.#log.recordRejection(refused);
    return ok(undefined);
  }

  packStatus(sha256: string) {
    return this.#packs.status(sha256);
  }

  async putPackPart(
    request: PackPartRequest,
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<Result<PackReceipt, PackChangeError>> {
    const { sha256, part } = request;
    const uploads = this.#packs;
    const put = await (part === "header" ? uploads.putHeader(sha256, bytes) : uploads.putPage(sha256, part, bytes));
    if (!put.ok) this.#log.recordPack(request, put.error.reason);
    else if (put.value.completes) this.#log.recordPack(request, "done");
    return put;
  }

  /**
   * A pack must be complete and verified in KV before a table with it comes into force. A pack that cannot be read is a
   * fault too. The check of the table reports packs that its schema rejects.
   */
  async #packFaults(bytes: Uint8Array): Promise<readonly Fault[]> {
    const text = tableText(bytes);
    const faults: Fault[] = [];
    for (const [name, declared] of text.ok ? declaredPacks(text.value) : []) {
      const why = await this.#packs.faultOf(declared);
      if (why !== undefined) {
        faults.push({ pointer: `/packs/${name}`, kind: "pack", message: `The pack cannot be used: ${why}.` });
      }
    }
    return faults;
  }

  async #newText(bytes: Uint8Array): Promise<NewText> {
    return { bytes, digest: await sha256(bytes), known: await this.#packFaults(bytes) };
  }

  async #faultsOfPacks(revision: number | undefined): Promise<readonly Fault[]> {
    const text = revision === undefined ? undefined : this.#log.text(revision);
    return text?.ok ? this.#packFaults(text.value.bytes) : [];
  }

  /** Reads after KV was compared with the log. */
  async #reconciled<Value, Failure>(
    read: () => Result<Value, Failure>,
  ): Promise<Result<Value, Failure | TableHistoryError>> {
    const snapshot = await this.#sync.reconcile();
    if (!snapshot.ok) return snapshot;
    await this.#wake();
    return read();
  }

  /** Sets the alarm before the response: a crash afterwards still leads to the write to KV. */
  async #changed(
    action: TableAction,
    request: ChangeRequest,
    change: () => Result<TableRevision, TableChangeError>,
  ): Promise<Result<TableRevision, TableChangeError>> {
    const snapshot = await this.#sync.reconcile();
    if (!snapshot.ok) return this.#log.reject(action, request, { ...snapshot.error, outcome: "none" });
    const changed = change();
    await this.#wake();
    return changed;
  }

  async #wake(): Promise<void> {
    const { publication } = this.#rows.state();
    const step = publication && nextStep(publication);
    if (step !== undefined) await this.#wakeAt(step.atMs);
  }
}
