import { Hono } from "hono";
import { accepts } from "hono/accepts";
import { ok, type Result } from "../src/ids/result.ts";
import type { Gateway } from "../src/ports.ts";
import type { GatewayError } from "../src/problems/index.ts";
import type { Entity } from "../src/routing/index.ts";
import { planMint } from "../src/routing/mint-plan.ts";
import { regionsOfMinted } from "../src/routing/mint-region.ts";
import { MINT_BODY_BYTES_MAX, readMintBody } from "../src/routing/mint-wish.ts";
import { overLimit } from "./limits.ts";
import { methodNotAllowed } from "./method-not-allowed.ts";
import { ownJson } from "./own-json.ts";
import { readBody } from "./read-body.ts";
import { receive, refuse } from "./receive.ts";

/** `POST /mint`: IDs that route, from the first request on, to the region that the answer names. */
export const mint = (gateway: Gateway) =>
  new Hono()
    .post("/mint", async (c) => {
      const received = await receive(gateway, c);
      if (received instanceof Response) return received;
      const { served } = received;
      // The router has decoded the path to match it.
      const { path } = received.target;
      if (path !== "/mint") return refuse(received, { reason: "unrouted-path", path }, served);
      const { client } = gateway.rateLimits;
      const refused = client && (await overLimit(received, client, "client"));
      if (refused !== undefined) return refused;
      const body = await readBody(c.req.raw, MINT_BODY_BYTES_MAX);
      if (!body.ok) return refuse(received, body.error, served);
      const wish = readMintBody(body.value);
      if (!wish.ok) return refuse(received, wish.error, served);
      const plan = planMint(served.table, wish.value);
      if (!plan.ok) return refuse(received, plan.error, served);
      const { entity, enabled, order } = plan.value;

      const minted = await gateway.minters.mint(order, wish.value.count);
      if (!minted.ok) return refuse(received, minted.error, served);
      const regions = regionsOfMinted(entity, enabled, minted.value);
      if (!regions.ok) return refuse(received, regions.error, served);

      const region = onlyOne(regions.value);
      const internal = minted.value.map(enabled.layout.format);
      const texts = entity.public === undefined ? ok(internal) : showAll(gateway, entity, internal);
      if (!texts.ok) return refuse(received, texts.error, served);
      Object.assign(received.notes, { entity: entity.name, layout: enabled.layout.name, region });
      const fields = {
        "waybill-table": served.label,
        "waybill-layout": enabled.layout.name,
        ...(region === undefined ? {} : { "waybill-region": region }),
      };
      const type = accepts(c, {
        header: "Accept",
        supports: ["application/json", "text/plain"],
        default: "application/json",
      });
      if (type === "text/plain") {
        const headers = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store", ...fields };
        return new Response(`${texts.value.join("\n")}\n`, { status: 201, headers });
      }
      // A batch may straddle the border of two routes; then each ID's region stands beside it.
      const where = region === undefined ? { regions: regions.value } : { region };
      return ownJson({ entity: entity.name, layout: enabled.layout.name, ...where, ids: texts.value }, fields, 201);
    })
    .all("/mint", methodNotAllowed("POST"));

function onlyOne(regions: readonly string[]): string | undefined {
  const [first] = regions;
  return regions.every((region) => region === first) ? first : undefined;
}

/** The public texts of minted IDs: clients see no others of a public entity. */
function showAll(gateway: Gateway, entity: Entity, internal: readonly string[]): Result<string[], GatewayError> {
  const texts: string[] = [];
  for (const id of internal) {
    const shown = gateway.publicIds.show(entity, id);
    if (!shown.ok) return shown;
    if (shown.value === undefined) throw new Error(`a minted ID of ${entity.name} has no public text`);
    texts.push(shown.value);
  }
  return ok(texts);
}
