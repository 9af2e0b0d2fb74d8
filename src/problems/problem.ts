import { FEATURE_PROBLEMS, type FeatureError } from "../features/problems.ts";
import type { MintError } from "../ids/index.ts";
import type { ProxyError } from "../proxy/errors.ts";
import type { RoutingError } from "../routing/errors.ts";
import { CATALOGUE, type CoreSlug, type ProblemSlug, problemTypePath } from "./catalogue.ts";
import type { PortError, RequestError } from "./errors.ts";
import { type FeatureProblem, type Members, shorten } from "./feature.ts";

/** Every error that the gateway returns instead of the origin's response. */
export type GatewayError = (RoutingError | MintError | ProxyError | RequestError | PortError | FeatureError) & {
  /** Where the ID is that the error is about, if not in the path. */
  readonly place?: string;
};

/** The members of a problem document (RFC 9457 §3) with extensions, ready for `JSON.stringify`. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly [extension: string]: unknown;
}

/** The only place where an error becomes a problem. Evidence goes into the extensions; origin addresses never do. */
export function problemOf(error: GatewayError): Problem {
  const { status, title, detail, members = [] } = formOf(error.reason);
  const text = typeof detail === "string" ? detail : detail(error);
  const { place } = error;
  return {
    type: problemTypePath(error.reason),
    title,
    status,
    detail: place === undefined ? text : `In the ${place}: ${text}`,
    ...(place === undefined ? {} : { place }),
    ...(typeof members === "function" ? members(error) : membersOf(error, members)),
  };
}

/** Whether only a request with another idempotency key could be done. */
export const needsNewKey = ({ reason }: GatewayError): boolean => formOf(reason).needsNewKey === true;

/** The tables are typed by reason, which no lookup can carry over. */
function formOf(reason: ProblemSlug) {
  const form = isCore(reason)
    ? { ...CATALOGUE[reason], detail: DETAILS[reason], members: MEMBERS[reason] }
    : FEATURE_PROBLEMS[reason];
  return form as FeatureProblem<GatewayError>;
}

const isCore = (reason: ProblemSlug): reason is CoreSlug => Object.hasOwn(DETAILS, reason);

type ErrorOf<Reason extends ProblemSlug> = Extract<GatewayError, { readonly reason: Reason }>;

