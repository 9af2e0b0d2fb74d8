import type { ServeFeature } from "../../../gateway/feature.ts";
import type { ServedTable } from "../../../ports/gateway.ts";
import { loadable } from "../../../problems/loadable.ts";
import { ANY_PREFIX } from "../../../routing/lookup/paths.ts";
import type { List } from "../table/types.ts";

const handler = loadable("lists", () => import("./list.ts"));

export const lists: ServeFeature = {
  name: "lists",
  endpoint: ({ table, canary }, method) => {
    if ((method !== "GET" && method !== "HEAD") || (table.lists ?? canary?.table.lists) === undefined) return undefined;
    return {
      paths: new Set([...(table.lists?.keys() ?? []), ...(canary?.table.lists?.keys() ?? [])]),
      answer: (context, served) => {
        const { path } = context;
        const list = path.startsWith(ANY_PREFIX) ? undefined : findList(served, path);
        return list && handler.run(({ answerList }) => answerList(context, served, list));
      },
    };
  },
};

/** The list at a raw path; by the canary's table for an entity that is all its own. */
function findList({ table, canary }: ServedTable, path: string): List | undefined {
  const byCanary = canary?.table.lists?.get(path);
  if (byCanary !== undefined && canary?.ownsEntity(byCanary.entity.name) === true) return byCanary;
  const list = table.lists?.get(path);
  return list !== undefined && canary?.ownsEntity(list.entity.name) === true ? undefined : list;
}
