import { Hono } from "hono";
import { startPage } from "../src/gateway/handle.ts";
import { openRequest } from "../src/gateway/request.ts";
import type { Gateway } from "../src/ports/gateway.ts";
import type { MirrorState } from "../src/ports/machines.ts";
import { isKnown } from "./lib/auth.ts";
import { canaryInIsolate } from "./lib/canary-status.ts";
import { contextOf, jsonResponse, newPages, type PageEnv, respondUnhandled } from "./lib/http.ts";

/** Probes without all other pages: one of those that cannot be loaded is no reason to take the gateway out of service. */
export function createProbes(gateway: Gateway): Hono<PageEnv> {
  const pages = newPages();
  pages.route("/", health(gateway));
  pages.all("*", respondUnhandled(pages));
  return pages;
}

/** Members without a value are null. */
const shownMirror = ({ revision, change, ageSeconds, node, silent, lastError }: MirrorState) => ({
  revision: revision ?? null,
  change: change ?? null,
  ageSeconds: ageSeconds ?? null,
  node: node ?? null,
  silent,
  lastError: lastError ?? null,
});

/**
 * `/-/`: what this is. `/-/health`: the Worker runs. `/-/ready`: it has a table to route by, and for viewers which. Probes have no credentials.
 * Invalid settings are named to all: the data plane is ready without them.
 */
export const health = (gateway: Gateway) =>
  new Hono<PageEnv>()
    .get("/-/", startPage)
    .get("/-/health", () => jsonResponse({ status: "ok" }))
    .get("/-/ready", async (c) => {
      const context = contextOf(c);
      const served = await openRequest(context);
      if (served instanceof Response) return served;
      const invalidSettings = [...gateway.invalidSettings, ...(gateway.misfits?.(served.table) ?? [])];
      const ready = { status: "ready", ...(invalidSettings.length > 0 && { invalidSettings }) };
      const table = { "waybill-table": served.label };
      if (!(await isKnown(gateway, context))) return jsonResponse(ready, table);
      const { arrivedAtMs } = context;
      const mirror = await gateway.machines?.mirror();
      return jsonResponse(
        {
          ...ready,
          revision: served.table.revision,
          source: served.source,
          canary: canaryInIsolate(served),
          ageSeconds: Math.max(0, Math.floor((arrivedAtMs - served.confirmedAtMs) / 1000)),
          ...(mirror && { mirror: shownMirror(mirror) }),
          regions: [...served.table.regions.keys()],
          entities: [...served.table.entities.keys()],
          routes: served.table.routeCount,
        },
        table,
      );
    });
