import { Hono } from "hono";
import { allowOrigin } from "../src/features/cors/serve.ts";
import { directoryBulk } from "../src/features/directory/pages/bulk.ts";
import { directory } from "../src/features/directory/pages/directory.ts";
import { idempotency } from "../src/features/idempotency/pages.ts";
import { many } from "../src/features/many/pages.ts";
import { answerMint, mint } from "../src/features/mint/pages.ts";
import { tableReplay } from "../src/features/replay/pages.ts";
import { problemResponse } from "../src/gateway/problem-response.ts";
import { hostError, RequestContext } from "../src/gateway/request.ts";
import { serve } from "../src/gateway/serve.ts";
import type { Gateway } from "../src/ports/gateway.ts";
import { GATEWAY_PATH } from "../src/routing/lookup/paths.ts";
import { consoleData, consolePage, guardConsole, isAtConsole } from "./console/console.ts";
import { explain } from "./explain.ts";
import { health } from "./health.ts";
import { ids } from "./ids.ts";
import { holdEarlyAnswer } from "./lib/early-answer.ts";
import { answerUnchanged, type PageEnv, rawPath, respondUnhandled } from "./lib/http.ts";
import { metrics, regions } from "./metrics.ts";
import { openapi } from "./openapi/openapi.ts";
import { problems } from "./problems.ts";
import { table, tablePacks, tableRevisions } from "./table/table.ts";

export interface App {
  /** Routes of the gateway's own pages. */
  readonly routes: Hono["routes"];
  fetch(request: Request, env: unknown, execution: ExecutionContext): Promise<Response>;
}

/** The whole HTTP surface: the gateway's own pages by Hono; every other path belongs to the entities of the table. */
export function createApp(gateway: Gateway): App {
  let pages: Hono<PageEnv> | undefined;
  // Most isolates serve none of them.
  const own = () => (pages ??= createPages(gateway));
  return {
    get routes() {
      return own().routes;
    },
    async fetch(request, _env, execution) {
      const context = new RequestContext(gateway, request, execution);
      let response: Response;
      try {
        const malformed = hostError(context);
        const atConsole = malformed === undefined && gateway.console !== undefined && isAtConsole(context);
        const isOwn = atConsole || GATEWAY_PATH.test(context.path);
        if (isOwn) context.watchClientIfSlow();
        // The router, and what stands before all pages, cost more than an ID.
        const isMint = context.path === "/mint" && context.method === "POST" && gateway.mintDoor === "open";
        if (malformed !== undefined) response = context.fail(malformed);
        else if (isMint && !atConsole) response = await answerMint(context);
        else response = await (isOwn ? own().fetch(request, { context }, execution) : serve(context));
      } catch (error) {
        gateway.logDefect(error);
        context.outcome = "internal-error";
        response = problemResponse({ reason: "internal-error" });
      }
      if (context.outcome !== "answered" && !isAtConsole(context)) response = await allowOrigin(context, response);
      // The runtime adds none; an origin's answer keeps its own (RFC 9110 §6.6.1).
      if (context.outcome !== "answered" && response.status !== 101)
        response.headers.set("date", new Date(gateway.clock.nowMs()).toUTCString());
      context.log(response.status);
      return context.isBodyRead ? response : holdEarlyAnswer(context, response);
    },
  };
}

function createPages(gateway: Gateway): Hono<PageEnv> {
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
