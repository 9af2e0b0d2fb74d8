import type { MintError } from "../ids/index.ts";
import type { ProxyError } from "../proxy/errors.ts";
import type { RoutingError } from "../routing/routing-error.ts";
import { CATALOGUE, type ProblemSlug, problemTypePath } from "./catalogue.ts";
import type {
  AuthError,
  PackChangeError,
  PublicIdsError,
  SequenceError,
  TableChangeError,
  TableError,
} from "./port-errors.ts";
import type { RequestError } from "./request-error.ts";

/** Every way in which the gateway can fail to answer a request with the origin's own answer. */
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

/** The members of a problem document (RFC 9457 §3), extensions included, ready for `JSON.stringify`. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly [extension: string]: unknown;
}

export const slugOf = (error: GatewayError): ProblemSlug => error.reason;

/** The only place where an error becomes a problem. Evidence goes into the extensions; addresses of origins never do. */
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
      return { detail: "No entity of the routing table has a path like this one.", path: shorten(error.path) };
    case "malformed-id":
      return {
        detail: `"${shorten(error.id)}" is not an ID of any layout that may stand here.`,
        id: shorten(error.id),
        faults: error.faults,
      };
    case "unknown-id":
      return {
        detail: `"${shorten(error.id)}" is the ID of no entity that the routing table knows.`,
        id: shorten(error.id),
        candidates: error.candidates,
      };
    case "ambiguous-id":
      return ambiguity(error);
    case "layout-mismatch":
      return {
        detail: `On this path IDs of "${error.entity}" are read as ${error.layout}, and id-layout says ${error.said}.`,
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
        detail: `No route takes this ${error.layout} of "${error.entity}", and the table declares no default.`,
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
      return { detail: `The sequence "${error.name}" has handed out every number up to ${error.max}.` };
    case "sequence-unavailable":
      return { detail: `The sequence "${error.name}" did not answer.` };
    case "public-ids-unavailable":
      return {
        detail:
          error.entity === undefined
            ? "This deployment has no key for public IDs that the answer may hold."
            : `This deployment has no key for the public IDs of "${error.entity}".`,
        entity: error.entity,
      };
    case "answer-withheld":
      return { detail: `The origin's answer was withheld: ${error.why}.`, region: error.region };
    case "table-unavailable":
      return { detail: "No verified copy of the routing table is at hand." };
    case "loop-detected":
      return { detail: "The request's cdn-loop field already names this gateway." };
    case "entity-gone":
      return {
        detail: `"${error.id}" of "${error.entity}" was removed from every region.`,
        id: error.id,
        entity: error.entity,
      };
    case "entity-moving":
      return { detail: "The entity is on its way to another region and takes no writes meanwhile." };
    case "region-unknown":
      return {
        detail: "Neither an ID nor any of the declared sources says which region the request is for.",
        path: shorten(error.path),
        sources: error.sources,
      };
    case "transfer-coding-unsupported":
      return { detail: "Of transfer codings only chunked is taken." };
    case "request-timeout":
      return { detail: `Nothing more of the request's body came for ${error.idleMs} ms.`, idleMs: error.idleMs };
    case "rate-limited":
      return error.limit === "failed-attempts"
        ? { detail: "Too many wrong credentials came from this network.", limit: error.limit }
        : { detail: `The limit of requests per ${error.limit} was passed.`, limit: error.limit };
    case "unauthenticated":
      return { detail: "This page is for those whom the deployment knows." };
    case "forbidden":
      return forbidden(error);
    case "authentication-unavailable":
      return { detail: "The keys that credentials are verified with cannot be had." };
    case "origin-open-circuit":
      return {
        detail: `The origins of region "${error.region}" are being left alone for a while.`,
        region: error.region,
      };
    case "origins-disagree":
      return {
        detail: `The origin of region "${error.region}" does not take the entity: ${error.why}.`,
        region: error.region,
      };
    case "body-too-large-to-replay":
      return {
        detail: `The origin of region "${error.region}" disowned the entity after the body was sent; up to ${error.bytesMax} octets are kept.`,
        region: error.region,
        bytesMax: error.bytesMax,
      };
    case "origin-unreachable":
      return { detail: `The origin of region "${error.region}" ${error.why}.`, region: error.region };
    case "origin-timeout":
      return {
        detail:
          error.which === "total"
            ? `The request had ${error.deadlineMs} ms, and no origin of region "${error.region}" answered in them.`
            : `The origin of region "${error.region}" did not ${error.which === "upload" ? "take more of the body" : "begin its answer"} within ${error.deadlineMs} ms.`,
        region: error.region,
        deadlineMs: error.deadlineMs,
      };
    case "malformed-request":
      return error.pointer === undefined ? { detail: error.detail } : { detail: error.detail, pointer: error.pointer };
    case "not-found":
      return { detail: "The gateway has no such page.", path: shorten(error.path) };
    case "method-not-allowed":
      return { detail: `${error.method} is not taken here.`, allow: error.allow };
    case "body-too-large":
      return { detail: `The body may have ${error.bytesMax} octets.`, bytesMax: error.bytesMax };
    case "precondition-required":
      return { detail: 'A change needs `if-match` with the revision that it is made for, such as `if-match: "41"`.' };
    case "stale-revision":
      return {
        detail: `Revision ${error.current} is in force, and the request was made for revision ${error.expected}.`,
        expected: error.expected,
        current: error.current,
        canary: error.canary,
      };
    case "canary-running":
      return {
        detail: `Revision ${error.canary} runs as a canary; a change that ends it names it in \`if-match\`.`,
        canary: error.canary,
      };
    case "no-canary":
      return { detail: "No canary runs." };
    case "unknown-revision":
      return { detail: `Revision ${error.revision} cannot be had: ${error.why}.`, revision: error.revision };
    case "invalid-table":
      return {
        ...faultCount(error.faults.length),
        faults: error.faults.slice(0, FAULTS_SHOWN_MAX),
      };
    case "unknown-pack":
      return { detail: `Of the pack ${error.sha256} this is not known: ${error.why}.`, sha256: error.sha256 };
    case "invalid-pack":
      return {
        detail: `${error.part === "header" ? "The header" : `Page ${error.part}`} is not that of the pack: ${error.why}.`,
        part: error.part,
        fault: error.fault,
      };
    case "control-plane-unavailable":
      return {
        detail: `The truth about the table could not be asked: ${error.why}.${OUTCOME_SENTENCES[error.outcome ?? "read"]}`,
        outcome: error.outcome,
      };
    case "unknown-name":
      return {
        detail: `The routing table has no ${error.what} "${shorten(error.name)}".`,
        name: shorten(error.name),
        known: error.known,
      };
    case "internal-error":
      return { detail: "The gateway met a defect of its own." };
  }
}

