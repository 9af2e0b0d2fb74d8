import { type Field, hotguidSql, type Layout, luuid } from "../ids/index.ts";
import { bitsOf, type Piece, piecesOf, runsOf } from "../ids/layout/runs.ts";
import { EVEN_UNITS, SQL_TICKS_A_DAY, timeRowOf } from "../ids/layout/time.ts";
import { assemble, type Planned } from "../routing/compile/assemble.ts";
import { planChecked } from "../routing/compile/compile.ts";
import { allFormsOf, TextReader } from "../routing/compile/overrides.ts";
import type { RoutePlan } from "../routing/compile/route-plans.ts";
import { targetsOf } from "../routing/compile/targets.ts";
import { keyFieldOf, ownerKeyField } from "../routing/layouts/fields.ts";
import { type IdPlan, ownerKeyOf } from "../routing/layouts/plan.ts";
import { NO_ROUTE, type SegmentIndex } from "../routing/lookup/id-index.ts";
import { hintName, segmentsOf } from "../routing/lookup/paths.ts";
import { type Draft, overridesIn } from "../routing/schema/draft.ts";
import type { DeclaredTable } from "../routing/schema/table.ts";
import type { CompiledTable, Entity, EntityId, Region, Slice } from "../routing/table.ts";
import {
  entityWhy,
  type Forwarded,
  forwardedOf,
  type OwnPatterns,
  ownPatternsOf,
  partsLeft,
  patternWhy,
  unreachableWhy,
} from "./left.ts";
import { LUA_BITS_MAX, shapeOf, type TextShape } from "./text-shape.ts";

/** Parts of a table that an engine can decide, and those that it must leave to Waybill. Nothing of an engine is in here. */
export interface ExportPlan {
  readonly table: CompiledTable;
  /** The regions that some engine can reach, in the order of the table. */
  readonly regions: readonly Region[];
  readonly shapes: readonly TextShape[];
  readonly patterns: readonly PatternPlan[];
  /** Canonical texts that the table moves, fences or has removed, by the place of their shape. */
  readonly overrides: ReadonlyMap<number, readonly string[]>;
  readonly creates: CreatesPlan;
  readonly forwarded: readonly Forwarded[];
}

/** Requests that create: Waybill mints their IDs, or holds the client's own to the clock. */
export interface CreatesPlan {
  /** Where POST creates; `:id` is one segment. */
  readonly collections: readonly string[];
  /** Fields of which any makes a PUT one that may create; `undefined`: every PUT may. */
  readonly putFields: readonly string[] | undefined;
}

export interface PatternPlan {
  readonly pattern: string;
  readonly segments: readonly string[];
  readonly entity: Entity;
  /** How its IDs are read; `undefined` where Waybill must. */
  readonly reading: readonly ReaderPlan[] | undefined;
}

/** One text form with the layouts that are read in it. An ID that two of them take goes to Waybill. */
export interface ReaderPlan {
  /** Place in `shapes`. */
  readonly shape: number;
  readonly ids: readonly IdDecision[];
}

export interface IdDecision {
  readonly entity: Entity;
  readonly layout: Layout;
  /** Whether the form is the canonical one. Texts in others go to Waybill. */
  readonly isCanonical: boolean;
  readonly fixed: Layout["fixed"];
  readonly bounds: readonly Bound[];
  readonly minted: MintedAt | undefined;
  readonly window: { readonly fromMs: number; readonly aheadMs: number } | undefined;
  readonly dimensions: readonly DimensionPlan[];
  readonly indexes: readonly SegmentIndex[];
  /** The lowest ordinal, or `NO_ROUTE`. */
  readonly ordinalAt: (words: readonly number[], mintedAtMs: number) => number;
  /** The place of the region for each ordinal from 0, or 0 for Waybill; places count from 1. */
  readonly regionOf: (ordinal: number) => number;
  /** The region where no route takes the ID; 0 for Waybill. */
  readonly fallback: number;
  /** Routes from this one on may be overtaken by a pack: they are left to Waybill. */
  readonly packsFrom: number;
  readonly sent: readonly { readonly header: string; readonly number: NumberPlan }[];
  /** Bits that do not belong to the identity by which an origin is chosen. */
  readonly ignoredBits: readonly number[];
}

/** A number in an ID's words: `floor(field / below) % count`. */
export interface NumberPlan {
  readonly pieces: readonly Piece[];
  readonly below: number;
  readonly count: number;
}

