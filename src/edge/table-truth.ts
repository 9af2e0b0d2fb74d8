import { DurableObject } from "cloudflare:workers";
import type { CanaryAudience } from "../routing/index.ts";
import type { PackWish, RefusedChange, Stretch, TableWish } from "../table-ports.ts";
import { systemClock } from "./clock.ts";
import type { Env } from "./env.ts";
import { TableKeeper } from "./table-keeper.ts";
import { bundledRevision } from "./table-ledger.ts";
import type { TruthObject } from "./truth-object.ts";

/**
 * The truth about the routing table, one object for a deployment: its revisions, by whom and when, and the alarm that brings
 * KV to the last one, however often that fails. Requests are never routed by it: isolates read KV.
 */
export class TableTruth extends DurableObject<Env> implements TruthObject {
  #keeper!: TableKeeper;

  /** `bundled`: the table that was deployed with the code. */
  constructor(context: DurableObjectState, env: Env, bundled: unknown) {
    super(context, env);
    void context.blockConcurrencyWhile(async () => {
      const { storage } = context;
      const wakeAt = (atMs: number) => storage.setAlarm(atMs);
      const world = { storage, kv: env.TABLE_KV, clock: systemClock, bundled: await bundledRevision(bundled), wakeAt };
      this.#keeper = new TableKeeper(world);
    });
  }

  override alarm() {
    return this.#keeper.run();
  }

  text(revision: number | undefined) {
    return this.#keeper.text(revision);
  }

  revisions(stretch: Stretch) {
    return this.#keeper.revisions(stretch);
  }

  audit(stretch: Stretch) {
    return this.#keeper.audit(stretch);
  }

  status() {
    return this.#keeper.status();
  }

  packFaults(octets: Uint8Array) {
    return this.#keeper.packFaults(octets);
  }

  publish(wish: TableWish, octets: Uint8Array) {
    return this.#keeper.publish(wish, octets);
  }

  rollback(wish: TableWish, to: number) {
    return this.#keeper.rollback(wish, to);
  }

  startCanary(wish: TableWish, octets: Uint8Array, audience: CanaryAudience) {
    return this.#keeper.startCanary(wish, octets, audience);
  }

  promote(wish: TableWish) {
    return this.#keeper.promote(wish);
  }

  abort(wish: TableWish) {
    return this.#keeper.abort(wish);
  }

  noteRefusal(refused: RefusedChange) {
    return this.#keeper.noteRefusal(refused);
  }

  sight(sha256: string) {
    return this.#keeper.sight(sha256);
  }

  putHeader(wish: PackWish, octets: Uint8Array<ArrayBuffer>) {
    return this.#keeper.putHeader(wish, octets);
  }

  putPage(wish: PackWish, page: number, octets: Uint8Array<ArrayBuffer>) {
    return this.#keeper.putPage(wish, page, octets);
  }
}
