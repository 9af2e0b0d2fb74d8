import type { TableChecks } from "../routing/check/feature.ts";
import { copiesChecks } from "./copies/table/check.ts";
import { corsChecks } from "./cors/table/check.ts";
import { createChecks } from "./create/table/check.ts";
import { directoryChecks } from "./directory/table/check.ts";
import { graphqlChecks } from "./graphql/table/check.ts";
import { listsChecks } from "./lists/table/check.ts";
import { packsChecks } from "./packs/table/check.ts";
import { placesChecks } from "./places/table/check.ts";
import { publicIdsChecks } from "./public-ids/table/check.ts";

/** The features of declared tables, in the order of their members and faults. They are loaded where a table is checked. */
export const TABLE_CHECKS: readonly TableChecks[] = [
  directoryChecks,
  publicIdsChecks,
  createChecks,
  copiesChecks,
  corsChecks,
  placesChecks,
  listsChecks,
  graphqlChecks,
  packsChecks,
];
