import { type Context, Hono } from "hono";
import type { Gateway } from "../src/ports.ts";
import type { GatewayError } from "../src/problems/index.ts";
import { checkTable, diffTables, parseTableText, TABLE_BYTES_MAX } from "../src/routing/index.ts";
import type { RevisionText } from "../src/table-ports.ts";
import { methodNotAllowed } from "./method-not-allowed.ts";
import { ownJson } from "./own-json.ts";
import { problemResponse } from "./problem-response.ts";
import { readOctets } from "./read-body.ts";
import { notesOf } from "./request-log.ts";
import { requireOperator } from "./require-operator.ts";
import { requireScope } from "./require-scope.ts";
import { readTable } from "./table-body.ts";
import { readWish } from "./table-wish.ts";

/** `/-/table`: the table in force, a new one, and what a new one would do. */
export const table = (gateway: Gateway) =>
  new Hono()
    .get("/-/table", requireScope(gateway, "viewer"), async (c) => {
      const text = await gateway.tableHistory.text();
      return text.ok ? textResponse(text.value) : refuseTable(c, text.error);
    })
    .put("/-/table", requireOperator(gateway, "publish"), async (c) => {
      const wish = readWish(c);
      if (!wish.ok) return refuseTable(c, wish.error);
      const octets = await readOctets(c.req.raw, TABLE_BYTES_MAX);
      if (!octets.ok) return refuseTable(c, octets.error);
      const made = await gateway.tableHistory.publish(wish.value, octets.value);
      return made.ok ? ownJson(made.value, {}, 201) : refuseTable(c, made.error);
    })
    .all("/-/table", methodNotAllowed("GET", "HEAD", "PUT"))
    .post("/-/table/check", requireScope(gateway, "viewer"), async (c) => {
      const body = await readTable(c.req.raw);
      if (!body.ok) return refuseTable(c, body.error);
      const checked = checkTable(body.value.json);
      if (!checked.ok) return refuseTable(c, { reason: "invalid-table", faults: checked.error });
      // Without packs nobody else has to be asked.
      if (Object.keys(checked.value.packs ?? {}).length === 0) return ownJson({ faults: [] });
      const faults = await gateway.tableHistory.packFaults(body.value.octets);
      if (!faults.ok) return refuseTable(c, faults.error);
      if (faults.value.length > 0) return refuseTable(c, { reason: "invalid-table", faults: faults.value });
      return ownJson({ faults: [] });
    })
    .all("/-/table/check", methodNotAllowed("POST"))
    .post("/-/table/diff", requireScope(gateway, "viewer"), async (c) => {
      const body = await readTable(c.req.raw);
      if (!body.ok) return refuseTable(c, body.error);
      const after = checkTable(body.value.json);
      if (!after.ok) return refuseTable(c, { reason: "invalid-table", faults: after.error });
      const current = await gateway.tableHistory.text();
      if (!current.ok) return refuseTable(c, current.error);
      const text = parseTableText(new TextDecoder().decode(current.value.octets));
      const before = text.ok ? checkTable(text.value) : text;
      if (!before.ok) return refuseTable(c, { reason: "invalid-table", faults: before.error });
      const diff = diffTables(before.value, after.value, undefined, gateway.clock.nowMs());
      return ownJson(diff, fieldsOf(current.value));
    })
    .all("/-/table/diff", methodNotAllowed("POST"));

/** A revision's text, octet for octet. */
export function textResponse(text: RevisionText): Response {
  const headers = { "content-type": "application/json", "cache-control": "no-store", ...fieldsOf(text) };
  return new Response(text.octets, { headers });
}

/** The tag is what `if-match` of a change needs. */
function fieldsOf({ revision: { revision, digest } }: RevisionText): Record<string, string> {
  return { etag: `"${revision}"`, "waybill-revision": String(revision), "waybill-digest": digest };
}

export function refuseTable(c: Context, error: GatewayError): Response {
  notesOf(c).outcome = error.reason;
  return problemResponse(error);
}
