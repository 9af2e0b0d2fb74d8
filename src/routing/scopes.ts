import type { Layout } from "../ids/index.ts";
import { maxOf } from "./field-conditions.ts";
import type { LayoutPlan } from "./layout-plans.ts";
import type { DeclaredConditions } from "./schema.ts";

/** What a route is about, by the layouts and entities that it names. */
export interface Scope {
  readonly layouts: ReadonlySet<string> | undefined;
  readonly entities: ReadonlySet<string> | undefined;
  /** The layouts that it may be about, and those of them that its entities have. */
  readonly possible: readonly LayoutPlan[];
  readonly owned: readonly Layout[];
  /** Greatest values of fields that were asked for before. */
  readonly maxima: Map<string, number | undefined>;
}

/** Most of the routes of a table are about the same, so scopes are kept for as long as the plans are. */
const scopes = new WeakMap<ReadonlyMap<string, LayoutPlan>, Map<string, Scope>>();

export const scopeOf = (plans: ReadonlyMap<string, LayoutPlan>, { layout, entity }: DeclaredConditions): Scope => {
  if (Array.isArray(layout) || Array.isArray(entity)) return newScope(plans, layout, entity);
  const known = scopes.get(plans) ?? new Map<string, Scope>();
  if (known.size === 0) scopes.set(plans, known);
  const key = `${layout ?? ""} ${entity ?? ""}`;
  const scope = known.get(key) ?? newScope(plans, layout, entity);
  known.set(key, scope);
  return scope;
};

const newScope = (
  plans: ReadonlyMap<string, LayoutPlan>,
  layout: DeclaredConditions["layout"],
  entity: DeclaredConditions["entity"],
): Scope => {
  const layouts = layout === undefined ? undefined : new Set(listOf(layout));
  const entities = entity === undefined ? undefined : new Set(listOf(entity));
  const possible = [...plans.values()].filter((plan) => layouts === undefined || layouts.has(plan.layout.name));
  const owned = possible.filter(
    ({ idsByEntity }) => entities === undefined || [...entities].some((name) => idsByEntity.has(name)),
  );
  return { layouts, entities, possible, owned: owned.map((plan) => plan.layout), maxima: new Map() };
};

/** The greatest value of a field, where a layout of the route has one. */
export const maxIn = ({ owned, maxima }: Scope, name: string): number | undefined => {
  if (!maxima.has(name)) maxima.set(name, maxOf(name, owned));
  return maxima.get(name);
};

export const listOf = <Item>(value: Item | readonly Item[]): readonly Item[] =>
  Array.isArray(value) ? value : [value as Item];
