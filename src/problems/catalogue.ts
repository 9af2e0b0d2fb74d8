import { FEATURE_PROBLEMS } from "../features/problems.ts";
import type { ProblemForm } from "./feature.ts";

const problem = (status: number, title: string): ProblemForm => ({ status, title });

/** The problem types of the core. Slugs are stable: clients switch on them. `texts.ts` has their pages. */
const CORE = {
  "malformed-request": problem(400, "Malformed request"),
  "malformed-id": problem(400, "Malformed ID"),
  "region-unknown": problem(400, "No region in the request"),
  unauthenticated: problem(401, "Authentication required"),
  forbidden: problem(403, "Insufficient permissions"),
  "unrouted-path": problem(404, "No entity for this path"),
  "unknown-id": problem(404, "Unknown ID"),
  "unassigned-key": problem(404, "No region is assigned to this ID's key"),
  "not-found": problem(404, "No such gateway endpoint"),
  "method-not-allowed": problem(405, "Method not allowed"),
  "request-timeout": problem(408, "Request body timed out"),
  "ambiguous-id": problem(409, "Ambiguous ID"),
  "canary-running": problem(409, "A canary of the table is running"),
  "no-canary": problem(409, "No canary of the table is running"),
  "state-refused": problem(409, "Not imported"),
  "unknown-revision": problem(404, "Revision not available"),
  "stale-revision": problem(412, "The table was changed by someone else"),
  "precondition-required": problem(428, "Missing `if-match`"),
  "invalid-table": problem(422, "Invalid routing table"),
  "control-plane-unavailable": problem(503, "Control plane unavailable"),
  "entity-gone": problem(410, "Entity permanently removed"),
  "body-too-large": problem(413, "Request body too large"),
  "wrong-entity": problem(422, "ID of another entity"),
  "layout-mismatch": problem(422, "ID layout does not match the path"),
  "unknown-name": problem(422, "Name not in the routing table"),
  "key-out-of-range": problem(422, "Key out of range"),
  "too-many-fields": problem(431, "Too many header fields"),
  "hop-refused": problem(403, "Request of another gateway refused"),
  "hop-misdirected": problem(421, "Not a region of this gateway"),
  "peers-disagree": problem(503, "Gateways disagree about a region"),
  "loop-detected": problem(508, "Routing loop detected"),
  "digest-mismatch": problem(400, "Content digest mismatch"),
  "rate-limited": problem(429, "Too many requests"),
  "internal-error": problem(500, "Internal error"),
  "transfer-coding-unsupported": problem(501, "Transfer coding not supported"),
  "origin-unreachable": problem(502, "Origin unreachable"),
  "invalid-response": problem(502, "Invalid response from the origin"),
  "origin-timeout": problem(504, "Origin timed out"),
  "origin-open-circuit": problem(503, "Origin circuit breaker is open"),
  "origins-disagree": problem(502, "No origin accepts the entity"),
  "entity-moving": problem(503, "Entity is moving to another region"),
  "body-too-large-to-replay": problem(503, "Request not replayed to the entity's new region"),
  "table-unavailable": problem(503, "Routing table unavailable"),
  "authentication-unavailable": problem(503, "Credentials cannot be verified now"),
  "module-unavailable": problem(503, "Part of the gateway unavailable"),
  "console-unavailable": problem(503, "Console unavailable"),
  "signing-unavailable": problem(503, "Requests cannot be signed"),
  "clock-behind": problem(503, "Clock went backwards"),
  "answer-too-large": problem(502, "Response too large for a list of many"),
  "answer-withheld": problem(502, "Origin response withheld"),
} as const;

export type CoreSlug = keyof typeof CORE;

export type ProblemSlug = CoreSlug | keyof typeof FEATURE_PROBLEMS;

const formOf = ({ status, title }: ProblemForm): ProblemForm => ({ status, title });

/** Every problem type (RFC 9457): those of the core, then those of each feature. */
export const CATALOGUE = {
  ...CORE,
  ...Object.fromEntries(Object.entries(FEATURE_PROBLEMS).map(([slug, problem]) => [slug, formOf(problem)])),
} as Readonly<Record<ProblemSlug, ProblemForm>>;

export const PROBLEM_SLUGS = Object.keys(CATALOGUE) as readonly ProblemSlug[];

/** The problem type's URI: a path, so that it is the same on every host. */
export const problemTypePath = (slug: ProblemSlug): string => `/-/problems/${slug}`;
