import { Hono } from "hono";
import type { Tables } from "../src/gateway/decide.ts";
import { explainId } from "../src/gateway/explain-id.ts";
import { decideFor } from "../src/gateway/loading.ts";
import type { Gateway } from "../src/ports/gateway.ts";
import { movedKeyOf } from "../src/proxy/deliver.ts";
import { callerOf, requireScope } from "./lib/auth.ts";
import { contextOf, jsonResponse, openLimited, type PageEnv } from "./lib/http.ts";
import { idLedBy, tableCanaryOf } from "./lib/table-canary.ts";

const PREFIX = "/-/ids/";

/** `GET /-/ids/:id`: every reading of the text, where it would go and why. Only operators learn where a public ID goes. No origin is asked; `learned`: an origin's word in a 421. */
export const ids = (gateway: Gateway) =>
  new Hono<PageEnv>().use("/-/ids/*", requireScope(gateway, "support")).get("/-/ids/*", async (c) => {
    const context = contextOf(c);
    const served = await openLimited(context, "lookup");
    if (served instanceof Response) return served;
    const { path } = context;
    const id = path.slice(PREFIX.length);
    if (!path.startsWith(PREFIX) || id.includes("/")) return context.fail({ reason: "not-found", path });
    const layoutName = c.req.header("id-layout");
    const isOperator = callerOf(c).scope === "operator";
    const explainBy = (tables: Tables) =>
      decideFor(context, tables, (input) => explainId(input, id, isOperator), layoutName);
    const explained = await explainBy(served);
    if (explained.byCanary) context.takeCanary();
    if (explained.kind === "error") return context.fail(explained.error);
    const { explanation, decided } = explained;
    const region = decided && (await gateway.movedMemory?.recall(movedKeyOf(decided)));
    const learned = region === undefined ? {} : { learned: { region } };
    const tableCanary = await tableCanaryOf(served, idLedBy(explained), async (tables) =>
      idLedBy(await explainBy(tables)),
    );
    return jsonResponse({ ...explanation, ...learned, ...tableCanary }, { "waybill-table": context.tableLabel ?? "" });
  });
