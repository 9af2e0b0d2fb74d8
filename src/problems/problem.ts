import type { MintError } from "../ids/index.ts";
import type { ProxyError } from "../proxy/errors.ts";
import type { RoutingError } from "../routing/errors.ts";
import { CATALOGUE, type ProblemSlug, problemTypePath } from "./catalogue.ts";
import type {
  AuthError,
  PackChangeError,
  PublicIdsError,
  RequestError,
  SequenceError,
  TableChangeError,
  TableError,
} from "./errors.ts";

/** Every error that the gateway returns instead of the origin's response. */
export type GatewayError =
  | RoutingError
  | MintError
  | SequenceError
  | TableError
  | TableChangeError
  | PackChangeError
  | PublicIdsError
  | AuthError
  | ProxyError
  | RequestError;

/** The members of a problem document (RFC 9457 §3) with extensions, ready for `JSON.stringify`. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly [extension: string]: unknown;
}

export const slugOf = (error: GatewayError): ProblemSlug => error.reason;

/** The only place where an error becomes a problem. Evidence goes into the extensions; origin addresses never do. */
export function problemOf(error: GatewayError): Problem {
  const { status, title } = CATALOGUE[error.reason];
  return { type: problemTypePath(error.reason), title, status, ...evidenceOf(error) };
}

interface Evidence {
  readonly detail: string;
  readonly [extension: string]: unknown;
}

function evidenceOf(error: GatewayError): Evidence {
  switch (error.reason) {
    case "unrouted-path":
      return { detail: "No entity of the routing table matches this path.", path: shorten(error.path) };
    case "malformed-id":
      return {
        detail: `"${shorten(error.id)}" is not an ID of any layout allowed here.`,
        id: shorten(error.id),
        faults: error.faults,
      };
    case "unknown-id":
      return {
        detail: `"${shorten(error.id)}" matches no entity in the routing table.`,
        id: shorten(error.id),
        candidates: error.candidates,
      };
    case "ambiguous-id":
      return ambiguity(error);
    case "layout-mismatch":
      return {
        detail: `This path reads IDs of "${error.entity}" as ${error.layout}, but id-layout is ${error.said}.`,
        id: shorten(error.id),
        entity: error.entity,
        layout: error.layout,
        idLayout: error.said,
      };
    case "wrong-entity":
      return {
        detail: `"${error.id}" is not the ID of "${error.entity}".`,
        id: error.id,
        entity: error.entity,
        candidates: error.candidates,
      };
    case "unassigned-key":
      return {
        detail: `No route matches this ${error.layout} of "${error.entity}", and the table declares no default.`,
        id: error.id,
        entity: error.entity,
        layout: error.layout,
        key: error.key,
      };
    case "key-out-of-range":
      return {
        detail: `${error.field} is ${error.value}; it must be a whole number from 0 to ${error.max}.`,
        field: error.field,
        value: error.value,
        max: error.max,
      };
    case "clock-behind":
      return {
        detail: `The clock is ${error.behindMs} ms behind the last minted ID; up to ${error.toleranceMs} ms are bridged.`,
        behindMs: error.behindMs,
      };
    case "sequence-exhausted":
      return { detail: `The sequence "${error.name}" has assigned every number up to ${error.max}.` };
    case "sequence-unavailable":
      return { detail: `The sequence "${error.name}" did not respond.` };
    case "public-ids-unavailable":
      return {
        detail:
          error.entity === undefined
            ? "This deployment has no key for public IDs that the response may contain."
            : `This deployment has no key for the public IDs of "${error.entity}".`,
        entity: error.entity,
      };
    case "answer-withheld":
      return { detail: `The origin's response was withheld: ${error.why}.`, region: error.region };
    case "table-unavailable":
      return { detail: "No verified copy of the routing table is available." };
    case "loop-detected":
      return { detail: "The request's cdn-loop header already names this gateway." };
    case "entity-gone":
      return {
        detail: `"${error.id}" of "${error.entity}" was removed from every region.`,
        id: error.id,
        entity: error.entity,
      };
    case "entity-moving":
      return { detail: "The entity is moving to another region and takes no writes until then." };
    case "region-unknown":
      return {
        detail: "Neither an ID nor any of the declared sources names the region of this request.",
        path: shorten(error.path),
        sources: error.sources,
      };
    case "transfer-coding-unsupported":
      return { detail: "The only supported transfer coding is chunked." };
    case "request-timeout":
      return { detail: `No more of the request's body arrived for ${error.idleMs} ms.`, idleMs: error.idleMs };
    case "rate-limited":
      return error.limit === "failed-attempts"
        ? { detail: "Too many failed credentials from this network.", limit: error.limit }
        : { detail: `The limit of requests per ${error.limit} was exceeded.`, limit: error.limit };
    case "unauthenticated":
      return { detail: "This endpoint requires a valid credential." };
    case "forbidden":
      return forbidden(error);
    case "authentication-unavailable":
      return { detail: "The keys for verifying credentials are unavailable." };
    case "origin-open-circuit":
      return {
        detail: `The circuit breakers of all origins of region "${error.region}" are open.`,
        region: error.region,
      };
    case "origins-disagree":
      return {
        detail: `The origin of region "${error.region}" does not accept the entity: ${error.why}.`,
        region: error.region,
      };
    case "body-too-large-to-replay":
      return {
        detail: `The origin of region "${error.region}" rejected the entity after the body was sent; at most ${error.bytesMax} bytes are buffered.`,
        region: error.region,
        bytesMax: error.bytesMax,
      };
    case "origin-unreachable":
      return { detail: `The origin of region "${error.region}" ${error.why}.`, region: error.region };
    case "origin-timeout":
      return {
        detail:
          error.which === "total"
            ? `No origin of region "${error.region}" responded within the request's ${error.deadlineMs} ms.`
            : `The origin of region "${error.region}" did not ${error.which === "upload" ? "read more of the body" : "begin its response"} within ${error.deadlineMs} ms.`,
        region: error.region,
        deadlineMs: error.deadlineMs,
      };
    case "malformed-request":
      return error.pointer === undefined ? { detail: error.detail } : { detail: error.detail, pointer: error.pointer };
    case "not-found":
      return { detail: "The gateway has no such endpoint.", path: shorten(error.path) };
    case "method-not-allowed":
      return { detail: `${error.method} is not allowed here.`, allow: error.allow };
    case "body-too-large":
      return { detail: `The limit is ${error.bytesMax} bytes.`, bytesMax: error.bytesMax };
    case "precondition-required":
      return { detail: 'A change needs `if-match` with the revision that it is based on, such as `if-match: "41"`.' };
    case "stale-revision":
      return {
        detail: `The current revision is ${error.current}; the request is based on revision ${error.expected}.`,
        expected: error.expected,
        current: error.current,
        canary: error.canary,
      };
    case "canary-running":
      return {
        detail: `Revision ${error.canary} is running as a canary; to replace it, name it in \`if-match\`.`,
        canary: error.canary,
      };
    case "no-canary":
      return { detail: "No canary is running." };
    case "unknown-revision":
      return { detail: `Revision ${error.revision} is not available: ${error.why}.`, revision: error.revision };
    case "invalid-table":
      return {
        ...faultCount(error.faults.length),
        faults: error.faults.slice(0, FAULTS_SHOWN_MAX),
      };
    case "unknown-pack":
      return { detail: `Pack ${error.sha256}: ${error.why}.`, sha256: error.sha256 };
    case "invalid-pack":
      return {
        detail: `${error.part === "header" ? "The header" : `Page ${error.part}`} does not match the pack: ${error.why}.`,
        part: error.part,
        fault: error.fault,
      };
    case "control-plane-unavailable":
      return {
        detail: `The control plane did not respond: ${error.why}.${OUTCOME_SENTENCES[error.outcome ?? "read"]}`,
        outcome: error.outcome,
      };
    case "unknown-name":
      return {
        detail: `The routing table has no ${error.what} "${shorten(error.name)}".`,
        name: shorten(error.name),
        known: error.known,
      };
    case "internal-error":
      return { detail: "The gateway failed on a defect of its own." };
  }
}

