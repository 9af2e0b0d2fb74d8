import { type Context, Hono } from "hono";
import type { RevisionContent } from "../../src/admin-ports.ts";
import type { Gateway } from "../../src/ports.ts";
import type { GatewayError } from "../../src/problems/index.ts";
import { checkTable, diffTables, parseTableText, TABLE_BYTES_MAX } from "../../src/routing/index.ts";
import { requireOperator, requireScope } from "../lib/auth.ts";
import { contextOf, jsonResponse, methodNotAllowed, readBytes } from "../lib/http.ts";
import { readChangeRequest, readTable } from "./request.ts";

/** `/-/table`: reads, publishes, checks and compares tables. */
export const table = (gateway: Gateway) =>
  new Hono()
    .get("/-/table", requireScope(gateway, "viewer"), async (c) => {
      const text = await gateway.controlPlane.text();
      return text.ok ? textResponse(text.value) : respondWithTableError(c, text.error);
    })
    .put("/-/table", requireOperator(gateway, "publish"), async (c) => {
      const request = readChangeRequest(c);
      if (!request.ok) return respondWithTableError(c, request.error);
      const bytes = await readBytes(c.req.raw, TABLE_BYTES_MAX);
      if (!bytes.ok) return respondWithTableError(c, bytes.error);
      const made = await gateway.controlPlane.publish(request.value, bytes.value);
      return made.ok ? jsonResponse(made.value, {}, 201) : respondWithTableError(c, made.error);
    })
    .all("/-/table", methodNotAllowed("GET", "HEAD", "PUT"))
    .post("/-/table/check", requireScope(gateway, "viewer"), async (c) => {
      const body = await readTable(c.req.raw);
      if (!body.ok) return respondWithTableError(c, body.error);
      const checked = checkTable(body.value.json);
      if (!checked.ok) return respondWithTableError(c, { reason: "invalid-table", faults: checked.error });
      // Without packs the control plane is not needed.
      if (Object.keys(checked.value.packs ?? {}).length === 0) return jsonResponse({ faults: [] });
      const faults = await gateway.controlPlane.packFaults(body.value.bytes);
      if (!faults.ok) return respondWithTableError(c, faults.error);
      if (faults.value.length > 0) return respondWithTableError(c, { reason: "invalid-table", faults: faults.value });
      return jsonResponse({ faults: [] });
    })
    .all("/-/table/check", methodNotAllowed("POST"))
    .post("/-/table/diff", requireScope(gateway, "viewer"), async (c) => {
      const body = await readTable(c.req.raw);
      if (!body.ok) return respondWithTableError(c, body.error);
      const after = checkTable(body.value.json);
      if (!after.ok) return respondWithTableError(c, { reason: "invalid-table", faults: after.error });
      const current = await gateway.controlPlane.text();
      if (!current.ok) return respondWithTableError(c, current.error);
      const text = parseTableText(new TextDecoder().decode(current.value.bytes));
      const before = text.ok ? checkTable(text.value) : text;
      if (!before.ok) return respondWithTableError(c, { reason: "invalid-table", faults: before.error });
      const diff = diffTables(before.value, after.value, undefined, gateway.clock.nowMs());
      return jsonResponse(diff, fieldsOf(current.value));
    })
    .all("/-/table/diff", methodNotAllowed("POST"));

/** A revision's text, byte for byte. */
export function textResponse(text: RevisionContent): Response {
  const headers = { "content-type": "application/json", "cache-control": "no-store", ...fieldsOf(text) };
  return new Response(text.bytes, { headers });
}

/** `etag` is the value for `if-match` of a change. */
function fieldsOf({ revision: { revision, digest } }: RevisionContent): Record<string, string> {
  return { etag: `"${revision}"`, "waybill-revision": String(revision), "waybill-digest": digest };
}

export function respondWithTableError(c: Context, error: GatewayError): Response {
  return contextOf(c).fail(error);
}
