import { type Context, Hono } from "hono";
import type { Gateway } from "../src/ports.ts";
import { HEADER_OCTETS_MAX, PAGE_OCTETS_MAX } from "../src/routing/pack/format.ts";
import type { PackReceipt, PackSight } from "../src/table-ports.ts";
import { methodNotAllowed } from "./method-not-allowed.ts";
import { ownJson } from "./own-json.ts";
import { readOctets } from "./read-body.ts";
import { requireOperator } from "./require-operator.ts";
import { callerOf, requireScope } from "./require-scope.ts";
import { refuseTable } from "./table.ts";
import { wholeNumber } from "./table-revisions.ts";

/** `/-/table/packs`: what is there of a pack, and its parts, which come before the table that names it. */
export const tablePacks = (gateway: Gateway) =>
  new Hono()
    .get("/-/table/packs/:sha256", requireScope(gateway, "viewer"), async (c) => {
      const sha256 = packOf(c);
      if (sha256 === undefined) return refuseTable(c, { reason: "not-found", path: c.req.path });
      const sight = await gateway.packStore.sight(sha256);
      return sight.ok ? ownJson(shownSight(sight.value)) : refuseTable(c, sight.error);
    })
    .put("/-/table/packs/:sha256", requireOperator(gateway, "pack", packOf), async (c) => {
      const sha256 = packOf(c);
      if (sha256 === undefined) return refuseTable(c, { reason: "not-found", path: c.req.path });
      const octets = await readOctets(c.req.raw, HEADER_OCTETS_MAX);
      if (!octets.ok) return refuseTable(c, octets.error);
      const put = await gateway.packStore.putHeader({ sha256, author: callerOf(c).name }, octets.value);
      return put.ok ? receiptOf(put.value) : refuseTable(c, put.error);
    })
    .all("/-/table/packs/:sha256", methodNotAllowed("GET", "HEAD", "PUT"))
    .put("/-/table/packs/:sha256/:page", requireOperator(gateway, "pack", packOf), async (c) => {
      const [sha256, page] = [packOf(c), wholeNumber(c.req.param("page"))];
      if (sha256 === undefined || page === undefined) return refuseTable(c, { reason: "not-found", path: c.req.path });
      const octets = await readOctets(c.req.raw, PAGE_OCTETS_MAX);
      if (!octets.ok) return refuseTable(c, octets.error);
      const put = await gateway.packStore.putPage({ sha256, author: callerOf(c).name }, page, octets.value);
      return put.ok ? receiptOf(put.value) : refuseTable(c, put.error);
    })
    .all("/-/table/packs/:sha256/:page", methodNotAllowed("PUT"));

/** 201 where something is there now that was not before. */
const receiptOf = ({ sight, isNew }: PackReceipt): Response => ownJson(shownSight(sight), {}, isNew ? 201 : 200);

const shownSight = ({ sha256, parts, isWhole }: PackSight): object => ({
  sha256,
  header: parts !== undefined,
  pages: parts?.pages ?? null,
  missing: parts?.missing ?? null,
  whole: isWhole,
});

/** The digest in the path; `undefined` for what is none. */
function packOf(c: Context): string | undefined {
  const sha256 = c.req.param("sha256");
  return sha256 !== undefined && /^[0-9a-f]{64}$/.test(sha256) ? sha256 : undefined;
}