/** The outcome of a change. */
const OUTCOME_SENTENCES = {
  read: "",
  unknown: " Whether the change was or will be made is unknown.",
  none: " Nothing was changed.",
} as const;

/** What distinguishes the readings: values of the header `id-layout` if it is their layout. */
function ambiguity({ id, candidates }: Extract<RoutingError, { readonly reason: "ambiguous-id" }>): Evidence {
  const idLayouts = [...new Set(candidates.map(({ layout }) => layout))];
  const isByLayout = idLayouts.length > 1;
  const isByEntity = new Set(candidates.map(({ entity }) => entity)).size > 1;
  const readings = [
    ...(isByLayout ? [`send the header id-layout: ${idLayouts.join(" or ")}`] : []),
    ...(isByEntity ? ["use the path of its entity"] : []),
  ];
  const hint = readings.length === 0 ? "" : ` To resolve this, ${readings.join(", or ")}.`;
  return {
    detail: `"${id}" can be read in several ways that do not route to the same place.${hint}`,
    id,
    candidates,
    ...(isByLayout ? { idLayouts } : {}),
  };
}

/** The check of a table stops here. A test keeps it equal to the constant in `routing/limits.ts`. */
const FAULTS_COUNTED_MAX = 1_000;

/** The number of faults of a table, as far as the check counted. */
function faultCount(count: number): Evidence {
  if (count >= FAULTS_COUNTED_MAX) {
    return { detail: "The table has at least 1,000 faults.", faultCount: count, more: true };
  }
  return { detail: `The table has ${count} fault${count === 1 ? "" : "s"}.`, faultCount: count };
}

/** More are of no use: such a table is wrong throughout. */
const FAULTS_SHOWN_MAX = 100;

/** Longest client text that a problem echoes. */
const ECHO_CHARACTERS_MAX = 128;

function forbidden(error: Extract<GatewayError, { readonly reason: "forbidden" }>): Evidence {
  switch (error.why) {
    case "scope":
      return { detail: `This needs the scope "${error.needs}".`, needs: error.needs };
    case "cross-site":
      return { detail: "A browser sent this request from another site, or without saying from which." };
    case "host":
      return {
        detail:
          "The pages are open without a credential, so they are served by localhost or an address only: any web site can " +
          "point another name here. Use http://localhost, or set ADMIN_TOKENS or Access, which close the pages.",
        host: shorten(error.host),
      };
  }
}

function shorten(text: string): string {
  return text.length <= ECHO_CHARACTERS_MAX ? text : `${text.slice(0, ECHO_CHARACTERS_MAX)}…`;
}