/** When the ID was minted: `floor(value * ms / ticks) + epochMs`; `isSql`: days and units of 1/300 s. */
export interface MintedAt {
  readonly pieces: readonly Piece[];
  readonly ms: number;
  readonly ticks: number;
  readonly epochMs: number;
  readonly isSql: boolean;
}

export type DimensionPlan = { readonly kind: "minted" } | ({ readonly kind: "number" } & NumberPlan);

/** `number` must be at most `max`; `isTimeOfDay`: below it in its low 32 bits. */
export interface Bound {
  readonly number: NumberPlan;
  readonly max: number;
  readonly isTimeOfDay: boolean;
}

/** Thrown with the reason why a part of the table is left to Waybill. */
class Left extends Error {}

/** A deployment's part in how much of a table is left to Waybill. */
export interface Deployment {
  /** In a mesh, the regions whose origins the deployment asks; others have a gateway, which Waybill asks. Absent: in none. */
  readonly selfRegions?: readonly string[] | undefined;
  /** Why Waybill decides all requests, if it does. */
  readonly left?: string | undefined;
}

export const planExport = (declared: DeclaredTable, deployment: Deployment = {}): ExportPlan =>
  planOf(planChecked(declared), deployment);

export const planOf = (planned: Planned, { selfRegions, left: allLeft }: Deployment = {}): ExportPlan => {
  const table = assemble(planned, 0);
  const own = ownPatternsOf(table);
  const { draft, routes } = planned;
  const forwarded: Forwarded[] = [];
  // Where Waybill decides all, no name of an origin has to be resolved.
  const reachable = allLeft === undefined ? [...table.regions.values()] : [];
  const regions = reachable.filter((region) => {
    const why = unreachableWhy(region, selfRegions);
    if (why !== undefined) forwarded.push({ what: `region ${region.name}`, why });
    return why === undefined;
  });
  const shapes: TextShape[] = [];
  const known = new Map<string, number>();
  const shapeAt = (form: Layout["texts"][number]): number => {
    const shape = shapeOf(form);
    if (shape === undefined) throw new Left(`the text form ${form.name} of its IDs is not one number`);
    const key = JSON.stringify([shape, [...shape.digits], [...shape.separators]]);
    const at = known.get(key) ?? shapes.push(shape) - 1;
    known.set(key, at);
    return at;
  };
  const destinations = destinationsOf(draft, table, regions, forwarded);
  const conditional = new Set(
    [...table.entities.values()].flatMap(({ conditions, paths }) => (conditions === undefined ? [] : paths)),
  );
  const patterns = [...table.entities.values()].flatMap((entity) => {
    const decisions = new Map<EntityId, IdDecision>();
    let why = allLeft ?? entityWhy(entity);
    try {
      if (why === undefined) {
        for (const id of entity.ids) decisions.set(id, decisionOf(entity, id, routes, destinations));
      }
    } catch (error) {
      if (!(error instanceof Left)) throw error;
      why = error.message;
    }
    return entity.paths.map((pattern): PatternPlan => {
      const hint = entity.pathHints.get(pattern);
      let reading: readonly ReaderPlan[] | undefined;
      let left =
        why ??
        patternWhy(entity, pattern, conditional, own) ??
        (hint !== undefined && hint.enabled === undefined ? "short keys" : undefined);
      try {
        if (left === undefined) reading = readersOf(entity, hint, decisions, shapeAt);
      } catch (error) {
        if (!(error instanceof Left)) throw error;
        left = error.message;
      }
      if (left !== undefined) forwarded.push({ what: `${entity.name} at ${pattern}`, why: left });
      return { pattern, segments: segmentsOf(pattern), entity, reading };
    });
  });
  forwarded.push(...partsLeft(table, draft, own));
  const creates = createsOf(table, own, forwarded);
  return { table, regions, shapes, patterns, overrides: overridesOf(draft, table, shapeAt), creates, forwarded };
};

