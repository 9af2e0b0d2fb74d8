import type { Layout, TextForm, Words } from "../ids/layout/layout.ts";
import type { PublicType } from "../ids/public/public-block.ts";
import type { MissingPage, PackSlot } from "./packs/pack.ts";
import type { FieldPaths } from "./public-ids/field-paths.ts";
import type { RegionSource, Sticky } from "./resolve/region-sources.ts";

/** Where requests go, as a compiled table has it. */

export interface Origin {
  /** Scheme, host and optional base path, without a slash at the end. */
  readonly url: string;
  /** Share of the region's IDs, relative to the other origins. 0 takes none. */
  readonly weight: number;
  /** Name of the deployment's binding that requests go through; absent: the network. */
  readonly binding: string | undefined;
}

/** How long to wait for an origin, in milliseconds. `undefined`: nothing said here; 0: no limit. */
export interface Deadlines {
  readonly firstByteMs: number | undefined;
  readonly idleMs: number | undefined;
  readonly totalMs: number | undefined;
}

/** When an origin is left alone: after so many failures in a row, for so long. */
export interface BreakerPolicy {
  readonly failures: number;
  readonly openMs: number;
}

export interface HealthCheck {
  readonly path: string;
  readonly timeoutMs: number;
}

export interface Region {
  readonly name: string;
  readonly origins: readonly Origin[];
  /** Failover regions for reads when no origin of this one is available, in order. */
  readonly failover: readonly string[];
  /** Whether they may take writes that are safe to repeat, too. */
  readonly failoverWrites: boolean;
  readonly deadlines: Deadlines;
  /** `undefined`: its origins are never left alone. */
  readonly breaker: BreakerPolicy | undefined;
  readonly health: HealthCheck | undefined;
}

/** A compiled routing table: one revision, checked, ready for look-ups. It cannot hold a faulty value. */
export interface CompiledTable {
  /** Rises by one with each publish; 0 for a table that was never published. */
  readonly revision: number;
  /** Regions by name. */
  readonly regions: ReadonlyMap<string, Region>;
  readonly entities: ReadonlyMap<string, Entity>;
  /** iUID country numbers by ISO 3166-1 alpha-2 code. */
  readonly countries: ReadonlyMap<string, number>;
  /** Layouts that some entity uses, by name, in the order in which recognition lists them. */
  readonly layouts: ReadonlyMap<string, EnabledLayout>;
  /** Every text form in which some of the layouts can be written, each once. */
  readonly readers: readonly FormReader<EnabledLayout>[];
  readonly paths: PathIndex;
  /** What no entity's path takes. */
  readonly withoutId: WithoutIdIndex;
  readonly moved: MovedIndex;
  /** By name. An ID whose page is not in memory is found as `NeedsPage`. */
  readonly packs: ReadonlyMap<string, PackSlot>;
  /** How many routes are declared. */
  readonly routeCount: number;
}

/** One kind of thing: where its paths are and which IDs name it. */
export interface Entity {
  readonly name: string;
  /** Path patterns such as `/orders/:id`; `/any/:id` leads to the first without `*` that is for IDs of the layout. */
  readonly paths: readonly string[];
  /** What a pattern says of the IDs on it, for those that name a layout. */
  readonly pathHints: ReadonlyMap<string, LayoutHint>;
  readonly ids: readonly EntityId[];
  /** Every text form in which some of the IDs can be written, each once. */
  readonly readers: readonly FormReader<EntityId>[];
  readonly any: "proxy" | "redirect";
  /** Set: clients see public IDs of this entity only. */
  readonly public: PublicKind | undefined;
  /** Where IDs of public entities stand in this entity's JSON answers. */
  readonly publicFields: FieldPaths | undefined;
  /** What becomes of an answer that is not JSON, where `publicFields` are declared. */
  readonly otherBodies: "pass" | "refuse";
  /** They go before those of the region. */
  readonly deadlines: Deadlines;
  /** Bodies up to so many bytes are kept, so that they can be sent again; 0: none is. */
  readonly replayBytesMax: number;
  /** How long an origin's word that an entity moved is remembered; 0: not at all. */
  readonly rememberMovedSeconds: number;
  /** Parts of its IDs' keys that origins are told. */
  readonly sentSlices: SentSlices;
}

