import type { Endpoint, Gate, ServeFeature } from "../../../gateway/feature.ts";
import type { ServedTable } from "../../../ports/gateway.ts";
import { loadable } from "../../../problems/loadable.ts";
import type { Creation } from "./choose-ids.ts";

const handler = loadable("create", () => import("./create.ts"));

/** The collection at a raw path; by the canary's table for an entity that is all its own. */
function findCreation(served: ServedTable, path: string, how: "match" | "matchRead" = "match"): Creation | undefined {
  const { table, canary } = served;
  const byCanary = canary?.table.creates?.[how](path);
  if (canary !== undefined && byCanary !== undefined && canary.ownsEntity(byCanary.entity.entity.name)) {
    return { create: byCanary.entity, served, table: canary.table, byCanary: true, parentEnd: byCanary.idEnd };
  }
  const match = table.creates?.[how](path);
  if (match === undefined || canary?.ownsEntity(match.entity.entity.name) === true) return undefined;
  return { create: match.entity, served, table, byCanary: false, parentEnd: match.idEnd };
}

/**
 * Refuses a PUT that creates with an ID that is not of now, and a POST whose origin may read a collection in its path: it would
 * create without an ID, or take the parent's for the new one.
 */
const gate: Gate = (context, served, outcome, again) => {
  const { method, path } = context;
  if (method === "PUT") return handler.run(({ refuseStalePut }) => refuseStalePut(context, served, outcome, again));
  if (outcome.kind !== "region" && outcome.kind !== "without-id") return undefined;
  const sent = outcome.kind === "region" ? outcome.path : path;
  return findCreation(served, sent, "matchRead") && { reason: "unrouted-path", path };
};

export const create: ServeFeature = {
  name: "create",
  endpoints: (tables, method) => {
    if (method !== "POST") return undefined;
    const find = (path: string): Endpoint | undefined => {
      const creation = findCreation(tables, path);
      return (
        creation &&
        ((context, served) => handler.run(({ createEntity }) => createEntity(context, { ...creation, served })))
      );
    };
    const collections = collectionsOf(tables);
    const literal = new Map<string, Endpoint>();
    for (const path of collections) {
      const endpoint = isBelowEntity(path) ? undefined : find(path);
      if (endpoint !== undefined) literal.set(path, endpoint);
    }
    return { literal, ...(collections.some(isBelowEntity) && { pattern: { find } }) };
  },
  gate: (tables, method) => ((method === "PUT" || method === "POST") && mayCreate(tables) ? gate : undefined),
};

const collectionsOf = ({ table, canary }: ServedTable): readonly string[] =>
  [table, canary?.table].flatMap((each) => [...(each?.creates?.byEntity.values() ?? [])]).flatMap(({ paths }) => paths);

const isBelowEntity = (collection: string): boolean => collection.includes("/:id/");

const mayCreate = ({ table, canary }: ServedTable): boolean => (table.creates ?? canary?.table.creates) !== undefined;
