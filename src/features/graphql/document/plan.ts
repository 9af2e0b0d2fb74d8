import { type FieldNode, Kind, type SelectionSetNode } from "graphql/language";
import { err, ok, type Result } from "../../../ids/result.ts";
import { isLeftOut, type Operation } from "./document.ts";
import { type FieldIds, type FoundId, IdFinder, type IdRule, NO_ID_IN_LIST, UNTYPED } from "./ids.ts";
import { documentFault, type GraphqlFault } from "./request.ts";

/** A field of the root by its response key: of several nodes with one key the results are put together (§6.3.2). */
export interface RootField extends FieldIds {
  readonly key: string;
  readonly name: string;
  readonly kind: "field" | "introspection" | "typename";
}

/** The fields of an operation's root in the order of its result. */
export function rootFields(
  operation: Operation,
  rules: readonly IdRule[],
  idsMax: number,
): Result<readonly RootField[], GraphqlFault> {
  const nodes = new Map<string, FieldNode[]>();
  collect(operation, operation.definition.selectionSet, nodes, new Set());
  const finder = new IdFinder(operation, rules);
  const fields: RootField[] = [];
  let count = 0;
  for (const [key, own] of nodes) {
    const name = own[0]?.name.value ?? "";
    if (own.some((node) => node.name.value !== name)) {
      return err(documentFault(`Different fields have the name ${key} in the result.`));
    }
    const found = finder.ofField(own);
    if (found === NO_ID_IN_LIST) return err(documentFault(`The list of ${key} has what is no ID.`));
    if (found === UNTYPED) {
      return err(
        documentFault(`${key} may have an ID as a literal; send it in a variable, whose type says what it is.`),
      );
    }
    if (typeof found === "string")
      return err(documentFault("The variables are nested too deep, or used too often.", "TOO_DEEP"));
    count += found.ids.length + (found.list?.items.length ?? 0);
    if (count > idsMax) return err(documentFault(`The operation has more than ${idsMax} IDs.`, "TOO_MANY_IDS"));
    fields.push({ key, name, kind: KINDS.get(name) ?? "field", ...found });
  }
  return ok(fields);
}

const KINDS: ReadonlyMap<string, RootField["kind"]> = new Map([
  ["__typename", "typename"],
  ["__schema", "introspection"],
  ["__type", "introspection"],
]);

export const responseKey = ({ alias, name }: FieldNode): string => (alias ?? name).value;

/** Fragments of the root are opened, each once (§6.3.2, CollectFields). */
function collect(
  operation: Operation,
  { selections }: SelectionSetNode,
  nodes: Map<string, FieldNode[]>,
  visited: Set<string>,
): void {
  for (const node of selections) {
    if (isLeftOut(node.directives, operation.variables)) continue;
    if (node.kind === Kind.FIELD) {
      const key = responseKey(node);
      const known = nodes.get(key);
      if (known === undefined) nodes.set(key, [node]);
      else known.push(node);
    } else if (node.kind === Kind.INLINE_FRAGMENT) collect(operation, node.selectionSet, nodes, visited);
    else if (!visited.has(node.name.value)) {
      visited.add(node.name.value);
      const fragment = operation.fragments.get(node.name.value);
      if (fragment !== undefined) collect(operation, fragment.selectionSet, nodes, visited);
    }
  }
}

/** Why a field cannot be asked for anywhere, or was not answered: its place in the result is null, with this error. */
export interface FieldFailure {
  readonly code: string;
  readonly message: string;
  /** HTTP status of the problem that it is. */
  readonly status: number;
  readonly region?: string | undefined;
}

/** Where something goes. */
export type Place = { readonly region: string } | { readonly failure: FieldFailure };

/** Decides where fields go. */
export interface Places {
  readonly ofId: (id: FoundId) => Place;
  /** The place of fields without an ID. */
  readonly home: () => Place;
  readonly introspection: () => Place;
  /** Fields of the root that go home, whatever stands beside them. */
  readonly alwaysHome: ReadonlySet<string>;
}

/** One region's part: fields by response key, and for a plural field the positions of its IDs. */
export interface Part {
  readonly region: string;
  readonly fields: ReadonlyMap<string, readonly number[] | undefined>;
}

export interface Plan {
  /** In the order of the result. */
  readonly fields: readonly RootField[];
  readonly parts: readonly Part[];
  /** Failures of a plural field by position, else of the field itself. */
  readonly failed: ReadonlyMap<string, FieldFailure | ReadonlyMap<number, FieldFailure>>;
  /** The region of the whole operation, which goes there as it came. */
  readonly whole: string | undefined;
}

