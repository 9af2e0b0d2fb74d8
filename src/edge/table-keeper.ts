import { ok, type Result } from "../ids/result.ts";
import type { Clock } from "../ports.ts";
import type { TableChangeError, TableHistoryError } from "../problems/port-errors.ts";
import type { CanaryAudience } from "../routing/index.ts";
import type { AuditEntry, RevisionText, Stretch, TableRevision, TableStatus, TableWish } from "../table-ports.ts";
import { TableCopy } from "./table-copy.ts";
import { TableLedger } from "./table-ledger.ts";
import { sha256 } from "./table-octets.ts";
import { nextStep, resumePublication } from "./table-publication.ts";
import { TruthRows } from "./table-truth-rows.ts";
import type { TruthCalls } from "./truth-object.ts";

export interface KeeperWorld {
  readonly storage: DurableObjectStorage;
  readonly kv: KVNamespace;
  readonly clock: Clock;
  /** Revision 0. */
  readonly bundled: RevisionText;
  /** Asks for `run` at a time, Unix ms. */
  readonly wakeAt: (atMs: number) => Promise<void>;
}

/** The ledger and its copy in KV together: whatever is asked, KV is looked at first, and brought to the last revision after. */
export class TableKeeper implements TruthCalls {
  readonly #world: KeeperWorld;
  readonly #rows: TruthRows;
  readonly #ledger: TableLedger;
  readonly #copy: TableCopy;

  constructor(world: KeeperWorld) {
    const { storage, kv, clock, bundled } = world;
    this.#world = world;
    this.#rows = new TruthRows(storage);
    this.#ledger = new TableLedger({ rows: this.#rows, clock, bundled });
    this.#copy = new TableCopy({ rows: this.#rows, ledger: this.#ledger, kv, clock });
    const state = this.#rows.state();
    if (state.publication === undefined) return;
    this.#rows.save({ ...state, publication: resumePublication(state.publication, clock.nowMs()) });
  }

  /** Makes the steps towards KV that are due, and asks to be called again for the next. */
  async run(): Promise<void> {
    const atMs = await this.#copy.run();
    if (atMs !== undefined) await this.#world.wakeAt(atMs);
  }

  text(revision: number | undefined): Promise<Result<RevisionText, TableChangeError>> {
    return this.#looked(() => this.#ledger.text(revision ?? this.#ledger.current().revision));
  }

  revisions(stretch: Stretch) {
    return this.#looked<readonly TableRevision[], never>(() => ok(this.#rows.revisions(stretch)));
  }

  audit(stretch: Stretch) {
    return this.#looked<readonly AuditEntry[], never>(() => ok(this.#rows.audit(stretch)));
  }

  async status(): Promise<Result<TableStatus, TableHistoryError>> {
    const look = await this.#copy.look();
    if (!look.ok) return look;
    await this.#wake();
    const { pointer, askedAtMs, failure } = look.value;
    const { publication } = this.#rows.state();
    return ok({
      truth: this.#ledger.current(),
      canary: this.#ledger.canary(),
      kv: pointer && { revision: pointer.revision, digest: pointer.digest },
      askedAtMs,
      isPending: publication !== undefined && !publication.isHeld,
      lastError: publication?.lastError ?? failure,
    });
  }

  async publish(wish: TableWish, octets: Uint8Array) {
    const digest = await sha256(octets);
    return this.#changed(() => this.#ledger.publish(wish, octets, digest));
  }

  rollback(wish: TableWish, to: number) {
    return this.#changed(() => this.#ledger.rollback(wish, to));
  }

  async startCanary(wish: TableWish, octets: Uint8Array, audience: CanaryAudience) {
    const digest = await sha256(octets);
    return this.#changed(() => this.#ledger.startCanary(wish, octets, digest, audience));
  }

  promote(wish: TableWish) {
    return this.#changed(() => this.#ledger.promote(wish));
  }

  abort(wish: TableWish) {
    return this.#changed(() => this.#ledger.abort(wish));
  }

  async #looked<Value, Failure>(
    read: () => Result<Value, Failure>,
  ): Promise<Result<Value, Failure | TableHistoryError>> {
    const look = await this.#copy.look();
    if (!look.ok) return look;
    await this.#wake();
    return read();
  }

  /** The alarm is set before anybody hears of the change: whatever happens then, KV will hold it. */
  async #changed(
    change: () => Result<TableRevision, TableChangeError>,
  ): Promise<Result<TableRevision, TableChangeError>> {
    const look = await this.#copy.look();
    if (!look.ok) return look;
    const changed = change();
    await this.#wake();
    return changed;
  }

  async #wake(): Promise<void> {
    const { publication } = this.#rows.state();
    const step = publication && nextStep(publication);
    if (step !== undefined) await this.#world.wakeAt(step.atMs);
  }
}
