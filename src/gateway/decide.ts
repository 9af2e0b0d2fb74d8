import { err, ok, type Result } from "../ids/result.ts";
import type { GatewayError, RequestError } from "../problems/index.ts";
import {
  type CompiledTable,
  type Entity,
  hintNamed,
  type IdDecision,
  type PathMatch,
  primaryPattern,
  type RoutingError,
  resolveAny,
  resolvePath,
  type WithoutId,
} from "../routing/index.ts";
import { ANY_PREFIX, pathWithId } from "../routing/lookup/paths.ts";
import { entityAt, isRespelled, refusalOfAny, withoutEntity } from "../routing/resolve/owner.ts";
import {
  type EntityReading,
  entityOf,
  type FoundLoads,
  type KeylessErrors,
  type Missing,
  missingIn,
  type ReadId,
  type ReadInput,
  shownOf,
} from "../routing/resolve/reading.ts";
import type { RegionSourceError } from "../routing/resolve/region-sources.ts";
import type { Asked } from "../routing/table.ts";

/**
 * Where a request goes: the one decision behind entity paths, `/any`, `/-/ids`, minting, redirects, replay and the
 * command line. Pure and synchronous: what is not in memory is a named need. Load it, then ask again.
 */

/** The table in force, and the canary beside it. */
export type Tables = Readonly<{ table: CompiledTable; canary: TableCanary | undefined }>;

/** Another table for a part of the IDs. */
export interface TableCanary {
  readonly table: CompiledTable;
  /** Whether it serves an ID that the table in force has decided about. */
  readonly matches: (decision: IdDecision) => boolean;
  /** Whether it serves every ID of an entity, also those that the table in force does not know. */
  readonly ownsEntity: (entity: string) => boolean;
}

/** Inputs of a decision beside the path or the ID. */
export interface DecideInput extends ReadInput {
  readonly tables: Tables;
  /** Answers that were loaded for this decision, and are in no table; see `decideLoading`. */
  readonly found?: FoundLoads | undefined;
}

/** `byCanary`: whether the canary's table decided. */
export type Outcome =
  | {
      readonly kind: "region";
      readonly decision: IdDecision;
      /** Raw path for the origin, with the internal ID. */
      readonly path: string;
      readonly byCanary: boolean;
    }
  | {
      readonly kind: "redirect";
      /** The entity's own path, with the ID as the client wrote it. */
      readonly path: string;
      /** Absent for a public ID: its region and layout are not shown. */
      readonly decision: IdDecision | undefined;
      readonly byCanary: boolean;
    }
  /** No entity owns the path: something other than an ID chooses the region. */
  | { readonly kind: "without-id"; readonly entry: WithoutId; readonly byCanary: boolean }
  | DecideFailure
  | LoadNeed;

/** `entity`: the owner of the path, where it is known. */
export interface DecideFailure {
  readonly kind: "error";
  readonly error: DecideError;
  readonly entity: string | undefined;
  readonly byCanary: boolean;
}

/** Something must be loaded first, by the feature that it names. `error`: the answer where it cannot be had. */
export interface LoadNeed extends Omit<DecideFailure, "kind"> {
  readonly kind: "load";
  readonly table: CompiledTable;
  readonly missing: Missing;
}

export type DecideError =
  | RoutingError
  | KeylessErrors[keyof KeylessErrors]
  | Extract<RequestError, { reason: "unknown-name" | "method-not-allowed" }>;

/** Decides about a request on a path that is not the gateway's own. */
export function decidePath(input: DecideInput, path: string): Outcome {
  const { table, canary } = input.tables;
  if (canary === undefined) return decideByTable(input, table, path, false);
  if (ownsPath(table, canary, path, input.asked)) return decideByTable(input, canary.table, path, true);
  const outcome = decideByTable(input, table, path, false);
  const isCanarys = outcome.kind === "region" && canary.matches(outcome.decision);
  return isCanarys ? decideByTable(input, canary.table, path, true) : outcome;
}

/** The table that made a decision. */
export const deciderOf = ({ table, canary }: Tables, byCanary: boolean): CompiledTable =>
  byCanary && canary !== undefined ? canary.table : table;

function ownsPath(table: CompiledTable, canary: TableCanary, path: string, asked: Asked | undefined): boolean {
  const match = table.paths.match(path, asked) ?? canary.table.paths.match(path, asked);
  return match !== undefined && canary.ownsEntity(match.entity.name);
}

