import type { Hono } from "hono";
import { PAGE_FEATURES } from "../src/features/pages.ts";
import type { Gateway } from "../src/ports/gateway.ts";
import { consoleData, consolePage, guardConsole } from "./console/console.ts";
import type { PageFeature } from "./feature.ts";
import { health } from "./health.ts";
import { ids } from "./ids.ts";
import { answerUnchanged, newPages, type PageEnv, respondUnhandled } from "./lib/http.ts";
import { metrics, regions } from "./metrics.ts";
import { openapi } from "./openapi/openapi.ts";
import { problems } from "./problems.ts";
import { stateOpenApi } from "./state/openapi.ts";
import { state } from "./state/state.ts";
import { table, tableRevisions } from "./table/table.ts";

/** The gateway's own pages. */
export function createPages(gateway: Gateway): Hono<PageEnv> {
  const pages = newPages();
  pages.use(guardConsole(gateway));
  pages.use(answerUnchanged);
  const features: readonly PageFeature[] = PAGE_FEATURES;
  const families = [
    ids,
    health,
    metrics,
    regions,
    consolePage,
    consoleData,
    table,
    tableRevisions,
    state(features),
    problems,
  ];
  for (const family of [...features.flatMap(({ pages = [] }) => pages), ...families])
    pages.route("/", family(gateway) as Hono);
  const parts = [...features.flatMap(({ openapi }) => openapi ?? []), stateOpenApi];
  pages.route("/", openapi(gateway, parts));
  pages.all("*", respondUnhandled(pages));
  return pages;
}