const DETAILS: { readonly [Reason in CoreSlug]: string | ((error: ErrorOf<Reason>) => string) } = {
  "unrouted-path": ({ isRespelled, isOtherHost }) =>
    isOtherHost === true
      ? "The table has this path, for other hosts than the one that was asked for."
      : isRespelled === true
        ? "Servers may read this path as another one of the routing table, which goes elsewhere. Write it as the table does: without empty segments, escapes and parameters, and in its case."
        : "No entity of the routing table matches this path.",
  "malformed-id": ({ id }) => `"${shorten(id)}" is not an ID of any layout allowed here.`,
  "unknown-id": ({ id }) => `"${shorten(id)}" matches no entity in the routing table.`,
  "ambiguous-id": (error) =>
    `"${error.id}" can be read in several ways that do not route to the same place.${hintFor(error)}`,
  "layout-mismatch": ({ entity, layout, said }) =>
    `This path reads IDs of "${entity}" as ${layout}, but id-layout is ${said}.`,
  "wrong-entity": ({ id, entity }) => `"${id}" is not the ID of "${entity}".`,
  "unassigned-key": ({ layout, entity }) =>
    `No route matches this ${layout} of "${entity}", and the table declares no default.`,
  "key-out-of-range": ({ field, value, max }) => `${field} is ${value}; it must be a whole number from 0 to ${max}.`,
  "clock-behind": ({ behindMs, toleranceMs }) =>
    `The clock is ${behindMs} ms behind the last minted ID; up to ${toleranceMs} ms are bridged.`,
  "answer-withheld": ({ why }) => `The origin's response was withheld: ${why}.`,
  "table-unavailable": "No verified copy of the routing table is available.",
  "too-many-fields": "At most 256 header fields of a client are sent on.",
  "loop-detected": ({ isLong }) =>
    isLong === true
      ? "The request has passed three gateways of a mesh already."
      : "The request's cdn-loop header already names this gateway. If it came from another one, give each deployment a name of its own by the setting GATEWAY_NAME.",
  "hop-refused": "This gateway does not believe the field waybill-hop.",
  "hop-misdirected": ({ region }) => `This gateway does not serve the request in region "${region}".`,
  "peers-disagree": ({ region, why }) => `The gateway of region "${region}" ${why}.`,
  "entity-gone": ({ id, entity }) => `"${id}" of "${entity}" was removed from every region.`,
  "entity-moving": "The entity is moving to another region and takes no writes until then.",
  "region-unknown": ({ unlisted = [] }) => {
    const values = unlisted.map(({ source, value }) => {
      return ` The table does not list ${value === undefined ? "the value" : `"${shorten(value)}"`} of the ${source}.`;
    });
    return `Neither an ID nor any of the declared sources names the region of this request.${values.join("")}`;
  },
  "answer-too-large": ({ bytesMax }) => `The limit is ${bytesMax} bytes.`,
  "transfer-coding-unsupported": "The only supported transfer coding is chunked.",
  "digest-mismatch": "The body does not have the digest of content-digest.",
  "request-timeout": ({ idleMs }) => `No more of the request's body arrived for ${idleMs} ms.`,
  "rate-limited": ({ limit }) =>
    limit === "failed-attempts"
      ? "Too many failed credentials from this network."
      : `The limit of requests per ${limit} was exceeded.`,
  unauthenticated: "This endpoint requires a valid credential.",
  forbidden: (error) => (error.why === "scope" ? `This needs the scope "${error.needs}".` : FORBIDDEN[error.why]),
  "console-unavailable": ({ why }) =>
    why === "not-built" ? "This deployment has no files of the console." : "Too many consoles watch this gateway.",
  "authentication-unavailable": "Credentials cannot be verified: keys are unavailable, or a setting is invalid.",
  "signing-unavailable": "Requests to origins must be signed, and this deployment has no valid key.",
  "origin-open-circuit": ({ region }) => `The circuit breakers of all origins of region "${region}" are open.`,
  "origins-disagree": ({ region, why }) => `The origin of region "${region}" does not accept the entity: ${why}.`,
  "body-too-large-to-replay": ({ region, bytesMax }) =>
    `The origin of region "${region}" rejected the entity after the body was sent; at most ${bytesMax} bytes are buffered.`,
  "origin-unreachable": ({ region, why }) => `The origin of region "${region}" ${why}.`,
  "invalid-response": ({ region, what }) => `The origin of region "${region}" answered with ${what}.`,
  "origin-timeout": ({ region, which, deadlineMs }) =>
    which === "total"
      ? `No origin of region "${region}" responded within the request's ${deadlineMs} ms.`
      : `The origin of region "${region}" did not ${UNDONE[which]} within ${deadlineMs} ms.`,
  "malformed-request": ({ detail }) => detail,
  "not-found": "The gateway has no such endpoint.",
  "method-not-allowed": ({ method }) => `${method} is not allowed here.`,
  "body-too-large": ({ bytesMax }) => `The limit is ${bytesMax} bytes.`,
  "precondition-required": 'A change needs `if-match` with the version that it is based on, such as `if-match: "41"`.',
  "stale-revision": ({ current, expected }) =>
    `The current revision is ${current}; the request is based on revision ${expected}.`,
  "canary-running": ({ canary }) =>
    `Revision ${canary} is running as a canary; to replace it, name it in \`if-match\`.`,
  "no-canary": "No canary is running.",
  "state-refused": ({ why }) => `${why}.`,
  "unknown-revision": ({ revision, why }) => `Revision ${revision} is not available: ${why}.`,
  "invalid-table": ({ faults: { length } }) =>
    `The table has ${length < FAULTS_COUNTED_MAX ? length : "at least 1,000"} fault${length === 1 ? "" : "s"}.`,
  "control-plane-unavailable": ({ why, outcome }) =>
    `The control plane did not respond: ${why}.${OUTCOME_SENTENCES[outcome ?? "read"]}`,
  "unknown-name": ({ what, name, source, known, more }) => {
    if (source === undefined) return `The routing table has no ${what} "${shorten(name ?? "")}".`;
    const listed = `it lists ${shorten(known.join(", "))}${more === undefined ? "" : ` and ${more} more`}`;
    return name === undefined
      ? `The routing table does not list the value of the ${source}; ${listed}.`
      : `The routing table lists no value "${shorten(name)}" for the ${source}; ${listed}.`;
  },
  "module-unavailable": ({ module }) => `The gateway's module "${module}" cannot be loaded.`,
  "internal-error": "The gateway failed on a defect of its own.",
};

