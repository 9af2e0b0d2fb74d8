import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { answerCalls } from "./agent.ts";
import { REGIONS, type Region, regionOfOrder, regionOfParcel } from "./table.ts";

/** The origins of all regions, with what they know: which entity each key created, and IDs that belong elsewhere. */

const misrouted: string[] = [];
let requests = 0;
/** By the idempotency key, which is in the body as well. */
const entitiesByKey = new Map<string, Set<string>>();

const judge = (region: Region, id: string) => {
  if (regionOfOrder(id) !== region) misrouted.push(`${id} in ${region}`);
};

async function answer(region: Region, request: IncomingMessage, response: ServerResponse): Promise<void> {
  requests += 1;
  const { method, url = "", headers } = request;
  const body = await text(request);
  const [, kind, id = ""] = url.split("/");
  let status = 200;
  if (method === "POST" && kind === "orders") {
    const entity = String(headers["waybill-entity-id"]);
    const { key } = JSON.parse(body) as { readonly key: string };
    judge(region, entity);
    entitiesByKey.set(key, (entitiesByKey.get(key) ?? new Set()).add(entity));
    status = 201;
  } else if (kind === "orders") judge(region, id);
  else if (kind === "parcels" && (regionOfParcel(id) ?? region) !== region) misrouted.push(`${id} in ${region}`);
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ region, path: url }));
}

async function start(host: string): Promise<Record<Region, string>> {
  const urls = REGIONS.map(async (region) => {
    const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
      // A client that left, such as an edge that was killed.
      answer(region, request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, host, resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new TypeError("no TCP address");
    return [region, `http://${host}:${address.port}`] as const;
  });
  return Object.fromEntries(await Promise.all(urls)) as Record<Region, string>;
}

const calls = {
  start,
  report: () => ({ requests, misrouted: misrouted.slice(0, 20), misroutes: misrouted.length }),
  /** The entities of each key. */
  entities: (keys: readonly string[]) => keys.map((key) => [...(entitiesByKey.get(key) ?? [])]),
};

export type OriginCalls = typeof calls;

answerCalls(calls);
