import { Hono } from "hono";
import { accepts } from "hono/accepts";
import type { Gateway, ServedTable } from "../src/ports.ts";
import { type Ambiguous, ambiguousAmong } from "../src/routing/clear-ids.ts";
import { type MintWish, planMint } from "../src/routing/mint-plan.ts";
import { MINT_BODY_BYTES_MAX, readMintBody } from "../src/routing/mint-wish.ts";
import { canaryForEntity } from "./by-canary.ts";
import { overLimit } from "./limits.ts";
import { methodNotAllowed } from "./method-not-allowed.ts";
import { mintIds } from "./mint-ids.ts";
import { ownJson } from "./own-json.ts";
import { readBody } from "./read-body.ts";
import { receive, refuse } from "./receive.ts";

/**
 * `POST /mint`: IDs that route, from the first request on, to the region that the answer names: by the table in force, or by
 * the canary beside it where that decides about an ID.
 */
export const mint = (gateway: Gateway) =>
  new Hono()
    .post("/mint", async (c) => {
      const received = await receive(gateway, c);
      if (received instanceof Response) return received;
      const { served } = received;
      const { client } = gateway.rateLimits;
      const refused = client && (await overLimit(received, client, "client"));
      if (refused !== undefined) return refused;
      const body = await readBody(c.req.raw, MINT_BODY_BYTES_MAX);
      if (!body.ok) return refuse(received, body.error, served);
      const wish = readMintBody(body.value);
      if (!wish.ok) return refuse(received, wish.error, served);
      const { by, plan } = planFor(served, wish.value);
      if (!plan.ok) return refuse(received, plan.error, by);
      const { entity, enabled } = plan.value;

      const task = { gateway, served, plan: plan.value, table: by.table, nowMs: received.arrivedAtMs };
      const minted = await mintIds(task, wish.value.count);
      if (!minted.ok) return refuse(received, minted.error, by);
      const texts = minted.value.map(({ text }) => text);
      const regions = minted.value.map((one) => one.region);
      const region = onlyOne(regions);
      const unclear = minted.value.flatMap(({ text, isClear }) => (isClear ? [] : [text]));
      const ambiguous = howToAsk(ambiguousAmong(by.table, plan.value, unclear), served);
      const deciders = new Map(minted.value.map(({ by: { label, table } }) => [label, table]));
      const [decider = served.table, another] = deciders.values();
      const table = another === undefined ? decider : served.table;
      Object.assign(received.notes, { entity: entity.name, layout: enabled.layout.name, region, table });
      const fields = {
        "waybill-table": [...deciders.keys()].join(", "),
        "waybill-layout": enabled.layout.name,
        ...(region === undefined ? {} : { "waybill-region": region }),
        ...(ambiguous === undefined ? {} : { "waybill-ambiguous": ambiguousField(ambiguous) }),
      };
      const type = accepts(c, {
        header: "Accept",
        supports: ["application/json", "text/plain"],
        default: "application/json",
      });
      if (type === "text/plain") {
        const headers = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store", ...fields };
        return new Response(`${texts.join("\n")}\n`, { status: 201, headers });
      }
      // A batch may straddle the border of two routes; then each ID's region stands beside it.
      const where = region === undefined ? { regions } : { region };
      const told = ambiguous === undefined ? {} : { ambiguous };
      return ownJson({ entity: entity.name, layout: enabled.layout.name, ...where, ids: texts, ...told }, fields, 201);
    })
    .all("/mint", methodNotAllowed("POST"));

interface PlanBy {
  readonly by: ServedTable;
  readonly plan: ReturnType<typeof planMint>;
}

/** By the canary's table for an entity that it serves as a whole, a new one too, where the wish names it; else by the table in force. */
function planFor(served: ServedTable, wish: MintWish): PlanBy {
  const plan = planMint(served.table, wish);
  const entity = wish.entity ?? (plan.ok ? plan.value.entity.name : undefined);
  const canary = canaryForEntity(served, entity);
  return canary === undefined
    ? { by: served, plan }
    : { by: canary, plan: planMint(canary.table, { ...wish, entity }) };
}

/** With two tables no field helps for sure: it counts on the first before the second is asked. */
function howToAsk(ambiguous: Ambiguous | undefined, { canary }: ServedTable): Ambiguous | undefined {
  return ambiguous === undefined || canary === undefined ? ambiguous : { count: ambiguous.count, path: ambiguous.path };
}

function onlyOne(regions: readonly string[]): string | undefined {
  const [first] = regions;
  return regions.every((region) => region === first) ? first : undefined;
}

/** For clients that want no JSON: `count=2; path="/tweets/:id"; id-layout=snowflake`. */
function ambiguousField({ count, path, idLayout }: Ambiguous): string {
  return `count=${count}; path="${path}"${idLayout === undefined ? "" : `; id-layout=${idLayout}`}`;
}
