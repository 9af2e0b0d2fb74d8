import { assemble, type Planned } from "../compile/assemble.ts";
import { groupBy } from "../layouts/plan.ts";
import { resolveAny } from "../resolve/resolve.ts";
import type { DeclaredGone, DeclaredMove, DeclaredMoved } from "../schema/table.ts";
import type { CompiledTable } from "../table.ts";
import type { PartDiff } from "./parts.ts";

/** The changes for entities that one of two tables singles out: in `moved`, in `moves` or in `gone`. Plain JSON. */
export interface OverridesDiff {
  readonly changed: number;
  readonly listed: readonly OverrideChange[];
  /** All of those by where they go, most first. */
  readonly changes: readonly OverrideKind[];
  /** Steps of moves that are undone, which no step of a move does: one for each kind. */
  readonly undone: readonly UndoneSteps[];
}

export interface OverrideChange {
  readonly id: string;
  /** `undefined` where the ID alone does not tell. */
  readonly entity: string | undefined;
  readonly before: OverrideTarget;
  readonly after: OverrideTarget;
}

export interface OverrideTarget {
  /** `undefined` where they go nowhere, or what decides is not at hand. */
  readonly region: string | undefined;
  /** `none`: no route takes them, or no entity has the ID. `pack`: the page of a pack says it. */
  readonly by: "routes" | "moved" | "started" | "fenced" | "gone" | "none" | "pack" | "directory" | "ambiguous";
  readonly epoch?: number;
}

export interface OverrideKind {
  readonly entity: string | undefined;
  /** As `formatPlace` says it. */
  readonly from: string;
  readonly to: string;
  readonly entities: number;
}

export interface UndoneSteps {
  readonly kind: Undone;
  readonly entities: number;
  readonly listed: readonly OverrideChange[];
}

/** `move-lost`: its entry is no more, and the routes do not say the same. `epoch-stands`: another step has the same epoch. */
export type Undone = "move-lost" | "epoch-falls" | "epoch-stands" | "no-longer-gone";

export const OVERRIDES_LISTED_MAX = 10;

interface OverridesParts {
  readonly moved: PartDiff<DeclaredMoved>;
  readonly moves: PartDiff<DeclaredMove>;
  readonly gone: PartDiff<DeclaredGone>;
}

/** `nowMs`: Unix ms, when the entities are looked up. */
export const diffOverrides = (parts: OverridesParts, before: Planned, after: Planned, nowMs: number): OverridesDiff => {
  const singled = entriesOf(parts);
  if (singled.size === 0) return { changed: 0, listed: [], changes: [], undone: [] };
  const left = assemble(before, 0);
  const right = assemble(after, 0);
  const changes = [...singled].map(([id, own]): OverrideChange => {
    const now = targetFor(id, own.after, right, nowMs);
    const then = targetFor(id, own.before, left, nowMs);
    return { id, entity: now.entity ?? then.entity, before: then.target, after: now.target };
  });
  const changed = changes.filter((change) => !routesAlike(change.before, change.after));
  const undone = groupBy(changes, (change) => undoneIn(change, after.draft.epochFloor ?? 0));
  return {
    changed: changed.length,
    listed: changed.slice(0, OVERRIDES_LISTED_MAX),
    changes: kindsOf(changed),
    undone: [...undone].flatMap(([kind, all]) =>
      kind === undefined ? [] : [{ kind, entities: all.length, listed: all.slice(0, OVERRIDES_LISTED_MAX) }],
    ),
  };
};

type OwnTargets = Partial<Pick<OverrideChange, "before" | "after">>;

