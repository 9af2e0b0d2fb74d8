import { TABLE_DIFFS } from "../../features/comparing.ts";
import { TABLE_FEATURES } from "../../features/compiling.ts";
import type { Planned } from "../compile/assemble.ts";
import { planChecked } from "../compile/compile.ts";
import { draftOf } from "../layouts/declared.ts";
import type { Draft, Overrides } from "../schema/draft.ts";
import type { DeclaredTable } from "../schema/table.ts";
import type { DiffContents, FeatureDiff } from "./feature.ts";
import type { KeyChange } from "./key-changes.ts";
import { diffKeys, type RuleOf } from "./keys.ts";
import { diffOverrides, type OverridesDiff } from "./overrides.ts";
import { diffPart, diffShares, diffValue, isSame, type ShareChange } from "./parts.ts";

/** The difference between two tables: in their text, and in where IDs go because of it. Plain JSON. */
export interface TableDiff extends Parts {
  /** Whether the tables say the same and treat every ID alike. */
  readonly isEmpty: boolean;
  /** Canaries and shadows that differ from those of the route with the same conditions. */
  readonly shares: readonly ShareChange[];
  /** Destinations of entities whose `moved`, `moves` or `gone` differ, and undone steps of moves. */
  readonly overrides: OverridesDiff;
  /** Keys whose IDs go to another entity or region, or go nowhere where they did not; entities in the parts above aside. */
  readonly keys: readonly KeyChange[];
}

/** Compares checked tables. `contents`: of files that they name. `nowMs`: Unix ms. */
export const diffTables = (
  before: DeclaredTable,
  after: DeclaredTable,
  contents: DiffContents = {},
  nowMs = Number.POSITIVE_INFINITY,
): TableDiff => {
  const left = planChecked(before);
  const right = planChecked(after);
  const parts = diffParts(wholeDraft(before, left), wholeDraft(after, right));
  const keys = diffKeys(left, right, TABLE_DIFFS, contents);
  const isEmpty = keys.length === 0 && !parts.routes.differ && !anyChange(parts);
  const overrides = diffOverrides(parts, left, right, nowMs);
  return { isEmpty, ...parts, shares: diffShares(left.draft, right.draft), overrides, keys };
};

/** Keys that go elsewhere, and the rules that say so. */
export const diffKeysByRule = (before: DeclaredTable, after: DeclaredTable, ruleOf: RuleOf): readonly KeyChange[] =>
  diffKeys(planChecked(before), planChecked(after), TABLE_DIFFS, {}, ruleOf);

/** With what does not decide yet. */
const wholeDraft = (declared: DeclaredTable, { draft }: Planned): Draft =>
  TABLE_FEATURES.some(({ decided }) => decided !== undefined && decided(draftOf(declared), "serve") !== draft)
    ? draftOf(declared)
    : draft;

type Parts = Readonly<ReturnType<typeof diffParts>>;

const entriesOf = <Entry>({ ids, entries }: Overrides<Entry>): ReadonlyMap<string, Entry> =>
  new Map(ids.map((id, at) => [id, entries[at] as Entry]));

const diffParts = (before: Draft, after: Draft) => ({
  hosts: diffValue(before.hosts, after.hosts),
  /** With their origins and failover. */
  regions: diffPart(before.regions, after.regions),
  countries: diffPart(before.countries, after.countries),
  entities: diffPart(before.entities, after.entities),
  layouts: diffPart(before.layouts, after.layouts),
  ...(Object.assign({}, ...TABLE_DIFFS.map(({ diff }) => diff?.(before, after))) as FeatureDiff),
  /** By ID, as the two that follow. */
  moved: diffPart(entriesOf(before.moved), entriesOf(after.moved)),
  moves: diffPart(entriesOf(before.moves), entriesOf(after.moves)),
  gone: diffPart(entriesOf(before.gone), entriesOf(after.gone)),
  epochFloor: diffValue(before.epochFloor, after.epochFloor),
  default: diffValue(before.fallback, after.fallback),
  /** The header fields that the gateway adds, where no entity says otherwise. */
  fields: diffValue(before.fields, after.fields),
  /** Requests without an ID, and the sources of a region that those without any of their own have. */
  withoutId: diffPart(before.withoutId, after.withoutId),
  sources: diffValue(before.sources, after.sources),
  /** How many routes each table has, and whether the lists differ at all. */
  routes: {
    before: before.routes.length,
    after: after.routes.length,
    differ:
      before.routes.length !== after.routes.length ||
      before.routes.some(({ route }, at) => !isSame(route, after.routes[at]?.route)),
  },
});

const anyChange = ({ routes: _, ...parts }: Parts): boolean =>
  Object.values(parts).some((part) => {
    if (part === undefined || !("added" in part)) return part !== undefined;
    return [part.added, part.removed, part.changed].some((entries) => Object.keys(entries).length > 0);
  });