function decideByTable(
  input: DecideInput,
  table: CompiledTable,
  path: string,
  byCanary: boolean,
  match = table.withoutId.literal === undefined
    ? table.paths.match(path, input.asked)
    : entityAt(table, path, input.asked),
): Outcome {
  if (match === undefined || match.allow !== undefined) {
    const found = withoutEntity(table, path, match, input.asked);
    return found.ok ? { kind: "without-id", entry: found.value, byCanary } : failure(table, found.error, byCanary);
  }
  if (table.paths.isOpen && isRespelled(table, match.entity, path, input.asked)) {
    return failure(table, { reason: "unrouted-path", path, isRespelled: true }, byCanary);
  }
  if (match.entity.reading !== undefined) return decideRead(input, table, match, path, byCanary);
  const hint = input.layoutName === undefined ? NO_HINT : hintFor(table, input.layoutName);
  if (!hint.ok) return failure(table, hint.error, byCanary);
  // IDs that are hidden stay unknown here: an error must not reveal them.
  const decided = resolvePath(table.reading?.shown ?? table, match, path, input.nowMs, hint.value);
  if (!decided.ok) return undecided(input, { table, byCanary }, decided.error, path);
  return { kind: "region", decision: decided.value, path, byCanary };
}

/** The table that decides. */
type Decider = Readonly<{ table: CompiledTable; byCanary: boolean }>;

/** The decision once what the error misses is found; other errors stay. */
function undecided(
  input: DecideInput,
  { table, byCanary }: Decider,
  error: DecideError,
  path: string,
  entity?: string,
): Outcome {
  const settled = settleError(input, error);
  return settled.ok
    ? { kind: "region", decision: settled.value, path, byCanary }
    : failure(table, settled.error, byCanary, entity);
}

export function settleError<Other extends DecideError>(
  { found }: DecideInput,
  error: Other,
): Result<IdDecision, Other | RoutingError> {
  const missing = found === undefined ? undefined : missingIn(error);
  if (missing?.settle === undefined) return err(error);
  const answer = found?.get(missing.answerName ?? "");
  return answer === undefined ? err(error) : missing.settle(answer);
}

/** The ID is read by the feature that its entity has for it. */
function decideRead(
  input: DecideInput,
  table: CompiledTable,
  match: PathMatch,
  path: string,
  byCanary: boolean,
): Outcome {
  const { hides, read } = match.entity.reading as EntityReading;
  const found = read(input, table, match, path);
  if (found.ok) return { kind: "region", decision: found.value.decision, path: found.value.path, byCanary };
  return undecided(input, { table, byCanary }, found.error, path, hides ? match.entity.name : undefined);
}

/**
 * Decides about an ID of a known entity, as if it were on the entity's primary path. `layout`: the one that it was made
 * with, where that is known; otherwise each layout of the entity may read it.
 */
export function decideEntity(input: DecideInput, name: string, text: string, layout?: string): Outcome {
  const { table, canary } = input.tables;
  const named = { name, given: text, layout };
  if (canary?.ownsEntity(name)) return decideOwn(input, canary.table, named, true);
  const outcome = decideOwn(input, table, named, false);
  if (outcome.kind !== "region" || canary === undefined) return outcome;
  return canary.matches(outcome.decision) ? decideOwn(input, canary.table, named, true) : outcome;
}

/** An ID, and the entity that it is said to be of. */
type NamedId = Readonly<{ name: string; given: string; layout: string | undefined }>;

function decideOwn(
  input: DecideInput,
  table: CompiledTable,
  { name, given, layout }: NamedId,
  byCanary: boolean,
): Outcome {
  const entity = table.entities.get(name);
  if (entity === undefined) {
    const known = [...table.entities.keys()];
    return failure(table, { reason: "unknown-name", what: "entity", name, known }, byCanary);
  }
  // A key comes as it is, and is read as on a path.
  const isWhole = !LONE_SURROGATE.test(given);
  const text = entity.reading?.isEncoded === true && isWhole ? encodeURIComponent(given) : given;
  // A path that goes on behind the ID would match too.
  if (text === "" || text.includes("/") || !isWhole) {
    return failure(table, { reason: "malformed-id", id: text, faults: [] }, byCanary, name);
  }
  const patternOf = (of: string | undefined) => primaryPattern(entity, of ?? "") ?? "";
  const pattern = patternOf(layout ?? entity.ids[0]?.enabled.layout.name);
  const idStart = pattern.indexOf(":id");
  const hint = layout === undefined ? undefined : entity.pathHints.get(pattern);
  const match = { entity, idStart, idEnd: idStart + text.length, hint };
  const outcome = decideByTable(input, table, pathWithId(pattern, text), byCanary, match);
  if (outcome.kind !== "region" || entity.reading?.hides === true) return outcome;
  return { ...outcome, path: pathWithId(patternOf(outcome.decision.layout), text) };
}

