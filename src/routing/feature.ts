import type { Words } from "../ids/index.ts";
import type { Conditions } from "./compile/conditions.ts";
import type { IdPlan, LayoutPlan, LayoutPlans } from "./layouts/plan.ts";
import type { Searched } from "./lookup/searched.ts";
import type { EntityReading } from "./resolve/reading.ts";
import type { Draft, DraftRoute } from "./schema/draft.ts";
import type { DeclaredEntity, DeclaredRegion, DeclaredRoute, DeclaredTable } from "./schema/table.ts";
import type { DeclaredWithoutId } from "./schema/without-id.ts";
import type {
  CompiledTable,
  Entity,
  Found,
  IdDecision,
  OwnPaths,
  PlainDecision,
  Region,
  Regions,
  Rule,
  Target,
  WithoutId,
} from "./table.ts";

/**
 * The part of a table that a feature owns. Members that it adds to the declared and the compiled table are declared in its own
 * folder, by augmentation: all are optional, since a build may leave the feature out.
 */

/** Tables that decide; or those that would, if what is verified decided as well. */
export type Deciding = "serve" | "verify";

/** A feature in a compiled table. Lists of features are in an order: later ones see what earlier ones made. */
export interface TableFeature {
  readonly name: string;
  /** Members of a table that take requests: one of them is enough. */
  readonly serves?: readonly string[];
  /** Without what does not decide yet. */
  readonly decided?: (draft: Draft, deciding: Deciding) => Draft;
  /** Whether the table has something to verify. */
  readonly verifies?: (draft: Draft) => boolean;
  /** Names of the layouts that it reads texts by, beside those of entities' IDs. */
  readonly layouts?: (declared: DeclaredTable) => readonly string[];
  /** Whether it reads the conditions of routes and the IDs of overrides when it is compiled. */
  readonly readsRoutes?: (declared: DeclaredTable) => boolean;
  /** Routes of its own that no index can hold. */
  readonly search?: RouteSearch;
  /** Members of a region. */
  readonly region?: (declared: DeclaredRegion) => Partial<Region>;
  /** Its part of a decision as people read it. */
  readonly plain?: (decision: IdDecision) => Partial<PlainDecision>;
  readonly compile?: (context: CompileContext) => TableParts;
}

/** Routes that are searched one by one, before what the index says. */
export interface RouteSearch {
  readonly takes: (route: DeclaredRoute) => boolean;
  /** `undefined` if the route takes no ID of the layout. */
  readonly place: (plan: LayoutPlan, route: DraftRoute, conditions: Conditions, draft: Draft) => Searched | undefined;
  /** The same placement for known IDs. */
  readonly placeFor: (
    plan: LayoutPlan,
    route: DraftRoute,
    ids: readonly IdPlan[],
    draft: Draft,
  ) => Searched | undefined;
}

export interface CompileContext {
  readonly draft: Draft;
  readonly plans: LayoutPlans;
  readonly regions: Regions;
  readonly targetIn: (region: string, rule: Rule) => Target;
  /** The stand-in entity of requests whose path names none. */
  readonly standIn: (name: string, declared: ForwardedAs, paths: readonly string[]) => Entity;
  /** Names of the request headers that a table makes the gateway read. */
  readonly headersRead: (table: CompiledTable) => readonly string[];
}

/** Declared with the members that say how requests are forwarded. */
export type ForwardedAs = DeclaredEntity | DeclaredWithoutId;

/** Parts of one table that a feature makes. Each function returns the same members always, so that objects have one shape. */
export interface TableParts {
  /** Where the IDs of a route without a region go; `undefined` if it is not of this feature. */
  readonly target?: (route: DeclaredRoute) => Found | undefined;
  /** `undefined`: an ID goes on to the next routes. */
  readonly find?: (searched: Searched) => (words: Words) => Found | undefined;
  /** Members of all that requests are forwarded for. */
  readonly forwarding?: (name: string, declared: ForwardedAs) => Partial<Entity>;
  /** Members of an entity; of a stand-in without a declared one. */
  readonly entity?: (name: string, declared: DeclaredEntity | undefined) => Partial<Entity>;
  /** How the IDs of an entity are read on its paths; `undefined`: by their layouts. The first feature that says it counts. */
  readonly reading?: (declared: DeclaredEntity | undefined) => EntityReading | undefined;
  readonly withoutId?: (declared: DeclaredWithoutId) => Partial<WithoutId>;
  readonly table?: (table: CompiledTable) => Partial<CompiledTable>;
  /** Paths without an ID that the feature answers, in a table that has its members. */
  readonly ownPaths?: (table: CompiledTable) => Omit<OwnPaths, "feature"> | undefined;
  readonly headersRead?: (table: CompiledTable) => readonly string[];
}

/** The draft without what does not decide yet: the rest of the table does, as if it was not there. */
export const decidedBy = (draft: Draft, deciding: Deciding, features: readonly TableFeature[]): Draft =>
  features.reduce((rest, { decided }) => decided?.(rest, deciding) ?? rest, draft);

export const hasVerified = (draft: Draft, features: readonly TableFeature[]): boolean =>
  features.some(({ verifies }) => verifies?.(draft));

export const searchesOf = (features: readonly TableFeature[]): readonly RouteSearch[] =>
  features.flatMap(({ search }) => search ?? []);
