import { Hono } from "hono";
import type { Gateway, ServedCanary, ServedTable } from "../src/ports.ts";
import { measureTable } from "../src/routing/check.ts";
import { parseTableText } from "../src/routing/index.ts";
import type { RunningCanary, TableStatus } from "../src/table-ports.ts";
import { methodNotAllowed } from "./method-not-allowed.ts";
import { ownJson } from "./own-json.ts";
import { receive } from "./receive.ts";
import { requireScope } from "./require-scope.ts";
import { refuseTable } from "./table.ts";
import { readTable } from "./table-body.ts";

/** `GET /-/table/status`: what is in force by the truth, by KV and by the isolate that answers. */
export const tableStatus = (gateway: Gateway) =>
  new Hono()
    .get("/-/table/status", requireScope(gateway, "viewer"), async (c) => {
      const received = await receive(gateway, c);
      if (received instanceof Response) return received;
      const status = await gateway.tableHistory.status();
      if (!status.ok) return refuseTable(c, status.error);
      const isolate = isolateSight(received.served, received.arrivedAtMs);
      return ownJson({ ...describe(status.value), isolate }, { "waybill-table": received.served.label });
    })
    .all("/-/table/status", methodNotAllowed("GET", "HEAD"));

/** `/-/table/capacity`: how much of each cap a table takes up, the one in force (GET) or the one in the body (POST). */
export const tableCapacity = (gateway: Gateway) =>
  new Hono()
    .get("/-/table/capacity", requireScope(gateway, "viewer"), async (c) => {
      const text = await gateway.tableHistory.text();
      if (!text.ok) return refuseTable(c, text.error);
      const { octets, revision } = text.value;
      const declared = parseTableText(new TextDecoder().decode(octets));
      const uses = declared.ok ? measureTable(declared.value, revision.bytes) : declared;
      return uses.ok ? ownJson(uses.value) : refuseTable(c, { reason: "invalid-table", faults: uses.error });
    })
    .post("/-/table/capacity", requireScope(gateway, "viewer"), async (c) => {
      const body = await readTable(c.req.raw);
      if (!body.ok) return refuseTable(c, body.error);
      const uses = measureTable(body.value.json, body.value.octets.length);
      return uses.ok ? ownJson(uses.value) : refuseTable(c, { reason: "invalid-table", faults: uses.error });
    })
    .all("/-/table/capacity", methodNotAllowed("GET", "HEAD", "POST"));

function describe({ truth, canary, kv, askedAtMs, isPending, lastError }: TableStatus): object {
  return {
    truth: { revision: truth.revision, digest: truth.digest, time: truth.time },
    canary: shownCanary(canary),
    kv: kv === undefined ? null : { ...kv, canary: shownCanary(kv.canary), asked: new Date(askedAtMs).toISOString() },
    pending: isPending,
    lastError: lastError ?? null,
  };
}

function isolateSight(served: ServedTable, nowMs: number): object {
  const { table, source, confirmedAtMs, digest } = served;
  const ageSeconds = Math.max(0, Math.floor((nowMs - confirmedAtMs) / 1000));
  return { revision: table.revision, source, ageSeconds, digest, canary: canaryInIsolate(served) };
}

/** With its audience: one of `share`, `countries` and `entities`. `null` for none. */
const shownCanary = (canary: RunningCanary | undefined): object | null =>
  canary === undefined ? null : { revision: canary.revision, digest: canary.digest, ...canary.audience };

/** As an isolate has it. */
const runningCanary = ({ table, digest, audience }: ServedCanary): RunningCanary => ({
  revision: table.revision,
  digest,
  audience,
});

/** `null` for none, or for one whose table the isolate does not have yet. */
export const canaryInIsolate = ({ canary }: ServedTable): object | null => shownCanary(canary && runningCanary(canary));
