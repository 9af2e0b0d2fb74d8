import { Hono } from "hono";
import type { Gateway } from "../src/ports.ts";
import { methodNotAllowed } from "./method-not-allowed.ts";
import { ownJson } from "./own-json.ts";
import { receive } from "./receive.ts";
import { isKnown } from "./require-scope.ts";
import { canaryInIsolate } from "./table-status.ts";

/** `/-/health`: the Worker runs. `/-/ready`: it has a table to route by, and for viewers which. Probes have no credentials. */
export const health = (gateway: Gateway) =>
  new Hono()
    .get("/-/health", () => ownJson({ status: "ok" }))
    .all("/-/health", methodNotAllowed("GET", "HEAD"))
    .get("/-/ready", async (c) => {
      const received = await receive(gateway, c);
      if (received instanceof Response) return received;
      if (!(await isKnown(gateway, c.req.raw))) return ownJson({ status: "ready" });
      const { served, arrivedAtMs } = received;
      return ownJson(
        {
          status: "ready",
          revision: served.table.revision,
          source: served.source,
          canary: canaryInIsolate(served),
          ageSeconds: Math.max(0, Math.floor((arrivedAtMs - served.confirmedAtMs) / 1000)),
          regions: [...served.table.regions.keys()],
          entities: [...served.table.entities.keys()],
          routes: served.table.routeCount,
        },
        { "waybill-table": served.label },
      );
    })
    .all("/-/ready", methodNotAllowed("GET", "HEAD"));
