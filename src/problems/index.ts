export { CATALOGUE, PROBLEM_SLUGS, type ProblemSlug, problemTypePath } from "./catalogue.ts";
export type { AuthError, PublicIdsError, RequestError, TableError } from "./errors.ts";
export { type GatewayError, type Problem, problemOf } from "./problem.ts";
export { expectedOf } from "./stale-client-id.ts";
