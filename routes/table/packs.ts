import { type Context, Hono } from "hono";
import type { PackReceipt } from "../../src/admin-ports.ts";
import type { Gateway } from "../../src/ports.ts";
import { HEADER_BYTES_MAX, PAGE_BYTES_MAX } from "../../src/routing/packs/format.ts";
import { callerOf, requireOperator, requireScope } from "../lib/auth.ts";
import { jsonResponse, methodNotAllowed, readBytes } from "../lib/http.ts";
import { wholeNumber } from "./revisions.ts";
import { respondWithTableError } from "./table.ts";

/** `/-/table/packs`: what is there of a pack, and its parts, which come before the table that names it. */
export const tablePacks = (gateway: Gateway) =>
  new Hono()
    .get("/-/table/packs/:sha256", requireScope(gateway, "viewer"), async (c) => {
      const sha256 = packOf(c);
      if (sha256 === undefined) return respondWithTableError(c, { reason: "not-found", path: c.req.path });
      const status = await gateway.controlPlane.packStatus(sha256);
      return status.ok ? jsonResponse(status.value) : respondWithTableError(c, status.error);
    })
    .put("/-/table/packs/:sha256", requireOperator(gateway, "pack", packOf), async (c) => {
      const sha256 = packOf(c);
      if (sha256 === undefined) return respondWithTableError(c, { reason: "not-found", path: c.req.path });
      const bytes = await readBytes(c.req.raw, HEADER_BYTES_MAX);
      if (!bytes.ok) return respondWithTableError(c, bytes.error);
      const put = await gateway.controlPlane.putHeader({ sha256, author: callerOf(c).name }, bytes.value);
      return put.ok ? receiptOf(put.value) : respondWithTableError(c, put.error);
    })
    .all("/-/table/packs/:sha256", methodNotAllowed("GET", "HEAD", "PUT"))
    .put("/-/table/packs/:sha256/:page", requireOperator(gateway, "pack", packOf), async (c) => {
      const [sha256, page] = [packOf(c), wholeNumber(c.req.param("page"))];
      if (sha256 === undefined || page === undefined)
        return respondWithTableError(c, { reason: "not-found", path: c.req.path });
      const bytes = await readBytes(c.req.raw, PAGE_BYTES_MAX);
      if (!bytes.ok) return respondWithTableError(c, bytes.error);
      const put = await gateway.controlPlane.putPage({ sha256, author: callerOf(c).name }, page, bytes.value);
      return put.ok ? receiptOf(put.value) : respondWithTableError(c, put.error);
    })
    .all("/-/table/packs/:sha256/:page", methodNotAllowed("PUT"));

/** 201 where something is there now that was not before. */
const receiptOf = ({ pack, isNew }: PackReceipt): Response => jsonResponse(pack, {}, isNew ? 201 : 200);

/** The digest in the path; `undefined` for what is none. */
function packOf(c: Context): string | undefined {
  const sha256 = c.req.param("sha256");
  return sha256 !== undefined && /^[0-9a-f]{64}$/.test(sha256) ? sha256 : undefined;
}
