import { type Context, Hono } from "hono";
import * as v from "valibot";
import { STORED_PARTS } from "../../src/features/stored-parts.ts";
import { shownMachines } from "../../src/formats/machines.ts";
import {
  canarySelectorSchema,
  endCanarySchema,
  rollbackSchema,
  startCanarySchema,
} from "../../src/formats/table-requests.ts";
import { openRequest } from "../../src/gateway/request.ts";
import { ok } from "../../src/ids/result.ts";
import type { RevisionContent, TableStatus } from "../../src/ports/admin.ts";
import type { Gateway, ServedTable } from "../../src/ports/gateway.ts";
import {
  checkTable,
  diffTables,
  type Fault,
  memberText,
  parseTableText,
  TABLE_BYTES_MAX,
} from "../../src/routing/index.ts";
import { measureTable } from "../../src/routing/load.ts";
import { requireOperator, requireScope } from "../lib/auth.ts";
import { canaryInIsolate, shownCanary } from "../lib/canary-status.ts";
import { contextOf, jsonResponse, readBytes, respond } from "../lib/http.ts";
import {
  invalidTable,
  loopFaults,
  malformed,
  ownPortIn,
  readChangeRequest,
  readJson,
  readPageQuery,
  readTable,
  wholeNumber,
  withoutComments,
} from "./request.ts";

/** `/-/table`: reads, publishes, checks, compares and measures tables, and their status. */
export const table = (gateway: Gateway) => {
  const { controlPlane } = gateway;
  const viewer = requireScope(gateway, "viewer");
  return new Hono()
    .get("/-/table", viewer, async (c) => respond(c, await controlPlane.text(), textResponse))
    .put("/-/table", requireOperator(gateway, "publish"), async (c) => {
      const request = readChangeRequest(c);
      if (!request.ok) return respond(c, request);
      const bytes = await readBytes(c.req.raw, TABLE_BYTES_MAX);
      if (!bytes.ok) return respond(c, bytes);
      const text = withoutComments(bytes.value);
      const looping = loopFaults(text, contextOf(c));
      if (looping.length > 0) return respond(c, invalidTable(looping));
      return changed(c, 201, await controlPlane.publish(request.value, text));
    })
    .post("/-/table/check", viewer, async (c) => {
      const body = await readTable(c.req.raw);
      if (!body.ok) return respond(c, body);
      const checked = checkTable(body.value.json, ownPortIn(contextOf(c)));
      if (!checked.ok) return respond(c, invalidTable(checked.error));
      // A table that is all in its text does not need the control plane.
      const isStored = STORED_PARTS.some((part) => part.isIn(checked.value));
      const faults = isStored ? await controlPlane.partFaults(body.value.bytes) : ok<readonly Fault[]>([]);
      return respond(c, faults.ok && faults.value.length > 0 ? invalidTable(faults.value) : faults, () =>
        jsonResponse({ faults: [] }),
      );
    })
    .post("/-/table/diff", viewer, async (c) => {
      const body = await readTable(c.req.raw);
      if (!body.ok) return respond(c, body);
      const after = checkTable(body.value.json);
      if (!after.ok) return respond(c, invalidTable(after.error));
      const current = await controlPlane.text();
      if (!current.ok) return respond(c, current);
      const declared = declaredIn(current.value);
      const before = declared.ok ? checkTable(declared.value) : declared;
      if (!before.ok) return respond(c, invalidTable(before.error));
      const diff = diffTables(before.value, after.value, undefined, gateway.clock.nowMs());
      return jsonResponse(diff, fieldsOf(current.value));
    })
    .get("/-/table/capacity", viewer, async (c) => {
      const text = await controlPlane.text();
      if (!text.ok) return respond(c, text);
      const declared = declaredIn(text.value);
      return respondWithUses(c, declared.ok ? measureTable(declared.value, text.value.revision.bytes) : declared);
    })
    .post("/-/table/capacity", viewer, async (c) => {
      const body = await readTable(c.req.raw);
      return body.ok ? respondWithUses(c, measureTable(body.value.json, body.value.bytes.length)) : respond(c, body);
    })
    .get("/-/table/status", viewer, async (c) => {
      const context = contextOf(c);
      const served = await openRequest(context);
      if (served instanceof Response) return served;
      const isolate = isolateStatus(served, context.arrivedAtMs);
      const [status, seen] = await Promise.all([controlPlane.status(), gateway.machines?.seen()]);
      const machines = seen && shownMachines(seen);
      return respond(c, status, (known) =>
        jsonResponse({ ...describe(known), isolate, machines }, { "waybill-table": served.label }),
      );
    });
};

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

