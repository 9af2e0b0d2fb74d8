import { openapi as creates } from "./create/openapi.ts";
import { directoryPages } from "./directory/pages/index.ts";
import { openapi as graphql } from "./graphql/openapi.ts";
import { idempotencyPages } from "./idempotency/pages.ts";
import { openapi as lists } from "./lists/openapi.ts";
import { manyPages } from "./many/pages.ts";
import { mintPages } from "./mint/pages.ts";
import { packPages } from "./packs/pages.ts";
import { explainPages } from "./places/pages.ts";
import { replayPages } from "./replay/pages.ts";

/** The features with pages, or with paths that a table gives them. */
export const PAGE_FEATURES = [
  mintPages,
  manyPages,
  explainPages,
  idempotencyPages,
  directoryPages,
  replayPages,
  packPages,
  { name: "graphql", openapi: graphql },
  { name: "lists", openapi: lists },
  { name: "create", openapi: creates },
];