/** A part of an ID's key that origins are told: such as the database partition of a HotGuid. */
export interface SentSlice {
  /** Lower case. */
  readonly header: string;
  /** Decimal. */
  readonly read: (words: Words) => string;
}

/** By the layout that a decision names; `undefined` where the table asks for none, which costs a request one look. */
export type SentSlices = ReadonlyMap<string, readonly SentSlice[]> | undefined;

/** How an entity's IDs are shown: our sealed form, or a kind and text of Architect.Identities. */
export type PublicKind =
  | { readonly as: "sealed" }
  | { readonly as: PublicType; readonly form: "uuid" | "base62" | "hex" };

/** One layout that an entity's IDs may have, with the key values that mark the entity. */
export interface EntityId {
  readonly enabled: EnabledLayout;
  /** iUID service number. */
  readonly service: number | undefined;
  /** LUUID group number. */
  readonly group: number | undefined;
  /** Whether the service and the group in the bits are the declared ones. */
  readonly claims: (words: Words) => boolean;
  /** What the routes and the default say of words that it claims; `undefined` when nothing takes them. */
  readonly find: (words: Words) => Found | undefined;
}

/** What a path or a request says of its ID's layout. Without a layout: that the ID is a short key. */
export interface LayoutHint {
  readonly enabled: EnabledLayout | undefined;
}

/** A text form, which is read once for all whose IDs can be written in it. */
export interface FormReader<Reader> {
  readonly form: TextForm;
  readonly of: readonly Reader[];
}

/** An entity that may own an ID, and by which of its layouts. */
export interface Owner {
  readonly entity: Entity;
  readonly id: EntityId;
}

/** A layout with what the table says about it. */
export interface EnabledLayout {
  readonly layout: Layout;
  /** Whether the table itself declares its rows. */
  readonly isOwn: boolean;
  /** Parts of the layout's key field, by name. `offset` counts from the key's most significant bit. */
  readonly slices: ReadonlyMap<string, Slice>;
  /** IDs minted outside of this window are not taken for IDs of this layout. Unix ms; `aheadMs` is counted from now. */
  readonly window: TimeWindow | undefined;
  readonly index: KeyIndex;
  /** The entities that claim words of this layout, in the order of the table. */
  readonly ownersOf: (words: Words) => readonly Owner[];
}

export interface Slice {
  readonly name: string;
  readonly offset: number;
  readonly bits: number;
  /** What the numbers mean, when the table says so: UN M.49 area codes. */
  readonly codes: "m49" | undefined;
  /** The request field in which origins are told its number. */
  readonly header: string | undefined;
}

export interface TimeWindow {
  readonly fromMs: number;
  readonly aheadMs: number;
}

/** All routes of one layout, flattened: first match wins, O(1) or O(log n) whatever their number. */
export interface KeyIndex {
  /** What an entity's ID finds, by the bits of the ID; `undefined` when no route and no default takes it. */
  readonly find: (entity: Entity, words: Words) => Found | undefined;
}

/** Where a route leads. One frozen object per route, so that a look-up makes nothing. */
export interface Target {
  readonly region: Region;
  /** `route`: index into the table's `routes`. */
  readonly rule: Rule;
  /** A share of the route's IDs that goes elsewhere. */
  readonly canary: Canary | undefined;
  /** Where a share of the reads is sent as well. */
  readonly shadow: Share | undefined;
  /** What the table says of the one entity's way from region to region, where it gives an epoch. */
  readonly move: Move | undefined;
}

/** What a look-up finds. What a canary or a split does with the one ID is still to come. */
export type Found = Target | Split | NeedsPage;

/** A route whose IDs go to several regions, in equal parts. */
export interface Split {
  readonly region: undefined;
  readonly rule: { readonly kind: "split" };
  readonly parts: readonly Target[];
}

/** The table says where the ID goes, but the page that says it is not in memory. */
export interface NeedsPage {
  readonly region: undefined;
  readonly rule: { readonly kind: "unloaded" };
  readonly missing: MissingPage;
}

export interface Move {
  /** `fenced`: only reads are passed on. `moved`: the entity has arrived. */
  readonly state: "started" | "fenced" | "moved";
  /** Rises with each step and never falls; at least 1. */
  readonly epoch: number;
  /** The region that the entity goes to, or went to. */
  readonly to: string;
}

