import type {
  ChangeRequest,
  PackPartRequest,
  PackReceipt,
  PackStore,
  PageQuery,
  RejectedChange,
  RevisionContent,
  TableAction,
  TableHistory,
  TableStatus,
} from "../../admin-ports.ts";
import { ok, type Result } from "../../ids/result.ts";
import type { Clock } from "../../ports.ts";
import type { PackChangeError, TableChangeError, TableHistoryError } from "../../problems/errors.ts";
import type { TableRevision } from "../../published/table-api.ts";
import { type CanarySelector, declaredPacks, type Fault } from "../../routing/index.ts";
import { PackSlot } from "../../routing/packs/pack.ts";
import { PackUploads } from "../pages/uploads.ts";
import { sha256, tableText } from "../table/table-bytes.ts";
import { KvSync } from "./kv-sync.ts";
import { nextStep, resumePublication } from "./publication.ts";
import { type NewText, RevisionLog } from "./revisions.ts";
import { RevisionStore } from "./storage.ts";

/**
 * What is wrong with the packs that a table names, as KV holds them: they have to be there, whole and verified, before a table
 * with them comes into force. What cannot be read just now is a fault too. None for packs that are not declared as the schema
 * says: the check of the table finds that.
 */
export async function packFaults(bytes: Uint8Array, packs: PackUploads): Promise<readonly Fault[]> {
  const text = tableText(bytes);
  const faults: Fault[] = [];
  for (const [name, declared] of text.ok ? declaredPacks(text.value) : []) {
    const why = await packs.faultOf(new PackSlot(name, declared));
    if (why !== undefined) {
      faults.push({ pointer: `/packs/${name}`, kind: "pack", message: `The pack cannot be used: ${why}.` });
    }
  }
  return faults;
}

export interface ControlPlaneDeps {
  readonly storage: DurableObjectStorage;
  readonly kv: KVNamespace;
  readonly clock: Clock;
  /** Revision 0. */
  readonly bundled: RevisionContent;
  /** Asks for `run` at a time, Unix ms. */
  readonly wakeAt: (atMs: number) => Promise<void>;
}

/** The ledger and its copy in KV together: whatever is asked, KV is looked at first, and brought to the last revision after. */
export class ControlPlane implements TableHistory, PackStore {
  readonly #deps: ControlPlaneDeps;
  readonly #rows: RevisionStore;
  readonly #log: RevisionLog;
  readonly #sync: KvSync;
  readonly #packs: PackUploads;

  constructor(deps: ControlPlaneDeps) {
    const { storage, kv, clock, bundled } = deps;
    this.#deps = deps;
    this.#rows = new RevisionStore(storage);
    this.#log = new RevisionLog({ rows: this.#rows, clock, bundled });
    this.#sync = new KvSync({ rows: this.#rows, log: this.#log, kv, clock });
    this.#packs = new PackUploads({ storage, kv, clock });
    const state = this.#rows.state();
    if (state.publication === undefined) return;
    this.#rows.save({ ...state, publication: resumePublication(state.publication, clock.nowMs()) });
  }

  /** Makes the steps towards KV that are due, and asks to be called again for the next. */
  async run(): Promise<void> {
    const atMs = await this.#sync.run();
    if (atMs !== undefined) await this.#deps.wakeAt(atMs);
  }

  text(revision: number | undefined): Promise<Result<RevisionContent, TableChangeError>> {
    return this.#reconciled(() => this.#log.text(revision ?? this.#log.current().revision));
  }

  revisions(pageQuery: PageQuery) {
    return this.#reconciled<readonly TableRevision[], never>(() => ok(this.#rows.revisions(pageQuery)));
  }

  /** Also while nobody can tell what is in force: what was refused for that is in it. */
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

  /** As publishing finds them. */
  async packFaults(bytes: Uint8Array): Promise<Result<readonly Fault[], TableHistoryError>> {
    return ok(await packFaults(bytes, this.#packs));
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

  async putHeader(request: PackPartRequest, bytes: Uint8Array<ArrayBuffer>) {
    return this.#put(request, await this.#packs.putHeader(request.sha256, bytes));
  }

  async putPage(request: PackPartRequest, page: number, bytes: Uint8Array<ArrayBuffer>) {
    return this.#put(request, await this.#packs.putPage(request.sha256, page, bytes));
  }

  #put(request: PackPartRequest, put: Result<PackReceipt, PackChangeError>): Result<PackReceipt, PackChangeError> {
    if (!put.ok) this.#log.notePack(request, put.error.reason);
    else if (put.value.completes) this.#log.notePack(request, "done");
    return put;
  }

  async #newText(bytes: Uint8Array): Promise<NewText> {
    return { bytes, digest: await sha256(bytes), known: await packFaults(bytes, this.#packs) };
  }

  async #faultsOfPacks(revision: number | undefined): Promise<readonly Fault[]> {
    const text = revision === undefined ? undefined : this.#log.text(revision);
    return text?.ok ? packFaults(text.value.bytes, this.#packs) : [];
  }

  async #reconciled<Value, Failure>(
    read: () => Result<Value, Failure>,
  ): Promise<Result<Value, Failure | TableHistoryError>> {
    const snapshot = await this.#sync.reconcile();
    if (!snapshot.ok) return snapshot;
    await this.#wake();
    return read();
  }

  /** The alarm is set before anybody hears of the change: whatever happens then, KV will hold it. */
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
    if (step !== undefined) await this.#deps.wakeAt(step.atMs);
  }
}
