import type { DeclaredTable } from "../routing/schema.ts";

/** Names of the packs that a table has and none of its routes leads to: no fault, since a pack may wait for its route. */
export const idlePacks = ({ packs = {}, routes }: Pick<DeclaredTable, "packs" | "routes">): readonly string[] => {
  const used = new Set(routes.map(({ pack }) => pack));
  return Object.keys(packs).filter((name) => !used.has(name));
};
