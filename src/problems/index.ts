export { CATALOGUE, PROBLEM_SLUGS, type ProblemSlug, problemTypePath } from "./catalogue.ts";
export type { AuthError, RequestError, TableError } from "./errors.ts";
export { type GatewayError, needsNewKey, type Problem, problemOf } from "./problem.ts";
