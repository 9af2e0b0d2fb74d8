import type { Gate, ServeFeature } from "../../../gateway/feature.ts";
import type { ServedTable } from "../../../ports/gateway.ts";
import { loadable } from "../../../problems/loadable.ts";
import { findCreation, mayReadCollection } from "./collection.ts";

const handler = loadable("create", () => import("./create.ts"));

/** A PUT that creates with an ID that is not of now, or a POST whose origin may read a collection in its path. */
const gate: Gate = (context, served, outcome, again) => {
  const { method, path } = context;
  if (method === "PUT") return handler.run(({ refuseStalePut }) => refuseStalePut(context, served, outcome, again));
  if (outcome.kind !== "region" && outcome.kind !== "without-id") return undefined;
  const sent = outcome.kind === "region" ? outcome.path : path;
  return mayReadCollection(served, sent) ? { reason: "unrouted-path", path } : undefined;
};

export const create: ServeFeature = {
  name: "create",
  endpoint: (tables, method) => {
    if (method !== "POST" || !mayCreate(tables)) return undefined;
    return {
      answer: (context, served) => {
        const creation = findCreation(served, context.path);
        return creation && handler.run(({ createEntity }) => createEntity(context, served, creation));
      },
    };
  },
  gate: (tables, method) => ((method === "PUT" || method === "POST") && mayCreate(tables) ? gate : undefined),
};

const mayCreate = ({ table, canary }: ServedTable): boolean => (table.creates ?? canary?.table.creates) !== undefined;
