import { type Context, Hono } from "hono";
import type { PageQuery } from "../../src/admin-ports.ts";
import { err, ok, type Result } from "../../src/ids/result.ts";
import type { Gateway } from "../../src/ports.ts";
import type { RequestError } from "../../src/problems/index.ts";
import { PAGE_ENTRIES_DEFAULT, PAGE_ENTRIES_MAX, rollbackSchema } from "../../src/published/table-requests.ts";
import { requireOperator, requireScope } from "../lib/auth.ts";
import { jsonResponse, methodNotAllowed } from "../lib/http.ts";
import { readChangeRequest, readJson } from "./request.ts";
import { respondWithTableError, textResponse } from "./table.ts";

/** The revisions, their texts, the audit and the rollback. */
export const tableRevisions = (gateway: Gateway) =>
  new Hono()
    .get("/-/table/revisions", requireScope(gateway, "viewer"), async (c) => {
      const pageQuery = readPageQuery(c);
      if (!pageQuery.ok) return respondWithTableError(c, pageQuery.error);
      const revisions = await gateway.controlPlane.revisions(pageQuery.value);
      return revisions.ok ? jsonResponse({ revisions: revisions.value }) : respondWithTableError(c, revisions.error);
    })
    .all("/-/table/revisions", methodNotAllowed("GET", "HEAD"))
    .get("/-/table/revisions/:revision", requireScope(gateway, "viewer"), async (c) => {
      const number = wholeNumber(c.req.param("revision"));
      if (number === undefined) return respondWithTableError(c, { reason: "not-found", path: c.req.path });
      const text = await gateway.controlPlane.text(number);
      return text.ok ? textResponse(text.value) : respondWithTableError(c, text.error);
    })
    .all("/-/table/revisions/:revision", methodNotAllowed("GET", "HEAD"))
    .get("/-/table/audit", requireScope(gateway, "viewer"), async (c) => {
      const pageQuery = readPageQuery(c);
      if (!pageQuery.ok) return respondWithTableError(c, pageQuery.error);
      const entries = await gateway.controlPlane.audit(pageQuery.value);
      return entries.ok ? jsonResponse({ entries: entries.value }) : respondWithTableError(c, entries.error);
    })
    .all("/-/table/audit", methodNotAllowed("GET", "HEAD"))
    .post("/-/table/rollback", requireOperator(gateway, "rollback"), async (c) => {
      const body = await readJson(c.req.raw, rollbackSchema);
      if (!body.ok) return respondWithTableError(c, body.error);
      const request = readChangeRequest(c, body.value.note);
      if (!request.ok) return respondWithTableError(c, request.error);
      const made = await gateway.controlPlane.rollback(request.value, body.value.to);
      return made.ok ? jsonResponse(made.value, {}, 201) : respondWithTableError(c, made.error);
    })
    .all("/-/table/rollback", methodNotAllowed("POST"));

/** `?before=41&limit=20`. */
function readPageQuery(c: Context): Result<PageQuery, RequestError> {
  const [beforeText, limitText] = [c.req.query("before"), c.req.query("limit")];
  const before = beforeText === undefined ? undefined : wholeNumber(beforeText);
  const limit = limitText === undefined ? PAGE_ENTRIES_DEFAULT : wholeNumber(limitText);
  const isWrong = (beforeText !== undefined && before === undefined) || limit === undefined;
  if (isWrong || limit < 1 || limit > PAGE_ENTRIES_MAX) {
    const detail = `\`before\` is a number of an entry, and \`limit\` one from 1 to ${PAGE_ENTRIES_MAX}.`;
    return err({ reason: "malformed-request", detail });
  }
  return ok({ before, limit });
}

export const wholeNumber = (text: string): number | undefined =>
  /^(?:0|[1-9][0-9]{0,14})$/.test(text) ? Number(text) : undefined;
