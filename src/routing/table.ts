import type { Field, Layout, TextForm, Words } from "../ids/layout/layout.ts";
import type { TimeWindow } from "../ids/recognise.ts";
import type { Asked, PathConditions, Untaken } from "./lookup/asked.ts";
import type { WordsMap } from "./lookup/id-index.ts";
import type { RegionSource, Sticky } from "./resolve/region-sources.ts";
import type { DeclaredBreaker, DeclaredDeadlines, DeclaredHealth } from "./schema/parts.ts";

export type { Asked, PathConditions, TimeWindow, Untaken };

export interface Origin {
  /** Scheme, host and optional base path, without a slash at the end. */
  readonly url: string;
  /** Share of the region's IDs, relative to the other origins; 0 for none. */
  readonly weight: number;
  /** The deployment's binding that requests go through; `undefined`: the network. */
  readonly binding: string | undefined;
  readonly isPeer?: true;
}

/** Timeouts for an origin, in milliseconds. `undefined`: not set here; 0: no limit. */
export type Deadlines = { readonly [Name in keyof DeclaredDeadlines]-?: number | undefined };

/** The circuit breaker opens for `openMs` after `failures` consecutive failures. */
export type BreakerPolicy = Readonly<Required<Exclude<DeclaredBreaker, false>>>;

export type HealthCheck = Readonly<Required<DeclaredHealth>>;

export interface Region {
  readonly name: string;
  readonly origins: readonly Origin[];
  /** Those that this deployment asks: the origins, or its gateway, a peer. One list for all copies of the region. */
  readonly servers: readonly Origin[];
  /** Failover regions for reads when no origin of this one is available, in order. */
  readonly failover: readonly string[];
  /** Whether they may also take writes that are safe to repeat. */
  readonly failoverWrites: boolean;
  readonly deadlines: Deadlines;
  /** Set: whether answers of its origins are read or watched, unless the entity says otherwise. */
  readonly wholeAnswers: boolean | undefined;
  readonly breaker: BreakerPolicy | undefined;
  readonly health: HealthCheck | undefined;
}

export type Regions = ReadonlyMap<string, Region>;

/** A compiled routing table: one revision, checked and ready for look-ups. Features add their members, here and to what follows. */
export interface CompiledTable {
  /** Rises by one with each publish; 0 for a table that is not published. */
  readonly revision: number;
  readonly regions: Regions;
  readonly entities: ReadonlyMap<string, Entity>;
  /** iUID country numbers by ISO 3166-1 alpha-2 code. */
  readonly countries: ReadonlyMap<string, number>;
  /** Layouts that some entity uses, by name, in the order in which recognition lists them. */
  readonly layouts: ReadonlyMap<string, EnabledLayout>;
  /** The text forms of the layouts, each once. */
  readonly readers: readonly FormReader<EnabledLayout>[];
  readonly paths: PathIndex;
  /** Whether some owner of a path takes only some methods or hosts. */
  readonly hasConditions: boolean;
  readonly withoutId: WithoutIdIndex;
  readonly moved: MovedIndex;
  /** The table as it would be if what is to be verified decided: its decisions are compared. */
  readonly verified: CompiledTable | undefined;
  readonly routeCount: number;
  /** Paths without an ID that features answer. */
  readonly ownPaths: readonly OwnPaths[];
}

/** Paths without an ID of an entity that a feature answers. */
export interface OwnPaths {
  /** Its name. */
  readonly feature: string;
  /** `undefined`: the feature answers all. */
  readonly methods: readonly string[] | undefined;
  /** `chosen-regions`: those of one or more regions that the rest of the request says. */
  readonly answeredBy: "gateway" | "all-regions" | "chosen-regions";
  readonly ownerAt: (path: string) => Entity | undefined;
  /** The same paths for engines that a table is exported to, which leave them to the gateway. */
  readonly left: () => readonly LeftPath[];
  /** Parts of an explanation for people, about a request for the owner of this name. */
  readonly plain: (owner: string) => object;
}

/** `pattern`: with `:id` and `*` for a segment. `what` and `why`: in the list of what an engine leaves, such as `GET /orders`, `lists`. */
export interface LeftPath {
  readonly pattern: string;
  readonly what: string;
  readonly why: string;
}

