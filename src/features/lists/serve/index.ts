import type { Endpoint, ServeFeature } from "../../../gateway/feature.ts";
import type { ServedTable } from "../../../ports/gateway.ts";
import { loadable } from "../../../problems/loadable.ts";
import type { List } from "../table/types.ts";

const handler = loadable("lists", () => import("./list.ts"));

export const lists: ServeFeature = {
  name: "lists",
  endpoints: (tables, method) => {
    if (method !== "GET" && method !== "HEAD") return undefined;
    const { table, canary } = tables;
    const literal = new Map<string, Endpoint>();
    for (const path of [...(table.lists?.keys() ?? []), ...(canary?.table.lists?.keys() ?? [])]) {
      const list = findList(tables, path);
      if (list === undefined) continue;
      literal.set(path, (context, served) => handler.run(({ answerList }) => answerList(context, served, list)));
    }
    return { literal };
  },
};

/** The list at a raw path; by the canary's table for an entity that is all its own. */
function findList({ table, canary }: ServedTable, path: string): List | undefined {
  const byCanary = canary?.table.lists?.get(path);
  if (byCanary !== undefined && canary?.ownsEntity(byCanary.entity.name) === true) return byCanary;
  const list = table.lists?.get(path);
  return list !== undefined && canary?.ownsEntity(list.entity.name) === true ? undefined : list;
}
