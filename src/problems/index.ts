export { CATALOGUE, PROBLEM_SLUGS, type ProblemSlug, problemTypePath } from "./catalogue.ts";
export type { AuthError } from "./port-errors.ts";
export { type GatewayError, type Problem, problemOf, slugOf } from "./problem.ts";
export type { RequestError } from "./request-error.ts";