export interface Entity {
  readonly name: string;
  /** Path patterns such as `/orders/:id`. `/any/:id` uses the first without `*` that is for IDs of the layout. */
  readonly paths: readonly string[];
  /** The layouts that patterns name. */
  readonly pathHints: ReadonlyMap<string, LayoutHint>;
  /** Patterns that take no path below; `undefined`: all do. */
  readonly closedPaths: ReadonlySet<string> | undefined;
  /** The requests on its paths that it takes; `undefined`: all. */
  readonly conditions: PathConditions | undefined;
  /** Literal prefix that paths lose on their way to the origin; `undefined`: none. */
  readonly removePrefix: string | undefined;
  readonly ids: readonly EntityId[];
  /** The text forms of the IDs, each once. */
  readonly readers: readonly FormReader<EntityId>[];
  readonly any: "proxy" | "redirect";
  readonly deadlines: Deadlines;
  /** Set: whether its answers are read whole or watched to their end, or pass as they come; `undefined`: as its region says. */
  readonly wholeAnswers: boolean | undefined;
  /** Bodies up to so many bytes are buffered for a retry. */
  readonly replayBytesMax: number;
  /** How long an origin's 421 is remembered; 0: not at all. */
  readonly rememberMovedSeconds: number;
  readonly fields: FieldSet;
  readonly sentSlices: SentSlices;
  /** Members of features that say how its requests are forwarded. */
  readonly forwarding: Partial<Entity>;
  /** Parts of a decision as people read it, by features. */
  readonly plain: readonly ((decision: IdDecision) => Partial<PlainDecision>)[];
}

/** The set of header fields that the gateway adds to requests and responses (docs/reference/http.md). */
export type FieldSet = "standard" | "full" | "minimal";

/** A part of an ID's key that origins receive, such as the database partition of a HotGuid. */
export interface SentSlice {
  /** Lower case. */
  readonly header: string;
  /** Decimal. */
  readonly read: (words: Words) => string;
}

/** By the layout that a decision names; `undefined` where the entity has none. */
export type SentSlices = ReadonlyMap<string, readonly SentSlice[]> | undefined;

/** One layout of an entity's IDs, with the numbers that mark the entity. */
export interface EntityId {
  readonly enabled: EnabledLayout;
  /** iUID service number. */
  readonly service: number | undefined;
  /** LUUID group number. */
  readonly group: number | undefined;
  /** Whether the bits fit the layout and have the declared service or group. */
  readonly takes: (words: Words) => boolean;
  /** The target of words that it takes, by the routes and the default; `undefined` when nothing takes them. */
  readonly find: (words: Words) => Found | undefined;
}

/** The layout that a path or a request names for its ID. Without a layout: a short key. */
export type LayoutHint = { readonly enabled: EnabledLayout | undefined };

/** A text form, parsed once for all IDs that can be written in it. */
export type FormReader<Reader> = { readonly form: TextForm; readonly of: readonly Reader[] };

/** An entity that may own an ID, and by which of its layouts. */
export type Owner = { readonly entity: Entity; readonly id: EntityId };

/** The entities of a layout's IDs, in the order of the table, by the number that marks an entity. */
export interface Owners {
  readonly mark: Field | undefined;
  readonly marked: ReadonlyMap<number, readonly Owner[]>;
  readonly unmarked: readonly Owner[];
}

export interface EnabledLayout {
  readonly layout: Layout;
  readonly isOwn: boolean;
  /** Parts of the layout's key field, by name. `offset` counts from the key's most significant bit. */
  readonly slices: ReadonlyMap<string, Slice>;
  /** IDs minted outside of this window are not of this layout. Unix ms; `aheadMs` is counted from now. */
  readonly window: TimeWindow | undefined;
  /** The numbers of the overrides in its text form; `undefined` without any. */
  readonly overrides: WordsMap | undefined;
  /** Whether an ID of the layout can have other words too, see `identityWords`. */
  readonly hasOtherWords: boolean;
  readonly owners: Owners;
}

/** A layout, and when its IDs are minted. */
export type TimedLayout = Pick<EnabledLayout, "layout" | "window">;

