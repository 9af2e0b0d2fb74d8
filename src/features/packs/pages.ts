import { type Context, Hono } from "hono";
import type { PageFeature } from "../../../routes/feature.ts";
import { callerOf, requireOperator, requireScope } from "../../../routes/lib/auth.ts";
import { contextOf, jsonResponse, readBytes, respond } from "../../../routes/lib/http.ts";
import { wholeNumber } from "../../../routes/table/request.ts";
import type { Gateway } from "../../ports/gateway.ts";
import { openapi } from "./openapi.ts";
import { HEADER_BYTES_MAX, PAGE_BYTES_MAX } from "./table/format.ts";

/** `/-/table/packs`: the upload of packs, before the table that names them. */
export function tablePacks(gateway: Gateway) {
  const { controlPlane } = gateway;
  const put = async (c: Context, part: "header" | number | undefined): Promise<Response> => {
    const sha256 = packOf(c);
    if (sha256 === undefined || part === undefined) return notFound(c);
    const bytes = await readBytes(c.req.raw, part === "header" ? HEADER_BYTES_MAX : PAGE_BYTES_MAX);
    if (!bytes.ok) return respond(c, bytes);
    const receipt = await controlPlane.putPackPart({ sha256, part, author: callerOf(c).name }, bytes.value);
    return respond(c, receipt, ({ pack, isNew }) => jsonResponse(pack, {}, isNew ? 201 : 200));
  };
  return new Hono()
    .get("/-/table/packs/:sha256", requireScope(gateway, "viewer"), async (c) => {
      const sha256 = packOf(c);
      return sha256 === undefined ? notFound(c) : respond(c, await controlPlane.packStatus(sha256));
    })
    .put("/-/table/packs/:sha256", requireOperator(gateway, "pack", packOf), (c) => put(c, "header"))
    .put("/-/table/packs/:sha256/:page", requireOperator(gateway, "pack", packOf), (c) =>
      put(c, wholeNumber(c.req.param("page"))),
    );
}

function packOf(c: Context): string | undefined {
  const sha256 = c.req.param("sha256");
  return sha256 !== undefined && /^[0-9a-f]{64}$/.test(sha256) ? sha256 : undefined;
}

const notFound = (c: Context): Response => contextOf(c).fail({ reason: "not-found", path: c.req.path });

export const packPages: PageFeature = { name: "packs", pages: [tablePacks], openapi };
