import { Hono } from "hono";
import type { RunningCanary, TableStatus } from "../../src/admin-ports.ts";
import { openRequest } from "../../src/gateway/request.ts";
import type { Gateway, ServedCanary, ServedTable } from "../../src/ports.ts";
import { parseTableText } from "../../src/routing/index.ts";
import { measureTable } from "../../src/routing/load.ts";
import { requireScope } from "../lib/auth.ts";
import { contextOf, jsonResponse, methodNotAllowed } from "../lib/http.ts";
import { readTable } from "./request.ts";
import { respondWithTableError } from "./table.ts";

/** `GET /-/table/status`: what is in force in the control plane, in KV and in the isolate that responds. */
export const tableStatus = (gateway: Gateway) =>
  new Hono()
    .get("/-/table/status", requireScope(gateway, "viewer"), async (c) => {
      const context = contextOf(c);
      const served = await openRequest(context);
      if (served instanceof Response) return served;
      const status = await gateway.controlPlane.status();
      if (!status.ok) return respondWithTableError(c, status.error);
      const isolate = isolateStatus(served, context.arrivedAtMs);
      return jsonResponse({ ...describe(status.value), isolate }, { "waybill-table": served.label });
    })
    .all("/-/table/status", methodNotAllowed("GET", "HEAD"));

/** `/-/table/capacity`: usage of each limit, by the current table (GET) or the one in the body (POST). */
export const tableCapacity = (gateway: Gateway) =>
  new Hono()
    .get("/-/table/capacity", requireScope(gateway, "viewer"), async (c) => {
      const text = await gateway.controlPlane.text();
      if (!text.ok) return respondWithTableError(c, text.error);
      const { bytes, revision } = text.value;
      const declared = parseTableText(new TextDecoder().decode(bytes));
      const uses = declared.ok ? measureTable(declared.value, revision.bytes) : declared;
      return uses.ok
        ? jsonResponse(uses.value)
        : respondWithTableError(c, { reason: "invalid-table", faults: uses.error });
    })
    .post("/-/table/capacity", requireScope(gateway, "viewer"), async (c) => {
      const body = await readTable(c.req.raw);
      if (!body.ok) return respondWithTableError(c, body.error);
      const uses = measureTable(body.value.json, body.value.bytes.length);
      return uses.ok
        ? jsonResponse(uses.value)
        : respondWithTableError(c, { reason: "invalid-table", faults: uses.error });
    })
    .all("/-/table/capacity", methodNotAllowed("GET", "HEAD", "POST"));

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

/** The canary of an isolate. */
const runningCanary = ({ table, digest, audience }: ServedCanary): RunningCanary => ({
  revision: table.revision,
  digest,
  audience,
});

/** `null` if there is none, or if the isolate has not loaded its table yet. */
export const canaryInIsolate = ({ canary }: ServedTable): object | null => shownCanary(canary && runningCanary(canary));
