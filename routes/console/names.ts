import { Hono } from "hono";
import type { Gateway } from "../../src/ports.ts";
import { parseTableText } from "../../src/routing/index.ts";
import type { DeclaredEntity, DeclaredTable } from "../../src/routing/schema/table.ts";
import { requireScope } from "../lib/auth.ts";
import { contextOf, jsonResponse, type PageEnv, respond } from "../lib/http.ts";

/** `GET /-/console/names`: what reading an ID needs, for those who do not see the table: no region, no route, no origin, no override. */
export const names = (gateway: Gateway) =>
  new Hono<PageEnv>().get("/-/console/names", requireScope(gateway, "support"), async (c) => {
    const content = await gateway.controlPlane.text();
    if (!content.ok) return respond(c, content);
    const { bytes, revision } = content.value;
    const declared = parseTableText(new TextDecoder().decode(bytes));
    if (!declared.ok) return contextOf(c).fail({ reason: "invalid-table", faults: declared.error });
    // What was published has been checked.
    const { entities, countries = {}, layouts = {} } = declared.value as DeclaredTable;
    const shown = Object.entries(entities).map(([name, entity]) => [name, namesOf(entity)]);
    return jsonResponse({ revision: revision.revision, entities: Object.fromEntries(shown), countries, layouts });
  });

const namesOf = ({ path, ids, public: kind, directory }: DeclaredEntity): object => ({
  path,
  ids,
  ...(kind !== undefined && { public: kind }),
  ...(directory !== undefined && { directory }),
});
