import { Hono } from "hono";
import type { PageFeature } from "../../../routes/feature.ts";
import { requireScope } from "../../../routes/lib/auth.ts";
import { contextOf, openLimited, type PageEnv, readBody } from "../../../routes/lib/http.ts";
import { chooseType } from "../../gateway/negotiate.ts";
import { limitRate } from "../../gateway/rate-limit.ts";
import type { RequestContext } from "../../gateway/request.ts";
import type { Gateway, ServedTable } from "../../ports/gateway.ts";
import { openapi } from "./openapi.ts";
import { type MintedIds, type MintTask, mintIds, shortKeysOf } from "./serve/mint.ts";
import { answerOnce } from "./serve/once.ts";
import { type MintRequest, planMint } from "./table/plan.ts";
import { MINT_BODY_BYTES_MAX, readMintBody } from "./table/request.ts";
import { type Ambiguous, findAmbiguous } from "./table/verify.ts";

/** `POST /mint`: IDs that route, from the first request on, to the region that the answer names. */
export function mint(gateway: Gateway): Hono<PageEnv> {
  const { mintDoor: door, counters } = gateway;
  const pages = new Hono<PageEnv>();
  if (door === "off") return pages.all("/mint", (c) => contextOf(c).fail({ reason: "not-found", path: "/mint" }));
  if (door !== "open") pages.post("/mint", requireScope({ authenticate: door, counters }, "mint"));
  return pages.post("/mint", (c) => answerMint(contextOf(c)));
}

/** For who may mint. */
export async function answerMint(context: RequestContext): Promise<Response> {
  const served = await openLimited(context, "client");
  if (served instanceof Response) return served;
  const body = await readBody(context.request, MINT_BODY_BYTES_MAX);
  if (!body.ok) return context.fail(body.error);
  return answerOnce(context, body.value, () => respondTo(context, served, body.value));
}

async function respondTo(context: RequestContext, served: ServedTable, body: string): Promise<Response> {
  const { gateway } = context;
  const request = readMintBody(body);
  if (!request.ok) return context.fail(request.error);
  const { count } = request.value;
  const { client } = gateway.rateLimits;
  // A request has been counted; its other IDs have the same price.
  if (client?.max !== undefined && count > client.max) {
    return context.fail({ reason: "key-out-of-range", field: "count", value: `${count}`, max: `${client.max}` });
  }
  const tooMany = client && count > 1 && (await limitRate(context, client, "client", undefined, count - 1));
  if (tooMany) return tooMany;
  const { byCanary, table, plan } = planFor(served, request.value);
  if (byCanary) context.takeCanary();
  if (!plan.ok) return context.fail(plan.error);
  const task = { gateway, served, plan: plan.value, table, nowMs: context.arrivedAtMs };
  const minted = await mintIds(task, count);
  if (!minted.ok) return context.fail(minted.error);
  if (count >= LARGE_COUNT && context.isBesideForwarded) await gateway.pause(restMs(context, count));
  return answerMinted(context, task, minted.value);
}

async function answerMinted(context: RequestContext, task: MintTask, minted: MintedIds): Promise<Response> {
  const { served, plan, table } = task;
  const { entity, enabled } = plan;
  const { join, regions, unclear, byCanary: deciders } = minted;
  const region = typeof regions === "string" ? regions : undefined;
  const ambiguous = requestHint(findAmbiguous(table, plan, unclear), served);
  const labels = new Set([...deciders].map((byCanary) => (byCanary ? served.canary : served)?.label));
  if (!deciders.has(false)) context.takeCanary();
  context.entity = entity.name;
  context.layout = enabled.layout.name;
  context.region = region;
  const fields = {
    "waybill-table": [...labels].join(", "),
    "waybill-layout": enabled.layout.name,
    ...(region === undefined ? {} : { "waybill-region": region }),
    ...(ambiguous === undefined ? {} : { "waybill-ambiguous": ambiguousField(ambiguous) }),
  };
  const created = (type: string, ids: ReturnType<typeof join>) =>
    new Response(ids, {
      status: 201,
      headers: { "content-type": type, "cache-control": "no-store", vary: "accept", ...fields },
    });
  if (chooseType(context.request.headers.get("accept"), ["application/json", "text/plain"]) === "text/plain") {
    return created("text/plain; charset=utf-8", join({ before: "", separator: "\n", after: "\n" }));
  }
  // A batch may straddle the border of two routes; then each ID's region stands beside it.
  const where = region === undefined ? { regions } : { region };
  const short = await shortKeysOf(task, minted);
  const head = { entity: entity.name, layout: enabled.layout.name, ...where };
  return created("application/json", join(jsonDelimiters(head, { ...short, ambiguous })));
}

/** The JSON around the IDs, as `jsonResponse` would write it. No text form has a character that JSON escapes. */
function jsonDelimiters(head: object, tail: Readonly<Record<string, unknown>>) {
  const open = JSON.stringify(head, null, 2).slice(0, -"\n}".length);
  const members = Object.entries(tail).flatMap(([name, value]) =>
    value === undefined ? [] : [`,\n  "${name}": ${JSON.stringify(value, null, 2).replaceAll("\n", "\n  ")}`],
  );
  return { before: `${open},\n  "ids": [\n    "`, separator: '",\n    "', after: `"\n  ]${members.join("")}\n}\n` };
}

const LARGE_COUNT = 100;

/**
 * Large mints take about this long beside proxied requests: 8 clients in turn leave most of the isolate to others.
 * Their garbage brings collections, and each holds up all requests. The rest varies by chance, so that they do not come
 * in step.
 */
const restMs = ({ gateway }: RequestContext, count: number): number =>
  count * 0.064 * (0.5 + gateway.entropy.word() / 2 ** 32);

/** By the canary's table for an entity that is all its own; else by the table in force. */
function planFor({ table, canary }: ServedTable, request: MintRequest) {
  const plan = planMint(table, request);
  const entity = request.entity ?? (plan.ok ? plan.value.entity.name : undefined);
  if (entity === undefined || canary?.ownsEntity(entity) !== true) return { byCanary: false, table, plan };
  return { byCanary: true, table: canary.table, plan: planMint(canary.table, { ...request, entity }) };
}

/** With two tables no field helps for sure: it counts on the first before the second is asked. */
const requestHint = (ambiguous: Ambiguous | undefined, { canary }: ServedTable): Ambiguous | undefined =>
  ambiguous === undefined || canary === undefined ? ambiguous : { count: ambiguous.count, path: ambiguous.path };

/** For clients that want no JSON: `count=2; path="/tweets/:id"; id-layout=snowflake`. */
const ambiguousField = ({ count, path, idLayout }: Ambiguous): string =>
  `count=${count}; path="${path}"${idLayout === undefined ? "" : `; id-layout=${idLayout}`}`;

export const mintPages: PageFeature = {
  name: "mint",
  pages: [mint],
  openapi,
  moved: {
    part: {
      part: "sequences",
      binding: "SEQUENCES",
      // Last: a number that an answer of before holds is never given again.
      order: 5,
      rows: { derived: ["listed", "names"] },
      // As `edge/sequences.ts` names the list.
      objects: { listedBy: "sequences" },
    },
  },
};
