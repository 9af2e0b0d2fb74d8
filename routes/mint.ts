import { Hono } from "hono";
import { accepts } from "hono/accepts";
import { mintIds } from "../src/gateway/mint.ts";
import { overLimit } from "../src/gateway/rate-limit.ts";
import { openRequest, respondWithProblem } from "../src/gateway/request.ts";
import { canaryForEntity } from "../src/gateway/resolve.ts";
import type { Gateway, ServedTable } from "../src/ports.ts";
import { type MintRequest, planMint } from "../src/routing/mint/plan.ts";
import { MINT_BODY_BYTES_MAX, readMintBody } from "../src/routing/mint/request.ts";
import { type Ambiguous, findAmbiguous } from "../src/routing/mint/verify.ts";
import { jsonResponse, methodNotAllowed, readBody } from "./lib/http.ts";

/**
 * `POST /mint`: IDs that route, from the first request on, to the region that the answer names: by the table in force, or by
 * the canary beside it where that decides about an ID.
 */
export const mint = (gateway: Gateway) =>
  new Hono()
    .post("/mint", async (c) => {
      const context = await openRequest(gateway, c);
      if (context instanceof Response) return context;
      const { served } = context;
      const { client } = gateway.rateLimits;
      const refused = client && (await overLimit(context, client, "client"));
      if (refused !== undefined) return refused;
      const body = await readBody(c.req.raw, MINT_BODY_BYTES_MAX);
      if (!body.ok) return respondWithProblem(context, body.error, served);
      const request = readMintBody(body.value);
      if (!request.ok) return respondWithProblem(context, request.error, served);
      const { by, plan } = planFor(served, request.value);
      if (!plan.ok) return respondWithProblem(context, plan.error, by);
      const { entity, enabled } = plan.value;

      const task = { gateway, served, plan: plan.value, table: by.table, nowMs: context.arrivedAtMs };
      const minted = await mintIds(task, request.value.count);
      if (!minted.ok) return respondWithProblem(context, minted.error, by);
      const texts = minted.value.map(({ text }) => text);
      const regions = minted.value.map((one) => one.region);
      const region = onlyOne(regions);
      const unclear = minted.value.flatMap(({ text, isClear }) => (isClear ? [] : [text]));
      const ambiguous = requestHint(findAmbiguous(by.table, plan.value, unclear), served);
      const deciders = new Map(minted.value.map(({ by: { label, table } }) => [label, table]));
      const [decider = served.table, another] = deciders.values();
      const table = another === undefined ? decider : served.table;
      Object.assign(context.logFields, { entity: entity.name, layout: enabled.layout.name, region, table });
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
      const plans = ambiguous === undefined ? {} : { ambiguous };
      return jsonResponse(
        { entity: entity.name, layout: enabled.layout.name, ...where, ids: texts, ...plans },
        fields,
        201,
      );
    })
    .all("/mint", methodNotAllowed("POST"));

interface PlanBy {
  readonly by: ServedTable;
  readonly plan: ReturnType<typeof planMint>;
}

/** By the canary's table for an entity that it serves as a whole, a new one too, where the wish names it; else by the table in force. */
function planFor(served: ServedTable, request: MintRequest): PlanBy {
  const plan = planMint(served.table, request);
  const entity = request.entity ?? (plan.ok ? plan.value.entity.name : undefined);
  const canary = canaryForEntity(served, entity);
  return canary === undefined
    ? { by: served, plan }
    : { by: canary, plan: planMint(canary.table, { ...request, entity }) };
}

/** With two tables no field helps for sure: it counts on the first before the second is asked. */
function requestHint(ambiguous: Ambiguous | undefined, { canary }: ServedTable): Ambiguous | undefined {
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
