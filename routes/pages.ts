import { Hono } from "hono";
import { directoryBulk } from "../src/features/directory/pages/bulk.ts";
import { directory } from "../src/features/directory/pages/directory.ts";
import { idempotency } from "../src/features/idempotency/pages.ts";
import { many } from "../src/features/many/pages.ts";
import { mint } from "../src/features/mint/pages.ts";
import { tableReplay } from "../src/features/replay/pages.ts";
import type { Gateway } from "../src/ports/gateway.ts";
import { consoleData, consolePage, guardConsole } from "./console/console.ts";
import { explain } from "./explain.ts";
import { health } from "./health.ts";
import { ids } from "./ids.ts";
import { answerUnchanged, type PageEnv, rawPath, respondUnhandled } from "./lib/http.ts";
import { metrics, regions } from "./metrics.ts";
import { openapi } from "./openapi/openapi.ts";
import { problems } from "./problems.ts";
import { table, tablePacks, tableRevisions } from "./table/table.ts";

/** The gateway's own pages. */
export function createPages(gateway: Gateway): Hono<PageEnv> {
  const pages = new Hono<PageEnv>({ getPath: rawPath });
  pages.use(guardConsole(gateway));
  pages.use(answerUnchanged);
  const ofTable = [table, tableRevisions, tableReplay, tablePacks];
  const ofIds = [many, mint, ids, explain, idempotency, directory, directoryBulk];
  const ofGateway = [health, metrics, regions, consolePage, consoleData];
  for (const family of [...ofIds, ...ofGateway, ...ofTable, problems, openapi])
    pages.route("/", family(gateway) as Hono);
  pages.all("*", respondUnhandled(pages));
  pages.onError((error) => {
    throw error;
  });
  return pages;
}
