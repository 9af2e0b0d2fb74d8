import { readIdempotencyKey } from "../../../formats/key-field.ts";
import {
  type DecideInput,
  decideAny,
  decidePath,
  deciderOf,
  type LoadNeed,
  noRegion,
  type Outcome,
  refusalAt,
} from "../../../gateway/decide.ts";
import { refusalOfOwn } from "../../../gateway/explain-id.ts";
import type { Placed } from "../../../gateway/feature.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import { type GatewayError, type Problem, problemOf } from "../../../problems/index.ts";
import { isHost } from "../../../proxy/addresses/host.ts";
import { decodeUtf8 } from "../../../proxy/body.ts";
import { METHODS, rejectFenced } from "../../../proxy/deliver.ts";
import { withoutPrefix } from "../../../proxy/path-prefix.ts";
import { chooseRegion, type RequestSays } from "../../../routing/index.ts";
import { takesMethod } from "../../../routing/lookup/choice.ts";
import { ANY_PREFIX, NOT_NORMALIZED } from "../../../routing/lookup/paths.ts";
import type { OwnRequest } from "../../../routing/own-request.ts";
import { type SourceStep, stepsOf } from "../../../routing/resolve/region-sources.ts";
import type { Asked, Entity, IdDecision, Region, WithoutId } from "../../../routing/table.ts";
import type { IdPlaces } from "../table/types.ts";
import { agree, type LocatedId, locateIds, PATH } from "./locate.ts";
import { bodyTypeOf, type FoundId, readPlaces } from "./read.ts";

/** Where a whole request would go and why, by the same steps as the gateway. Nothing is sent. */

export interface WholeRequest extends RequestSays {
  readonly method: string;
  /** The claims of its token, or why they cannot be had; asked for only where a place is a claim. */
  readonly claims: Result<Readonly<Record<string, unknown>> | undefined, GatewayError>;
  readonly body: Uint8Array;
}

/** A request as people write it down. */
export interface RequestText {
  readonly method: string;
  /** A path, or a URL with its host. */
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  readonly country: string | undefined;
  readonly continent: string | undefined;
}

