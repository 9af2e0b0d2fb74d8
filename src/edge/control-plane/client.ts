import type { PackStore, RejectedChange, TableHistory } from "../../admin-ports.ts";
import { err, type Result } from "../../ids/result.ts";
import type { TableHistoryError } from "../../problems/errors.ts";
import type { ControlPlaneRpc } from "../env.ts";
import { throwTimeout, withTimeout } from "../platform.ts";

/** All revisions of a deployment are in one object. */
const NAME = "table";

/** What names the deployment among those of its zone, which share one cache: no two have the same object. */
export const deploymentName = (namespace: DurableObjectNamespace<ControlPlaneRpc>): string =>
  namespace.idFromName(NAME).toString();

/** For what is only read. */
const OBJECT_DEADLINE_MS = 5_000;

/** The check of the largest table takes seconds, and so do thousands of pages of packs that are looked for in KV. A client waits. */
const CHECK_DEADLINE_MS = 30_000;

/** Told of a refused change that the audit lacks, because the object could not be asked. */
export type ReportLost = (refused: RejectedChange, why: string) => void;

/** The Durable Object as the history of the table. A stub is broken after a failure, so each call makes its own. */
export function durableTableHistory(
  namespace: DurableObjectNamespace<ControlPlaneRpc>,
  reportLost: ReportLost,
): TableHistory {
  const stub = () => stubOf<TableHistory>(namespace);
  return {
    text: (revision) => callObject(() => stub().text(revision), "again"),
    revisions: (pageQuery) => callObject(() => stub().revisions(pageQuery), "again"),
    audit: (pageQuery) => callObject(() => stub().audit(pageQuery), "again"),
    status: () => callObject(() => stub().status(), "again"),
    packFaults: (bytes) => callObject(() => stub().packFaults(bytes), "again", CHECK_DEADLINE_MS),
    publish: (request, bytes) => changed(() => stub().publish(request, bytes)),
    rollback: (request, to) => changed(() => stub().rollback(request, to)),
    startCanary: (request, bytes, audience) => changed(() => stub().startCanary(request, bytes, audience)),
    promote: (request) => changed(() => stub().promote(request)),
    abort: (request) => changed(() => stub().abort(request)),
    async recordRejection(refused) {
      const noted = await callObject(() => stub().recordRejection(refused), "once");
      if (!noted.ok) reportLost(refused, noted.error.why);
      return noted;
    },
  };
}

/** A stub, for one call. The platform's type goes down into every answer, as if one could hold functions; these are plain data. */
export const stubOf = <Port>(namespace: DurableObjectNamespace<ControlPlaneRpc>): Port =>
  namespace.get(namespace.idFromName(NAME)) as unknown as Port;

/** Reads may be asked `again` where the platform says that it helps; an object with too much to do is left alone. */
export async function callObject<Value, Failure>(
  ask: () => Promise<Result<Value, Failure>>,
  times: "once" | "again",
  deadlineMs = OBJECT_DEADLINE_MS,
  outcome?: "unknown",
): Promise<Result<Value, Failure | TableHistoryError>> {
  try {
    return await withTimeout(ask(), deadlineMs, throwTimeout);
  } catch (error) {
    if (times === "again" && isRetryable(error)) return callObject(ask, "once", deadlineMs);
    const why = error instanceof Error ? error.message : String(error);
    return err({ reason: "control-plane-unavailable", why, outcome });
  }
}

/** An object that does not answer may have made the change, or make it yet. */
const changed = <Value, Failure>(ask: () => Promise<Result<Value, Failure>>) =>
  callObject(ask, "once", CHECK_DEADLINE_MS, "unknown");

/** Cloudflare's documentation of Durable Objects, "Error handling": `retryable` and `overloaded` of what a stub throws. */
function isRetryable(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  return "retryable" in error && error.retryable === true && !("overloaded" in error && error.overloaded === true);
}

/** KV takes two parts, one after the other, or shows all of a pack. */
const PACK_DEADLINE_MS = 10_000;

/** The Durable Object as the place where packs are put. What was put twice is there once, so that all may be asked again. */
export function durablePackStore(namespace: DurableObjectNamespace<ControlPlaneRpc>): PackStore {
  const ask = <Value, Failure>(of: (stub: PackStore) => Promise<Result<Value, Failure>>) =>
    callObject(() => of(stubOf<PackStore>(namespace)), "again", PACK_DEADLINE_MS);
  return {
    packStatus: (sha256) => ask((stub) => stub.packStatus(sha256)),
    putHeader: (request, bytes) => ask((stub) => stub.putHeader(request, bytes)),
    putPage: (request, page, bytes) => ask((stub) => stub.putPage(request, page, bytes)),
  };
}
