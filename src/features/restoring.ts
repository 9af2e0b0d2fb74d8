import type { TableFeature } from "../routing/feature.ts";
import { copiesTable } from "./copies/table/compile.ts";
import { directoryTable } from "./directory/table/compile.ts";

/** The features of restored tables, in the order of `compiling.ts`: each is loaded for the first table that uses it. */
export const RESTORED_FEATURES: readonly (readonly [name: string, load: () => Promise<TableFeature>])[] = [
  ["packs", async () => (await import("./packs/table/route.ts")).packsTable],
  ["directory", async () => directoryTable],
  ["create", async () => (await import("./create/table/compile.ts")).createTable],
  ["lists", async () => (await import("./lists/table/compile.ts")).listsTable],
  ["graphql", async () => (await import("./graphql/table/compile.ts")).graphqlTable],
  ["copies", async () => copiesTable],
  ["places", async () => (await import("./places/table/compile.ts")).placesTable],
  ["cors", async () => (await import("./cors/table/compile.ts")).corsTable],
  ["public-ids", async () => (await import("./public-ids/table/compile.ts")).publicIdsTable],
  ["mesh", async () => (await import("./mesh/table/compile.ts")).meshTable],
];