/** By ID, what each table itself says of entities of which they do not say the same. An ID stands in one part of a table. */
const entriesOf = ({ moved, moves, gone }: OverridesParts): ReadonlyMap<string, OwnTargets> => {
  const found = new Map<string, OwnTargets>();
  const note = (id: string, own: OwnTargets) => found.set(id, { ...found.get(id), ...own });
  const collect = <Entry>({ added, removed, changed }: PartDiff<Entry>, targetOf: (entry: Entry) => OverrideTarget) => {
    for (const [id, entry] of Object.entries(removed)) note(id, { before: targetOf(entry) });
    for (const [id, entry] of Object.entries(added)) note(id, { after: targetOf(entry) });
    for (const [id, both] of Object.entries(changed))
      note(id, { before: targetOf(both.before), after: targetOf(both.after) });
  };
  collect(moved, (entry) =>
    typeof entry === "string"
      ? { region: entry, by: "moved" }
      : { region: entry.region, by: "moved", epoch: entry.epoch },
  );
  collect(moves, ({ from, state, epoch }) => ({ region: from, by: state, epoch }));
  collect(gone, ({ epoch }) => ({ region: undefined, by: "gone", epoch }));
  return found;
};

/** A table's own entry says where, whatever can be read in the ID; the same ID may also stand in it in another form. */
const targetFor = (id: string, own: OverrideTarget | undefined, table: CompiledTable, nowMs: number) => {
  const decision = resolveAny(table, id, nowMs);
  if (!decision.ok) {
    const { error } = decision;
    const entity = "entity" in error ? error.entity : undefined;
    return { entity, target: own ?? { region: undefined, by: WITHOUT_REGION[error.reason] ?? "none" } };
  }
  const { entity, target } = decision.value;
  const by = target.move?.state ?? (target.rule.kind === "moved" ? "moved" : "routes");
  const epoch = target.move === undefined ? {} : { epoch: target.move.epoch };
  return { entity: entity.name, target: own ?? { region: target.region.name, by, ...epoch } };
};

const WITHOUT_REGION: Readonly<Record<string, OverrideTarget["by"]>> = {
  "table-unavailable": "pack",
  "directory-unavailable": "directory",
  "ambiguous-id": "ambiguous",
  "entity-gone": "gone",
};

/** Whether requests fare alike; those to a fenced entity only if they read. */
const routesAlike = (before: OverrideTarget, after: OverrideTarget): boolean =>
  before.region === after.region &&
  (before.region === undefined ? before.by === after.by : isFenced(before) === isFenced(after));

const isFenced = ({ by }: OverrideTarget): boolean => by === "fenced";

const isOverride = ({ by }: OverrideTarget): boolean => ["moved", "started", "fenced", "gone"].includes(by);

/** The rules of docs/guides/move-entities.md: epochs rise with each step, and only `finish` drops an entry, raising the floor. */
const undoneIn = ({ before, after }: OverrideChange, floor: number): Undone | undefined => {
  if (!isOverride(before)) return undefined;
  if (before.by === "gone" && after.by !== "gone") return "no-longer-gone";
  const epoch = before.epoch ?? 0;
  if (!isOverride(after)) {
    const isFinished = before.by === "moved" && routesAlike(before, after) && epoch <= floor;
    return isFinished ? undefined : "move-lost";
  }
  if ((after.epoch ?? 0) < epoch) return "epoch-falls";
  const isSame = before.region === after.region && before.by === after.by;
  return epoch > 0 && after.epoch === epoch && !isSame ? "epoch-stands" : undefined;
};

const kindsOf = (changes: readonly OverrideChange[]): readonly OverrideKind[] => {
  const all = changes.map(({ entity, before, after }) => ({
    entity,
    from: formatPlace(before),
    to: formatPlace(after),
  }));
  return [...groupBy(all, (kind) => JSON.stringify(kind)).values()]
    .flatMap(([kind, ...others]) => (kind === undefined ? [] : [{ ...kind, entities: 1 + others.length }]))
    .sort((a, b) => b.entities - a.entities);
};

/** A region's name, what refuses requests, or what decides. */
export const formatPlace = ({ region, by }: OverrideTarget): string => {
  if (region !== undefined) return by === "fenced" ? `${region} (reads only)` : region;
  return by === "pack" || by === "directory" || by === "ambiguous" ? `(${by})` : by === "gone" ? "gone" : "nowhere";
};
