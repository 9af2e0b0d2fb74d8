import { type Context, Hono } from "hono";
import type { Gateway } from "../../src/ports.ts";
import { HEADER_BYTES_MAX, PAGE_BYTES_MAX } from "../../src/routing/packs/format.ts";
import { callerOf, requireOperator, requireScope } from "../lib/auth.ts";
import { jsonResponse, methodNotAllowed, readBytes } from "../lib/http.ts";
import { wholeNumber } from "./revisions.ts";
import { respondWithTableError } from "./table.ts";

/** `/-/table/packs`: the upload of packs, before the table that names them. */
export function tablePacks(gateway: Gateway) {
  const put = async (c: Context, part: "header" | number | undefined): Promise<Response> => {
    const sha256 = packOf(c);
    if (sha256 === undefined || part === undefined) return notFound(c);
    const bytes = await readBytes(c.req.raw, part === "header" ? HEADER_BYTES_MAX : PAGE_BYTES_MAX);
    if (!bytes.ok) return respondWithTableError(c, bytes.error);
    const receipt = await gateway.controlPlane.putPackPart({ sha256, part, author: callerOf(c).name }, bytes.value);
    if (!receipt.ok) return respondWithTableError(c, receipt.error);
    return jsonResponse(receipt.value.pack, {}, receipt.value.isNew ? 201 : 200);
  };
  return new Hono()
    .get("/-/table/packs/:sha256", requireScope(gateway, "viewer"), async (c) => {
      const sha256 = packOf(c);
      if (sha256 === undefined) return notFound(c);
      const pack = await gateway.controlPlane.packStatus(sha256);
      return pack.ok ? jsonResponse(pack.value) : respondWithTableError(c, pack.error);
    })
    .put("/-/table/packs/:sha256", requireOperator(gateway, "pack", packOf), (c) => put(c, "header"))
    .all("/-/table/packs/:sha256", methodNotAllowed("GET", "HEAD", "PUT"))
    .put("/-/table/packs/:sha256/:page", requireOperator(gateway, "pack", packOf), (c) =>
      put(c, wholeNumber(c.req.param("page"))),
    )
    .all("/-/table/packs/:sha256/:page", methodNotAllowed("PUT"));
}

const notFound = (c: Context): Response => respondWithTableError(c, { reason: "not-found", path: c.req.path });

/** The digest in the path; `undefined` for what is none. */
function packOf(c: Context): string | undefined {
  const sha256 = c.req.param("sha256");
  return sha256 !== undefined && /^[0-9a-f]{64}$/.test(sha256) ? sha256 : undefined;
}