/**
 * Decides about a request for `/any/:id` or a path below it. The canary serves an ID that the table in force has decided
 * about, or any ID of an entity that is all its own: then it is asked in turn.
 */
export function decideAny(input: DecideInput, path: string, byCanary = false): Outcome {
  const { canary } = input.tables;
  const table = byCanary && canary !== undefined ? canary.table : input.tables.table;
  const other = byCanary ? undefined : canary;
  const slash = path.indexOf("/", ANY_PREFIX.length);
  const id = path.slice(ANY_PREFIX.length, slash === -1 ? path.length : slash);
  const reading = readHinted(input, table, id, byCanary);
  if (reading.kind === "load") return reading;
  if (reading.kind === "error") return other === undefined ? reading : unreadOnAny(input, path, id, reading, other);
  const decision = reading.kind === "plain" ? reading.decision : undefined;
  const entity = reading.kind === "plain" ? reading.decision.entity : reading.entity;
  // The table in force may know an entity that hides its IDs, and no region for this one.
  if (decision === undefined ? other?.ownsEntity(entity.name) : other?.matches(decision)) {
    return decideAny(input, path, true);
  }
  const pattern = primaryPattern(entity, decision?.layout ?? entity.ids[0]?.enabled.layout.name ?? "") ?? "";
  const idStart = pattern.indexOf(":id");
  const rest = path.slice(ANY_PREFIX.length + id.length);
  const ownPath = pattern.slice(0, idStart) + id + pattern.slice(idStart + ":id".length) + rest;
  const mayBeElsewhere = table.hasConditions || entity.closedPaths !== undefined;
  const refusal = mayBeElsewhere ? refusalOfAny(table, entity, ownPath, input.asked) : undefined;
  if (refusal !== undefined) return failure(table, refusal, byCanary, entity.name);
  const redirect = entity.any === "proxy" ? undefined : redirectFor(input, entity, ownPath, decision, byCanary);
  if (redirect !== undefined) return redirect;
  if (decision !== undefined) return { kind: "region", decision, path: ownPath, byCanary };
  const match = { entity, idStart, idEnd: idStart + id.length, hint: undefined };
  const outcome = decideRead(input, table, match, ownPath, byCanary);
  return outcome.kind === "region" && other?.matches(outcome.decision) ? decideAny(input, path, true) : outcome;
}

/** The canary may know an ID that the table in force cannot read, of an entity that is all its own. */
function unreadOnAny(
  input: DecideInput,
  path: string,
  id: string,
  unread: DecideFailure,
  canary: TableCanary,
): Outcome {
  if (!ownsAny(canary)) return unread;
  const second = readHinted(input, canary.table, id, false);
  if (second.kind === "load") return second;
  return second.kind !== "error" && canary.ownsEntity(entityOf(second).name) ? decideAny(input, path, true) : unread;
}

/** Where `/any` leads an ID; a redirect to the entity's own path is followed. */
export function decideId(input: DecideInput, id: string): Exclude<Outcome, { kind: "redirect" }> {
  const any = decideAny(input, ANY_PREFIX + id);
  if (any.kind !== "redirect") return any;
  const own = decidePath({ ...input, layoutName: undefined }, any.path);
  // Only `/any` redirects.
  if (own.kind === "redirect") throw new Error(`${any.path} redirects once more`);
  return own;
}

const ownsAny = ({ table, ownsEntity }: TableCanary): boolean => [...table.entities.keys()].some(ownsEntity);

/**
 * The redirect to the entity's own path, or `undefined` where the request is proxied. Beside a canary a request for
 * that path may be decided by the other table: then it would lose its way.
 */