/** An entity that was removed from every region. */
export interface Gone {
  readonly region: undefined;
  readonly rule: { readonly kind: "gone" };
  readonly epoch: number;
}

/** Where one ID goes; `undefined`: no route takes it. */
export type TargetOrNone = Target | Gone | NeedsPage | undefined;

/** A region for a part of a route's IDs, from 0 to 1. */
export interface Share {
  readonly region: Region;
  readonly share: number;
}

export interface Canary {
  readonly share: number;
  readonly target: Target;
}

/** Where an ID stands beside its route's canary. Plain JSON. */
export interface CanaryPlace {
  readonly region: string;
  /** What the canary takes, as the table writes it. */
  readonly percent: number;
  /** From this percent on it takes the ID. */
  readonly takesFrom: number;
}

export type Rule =
  | { readonly kind: "moved" }
  /** What the request or its client says, where there is no ID. */
  | { readonly kind: "source" }
  /** On its way: where it is, whatever the routes say. */
  | { readonly kind: "moving" }
  | {
      readonly kind: "route";
      readonly index: number;
      /** The part of a split that the ID is in, from 0. */
      readonly part?: number;
      /** The pack that has a range for the ID. */
      readonly pack?: string;
    }
  | { readonly kind: "canary"; readonly index: number }
  | { readonly kind: "default" };

/** Entity paths, matched segment by segment on the raw path. */
export interface PathIndex<Owner = Entity> {
  /** `path` is the raw path of the request, query excluded; `undefined`: no entity has such a path. */
  readonly match: (path: string) => PathMatch<Owner> | undefined;
}

export interface PathMatch<Owner = Entity> {
  readonly entity: Owner;
  /** Where the ID stands in the path: from `idStart` up to, not including, `idEnd`. */
  readonly idStart: number;
  readonly idEnd: number;
  /** Set where the pattern names the layout of its IDs. */
  readonly hint?: LayoutHint | undefined;
}

/** Entities that left their birth region, are about to, or are no more; an LUUID by its group and primary key as well. */
export interface MovedIndex {
  readonly size: number;
  /** How many entries of each part of the table there are. */
  readonly counts: Readonly<Record<"moved" | "moving" | "gone", number>>;
  readonly find: (layout: Layout, words: Words) => Target | Gone | undefined;
  /** By what a short key and its path say. */
  readonly findShort: (group: number, primaryKey: number) => Target | Gone | undefined;
}

/** Requests without an ID, on paths that no entity has. */
export interface WithoutIdIndex {
  readonly entries: readonly WithoutId[];
  /** `path` is the raw path of the request, query excluded. */
  readonly match: (path: string) => WithoutId | undefined;
  /** By the name of the region. */
  readonly targets: ReadonlyMap<string, Target>;
}

/** One kind of requests without an ID. */
export interface WithoutId {
  /** Has no IDs, and its name is no other entity's. */
  readonly entity: Entity;
  /** `undefined`: all. */
  readonly methods: readonly string[] | undefined;
  readonly sources: readonly RegionSource[];
  readonly sticky: Sticky | undefined;
}

/** What an ID turned out to be, and where it goes. */
export interface Decision {
  readonly entity: Entity;
  /** Name of the layout; `luuid-short` for a short key, and empty without an ID. */
  readonly layout: string;
  /** The text as the request carried it; empty where it carried none. */
  readonly id: string;
  readonly words: Words;
  readonly target: Target;
}

/** One reading of a text: a layout and, where the layout's key tells, an entity. */
export interface Candidate {
  readonly layout: string;
  /** The text form in which it was read; absent for a short key. */
  readonly form?: string;
  readonly entity: string | undefined;
  /** Decoded fields, all as decimal text so that nothing is lost. */
  readonly fields: Readonly<Record<string, string>>;
  /** ISO 8601; `undefined` for a layout without a time, or beyond the year 9999. */
  readonly mintedAt: string | undefined;
  readonly for: readonly string[];
  readonly against: readonly string[];
  /** Whether one of the reasons against it rules it out. */
  readonly excluded: boolean;
  readonly region: string | undefined;
  readonly rule: Rule | (Gone | NeedsPage)["rule"] | undefined;
  readonly move?: Move;
  readonly canary?: CanaryPlace;
}
