import { Hono } from "hono";
import { problemResponse } from "../src/gateway/problem-response.ts";
import { rawPath } from "../src/gateway/request.ts";
import { logFields, requestLogger } from "../src/gateway/request-log.ts";
import type { Gateway } from "../src/ports.ts";
import { any } from "./any.ts";
import { entities } from "./entities.ts";
import { health } from "./health.ts";
import { ids } from "./ids.ts";
import { metrics, regions } from "./metrics.ts";
import { mint } from "./mint.ts";
import { openapi } from "./openapi/openapi.ts";
import { problems } from "./problems.ts";
import { tableCanary } from "./table/canary.ts";
import { tablePacks } from "./table/packs.ts";
import { tableReplay } from "./table/replay.ts";
import { tableRevisions } from "./table/revisions.ts";
import { tableCapacity, tableStatus } from "./table/status.ts";
import { table } from "./table/table.ts";

/** The whole HTTP surface. The gateway's own paths come first; the rest belongs to the entities of the table. */
export function createApp(gateway: Gateway): Hono {
  const app = new Hono({ getPath: rawPath });
  app.use("*", requestLogger(gateway));
  app.route("/", any(gateway));
  app.route("/", mint(gateway));
  app.route("/", ids(gateway));
  app.route("/", health(gateway));
  app.route("/", metrics(gateway));
  app.route("/", regions(gateway));
  app.route("/", table(gateway));
  app.route("/", tableRevisions(gateway));
  app.route("/", tableStatus(gateway));
  app.route("/", tableCapacity(gateway));
  app.route("/", tableCanary(gateway));
  app.route("/", tableReplay(gateway));
  app.route("/", tablePacks(gateway));
  app.route("/", problems());
  app.route("/", openapi(gateway));
  app.all("/-/*", (c) => problemResponse({ reason: "not-found", path: c.req.path }));
  app.route("/", entities(gateway));
  app.onError((error, c) => {
    gateway.logDefect(error);
    logFields(c).outcome = "internal-error";
    return problemResponse({ reason: "internal-error" });
  });
  return app;
}