/** The extensions of each problem, in this order. Unnamed members of an error stay inside. */
const MEMBERS: { readonly [Reason in CoreSlug]?: Members<ErrorOf<Reason>> } = {
  "unrouted-path": ["path"],
  "malformed-id": ["id", "faults"],
  "unknown-id": ["id", "candidates"],
  "ambiguous-id": ({ id, candidates }) => {
    const idLayouts = layoutsIn(candidates);
    return { id, candidates, ...(idLayouts.length > 1 ? { idLayouts } : {}) };
  },
  "layout-mismatch": ({ id, entity, layout, said }) => ({ id: shorten(id), entity, layout, idLayout: said }),
  "wrong-entity": ["id", "entity", "candidates"],
  "unassigned-key": ["id", "entity", "layout", "key"],
  "key-out-of-range": ["field", "value", "max"],
  "clock-behind": ["behindMs"],
  "answer-withheld": ["region"],
  "entity-gone": ["id", "entity"],
  "region-unknown": ({ path, sources, unlisted }) => ({
    path: shorten(path),
    sources,
    ...(unlisted && {
      unlisted: unlisted.map((each) => (each.value === undefined ? each : { ...each, value: shorten(each.value) })),
    }),
  }),
  "answer-too-large": ["bytesMax"],
  "request-timeout": ["idleMs"],
  "rate-limited": ["limit"],
  forbidden: ["needs", "host"],
  "hop-refused": ["why"],
  "hop-misdirected": ["region"],
  "peers-disagree": ["region"],
  "origin-open-circuit": ["region"],
  "origins-disagree": ["region"],
  "body-too-large-to-replay": ["region", "bytesMax"],
  "origin-unreachable": ["region"],
  "invalid-response": ["region"],
  "origin-timeout": ["region", "deadlineMs"],
  "malformed-request": ["pointer"],
  "not-found": ["path"],
  "method-not-allowed": ["allow"],
  "body-too-large": ["bytesMax"],
  "stale-revision": ["expected", "current", "canary"],
  "canary-running": ["canary"],
  "unknown-revision": ["revision"],
  "invalid-table": ({ faults }) => ({
    faultCount: faults.length,
    ...(faults.length >= FAULTS_COUNTED_MAX ? { more: true } : {}),
    faults: faults.slice(0, FAULTS_SHOWN_MAX),
  }),
  "control-plane-unavailable": ["outcome"],
  "unknown-name": ["name", "known", "more"],
};

/** Members whose text may come from the client. */
const ECHOED: ReadonlySet<string> = new Set(["id", "path", "name", "host", "key"]);

function membersOf(error: object, names: readonly string[]): Readonly<Record<string, unknown>> {
  const evidence = error as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = evidence[name];
      if (value === undefined) return [];
      return [[name, ECHOED.has(name) && typeof value === "string" ? shorten(value) : value]];
    }),
  );
}

const OUTCOME_SENTENCES = {
  read: "",
  unknown: " Whether the change was or will be made is unknown.",
  none: " Nothing was changed.",
} as const;

const UNDONE = {
  "first-byte": "begin its response",
  body: "send more of its response",
  upload: "read more of the body",
};

const FORBIDDEN = {
  "cross-site": "A browser sent this request from another site, or without saying from which.",
  "not-console": "Only the console's own host answers this.",
  "no-preview": "The setting CONSOLE_PREVIEW does not name the entity.",
  host:
    "The pages are open without a credential, so they are served by localhost or an address only: any web site can " +
    "point another name here. Use http://localhost, or set ADMIN_TOKENS or Access, which close the pages.",
} as const;

type Ambiguous = ErrorOf<"ambiguous-id">;

const layoutsIn = (candidates: Ambiguous["candidates"]): readonly string[] => [
  ...new Set(candidates.map(({ layout }) => layout)),
];

/** Marks that distinguish the readings: values of the header `id-layout` if it is their layout. */
function hintFor({ candidates }: Ambiguous): string {
  const layouts = layoutsIn(candidates);
  const readings = [
    ...(layouts.length > 1 ? [`send the header id-layout: ${layouts.join(" or ")}`] : []),
    ...(new Set(candidates.map(({ entity }) => entity)).size > 1 ? ["use the path of its entity"] : []),
  ];
  return readings.length === 0 ? "" : ` To resolve this, ${readings.join(", or ")}.`;
}

/** The check of a table stops here. A test keeps it equal to the constant in `routing/limits.ts`. */
const FAULTS_COUNTED_MAX = 1_000;

/** More are of no use: such a table is wrong throughout. */
const FAULTS_SHOWN_MAX = 100;
