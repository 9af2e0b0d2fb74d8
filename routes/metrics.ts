import { type Context, Hono } from "hono";
import { accepts } from "hono/accepts";
import type { Gateway } from "../src/ports.ts";
import { methodNotAllowed } from "./method-not-allowed.ts";
import { formatMetrics } from "./metrics-text.ts";
import { jsonResponse } from "./own-json.ts";
import { requireScope } from "./require-scope.ts";
import { snapshotFor } from "./sight.ts";

/** Prometheus's text exposition format, version 0.0.4. */
const TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** `GET /-/metrics`: what all isolates have counted, as monitoring systems read it, or as JSON where that is asked for. */
export const metrics = (gateway: Gateway) =>
  new Hono()
    .use("/-/metrics", requireScope(gateway, "viewer"))
    .get("/-/metrics", async (c) => {
      const { source, sinceMs, metrics } = await snapshotFor(gateway, c);
      if (asksJson(c)) return jsonResponse({ source, since: new Date(sinceMs).toISOString(), metrics });
      return new Response(formatMetrics(metrics), {
        headers: { "content-type": TEXT_TYPE, "cache-control": "no-store", vary: "accept" },
      });
    })
    .all("/-/metrics", methodNotAllowed("GET", "HEAD"));

function asksJson(c: Context): boolean {
  const supports = ["text/plain", "application/json"];
  return accepts(c, { header: "Accept", supports, default: "text/plain" }) === "application/json";
}