export interface Slice {
  readonly name: string;
  readonly offset: number;
  readonly bits: number;
  /** The meaning of the numbers, if the table says so: UN M.49 area codes. */
  readonly codes: "m49" | undefined;
  readonly header: string | undefined;
}

/** The destination of a route. One frozen object for each, so that a look-up allocates nothing. */
export interface Target {
  readonly region: Region;
  /** `route`: index into the table's `routes`. */
  readonly rule: Rule;
  readonly canary: Canary | undefined;
  readonly shadow: Share | undefined;
  /** The move of one entity, where the table gives an epoch. */
  readonly move: Move | undefined;
}

/** The result of a look-up, before canary and split are applied to the ID. */
export type Found = Target | Split | Load;

export interface Split {
  readonly region: undefined;
  readonly rule: { readonly kind: "split" };
  readonly parts: readonly Target[];
}

/** Something that a feature keeps elsewhere must be loaded before it is known where the ID goes. */
export interface Load {
  readonly region: undefined;
  readonly rule: LoadRules[keyof LoadRules];
  /** Whether it is looked up by the decision about an ID: only then need that be made first. */
  readonly isByDecision: boolean;
  /** The error until it is loaded. `decision`: set where it is looked up by it. */
  readonly error: (decision?: Undecided) => LoadErrors[keyof LoadErrors];
}

/** Rules by kind, and errors by reason. Features add theirs. */
// biome-ignore lint/suspicious/noEmptyInterface: features fill it.
export interface LoadRules {}
// biome-ignore lint/suspicious/noEmptyInterface: features fill it.
export interface LoadErrors {}

/** A decision but for what is to be loaded. */
export type Undecided = Omit<IdDecision, "target">;

export interface Move {
  /** `fenced`: only reads are forwarded. `moved`: the move is complete. */
  readonly state: "started" | "fenced" | "moved";
  /** Rises with each step and never falls. At least 1. */
  readonly epoch: number;
  readonly to: string;
}

export type Gone = { readonly region: undefined; readonly rule: { readonly kind: "gone" }; readonly epoch: number };

/** Where one ID goes; `undefined`: no route takes it. */
export type TargetOrNone = Target | Gone | Load | undefined;

/** A region for a part of a route's IDs, from 0 to 1. */
export type Share = { readonly region: Region; readonly share: number };

export type Canary = { readonly share: number; readonly target: Target };

/** An ID's position relative to its route's canary. Plain JSON. */
export interface CanaryPlace {
  readonly region: string;
  /** The canary's share, as the table has it. */
  readonly percent: number;
  /** The canary takes the ID from this percentage on. */
  readonly takesFrom: number;
}

export type Rule = Rules[keyof Rules];

/** By kind. Features add theirs. */
export interface Rules {
  readonly moved: { readonly kind: "moved" };
  readonly source: { readonly kind: "source" };
  /** Moving: the current region, whatever the routes say. */
  readonly moving: { readonly kind: "moving" };
  readonly route: RouteRule;
  readonly canary: { readonly kind: "canary"; readonly index: number };
  readonly default: { readonly kind: "default" };
}

export interface RouteRule {
  readonly kind: "route";
  readonly index: number;
  readonly part?: number;
}

/** Entity paths, matched segment by segment on the raw path. */
export interface PathIndex<Owner = Entity> {
  /** `path`: the raw path of the request without the query. `asked`: a read of no known host unless given. */
  readonly match: (path: string, asked?: Asked) => PathMatch<Owner> | undefined;
  /** Whose path servers may read in it that are less exact: escapes decoded, parameters cut, slashes merged, in any case. */
  readonly matchRead: PathIndex<Owner>["match"];
  /** Whether a pattern has no literal text first: it takes what others may spell in another way. */
  readonly isOpen: boolean;
  /** Why patterns that match the path do not take the request; `undefined`: none matches. */
  readonly untaken: (path: string, asked: Asked) => Untaken | undefined;
}

export interface PathMatch<Owner = Entity> {
  readonly entity: Owner;
  /** The ID in the path: from `idStart` up to, not including, `idEnd`. */
  readonly idStart: number;
  readonly idEnd: number;
  readonly hint?: LayoutHint | undefined;
  /** Set: the path is the owner's, and no owner of it takes another method than these. */
  readonly allow?: readonly string[];
}

