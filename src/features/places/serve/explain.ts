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
import { err, ok, type Result } from "../../../ids/result.ts";
import { type GatewayError, type Problem, problemOf } from "../../../problems/index.ts";
import { isHost } from "../../../proxy/addresses/host.ts";
import { withoutPrefix } from "../../../proxy/path-prefix.ts";
import { chooseRegion, type RequestSays } from "../../../routing/index.ts";
import { takesMethod } from "../../../routing/lookup/choice.ts";
import { ANY_PREFIX, NOT_NORMALIZED } from "../../../routing/lookup/paths.ts";
import { type SourceStep, stepsOf } from "../../../routing/resolve/region-sources.ts";
import type { Asked, Entity, Region, WithoutId } from "../../../routing/table.ts";
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
  ["/any", "The gateway serves many IDs here. Explain each of them, or use `waybill locate` for all."],
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
  const own = OWN_PAGES.get(path);
  if (own !== undefined) return { ...NOTHING, problem: problemOf({ reason: "malformed-request", detail: own }) };
  const isRead = method === "GET" || method === "HEAD";
  const listed = isRead ? input.tables.table.lists?.get(path)?.entity.name : undefined;
  if (listed !== undefined) return { ...NOTHING, owner: listed, lists: listed };
  const { graphql } = input.tables.table;
  if (graphql?.path === path) return { ...NOTHING, owner: graphql.entity.name, isGraphql: true };
  const created = method === "POST" ? input.tables.table.creates?.match(path)?.entity.entity.name : undefined;
  if (created !== undefined) return { ...NOTHING, owner: created, creates: created };
  const outcome = path.startsWith(ANY_PREFIX) ? decideAny(input, path) : decidePath(input, path);
  if (outcome.kind === "load") return outcome;
  const { byCanary } = outcome;
  switch (outcome.kind) {
    case "error": {
      const problem = problemOf(refusalAt(input.tables, path, method, outcome.error));
      return { ...NOTHING, byCanary, owner: outcome.entity ?? ownerOf(input, path), problem };
    }
    case "redirect":
      return { ...NOTHING, byCanary, redirect: outcome.path, region: outcome.decision?.target.region.name };
    case "region": {
      const { entity, id } = outcome.decision;
      // The internal ID of a public one stays inside.
      const text = entity.public === undefined ? id : idInPath(input, path);
      const own = { place: PATH, entity: entity.name, text, outcome };
      return explainIds(input, request, entity.idIn, { ...NOTHING, byCanary, owner: entity.name }, [own], undefined);
    }
    case "without-id": {
      const { entry } = outcome;
      const owner = entry.entity.name;
      if (!takesMethod(entry, askedOf(request))) {
        const error = { reason: "method-not-allowed", method, allow: entry.methods ?? [] } as const;
        return { ...NOTHING, owner, problem: problemOf(error) };
      }
      return explainIds(input, request, entry.idIn, { ...NOTHING, owner }, [], entry);
    }
  }
}

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

function explainIds(
  input: DecideInput,
  request: WholeRequest,
  idIn: IdPlaces | undefined,
  known: ExplainedRequest,
  inPath: readonly LocatedId[],
  entry: WithoutId | undefined,
): ExplainedRequest | LoadNeed {
  const places = [...inPath, ...(idIn?.places ?? [])].map((place) => ("label" in place ? place.label : place.place));
  const read = idIn === undefined ? ok([]) : readWhole(idIn, request);
  const located = locateIds(input, read.ok ? read.value : [], true);
  if (located.kind === "load") return located;
  const all = [...inPath, ...located.ids];
  const explained = { ...known, places, ids: all.map(shownId) };
  const agreed = read.ok ? agree(all) : read;
  if (!agreed.ok) return { ...explained, problem: problemOf(agreed.error) };
  const [first] = agreed.value;
  const table = deciderOf(input.tables, first?.byCanary ?? false);
  const owner = entry?.entity ?? first?.decision.entity;
  if (first !== undefined) {
    const { region } = first.decision.target;
    return { ...explained, byCanary: first.byCanary, region: region.name, ...sentOf(request, owner, region) };
  }
  const { sources } = entry as WithoutId;
  const asked = { ...explained, sources: stepsOf(sources, request) };
  const choice = chooseRegion(sources, request);
  if (choice.ok) {
    const { region, label } = choice.value;
    return { ...asked, region, source: label, ...sentOf(request, owner, table.regions.get(region)) };
  }
  return { ...asked, problem: problemOf(noRegion(entry as WithoutId, choice.error, request.path)) };
}

function sentOf({ path, query }: WholeRequest, owner: Entity | undefined, region: Region | undefined) {
  // The path of a public entity has another ID there.
  if (owner?.removePrefix === undefined || owner.public !== undefined) return {};
  const target = withoutPrefix(path + query, owner.removePrefix);
  const [origin, second] = region?.origins ?? [];
  return { sent: origin === undefined || second !== undefined ? target : origin.url + target };
}

function shownId({ place, entity, text, outcome }: LocatedId): ExplainedId {
  const of = { place, entity, id: text };
  if (outcome.kind === "error") return { ...of, problem: problemOf(outcome.error) };
  const { decision } = outcome as Extract<Outcome, { readonly kind: "region" }>;
  const layout = decision.entity.public === undefined ? { layout: decision.layout } : {};
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
