import { readersOf } from "./readings.ts";
import type { CompiledTable, EnabledLayout } from "./table.ts";

const views = new WeakMap<CompiledTable, CompiledTable>();

/**
 * The table as those may see it who have no key: without the entities whose IDs are public, and without layouts that only
 * those have. Their internal IDs are of nobody then, in decisions and in the reasons for errors.
 */
export const withoutPublic = (table: CompiledTable): CompiledTable => {
  const known = views.get(table);
  if (known !== undefined) return known;
  const entities = new Map([...table.entities].filter(([, entity]) => entity.public === undefined));
  const view = entities.size === table.entities.size ? table : viewOf(table, entities);
  views.set(table, view);
  return view;
};

export const hasPublic = (table: CompiledTable): boolean => withoutPublic(table) !== table;

const viewOf = (table: CompiledTable, entities: CompiledTable["entities"]): CompiledTable => {
  const used = new Set([...entities.values()].flatMap(({ ids }) => ids.map(({ enabled }) => enabled)));
  const layouts = new Map(
    [...table.layouts].flatMap(([name, enabled]) =>
      used.has(enabled) ? [[name, ownedByOthers(enabled)] as const] : [],
    ),
  );
  return { ...table, entities, layouts, readers: readersOf([...layouts.values()], ({ layout }) => layout) };
};

const ownedByOthers = (enabled: EnabledLayout): EnabledLayout => ({
  ...enabled,
  ownersOf: (words) => enabled.ownersOf(words).filter(({ entity }) => entity.public === undefined),
});