function redirectFor(
  input: DecideInput,
  entity: Entity,
  path: string,
  decision: IdDecision | undefined,
  byCanary: boolean,
): Outcome | undefined {
  const redirect = { kind: "redirect", path, decision, byCanary } as const;
  if (input.tables.canary === undefined) return redirect;
  const next = decidePath({ ...input, layoutName: undefined }, path);
  if (next.kind === "load") return next;
  const isSame = next.kind === "region" && next.byCanary === byCanary && next.decision.entity.name === entity.name;
  return isSame ? redirect : undefined;
}

/** Reads an ID by the layout that the request names. */
function readHinted(
  input: DecideInput,
  table: CompiledTable,
  id: string,
  byCanary: boolean,
): ReadId | DecideFailure | LoadNeed {
  const { layoutName } = input;
  const hint = layoutName === undefined ? NO_HINT : hintFor(table, layoutName);
  if (!hint.ok) return failure(table, hint.error, byCanary);
  if (table.reading === undefined) {
    const plain = resolveAny(table, id, input.nowMs, hint.value, input.asked);
    return plain.ok ? { kind: "plain", decision: plain.value } : settlePlain(input, table, plain.error, byCanary);
  }
  const reading = table.reading.read(input, table, id, hint.value);
  return reading.ok ? reading.value : settlePlain(input, table, reading.error, byCanary);
}

function settlePlain(input: DecideInput, table: CompiledTable, error: DecideError, byCanary: boolean) {
  const settled = settleError(input, error);
  return settled.ok ? ({ kind: "plain", decision: settled.value } as const) : failure(table, settled.error, byCanary);
}

/** Half a surrogate pair: no ID has one, and it cannot be percent-encoded. */
export const LONE_SURROGATE = /\p{Cs}/u;

const NO_HINT = ok(undefined);

/** An error lists no layout that entities which hide their IDs alone have. */
export function hintFor(table: CompiledTable, layoutName: string | undefined): ReturnType<typeof hintNamed> {
  const hint = hintNamed(table, layoutName);
  return hint.ok ? hint : hintNamed(shownOf(table), layoutName);
}

/** A read of `/` that no entity owns is answered by the gateway's start page. */
export const isStartPage = (path: string, method: string, { reason }: { readonly reason: string }): boolean =>
  path === "/" && reason === "unrouted-path" && (method === "GET" || method === "HEAD");

/** A path that no entity owns may be the start page, or one that a feature answers: it takes other methods (RFC 9110 §15.5.6). */
export function refusalAt<E extends { readonly reason: string }>(
  tables: Tables,
  path: string,
  method: string,
  error: E,
) {
  if (error.reason !== "unrouted-path") return error;
  const own = [...(path === "/" ? READING : []), ...ownMethodsInForce(tables, path)];
  const allow = [...READING, "POST"].filter((one) => own.includes(one));
  return allow.length === 0 ? error : ({ reason: "method-not-allowed", method, allow } as const);
}

const READING = ["GET", "HEAD"];

/** Methods of features at a path, by the table that decides about their entity: a canary's where the entity is all its own. */
function ownMethodsInForce({ table, canary }: Tables, path: string): readonly string[] {
  const methodsIn = ({ ownPaths }: CompiledTable, isInForce: (entity: string) => boolean) =>
    ownPaths.flatMap(({ methods = [], ownerAt }) => {
      const owner = ownerAt(path);
      return owner !== undefined && isInForce(owner.name) ? methods : [];
    });
  const ownsEntity = (entity: string): boolean => canary?.ownsEntity(entity) === true;
  return [
    ...(canary === undefined ? [] : methodsIn(canary.table, ownsEntity)),
    ...methodsIn(table, (entity) => !ownsEntity(entity)),
  ];
}

/** Something that the error misses is a need. */
export const failure = (
  table: CompiledTable,
  error: DecideError,
  byCanary: boolean,
  entity?: string,
): DecideFailure | LoadNeed => {
  const missing = missingIn(error);
  return missing === undefined
    ? { kind: "error", error, entity, byCanary }
    : { kind: "load", table, missing, error, entity, byCanary };
};

/** Why no source chose a region. Where none says anything, it lists all that could have, IDs first. */
export const noRegion = (entry: WithoutId, error: RegionSourceError, path: string): GatewayError => {
  if (error.reason !== "region-unknown") return error;
  return { ...error, path, sources: [...(entry.idPlaces ?? []), ...error.sources] };
};
