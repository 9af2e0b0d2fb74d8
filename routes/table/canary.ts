import { type Context, Hono } from "hono";
import * as v from "valibot";
import type { Gateway } from "../../src/ports.ts";
import { endCanarySchema, startCanarySchema } from "../../src/published/table-requests.ts";
import { canarySelectorSchema, memberText } from "../../src/routing/index.ts";
import { requireOperator } from "../lib/auth.ts";
import { jsonResponse, methodNotAllowed } from "../lib/http.ts";
import { readChangeRequest, readJson, readWithText } from "./request.ts";
import { respondWithTableError } from "./table.ts";

/** Starts, promotes and aborts a canary: a table for some of the IDs. */
export const tableCanary = (gateway: Gateway) =>
  new Hono()
    .post("/-/table/canary", requireOperator(gateway, "canary"), async (c) => {
      const body = await readWithText(c.req.raw, startCanarySchema);
      if (!body.ok) return respondWithTableError(c, body.error);
      const { table: _, note, ...rest } = body.value.json;
      const table = memberText(body.value.text, "table");
      if (table === undefined) throw new Error("a member that was read is not in its text");
      const audience = v.safeParse(canarySelectorSchema, rest);
      if (!audience.success) {
        return respondWithTableError(c, { reason: "malformed-request", detail: audience.issues[0].message });
      }
      const request = readChangeRequest(c, note);
      if (!request.ok) return respondWithTableError(c, request.error);
      // The bytes as sent: parsing and serializing could change the table, such as a number that is too large.
      const bytes = new TextEncoder().encode(table);
      const made = await gateway.controlPlane.startCanary(request.value, bytes, audience.output);
      return made.ok ? jsonResponse(made.value, {}, 201) : respondWithTableError(c, made.error);
    })
    .all("/-/table/canary", methodNotAllowed("POST"))
    .post("/-/table/promote", requireOperator(gateway, "promote"), (c) => endCanary(gateway, c, "promote"))
    .all("/-/table/promote", methodNotAllowed("POST"))
    .post("/-/table/abort", requireOperator(gateway, "abort"), (c) => endCanary(gateway, c, "abort"))
    .all("/-/table/abort", methodNotAllowed("POST"));

/** Promotes the canary's table or aborts the canary. */
async function endCanary(gateway: Gateway, c: Context, how: "promote" | "abort"): Promise<Response> {
  const body = await readJson(c.req.raw, endCanarySchema);
  if (!body.ok) return respondWithTableError(c, body.error);
  const request = readChangeRequest(c, body.value.note);
  if (!request.ok) return respondWithTableError(c, request.error);
  const left = await gateway.controlPlane[how](request.value);
  if (!left.ok) return respondWithTableError(c, left.error);
  return jsonResponse(left.value, {}, how === "promote" ? 201 : 200);
}