const createsOf = ({ creates }: CompiledTable, { posted }: OwnPatterns, forwarded: Forwarded[]): CreatesPlan => {
  const checked = [...(creates?.byEntity.values() ?? [])].flatMap(({ clientId, entity }) =>
    clientId === undefined ? [] : [{ flag: clientId.createFlag, name: entity.name }],
  );
  const flags = checked.flatMap(({ flag }) => flag ?? []);
  // Engines cannot look for every name that a field may have.
  const isPlain = flags.every((flag) => /^[a-z0-9-]+$/.test(flag));
  forwarded.push(...posted.map(forwardedOf));
  forwarded.push(...checked.map(({ name }) => ({ what: `PUT that creates ${name}`, why: "IDs that clients make" })));
  return {
    collections: posted.map(({ pattern }) => pattern),
    putFields: checked.length === 0 ? [] : isPlain ? [...new Set(["if-none-match", ...flags])] : undefined,
  };
};

interface Destinations {
  readonly regionOf: (ordinal: number) => number;
  readonly fallback: number;
}

/** The regions of routes that lead to exactly one, whatever the ID. */
const destinationsOf = (
  draft: Draft,
  table: CompiledTable,
  regions: readonly Region[],
  forwarded: Forwarded[],
): Destinations => {
  const places = new Map(regions.map(({ name }, at) => [name, at + 1]));
  const { byOrdinal, fallback } = targetsOf(draft, table.regions, () => undefined);
  const ordinals = byOrdinal.map((target, at) => {
    const isLookedUp = draft.routes[at]?.route.directory !== undefined;
    if (target === undefined) forwarded.push({ what: `route ${at}`, why: isLookedUp ? "a directory" : "a pack" });
    else if (target.region === undefined) forwarded.push({ what: `route ${at}`, why: "a split" });
    else if (target.canary !== undefined) forwarded.push({ what: `route ${at}`, why: "a canary" });
    else if (target.shadow !== undefined) forwarded.push({ what: `route ${at}`, why: "a shadow" });
    else return places.get(target.region.name) ?? 0;
    return 0;
  });
  return {
    regionOf: (ordinal) => ordinals[ordinal] ?? 0,
    fallback: fallback?.region === undefined ? 0 : (places.get(fallback.region.name) ?? 0),
  };
};

const readersOf = (
  entity: Entity,
  hint: ReturnType<Entity["pathHints"]["get"]>,
  decisions: ReadonlyMap<EntityId, IdDecision>,
  shapeAt: (form: Layout["texts"][number]) => number,
): readonly ReaderPlan[] =>
  entity.readers.flatMap(({ form, of }) => {
    const ids = of
      .filter(({ enabled }) => hint === undefined || enabled.layout.name === hintName(hint))
      .map(
        (id): IdDecision => ({
          ...(decisions.get(id) as IdDecision),
          isCanonical: form === id.enabled.layout.table.text,
        }),
      );
    return ids.length === 0 ? [] : [{ shape: shapeAt(form), ids }];
  });

const decisionOf = (
  entity: Entity,
  id: EntityId,
  routes: ReadonlyMap<string, RoutePlan>,
  { regionOf, fallback }: Destinations,
): IdDecision => {
  const { layout, window, slices } = id.enabled;
  if (layout.table.text.bits > LUA_BITS_MAX) throw new Left(`IDs of more than ${LUA_BITS_MAX} bits`);
  const route = routes.get(layout.name);
  const plan = [...(route?.indexes.keys() ?? [])].find(
    (one) => one.entity === entity.name && one.place === entity.ids.indexOf(id),
  );
  const index = plan && route?.indexes.get(plan);
  if (route === undefined || plan === undefined || index === undefined)
    throw new Error(`${layout.name} was not planned`);
  const packs = route.searched.filter(({ ids }) => ids.has(plan));
  return {
    entity,
    layout,
    isCanonical: true,
    fixed: fixedWith(layout, plan),
    bounds: boundsOf(layout),
    minted: mintedOf(layout),
    window: window === undefined || layout.mintedAtMs === undefined ? undefined : window,
    dimensions: route.plan.dimensions.map(({ name }) => dimensionOf(layout, slices, name)),
    indexes: index.indexes,
    ordinalAt: (words, mintedAtMs) =>
      index.findValues(
        Float64Array.from(route.plan.dimensions, ({ name, read }) => (name === "minted" ? mintedAtMs : read(words))),
      ),
    regionOf,
    fallback,
    packsFrom: Math.min(NO_ROUTE, ...packs.map(({ ordinal }) => ordinal)),
    sent: sentOf(layout, slices),
    ignoredBits: layout.name === hotguidSql.name ? ONLY_ONE_ORIGIN : ignoredBitsOf(layout),
  };
};

