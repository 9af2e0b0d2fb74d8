import { createRefusal } from "./create/table/request.ts";
import { graphqlRefusal } from "./graphql/table/compile.ts";
import { listsRefusal } from "./lists/table/query.ts";

/** The features that refuse requests on their own paths. */
export const REFUSAL_FEATURES = [createRefusal, graphqlRefusal, listsRefusal];
