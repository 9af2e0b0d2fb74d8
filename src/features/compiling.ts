import type { TableFeature } from "../routing/feature.ts";
import { copiesTable } from "./copies/table/compile.ts";
import { corsTable } from "./cors/table/compile.ts";
import { createTable } from "./create/table/compile.ts";
import { directoryTable } from "./directory/table/compile.ts";
import { graphqlTable } from "./graphql/table/compile.ts";
import { listsTable } from "./lists/table/compile.ts";
import { meshTable } from "./mesh/table/compile.ts";
import { packsTable } from "./packs/table/route.ts";
import { placesTable } from "./places/table/compile.ts";
import { publicIdsTable } from "./public-ids/table/compile.ts";

/**
 * The features of compiled tables. Later ones see what earlier ones made: CORS the headers that all read, and public IDs the whole
 * table.
 */
export const TABLE_FEATURES: readonly TableFeature[] = [
  packsTable,
  directoryTable,
  createTable,
  listsTable,
  graphqlTable,
  copiesTable,
  placesTable,
  corsTable,
  publicIdsTable,
  meshTable,
];
