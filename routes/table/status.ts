import { Hono } from "hono";
import type { RunningCanary, TableStatus } from "../../src/admin-ports.ts";
import { openRequest } from "../../src/gateway/request.ts";
import type { Gateway, ServedTable } from "../../src/ports.ts";
import { requireScope } from "../lib/auth.ts";
import { contextOf, jsonResponse, respond } from "../lib/http.ts";

/** `GET /-/table/status`: what is in force in the control plane, in KV and in the isolate that responds. */
export const tableStatus = (gateway: Gateway) =>
  new Hono().get("/-/table/status", requireScope(gateway, "viewer"), async (c) => {
    const context = contextOf(c);
    const served = await openRequest(context);
    if (served instanceof Response) return served;
    const isolate = isolateStatus(served, context.arrivedAtMs);
    return respond(c, await gateway.controlPlane.status(), (status) =>
      jsonResponse({ ...describe(status), isolate }, { "waybill-table": served.label }),
    );
  });

function describe({ truth: current, canary, kv, askedAtMs, isPending, lastError }: TableStatus): object {
  return {
    controlPlane: { revision: current.revision, digest: current.digest, time: current.time },
    canary: shownCanary(canary),
    kv:
      kv === undefined ? null : { ...kv, canary: shownCanary(kv.canary), checkedAt: new Date(askedAtMs).toISOString() },
    pending: isPending,
    lastError: lastError ?? null,
  };
}

function isolateStatus(served: ServedTable, nowMs: number): object {
  const { table, source, confirmedAtMs, digest } = served;
  const ageSeconds = Math.max(0, Math.floor((nowMs - confirmedAtMs) / 1000));
  return { revision: table.revision, source, ageSeconds, digest, canary: canaryInIsolate(served) };
}

/** With its audience: one of `share`, `countries` and `entities`. `null` for none. */
const shownCanary = (canary: RunningCanary | undefined): object | null =>
  canary === undefined ? null : { revision: canary.revision, digest: canary.digest, ...canary.audience };

/** `null` if there is none, or if the isolate has not loaded its table yet. */
export const canaryInIsolate = ({ canary }: ServedTable): object | null =>
  shownCanary(canary && { ...canary, revision: canary.table.revision });
