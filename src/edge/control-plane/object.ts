import { DurableObject } from "cloudflare:workers";
import type { ChangeRequest, PackPartRequest, PageQuery, RejectedChange } from "../../admin-ports.ts";
import type { CanarySelector } from "../../routing/index.ts";
import type { ControlPlaneRpc, Env } from "../env.ts";
import { systemClock } from "../platform.ts";
import { bundledRevision } from "./revisions.ts";
import { ControlPlane } from "./service.ts";

/**
 * The truth about the routing table, one object for a deployment: its revisions, by whom and when, and the alarm that brings
 * KV to the last one, however often that fails. Requests are never routed by it: isolates read KV.
 */
export class TableTruth extends DurableObject<Env> implements ControlPlaneRpc {
  #controlPlane!: ControlPlane;

  /** `bundled`: the table that was deployed with the code. */
  constructor(context: DurableObjectState, env: Env, bundled: unknown) {
    super(context, env);
    void context.blockConcurrencyWhile(async () => {
      const { storage } = context;
      const wakeAt = (atMs: number) => storage.setAlarm(atMs);
      const deps = { storage, kv: env.TABLE_KV, clock: systemClock, bundled: await bundledRevision(bundled), wakeAt };
      this.#controlPlane = new ControlPlane(deps);
    });
  }

  override alarm() {
    return this.#controlPlane.run();
  }

  text(revision: number | undefined) {
    return this.#controlPlane.text(revision);
  }

  revisions(pageQuery: PageQuery) {
    return this.#controlPlane.revisions(pageQuery);
  }

  audit(pageQuery: PageQuery) {
    return this.#controlPlane.audit(pageQuery);
  }

  status() {
    return this.#controlPlane.status();
  }

  packFaults(bytes: Uint8Array) {
    return this.#controlPlane.packFaults(bytes);
  }

  publish(request: ChangeRequest, bytes: Uint8Array) {
    return this.#controlPlane.publish(request, bytes);
  }

  rollback(request: ChangeRequest, to: number) {
    return this.#controlPlane.rollback(request, to);
  }

  startCanary(request: ChangeRequest, bytes: Uint8Array, audience: CanarySelector) {
    return this.#controlPlane.startCanary(request, bytes, audience);
  }

  promote(request: ChangeRequest) {
    return this.#controlPlane.promote(request);
  }

  abort(request: ChangeRequest) {
    return this.#controlPlane.abort(request);
  }

  recordRejection(refused: RejectedChange) {
    return this.#controlPlane.recordRejection(refused);
  }

  packStatus(sha256: string) {
    return this.#controlPlane.packStatus(sha256);
  }

  putHeader(request: PackPartRequest, bytes: Uint8Array<ArrayBuffer>) {
    return this.#controlPlane.putHeader(request, bytes);
  }

  putPage(request: PackPartRequest, page: number, bytes: Uint8Array<ArrayBuffer>) {
    return this.#controlPlane.putPage(request, page, bytes);
  }
}