/** The identity of a HotGuid in SQL order is another order of its bytes. */
export const ONLY_ONE_ORIGIN: readonly number[] = [-1];

const ignoredBitsOf = (layout: Layout): readonly number[] =>
  layout.name === luuid.name ? (layout.field("random")?.mask ?? []) : layout.fixed.mask.map(() => 0);

const fixedWith = (layout: Layout, plan: IdPlan): Layout["fixed"] => {
  const mark = ownerKeyField(layout);
  const number = ownerKeyOf(plan);
  if (mark === undefined || number === undefined) return layout.fixed;
  const value = [...layout.fixed.value];
  mark.write(value, number);
  return { mask: layout.fixed.mask.map((bits, word) => (bits | (mark.mask[word] as number)) >>> 0), value };
};

const piecesIn = (layout: Layout, field: string): readonly Piece[] =>
  piecesOf(
    runsOf(layout.table).filter((run) => run.field === field),
    bitsOf(layout.table),
  );

const wholeField = (layout: Layout, field: Pick<Field, "name" | "bits">): NumberPlan => ({
  pieces: piecesIn(layout, field.name),
  below: 1,
  count: 2 ** field.bits,
});

const boundsOf = (layout: Layout): readonly Bound[] => {
  if (layout.table.least !== undefined) throw new Left(`${layout.name} has a least value`);
  return layout.fields.flatMap((field) => {
    const row = layout.table.rows.find((one) => one.field === field.name);
    const number = wholeField(layout, field);
    const found: Bound[] = [];
    if (row?.role === "time" && row.unit === "sql-datetime")
      found.push({ number, max: SQL_TICKS_A_DAY, isTimeOfDay: true });
    if (BigInt(field.max) < (1n << BigInt(field.bits)) - 1n) {
      if (field.bits > 53) throw new Left(`field ${field.name} of ${layout.name} has a limit beyond 53 bits`);
      found.push({ number, max: Number(field.max), isTimeOfDay: false });
    }
    return found;
  });
};

const mintedOf = (layout: Layout): MintedAt | undefined => {
  const row = timeRowOf(layout.table);
  if (row === undefined) return undefined;
  const { ms, ticks } = row.unit === "sql-datetime" ? { ms: 1, ticks: 1 } : EVEN_UNITS[row.unit];
  const isSql = row.unit === "sql-datetime";
  return { pieces: piecesIn(layout, row.field), ms, ticks, epochMs: row.epochMs, isSql };
};

const dimensionOf = (layout: Layout, slices: ReadonlyMap<string, Slice>, name: string): DimensionPlan => {
  if (name === "minted") return { kind: "minted" };
  const slice = name.startsWith("slices.") ? slices.get(name.slice("slices.".length)) : undefined;
  if (slice !== undefined) return { kind: "number", ...sliceOf(layout, slice) };
  const field = layout.field(name.replace(/^fields\./, ""));
  if (field === undefined) throw new Error(`${layout.name} has no ${name}`);
  return { kind: "number", ...wholeField(layout, field) };
};

const sliceOf = (layout: Layout, { offset, bits }: Slice): NumberPlan => {
  const key = keyFieldOf(layout);
  if (key === undefined) throw new Error(`${layout.name} has no key`);
  return { pieces: piecesIn(layout, key.name), below: 2 ** (key.bits - offset - bits), count: 2 ** bits };
};

const sentOf = (layout: Layout, slices: ReadonlyMap<string, Slice>): IdDecision["sent"] =>
  [...slices.values()].flatMap((slice) =>
    slice.header === undefined ? [] : [{ header: slice.header, number: sliceOf(layout, slice) }],
  );

const overridesOf = (draft: Draft, table: CompiledTable, shapeAt: (form: Layout["texts"][number]) => number) => {
  const found = new Map<number, string[]>();
  const reader = new TextReader();
  for (const { text } of overridesIn(draft)) {
    reader.begin(text);
    for (const { form, words } of allFormsOf(reader, table.layouts)) {
      let shape: number;
      try {
        shape = shapeAt(form);
      } catch (error) {
        // Its entities are left to Waybill as a whole.
        if (error instanceof Left) continue;
        throw error;
      }
      const texts = found.get(shape) ?? [];
      texts.push(form.format(words));
      found.set(shape, texts);
    }
  }
  return found;
};
