import { type Context, Hono } from "hono";
import * as v from "valibot";
import type { Gateway } from "../src/ports.ts";
import { canaryAudienceSchema } from "../src/routing/index.ts";
import { memberText } from "./member-text.ts";
import { methodNotAllowed } from "./method-not-allowed.ts";
import { ownJson } from "./own-json.ts";
import { requireOperator } from "./require-operator.ts";
import { refuseTable } from "./table.ts";
import { readJson, readWithText } from "./table-body.ts";
import { readWish } from "./table-wish.ts";

const note = v.optional(v.string(), "");
const CANARY = v.looseObject({ table: v.unknown(), note });
const END = v.strictObject({ note });

/** A table for a part of the IDs, and what becomes of it. */
export const tableCanary = (gateway: Gateway) =>
  new Hono()
    .post("/-/table/canary", requireOperator(gateway, "canary"), async (c) => {
      const body = await readWithText(c.req.raw, CANARY);
      if (!body.ok) return refuseTable(c, body.error);
      const { table: _, note, ...rest } = body.value.json;
      const table = memberText(body.value.text, "table");
      if (table === undefined) throw new Error("a member that was read is not in its text");
      const audience = v.safeParse(canaryAudienceSchema, rest);
      if (!audience.success) {
        return refuseTable(c, { reason: "malformed-request", detail: audience.issues[0].message });
      }
      const wish = readWish(c, note);
      if (!wish.ok) return refuseTable(c, wish.error);
      // Its own octets: what was read and written again could be another table, such as one without a number that is too large.
      const octets = new TextEncoder().encode(table);
      const made = await gateway.tableHistory.startCanary(wish.value, octets, audience.output);
      return made.ok ? ownJson(made.value, {}, 201) : refuseTable(c, made.error);
    })
    .all("/-/table/canary", methodNotAllowed("POST"))
    .post("/-/table/promote", requireOperator(gateway, "promote"), (c) => endCanary(gateway, c, "promote"))
    .all("/-/table/promote", methodNotAllowed("POST"))
    .post("/-/table/abort", requireOperator(gateway, "abort"), (c) => endCanary(gateway, c, "abort"))
    .all("/-/table/abort", methodNotAllowed("POST"));

/** Makes its text the next revision, or drops it. */
async function endCanary(gateway: Gateway, c: Context, how: "promote" | "abort"): Promise<Response> {
  const body = await readJson(c.req.raw, END);
  if (!body.ok) return refuseTable(c, body.error);
  const wish = readWish(c, body.value.note);
  if (!wish.ok) return refuseTable(c, wish.error);
  const left = await gateway.tableHistory[how](wish.value);
  if (!left.ok) return refuseTable(c, left.error);
  return ownJson(left.value, {}, how === "promote" ? 201 : 200);
}