const TARGET = /^(?:https?:\/\/([^/?#]*))?(\/[^?#]*)?(\?[^#]*)?(?:#|$)/i;

/** `undefined` where the URL is none. */
export function wholeRequest(text: RequestText, claims: WholeRequest["claims"]): WholeRequest | undefined {
  const { headers, country, continent } = text;
  const [, authority, path = "/", query = ""] = TARGET.exec(text.url) ?? [];
  if (authority === undefined && !text.url.startsWith("/")) return undefined;
  const header = (name: string): string | undefined => {
    const own = headers.flatMap(([of, value]) => (of.toLowerCase() === name ? [value] : []));
    // As the runtime joins them, cookies too.
    return own.length === 0 ? undefined : own.join(", ");
  };
  return {
    method: text.method,
    path,
    query,
    header,
    body: text.body,
    claims,
    host: authority ?? header("host") ?? "",
    country: () => country,
    continent: () => continent,
  };
}

/** One ID of the request. */
export interface ExplainedId {
  readonly place: string;
  readonly entity: string;
  readonly id: string;
  /** Absent where the ID leads nowhere. `layout`: absent for a public entity. */
  readonly region?: string;
  readonly layout?: string;
  readonly problem?: Problem;
}

/** Plain JSON. */
export interface ExplainedRequest {
  readonly kind: "explained";
  readonly byCanary: boolean;
  /** Whose path it is: the name of an entity, or of a path without one. */
  readonly owner?: string | undefined;
  /** Everything that is read, whether it is there or not. */
  readonly places: readonly string[];
  readonly ids: readonly ExplainedId[];
  /** Where the region comes from without an ID, and all sources that were asked for it. */
  readonly source?: string;
  readonly sources?: readonly SourceStep[];
  /** The entity that the request creates: its region follows from the new ID. */
  readonly creates?: string;
  /** The entity that is listed over the regions that the query leaves. */
  readonly lists?: string;
  /** The IDs of its document decide; they are not read here. */
  readonly isGraphql?: true;
  /** The path that the client is redirected to. */
  readonly redirect?: string;
  readonly region?: string | undefined;
  /** Set where the table takes a prefix off: the URL of the one origin, else path and query at each. */
  readonly sent?: string;
  readonly problem?: Problem;
}

/** The gateway's own answers have no region. */
const OWN_PAGES: ReadonlyMap<string, string> = new Map([
  ["/any", "The gateway serves many IDs here. Explain each of them, or use `waybill locate FILE` for all."],
  ["/mint", "The gateway makes IDs here: no region is asked. Each new ID can be explained."],
]);

const NOTHING: ExplainedRequest = { kind: "explained", byCanary: false, places: [], ids: [] };

export function explainRequest(given: DecideInput, request: WholeRequest): ExplainedRequest | LoadNeed {
  const { path, method } = request;
  const input = { ...given, asked: askedOf(request) };
  if (!isHost(request.host) || NOT_NORMALIZED.test(path)) {
    const error = {
      reason: "malformed-request",
      detail: "No URL can have the host, or the path is not resolved.",
    } as const;
    return { ...NOTHING, problem: problemOf(error) };
  }
  const endpoint = explainEndpoint(input, request);
  if (endpoint !== undefined) return { ...NOTHING, ...endpoint };
  const outcome = path.startsWith(ANY_PREFIX) ? decideAny(input, path) : decidePath(input, path);
  switch (outcome.kind) {
    case "load":
      return outcome;
    case "error": {
      const { byCanary } = outcome;
      const problem = problemOf(refusalAt(input.tables, path, method, outcome.error));
      return { ...NOTHING, byCanary, owner: outcome.entity ?? ownerOf(input, path), problem };
    }
    case "redirect": {
      const { byCanary, decision } = outcome;
      return { ...NOTHING, byCanary, redirect: outcome.path, region: decision?.target.region.name };
    }
    case "region":
      return explainIds(input, request, outcome);
    case "without-id": {
      const { entry } = outcome;
      if (takesMethod(entry, input.asked)) return explainIds(input, request, outcome);
      const error = { reason: "method-not-allowed", method, allow: entry.methods ?? [] } as const;
      return { ...NOTHING, owner: entry.entity.name, problem: problemOf(error) };
    }
  }
}

/** An endpoint of the gateway: its own pages, and paths that features answer. */
function explainEndpoint(input: DecideInput, request: WholeRequest): Partial<ExplainedRequest> | undefined {
  const { path, method } = request;
  const { table } = input.tables;
  const own = OWN_PAGES.get(path);
  if (own !== undefined) return { problem: problemOf({ reason: "malformed-request", detail: own }) };
  for (const { feature, methods, ownerAt, plain } of table.ownPaths) {
    const owner = methods?.includes(method) === false ? undefined : ownerAt(path)?.name;
    if (owner === undefined) continue;
    const refused = refusalOfOwn(feature, table, ownRequest(input, request));
    return { owner, ...plain(owner), ...(refused && { problem: problemOf(refused as GatewayError) }) };
  }
  return undefined;
}

const ownRequest = (input: DecideInput, request: WholeRequest): OwnRequest<IdDecision> => ({
  ...request,
  text: decodeUtf8,
  key: readIdempotencyKey(request.header("idempotency-key")),
  above(end) {
    const path = request.path.slice(0, end);
    const outcome = decidePath(input, path);
    if (outcome.kind === "error") return err(outcome.error);
    if (outcome.kind !== "region") return err({ reason: "unrouted-path", path } as const);
    const fenced = rejectFenced(outcome.decision, request.method, false);
    return fenced === undefined ? ok(outcome.decision) : err(fenced);
  },
});

const askedOf = ({ method, host, header }: WholeRequest): Asked => ({
  method,
  preflightFor: method === "OPTIONS" ? header("access-control-request-method") : undefined,
  servedHost: host,
});

const matchOf = ({ tables: { table, canary }, asked }: DecideInput, path: string) =>
  table.paths.match(path, asked) ?? canary?.table.paths.match(path, asked);

const ownerOf = (input: DecideInput, path: string): string | undefined => matchOf(input, path)?.entity.name;

/** As the client wrote it. */
function idInPath(input: DecideInput, path: string): string {
  if (path.startsWith(ANY_PREFIX)) return path.slice(ANY_PREFIX.length).split("/", 1)[0] ?? "";
  const match = matchOf(input, path);
  return match === undefined ? "" : path.slice(match.idStart, match.idEnd);
}

/** As the client wrote it: the internal ID of a public one stays inside. */
function idOfPath(input: DecideInput, path: string, outcome: Extract<Placed, { readonly kind: "region" }>): LocatedId {
  const { entity, id } = outcome.decision;
  const text = entity.reading?.hides === true ? idInPath(input, path) : id;
  return { place: PATH, entity: entity.name, text, outcome };
}

function explainIds(input: DecideInput, request: WholeRequest, outcome: Placed): ExplainedRequest | LoadNeed {
  const isById = outcome.kind === "region";
  const { idIn } = isById ? outcome.decision.entity : outcome.entry;
  const entity = isById ? outcome.decision.entity : outcome.entry.entity;
  const inPath = isById ? [idOfPath(input, request.path, outcome)] : [];
  const places = [...inPath.map(({ place }) => place), ...(idIn?.places ?? []).map(({ label }) => label)];
  const read = idIn === undefined ? ok([]) : readWhole(idIn, request);
  const located = locateIds(input, read.ok ? read.value : [], true);
  if (located.kind === "load") return located;
  const all = [...inPath, ...located.ids];
  const byCanary = isById && outcome.byCanary;
  const explained = { ...NOTHING, byCanary, owner: entity.name, places, ids: all.map(shownId) };
  const agreed = read.ok ? agree(all) : read;
  if (!agreed.ok) return { ...explained, problem: problemOf(agreed.error) };
  const [first] = agreed.value;
  if (first !== undefined) {
    const { region } = first.decision.target;
    const refused = refusalOnTheWay(first.decision, request.method);
    if (refused !== undefined) return { ...explained, byCanary: first.byCanary, problem: problemOf(refused) };
    const owner = isById ? first.decision.entity : entity;
    return { ...explained, byCanary: first.byCanary, region: region.name, ...sentOf(request, owner, region) };
  }
  if (isById) throw new Error("the ID in the path is one of all");
  return explainSources(input, request, outcome.entry, explained);
}

/** Refusals after the decision: of a write to an entity that moves, and of a method that goes no further. */
const refusalOnTheWay = (decision: IdDecision, method: string): GatewayError | undefined =>
  endedHere(method) ?? rejectFenced(decision, method, false);

const endedHere = (method: string): GatewayError | undefined =>
  method === "TRACE" ? { reason: "method-not-allowed", method, allow: METHODS } : undefined;

/** A request without any ID goes where the sources of its path say. */
function explainSources(
  { tables }: DecideInput,
  request: WholeRequest,
  entry: WithoutId,
  explained: ExplainedRequest,
): ExplainedRequest {
  const { sources, entity } = entry;
  const asked = { ...explained, sources: stepsOf(sources, request) };
  const choice = chooseRegion(sources, request);
  if (!choice.ok) return { ...asked, problem: problemOf(noRegion(entry, choice.error, request.path)) };
  const { region, label } = choice.value;
  const ended = endedHere(request.method);
  if (ended !== undefined) return { ...asked, problem: problemOf(ended) };
  return { ...asked, region, source: label, ...sentOf(request, entity, deciderOf(tables, false).regions.get(region)) };
}

function sentOf({ path, query }: WholeRequest, owner: Entity | undefined, region: Region | undefined) {
  // The path of a public entity has another ID there.
  if (owner?.removePrefix === undefined || owner.reading?.hides === true) return {};
  const target = withoutPrefix(path + query, owner.removePrefix);
  const [origin, second] = region?.origins ?? [];
  return { sent: origin === undefined || second !== undefined ? target : origin.url + target };
}

function shownId({ place, entity, text, outcome }: LocatedId): ExplainedId {
  const of = { place, entity, id: text };
  if (outcome.kind === "error") return { ...of, problem: problemOf(outcome.error) };
  const { decision } = outcome as Extract<Outcome, { readonly kind: "region" }>;
  const layout = decision.entity.reading?.hides === true ? {} : { layout: decision.layout };
  return { ...of, region: decision.target.region.name, ...layout };
}

function readWhole(places: IdPlaces, request: WholeRequest): Result<readonly FoundId[], GatewayError> {
  const { method, query, header, body } = request;
  const claims = places.readsToken ? request.claims : ok(undefined);
  if (!claims.ok) return claims;
  const type = body.length === 0 ? ok(undefined) : bodyTypeOf(places, method, header);
  if (!type.ok) return err(type.error);
  const head = { bytes: body.subarray(0, places.peekBytes), isWhole: body.length <= places.peekBytes };
  return readPlaces(places, {
    query,
    header,
    claims: claims.value,
    body: type.value && { ...head, type: type.value },
  });
}
