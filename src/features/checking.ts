import type { TableChecks } from "../routing/check/feature.ts";
import { copiesChecks } from "./copies/table/check.ts";
import { corsChecks } from "./cors/table/check.ts";
import { createChecks } from "./create/table/check.ts";
import { createRefusal } from "./create/table/request.ts";
import { directoryChecks } from "./directory/table/check.ts";
import { graphqlChecks } from "./graphql/table/check.ts";
import { graphqlRefusal } from "./graphql/table/compile.ts";
import { listsChecks } from "./lists/table/check.ts";
import { listsRefusal } from "./lists/table/query.ts";
import { meshChecks } from "./mesh/table/check.ts";
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
  meshChecks,
];

/** The features that check a request on their own paths, where it is only explained. */
export const REFUSAL_FEATURES = [createRefusal, graphqlRefusal, listsRefusal];
