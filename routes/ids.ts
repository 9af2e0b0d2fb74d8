import { Hono } from "hono";
import { err, ok, type Result } from "../src/ids/result.ts";
import type { Gateway } from "../src/ports.ts";
import type { GatewayError } from "../src/problems/index.ts";
import { type Explanation, explain, missingPages, withoutPublic } from "../src/routing/index.ts";
import { layoutHint } from "./layout-hint.ts";
import { overLimit } from "./limits.ts";
import { methodNotAllowed } from "./method-not-allowed.ts";
import { ownJson } from "./own-json.ts";
import { withPages } from "./pages.ts";
import { receive, refuse } from "./receive.ts";
import { requireScope } from "./require-scope.ts";

const PREFIX = "/-/ids/";

/** `GET /-/ids/:id`: every way to read the text, where it would go and why; of public entities nothing. No origin is asked. */
export const ids = (gateway: Gateway) =>
  new Hono()
    .use("/-/ids/*", requireScope(gateway, "viewer"))
    .get("/-/ids/*", async (c) => {
      const received = await receive(gateway, c);
      if (received instanceof Response) return received;
      const { served, target, arrivedAtMs } = received;
      const { path } = target;
      const { lookup } = gateway.rateLimits;
      const refused = lookup && (await overLimit(received, lookup, "lookup"));
      if (refused !== undefined) return refused;
      const id = path.slice(PREFIX.length);
      if (!path.startsWith(PREFIX) || id.includes("/")) return refuse(received, { reason: "not-found", path }, served);
      const hint = layoutHint(received);
      if (!hint.ok) return refuse(received, hint.error, served);
      const decide = (): Result<Explanation, GatewayError> => {
        const [missing] = missingPages(served.table, id, arrivedAtMs, hint.value);
        return missing === undefined
          ? ok(explain(withoutPublic(served.table), id, arrivedAtMs, hint.value))
          : err({ reason: "table-unavailable", why: `pack ${missing.pack} is not loaded`, missing });
      };
      const explained = await withPages(received, decide(), decide);
      if (!explained.ok) return refuse(received, explained.error, served);
      return ownJson(explained.value, { "waybill-table": served.label });
    })
    .all("/-/ids/*", methodNotAllowed("GET", "HEAD"));