/** What became of a change. */
const OUTCOME_SENTENCES = {
  read: "",
  unknown: " Whether the change is made, or will be, is not known.",
  none: " Nothing was changed.",
} as const;

/** What tells the readings apart stands beside them: the values that the field `id-layout` may have, where it is the layout. */
function ambiguity({ id, candidates }: Extract<RoutingError, { readonly reason: "ambiguous-id" }>): Evidence {
  const idLayouts = [...new Set(candidates.map(({ layout }) => layout))];
  const isByLayout = idLayouts.length > 1;
  const isByEntity = new Set(candidates.map(({ entity }) => entity)).size > 1;
  const ways = [
    ...(isByLayout ? [`send the field id-layout: ${idLayouts.join(" or ")}`] : []),
    ...(isByEntity ? ["use the path of its entity"] : []),
  ];
  const hint = ways.length === 0 ? "" : ` To say which is meant, ${ways.join(", or ")}.`;
  return {
    detail: `"${id}" can be read in several ways that do not lead to one place.${hint}`,
    id,
    candidates,
    ...(isByLayout ? { idLayouts } : {}),
  };
}

/** Where the check of a table ends; `routing/limits.ts` has the same number, which a test holds to this one. */
const FAULTS_COUNTED_MAX = 1_000;

/** How many faults a table has, as far as the check looked. */
function faultCount(count: number): Evidence {
  if (count >= FAULTS_COUNTED_MAX) {
    return { detail: "The table has at least 1,000 faults.", faultCount: count, more: true };
  }
  return { detail: `The table has ${count} fault${count === 1 ? "" : "s"}.`, faultCount: count };
}

/** A table that is wrong throughout is not mended fault by fault. */
const FAULTS_SHOWN_MAX = 100;

/** Longest text of a client that is repeated to it. */
const ECHO_CHARACTERS_MAX = 128;

function forbidden(error: Extract<GatewayError, { readonly reason: "forbidden" }>): Evidence {
  switch (error.why) {
    case "scope":
      return { detail: `This is for the scope "${error.needs}".`, needs: error.needs };
    case "cross-site":
      return { detail: "A browser sent this for another site, or does not say that it did not." };
    case "host":
      return {
        detail:
          "The pages are open to everybody on this machine, so that they are shown by localhost or an address alone: " +
          "any web site can have another name lead here. Ask by http://localhost, or set ADMIN_TOKENS or Access, which close the pages.",
        host: shorten(error.host),
      };
  }
}

function shorten(text: string): string {
  return text.length <= ECHO_CHARACTERS_MAX ? text : `${text.slice(0, ECHO_CHARACTERS_MAX)}…`;
}