const declaredIn = ({ bytes }: RevisionContent) => parseTableText(new TextDecoder().decode(bytes));

const respondWithUses = (c: Context, uses: ReturnType<typeof measureTable>): Response =>
  respond(c, uses.ok ? uses : invalidTable(uses.error));

function textResponse(text: RevisionContent): Response {
  const headers = { "content-type": "application/json", "cache-control": "no-store", ...fieldsOf(text) };
  return new Response(text.bytes, { headers });
}

/** `etag` is the value for `if-match` of a change. */
const fieldsOf = ({ revision: { revision, digest } }: RevisionContent): Record<string, string> => ({
  etag: `"${revision}"`,
  "waybill-revision": String(revision),
  "waybill-digest": digest,
});

/** A change that is stored. `waybill-table` says what this isolate serves at that time. */
const changed = (c: Context, status: 200 | 201, made: Awaited<ReturnType<Gateway["controlPlane"]["abort"]>>) =>
  respond(c, made, (revision) => {
    const { gateway, waitUntil } = contextOf(c);
    const served = gateway.tables.peek(waitUntil);
    return jsonResponse(revision, served && { "waybill-table": served.label }, status);
  });

/** The revisions, their texts, the audit, the rollback, and the canary: a table for some of the IDs. */
export const tableRevisions = (gateway: Gateway) => {
  const { controlPlane } = gateway;
  const viewer = requireScope(gateway, "viewer");
  return new Hono()
    .get("/-/table/revisions", viewer, async (c) => {
      const pageQuery = readPageQuery(c);
      if (!pageQuery.ok) return respond(c, pageQuery);
      return respond(c, await controlPlane.revisions(pageQuery.value), (revisions) => jsonResponse({ revisions }));
    })
    .get("/-/table/revisions/:revision", viewer, async (c) => {
      const number = wholeNumber(c.req.param("revision"));
      return number === undefined ? notFound(c) : respond(c, await controlPlane.text(number), textResponse);
    })
    .get("/-/table/audit", viewer, async (c) => {
      const pageQuery = readPageQuery(c);
      if (!pageQuery.ok) return respond(c, pageQuery);
      return respond(c, await controlPlane.audit(pageQuery.value), (entries) => jsonResponse({ entries }));
    })
    .post("/-/table/rollback", requireOperator(gateway, "rollback"), async (c) => {
      const body = await readJson(c.req.raw, rollbackSchema);
      if (!body.ok) return respond(c, body);
      const { to, note } = body.value.json;
      const request = readChangeRequest(c, note);
      return request.ok ? changed(c, 201, await controlPlane.rollback(request.value, to)) : respond(c, request);
    })
    .post("/-/table/canary", requireOperator(gateway, "canary"), async (c) => {
      const body = await readJson(c.req.raw, startCanarySchema);
      if (!body.ok) return respond(c, body);
      const { table: _, note, ...rest } = body.value.json;
      const table = memberText(body.value.text, "table");
      if (table === undefined) throw new Error("a member that was read is not in its text");
      const audience = v.safeParse(canarySelectorSchema, rest);
      if (!audience.success) return respond(c, malformed(audience.issues[0].message));
      const request = readChangeRequest(c, note);
      if (!request.ok) return respond(c, request);
      // The bytes as sent: parsing and serializing could change the table, such as a number that is too large.
      const bytes = new TextEncoder().encode(table);
      const looping = loopFaults(bytes, contextOf(c));
      if (looping.length > 0) return respond(c, invalidTable(looping));
      return changed(c, 201, await controlPlane.startCanary(request.value, bytes, audience.output));
    })
    .post("/-/table/promote", requireOperator(gateway, "promote"), (c) => endCanary(gateway, c, "promote"))
    .post("/-/table/abort", requireOperator(gateway, "abort"), (c) => endCanary(gateway, c, "abort"));
};

async function endCanary({ controlPlane }: Gateway, c: Context, how: "promote" | "abort"): Promise<Response> {
  const body = await readJson(c.req.raw, endCanarySchema);
  const request = body.ok ? readChangeRequest(c, body.value.json.note) : body;
  if (!request.ok) return respond(c, request);
  return changed(c, how === "promote" ? 201 : 200, await controlPlane[how](request.value));
}

const notFound = (c: Context): Response => contextOf(c).fail({ reason: "not-found", path: c.req.path });