/** The parts for regions, and the fields that have failed. */
class Asking {
  readonly parts = new Map<string, Map<string, readonly number[] | undefined>>();
  readonly failed = new Map<string, FieldFailure | ReadonlyMap<number, FieldFailure>>();

  ask(region: string, key: string, positions?: readonly number[]): void {
    const own = this.parts.get(region) ?? new Map<string, readonly number[] | undefined>();
    this.parts.set(region, own.set(key, positions));
  }

  askAt(key: string, place: Place): void {
    if ("region" in place) this.ask(place.region, key);
    else this.failed.set(key, place.failure);
  }

  /** Asks for a field where its IDs are, and returns those regions. */
  askByIds(key: string, found: FieldPlaces | { readonly failure: FieldFailure }): Iterable<string> {
    if ("failure" in found) {
      this.failed.set(key, found.failure);
      return [];
    }
    const { byRegion, failures } = found;
    if (failures.size > 0) this.failed.set(key, failures);
    const isWhole = byRegion.size === 1 && failures.size === 0;
    for (const [region, positions] of byRegion) this.ask(region, key, isWhole ? undefined : positions);
    return byRegion.keys();
  }
}

/** Says what each region is asked for. A field that leads to several regions in ways that no split has is a failure. */
export function planParts(fields: readonly RootField[], places: Places): Plan {
  const asking = new Asking();
  const waiting: RootField[] = [];
  const withIds = new Set<string>();
  for (const field of fields) {
    const { key, kind, name } = field;
    if (kind === "typename") continue;
    if (kind === "introspection") asking.askAt(key, places.introspection());
    else if (places.alwaysHome.has(name)) asking.askAt(key, homeOf(field, places));
    else if (hasNoId(field)) waiting.push(field);
    else for (const region of asking.askByIds(key, placesOf(field, places))) withIds.add(region);
  }
  const [only] = withIds.size === 1 ? withIds : [];
  for (const { key } of waiting) asking.askAt(key, only === undefined ? places.home() : { region: only });
  const { parts, failed } = asking;
  const [region] = parts.size === 1 && failed.size === 0 ? parts.keys() : [];
  return { fields, parts: [...parts].map(([name, own]) => ({ region: name, fields: own })), failed, whole: region };
}

const hasNoId = ({ ids, list }: RootField): boolean =>
  ids.length === 0 && (list === undefined || list.items.every((item) => item === null));

interface FieldPlaces {
  readonly byRegion: ReadonlyMap<string, readonly number[] | undefined>;
  readonly failures: ReadonlyMap<number, FieldFailure>;
}

/** One field goes to one region; a plural one to several, each for its own positions. */
function placesOf({ key, ids, list }: RootField, places: Places): FieldPlaces | { readonly failure: FieldFailure } {
  const regions = new Set<string>();
  for (const id of ids) {
    const place = places.ofId(id);
    if ("failure" in place) return place;
    regions.add(place.region);
  }
  const byRegion = new Map<string, number[]>();
  const failures = new Map<number, FieldFailure>();
  const nulls: number[] = [];
  for (const [position, id] of (list?.items ?? []).entries()) {
    if (id === null) {
      nulls.push(position);
      continue;
    }
    const place = places.ofId(id);
    if ("failure" in place) failures.set(position, place.failure);
    else {
      const positions = byRegion.get(place.region);
      if (positions === undefined) byRegion.set(place.region, [position]);
      else positions.push(position);
    }
  }
  // A null is in no region; the first one says what it makes of it.
  const [first] = byRegion.values();
  first?.push(...nulls);
  for (const region of byRegion.keys()) regions.add(region);
  if (ids.length > 0 && regions.size > 1) return { failure: disagree(key, regions) };
  if (list !== undefined) return { byRegion, failures };
  return { byRegion: new Map([...regions].map((region) => [region, undefined])), failures };
}

/** IDs in a field that goes home must be there too. */
function homeOf(field: RootField, places: Places): Place {
  const home = places.home();
  const found = placesOf(field, places);
  if ("failure" in home) return home;
  if ("failure" in found) return found;
  const [failure] = found.failures.values();
  if (failure !== undefined) return { failure };
  const regions = new Set([home.region, ...found.byRegion.keys()]);
  return regions.size === 1 ? home : { failure: disagree(field.key, regions) };
}

const disagree = (key: string, regions: ReadonlySet<string>): FieldFailure => ({
  code: "ids-disagree",
  message: `The IDs of ${key} are in ${[...regions].join(" and ")}; ask for them in fields of their own.`,
  status: 422,
});
