import { type Context, Hono } from "hono";
import { judgeRegion } from "../src/formats/region-state.ts";
import { chooseType } from "../src/gateway/negotiate.ts";
import type { Gateway, Metric, MetricsSnapshot, OriginCheck, OriginStatus, Sample } from "../src/ports/gateway.ts";
import { callerOf, requireScope } from "./lib/auth.ts";
import { jsonResponse } from "./lib/http.ts";

/** Metrics in Prometheus's text exposition format 0.0.4: each metric's lines in one block, and a line end after the last. */
export const formatMetrics = (metrics: readonly Metric[]): string => metrics.map(blockOf).join("");

const blockOf = ({ name, type, help, samples }: Metric): string =>
  `# HELP ${name} ${escapedHelp(help)}\n# TYPE ${name} ${type}\n${samples.map(lineOf).join("")}`;

function lineOf({ name, labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapedLabel(text)}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}\n`;
}

const escapedHelp = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");

const escapedLabel = (text: string): string => escapedHelp(text).replaceAll('"', '\\"');

/** The traffic as operators see it. Without a table nothing is known of origins. */
async function snapshotFor(gateway: Gateway, c: Context): Promise<MetricsSnapshot> {
  const inMemory = gateway.tables.peek((work) => c.executionCtx.waitUntil(work));
  if (inMemory !== undefined) return gateway.metrics.snapshot(inMemory);
  const loaded = await gateway.tables.load();
  return gateway.metrics.snapshot(loaded.ok ? loaded.value : undefined);
}

const TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8";
const VARIED = { vary: "accept" };

/** `GET /-/metrics`: what all isolates have counted, as monitoring systems read it, or as JSON where that is asked for. */
export const metrics = (gateway: Gateway) =>
  new Hono().use("/-/metrics", requireScope(gateway, "viewer")).get("/-/metrics", async (c) => {
    const [{ source, sinceMs, metrics: own }, ofMachines] = await Promise.all([
      snapshotFor(gateway, c),
      gateway.machines?.metrics() ?? [],
    ]);
    const metrics = [...own, ...ofMachines];
    if (
      chooseType(c.req.raw.headers.get("accept"), ["text/plain;version=0.0.4", "application/json"]) ===
      "application/json"
    )
      return jsonResponse({ source, since: new Date(sinceMs).toISOString(), metrics }, VARIED);
    return new Response(formatMetrics(metrics), {
      headers: { "content-type": TEXT_TYPE, "cache-control": "no-store", ...VARIED },
    });
  });

/** `GET /-/regions`: how each region is and what that is based on, its origins, their breakers, their last fault and check, and the region's share of the requests. */
export const regions = (gateway: Gateway) =>
  new Hono().use("/-/regions", requireScope(gateway, "support")).get("/-/regions", async (c) => {
    const regions = describe(await snapshotFor(gateway, c), gateway.clock.nowMs(), callerOf(c).scope === "support");
    return jsonResponse(regions);
  });

/** `healthOnly`: without hosts and traffic. */
function describe(
  { source, sinceMs, origins, requests, recent, states }: MetricsSnapshot,
  nowMs: number,
  healthOnly: boolean,
): object {
  const all = [...requests.values()].reduce((sum, count) => sum + count, 0);
  const names = new Set(origins.map(({ region }) => region));
  return {
    source: source === "all" ? "durable object" : "this isolate",
    since: time(sinceMs),
    // A viewer need not know what an origin's path may say of it.
    shown: "The hosts of origins, without their paths.",
    regions: Object.fromEntries(
      [...names].map((name) => {
        const own = origins.filter(({ region }) => region === name);
        const judged = judgeRegion(own, recent?.get(name), nowMs);
        const known = states?.get(name);
        // The object may have judged by another table, or earlier.
        const health =
          known?.state === judged.state ? { ...judged, since: new Date(known.sinceMs).toISOString() } : judged;
        if (healthOnly) return [name, { ...health, origins: own.map(describeHealth) }];
        const count = requests.get(name) ?? 0;
        const share = all === 0 ? 0 : count / all;
        return [name, { ...health, requests: count, share, origins: own.map(describeOrigin) }];
      }),
    ),
  };
}

function describeOrigin(origin: OriginStatus): object {
  const { host, weight, breaker, openUntilMs, lastFault, lastAnswerAtMs, lastCheck } = origin;
  return {
    host,
    weight,
    breaker,
    openUntil: time(openUntilMs),
    lastFault: lastFault ? { fault: lastFault.fault, at: time(lastFault.atMs) } : null,
    lastAnswer: time(lastAnswerAtMs),
    lastCheck: lastCheck ? describeCheck(lastCheck) : null,
  };
}

const describeHealth = ({ weight, breaker, openUntilMs, lastAnswerAtMs, lastCheck }: OriginStatus): object => ({
  weight,
  breaker,
  openUntil: time(openUntilMs),
  lastAnswer: time(lastAnswerAtMs),
  lastCheck: lastCheck ? { at: time(lastCheck.atMs), good: lastCheck.isGood } : null,
});

const describeCheck = ({ atMs, isGood, status, fault }: OriginCheck): object => ({
  at: time(atMs),
  good: isGood,
  status: status ?? null,
  fault: fault ?? null,
});

const time = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());