/** Overrides: entities that moved, are moving or are gone. An LUUID is also found by its group and primary key. */
export interface MovedIndex {
  /** By number. */
  readonly targets: readonly (Target | Gone)[];
  /** The number of entries of each part of the table. */
  readonly counts: Readonly<Record<"moved" | "moving" | "gone", number>>;
  /** By the group of the path and the primary key of a short key. */
  readonly findShort: (group: number, primaryKey: number) => Target | Gone | undefined;
}

/** Requests without an ID, on paths that are not of an entity. */
export interface WithoutIdIndex {
  readonly entries: readonly WithoutId[];
  /** `path`: the raw path of the request without the query. */
  readonly match: (path: string, asked?: Asked) => PathMatch<WithoutId> | undefined;
  /** Paths with literal text where an entity at the root has its ID: they come first. `undefined` where there are none. */
  readonly literal: Pick<PathIndex<WithoutId>, "match" | "matchRead"> | undefined;
  /** Paths that an entity shares by methods: they take what it does not. `undefined` where there are none. */
  readonly shared: PathIndex<WithoutId>["match"] | undefined;
  readonly untaken: PathIndex["untaken"];
  /** Whether servers may read the path as one of other entries than the one that it matched. */
  readonly isElsewhere: (path: string, entry: WithoutId, asked: Asked) => boolean;
  readonly targets: ReadonlyMap<string, Target>;
}

/** A part of a request that may have an ID of an entity. */
export interface IdField {
  readonly kind: "query" | "header" | "cookie";
  readonly name: string;
  readonly label: string;
  readonly entity: string;
}

export interface WithoutId {
  /** Without IDs, and with a name of its own. */
  readonly entity: Entity;
  /** `undefined`: all. */
  readonly methods: readonly string[] | undefined;
  /** Whether others have one of its paths too, for other methods or hosts. */
  readonly isShared: boolean;
  readonly sources: readonly RegionSource[];
  readonly sticky: Sticky | undefined;
  /** Places where IDs are sought before the sources are asked, as people read them; `undefined`: none. */
  readonly idPlaces?: readonly string[] | undefined;
  /** Those of them that a parameter of OpenAPI can name. */
  readonly idFields?: readonly IdField[] | undefined;
}

/** Where a request goes: by its ID; or without one, by the region alone that the table's sources name. */
export type Decision = IdDecision | RegionDecision;

export interface IdDecision extends Placing {
  readonly by: "id";
  /** Name of the layout; `luuid-short` for a short key. */
  readonly layout: string;
  /** The text as in the request. */
  readonly id: string;
  readonly words: Words;
  /** The canonical text in its layout, or of a short key. A short key and its LUUID have two, and so have a HotGuid's forms. */
  readonly canonical: string;
}

export type RegionDecision = Placing & { readonly by: "region" };

interface Placing {
  readonly entity: Entity;
  /** The same words for all texts of an ID, or for all requests of a client. Canaries, splits and origins are chosen by them. */
  readonly identity: Words;
  readonly target: Target;
}

/** A decision for people. Plain JSON. */
export interface PlainDecision {
  readonly entity: string;
  readonly layout: string;
  readonly region: string;
  readonly rule: Rule;
  readonly move?: Move;
  /** Where a share of the reads is sent as well; no client sees its answers. */
  readonly shadow?: { readonly region: string; readonly percent: number };
  readonly path: string;
}

/** One reading of a text: a layout and, where the layout's key identifies it, an entity. */
export interface Candidate {
  readonly layout: string;
  /** The text form; absent for a short key. */
  readonly form?: string;
  readonly entity: string | undefined;
  /** Decoded fields, as decimal text so that no digit is lost. */
  readonly fields: Readonly<Record<string, string>>;
  /** ISO 8601; `undefined` for a layout without a time, or beyond the year 9999. */
  readonly mintedAt: string | undefined;
  readonly for: readonly string[];
  readonly against: readonly string[];
  /** Whether one of the reasons against it excludes it. */
  readonly excluded: boolean;
  readonly region: string | undefined;
  readonly rule: Rule | (Gone | Load)["rule"] | undefined;
  readonly move?: Move;
  readonly canary?: CanaryPlace;
}
