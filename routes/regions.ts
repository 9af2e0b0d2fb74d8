import { Hono } from "hono";
import type { Gateway, MetricsSnapshot, OriginStatus } from "../src/ports.ts";
import { methodNotAllowed } from "./method-not-allowed.ts";
import { jsonResponse } from "./own-json.ts";
import { requireScope } from "./require-scope.ts";
import { snapshotFor } from "./sight.ts";

/** `GET /-/regions`: each region's origins, their breakers, their last fault and check, and the region's share of the requests. */
export const regions = (gateway: Gateway) =>
  new Hono()
    .use("/-/regions", requireScope(gateway, "viewer"))
    .get("/-/regions", async (c) => jsonResponse(describe(await snapshotFor(gateway, c))))
    .all("/-/regions", methodNotAllowed("GET", "HEAD"));

function describe({ source, sinceMs, origins, requests }: MetricsSnapshot): object {
  const all = [...requests.values()].reduce((sum, count) => sum + count, 0);
  const names = new Set(origins.map(({ region }) => region));
  return {
    source: SOURCES[source],
    since: time(sinceMs),
    // A viewer need not know what an origin's path may say of it.
    shown: "The hosts of origins, without their paths.",
    regions: Object.fromEntries(
      [...names].map((name) => {
        const own = origins.filter(({ region }) => region === name);
        const count = requests.get(name) ?? 0;
        return [name, { requests: count, share: all === 0 ? 0 : count / all, origins: own.map(describeOrigin) }];
      }),
    ),
  };
}

const SOURCES = { all: "durable object", isolate: "this isolate" } as const satisfies Record<
  MetricsSnapshot["source"],
  string
>;

function describeOrigin(origin: OriginStatus): object {
  const { host, weight, breaker, openUntilMs, lastFault, lastAnswerAtMs, lastCheck } = origin;
  return {
    host,
    weight,
    breaker,
    openUntil: time(openUntilMs),
    lastFault: lastFault === undefined ? null : { fault: lastFault.fault, at: time(lastFault.atMs) },
    lastAnswer: time(lastAnswerAtMs),
    lastCheck:
      lastCheck === undefined
        ? null
        : {
            at: time(lastCheck.atMs),
            good: lastCheck.isGood,
            status: lastCheck.status ?? null,
            fault: lastCheck.fault ?? null,
          },
  };
}

const time = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());
