import {
  type DecideError,
  type DecideInput,
  decideAny,
  decidePath,
  isStartPage,
  type Outcome,
  refusalAt,
} from "../../gateway/decide.ts";
import type { CompiledTable, Entity, WithoutId } from "../../routing/index.ts";
import { takesMethod } from "../../routing/lookup/choice.ts";
import { ANY_PREFIX, GATEWAY_PATH, NOT_NORMALIZED } from "../../routing/lookup/paths.ts";
import { hostsOf } from "../../routing/resolve/owner.ts";
import { lacksKey, shownOf } from "../../routing/resolve/reading.ts";
import type { Asked } from "../../routing/table.ts";

/** A request of the past, as logs know it. `path`: raw, as it was sent; a query is passed over. */
export type LoggedRequest = Readonly<{ method: string; path: string }>;

/** Where a table leads a request. Plain JSON. */
export type Destination =
  | { readonly kind: "region"; readonly region: string; readonly entity: string }
  /** `reason`: the slug of the problem that the client is answered with. */
  | { readonly kind: "refused"; readonly reason: Refusal; readonly entity: string | undefined }
  /** A page or an endpoint of the gateway itself. */
  | { readonly kind: "own" }
  /** Depends on what is not at hand: the key of a public ID, the fields of a request without an ID, a page of a pack, a key of a directory. */
  | { readonly kind: "open"; readonly why: Unknown; readonly entity: string | undefined };

type Unknown = "public-id" | "request-fields" | "pack" | "directory";

type Refusal =
  /** But for those that come of what is not at hand: the outcome is open then. */
  | Exclude<DecideError["reason"], "table-unavailable" | "directory-unavailable" | "public-ids-unavailable">
  | "malformed-request"
  | "method-not-allowed"
  | "region-unknown";

/** `open`: a table decides by something that is not known here, and both may come to the same. */
export type ReplayResult = "same" | "changed" | "open";

export type Replayed = Readonly<{ before: Destination; after: Destination; verdict: ReplayResult }>;

/** Sends a request of the past through two tables. `nowMs` (Unix ms) is when it would be sent. */
export const replay = (
  before: CompiledTable,
  after: CompiledTable,
  request: LoggedRequest,
  nowMs: number,
): Replayed => {
  const left = destinationOf(before, request, nowMs);
  const right = destinationOf(after, request, nowMs);
  const settled = isSame(left, right) ? "same" : "changed";
  return { before: left, after: right, verdict: mayMeet(left, right) || mayMeet(right, left) ? "open" : settled };
};

/** A public ID and an internal one are never alike, nor are a refused path and one that is read. */
const mayMeet = (unknown: Destination, other: Destination): boolean => {
  if (unknown.kind !== "open") return false;
  if (unknown.why === "pack" || unknown.why === "directory") return true;
  return (unknown.why === "request-fields" && other.kind === "region") || isSame(unknown, other);
};

/** The owner of a refused path makes no difference to a client, but the reason does. */
const isSame = (before: Destination, after: Destination): boolean =>
  before.kind === "refused" && after.kind === "refused"
    ? before.reason === after.reason
    : JSON.stringify(before) === JSON.stringify(after);

/** Replaces public IDs, and paths that may hold one, in the gateway's own log. */
const HIDDEN_ID = ":id";
const HIDDEN_PATH = "/*";

/** Where one table leads a request, by the gateway's own decision. Logs do not know its host: it is open where hosts decide. */
export const destinationOf = (table: CompiledTable, request: LoggedRequest, nowMs: number): Destination => {
  const on = (servedHost: string) => destinationOn(table, request, nowMs, servedHost);
  const elsewhere = on("");
  const isSettled = hostsOf(table).every((host) => isSame(on(host), elsewhere));
  return isSettled ? elsewhere : open("request-fields", undefined);
};

const destinationOn = (
  table: CompiledTable,
  { method, path: target }: LoggedRequest,
  nowMs: number,
  servedHost: string,
): Destination => {
  const [path = ""] = target.split("?", 1);
  if (GATEWAY_PATH.test(path)) return { kind: "own" };
  if (NOT_NORMALIZED.test(path)) return refused("malformed-request", undefined);
  if (path === HIDDEN_PATH) return open("public-id", undefined);
  const asked = { method, preflightFor: undefined, servedHost };
  // No keys are at hand.
  const input = { tables: { table, canary: undefined }, ports: {}, layoutName: undefined, nowMs, asked };
  return path.startsWith(ANY_PREFIX) ? destinationUnderAny(input, path) : destinationOnPath(input, path);
};

