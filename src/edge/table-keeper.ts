import { ok, type Result } from "../ids/result.ts";
import type { Clock } from "../ports.ts";
import type { PackChangeError, TableChangeError, TableHistoryError } from "../problems/port-errors.ts";
import type { CanaryAudience, Fault } from "../routing/index.ts";
import type {
  PackReceipt,
  PackStore,
  PackWish,
  RefusedChange,
  RevisionText,
  Stretch,
  TableAction,
  TableHistory,
  TableRevision,
  TableStatus,
  TableWish,
} from "../table-ports.ts";
import { PackCopy } from "./pack-copy.ts";
import { PackRows } from "./pack-rows.ts";
import { TableCopy } from "./table-copy.ts";
import { type NewText, TableLedger } from "./table-ledger.ts";
import { sha256 } from "./table-octets.ts";
import { packFaults } from "./table-packs.ts";
import { nextStep, resumePublication } from "./table-publication.ts";
import { TruthRows } from "./table-truth-rows.ts";

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
export class TableKeeper implements TableHistory, PackStore {
  readonly #world: KeeperWorld;
  readonly #rows: TruthRows;
  readonly #ledger: TableLedger;
  readonly #copy: TableCopy;
  readonly #packs: PackCopy;

  constructor(world: KeeperWorld) {
    const { storage, kv, clock, bundled } = world;
    this.#world = world;
    this.#rows = new TruthRows(storage);
    this.#ledger = new TableLedger({ rows: this.#rows, clock, bundled });
    this.#copy = new TableCopy({ rows: this.#rows, ledger: this.#ledger, kv, clock });
    this.#packs = new PackCopy({ rows: new PackRows(storage), kv, clock });
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

  /** Also while nobody can tell what is in force: what was refused for that is in it. */
  async audit(stretch: Stretch) {
    await this.#looked(() => ok(undefined));
    return ok(this.#rows.audit(stretch));
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
      kv: pointer && { revision: pointer.revision, digest: pointer.digest, canary: pointer.canary },
      askedAtMs,
      isPending: publication !== undefined && !publication.isHeld,
      lastError: publication?.lastError ?? failure,
    });
  }

  /** As publishing finds them. */
  async packFaults(octets: Uint8Array): Promise<Result<readonly Fault[], TableHistoryError>> {
    return ok(await packFaults(octets, this.#packs));
  }

  async publish(wish: TableWish, octets: Uint8Array) {
    const text = await this.#newText(octets);
    return this.#changed("publish", wish, () => this.#ledger.publish(wish, text));
  }

  async rollback(wish: TableWish, to: number) {
    const known = await this.#faultsOfPacks(to);
    return this.#changed("rollback", wish, () => this.#ledger.rollback(wish, to, known));
  }

  async startCanary(wish: TableWish, octets: Uint8Array, audience: CanaryAudience) {
    const text = await this.#newText(octets);
    return this.#changed("canary", wish, () => this.#ledger.startCanary(wish, text, audience));
  }

  async promote(wish: TableWish) {
    const known = await this.#faultsOfPacks(this.#ledger.canary()?.revision);
    return this.#changed("promote", wish, () => this.#ledger.promote(wish, known));
  }

  abort(wish: TableWish) {
    return this.#changed("abort", wish, () => this.#ledger.abort(wish));
  }

  async noteRefusal(refused: RefusedChange): Promise<Result<undefined, never>> {
    this.#ledger.noteRefusal(refused);
    return ok(undefined);
  }

  sight(sha256: string) {
    return this.#packs.sight(sha256);
  }

  async putHeader(wish: PackWish, octets: Uint8Array<ArrayBuffer>) {
    return this.#put(wish, await this.#packs.putHeader(wish.sha256, octets));
  }

  async putPage(wish: PackWish, page: number, octets: Uint8Array<ArrayBuffer>) {
    return this.#put(wish, await this.#packs.putPage(wish.sha256, page, octets));
  }

  #put(wish: PackWish, put: Result<PackReceipt, PackChangeError>): Result<PackReceipt, PackChangeError> {
    if (!put.ok) this.#ledger.notePack(wish, put.error.reason);
    else if (put.value.completes) this.#ledger.notePack(wish, "done");
    return put;
  }

  async #newText(octets: Uint8Array): Promise<NewText> {
    return { octets, digest: await sha256(octets), known: await packFaults(octets, this.#packs) };
  }

  async #faultsOfPacks(revision: number | undefined): Promise<readonly Fault[]> {
    const text = revision === undefined ? undefined : this.#ledger.text(revision);
    return text?.ok ? packFaults(text.value.octets, this.#packs) : [];
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
    action: TableAction,
    wish: TableWish,
    change: () => Result<TableRevision, TableChangeError>,
  ): Promise<Result<TableRevision, TableChangeError>> {
    const look = await this.#copy.look();
    if (!look.ok) return this.#ledger.refuse(action, wish, { ...look.error, outcome: "none" });
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