type Input = DecideInput & { readonly asked: Asked };

/** The plain readings decide first, and what has none may be a public ID. */
const destinationUnderAny = (input: Input, path: string): Destination => {
  const { table } = input.tables;
  const [id = ""] = path.slice(ANY_PREFIX.length).split("/", 1);
  if (id === HIDDEN_ID || mayBePublic(table, id)) return open("public-id", undefined);
  const outcome = decideAny({ ...input, tables: { table: shownOf(table), canary: undefined } }, path);
  return outcome.kind === "error" && table.reading !== undefined
    ? open("public-id", undefined)
    : destination(outcome, input.asked.method);
};

/** On a path of a public entity the decision stays open. */
const destinationOnPath = (input: Input, path: string): Destination => {
  const { tables, asked } = input;
  const { ownPaths, paths } = tables.table;
  const { method } = asked;
  for (const { methods, answeredBy, ownerAt } of ownPaths) {
    const owner = methods?.includes(method) === false ? undefined : ownerAt(path);
    if (owner !== undefined)
      return answeredBy === "chosen-regions" ? open("request-fields", owner.name) : { kind: "own" };
  }
  const match = paths.match(path, asked);
  if (match !== undefined && path.slice(match.idStart, match.idEnd) === HIDDEN_ID)
    return open("public-id", match.entity.name);
  const outcome = decidePath(input, path);
  if (outcome.kind !== "error") return destination(outcome, method);
  if (isStartPage(path, method, outcome.error)) return { kind: "own" };
  const error = refusalAt(tables, path, method, outcome.error);
  return error.reason === "method-not-allowed" ? refused(error.reason, undefined) : destination(outcome, method);
};

/** Only the keys tell whether a text of such a form is a public ID. A public ID would make a plain reading ambiguous. */
const mayBePublic = (table: CompiledTable, id: string): boolean =>
  table.reading !== undefined && table.reading.ownersOfForm(table, id).length > 0;

function destination(outcome: Outcome, method: string): Destination {
  switch (outcome.kind) {
    case "region":
    case "redirect": {
      const { kind, decision } = outcome;
      if (decision === undefined) return open("public-id", undefined);
      // TRACE would show the client what the gateway adds (RFC 9110 §9.3.8).
      if (kind === "region" && method === "TRACE") return refused("method-not-allowed", decision.entity.name);
      return inRegion(decision.target.region.name, decision.entity);
    }
    case "without-id":
      return withoutId(outcome.entry, method);
    case "load":
      return open(KEPT_IN[outcome.missing.feature] ?? "request-fields", entityIn(outcome.error));
    case "error": {
      const { error, entity } = outcome;
      return lacksKey(error) ? open("public-id", entity) : refused(error.reason as Refusal, entityIn(error));
    }
  }
}

/** By the feature that would load what is missing. */
const KEPT_IN: Readonly<Record<string, Unknown>> = { packs: "pack", directory: "directory" };

const entityIn = (error: DecideError): string | undefined => ("entity" in error ? error.entity : undefined);

const open = (why: Unknown, entity: string | undefined): Destination => ({ kind: "open", why, entity });

const refused = (reason: Refusal, entity: string | undefined): Destination => ({ kind: "refused", reason, entity });

const inRegion = (region: string, { name }: Entity): Destination => ({ kind: "region", region, entity: name });

/** A region is certain only where no field of the request can say another one. */
const withoutId = (entry: WithoutId, method: string): Destination => {
  const { entity, sources, idPlaces } = entry;
  if (!takesMethod(entry, { method, preflightFor: undefined })) return refused("method-not-allowed", entity.name);
  if (idPlaces !== undefined) return open("request-fields", entity.name);
  const [first] = sources;
  if (first === undefined) return refused("region-unknown", entity.name);
  if (method === "TRACE" && sources.some(({ kind }) => kind === "region"))
    return refused("method-not-allowed", entity.name);
  if (first.kind === "region") return inRegion(first.region, entity);
  return open("request-fields", entity.name);
};
