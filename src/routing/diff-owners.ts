import type { Planned } from "./compile.ts";
import type { PlacedRoute } from "./id-index.ts";
import { groupBy, type IdPlan, type LayoutPlan, ownerKeyOf } from "./layout-plans.ts";
import type { RoutePlan } from "./route-plans.ts";

/** Which entity has which IDs of a layout, before and after: the IDs that two tables' entities are compared over. */

/** A table's routes for one layout. */
export interface LayoutSide {
  readonly planned: Planned;
  /** `undefined` where no entity of the table uses the layout. */
  readonly routePlan: RoutePlan | undefined;
  /** The routes that take IDs of an entity, in the order of the table. */
  readonly routesOf: (id: IdPlan) => readonly PlacedRoute[];
}

/** A part of a layout's IDs with whoever has them in each table. */
export interface Claims {
  /** The number that all these IDs carry; `undefined` where they differ in it, or where the layout has none. */
  readonly mark: number | undefined;
  /** One at most, unless the entity of the other side takes every number. */
  readonly before: readonly IdPlan[];
  readonly after: readonly IdPlan[];
}

/** Every ID of a layout that an entity has before or after falls under one of these. */
export const pairOwners = (before: LayoutSide, after: LayoutSide): readonly Claims[] => {
  const [left, right] = [idsOf(before), idsOf(after)];
  const marks = [...left, ...right].map(ownerKeyOf);
  if (!marks.includes(undefined)) return pairByMark(left, right);
  // An entity that takes every number stands alone in its table, and so may the only one of a layout without numbers.
  const isShared = marks.every((mark) => mark === undefined) && Math.max(left.length, right.length) > 1;
  if (isShared) return pairBy(left, right, ({ entity }) => entity);
  return [{ mark: undefined, before: left, after: right }];
};

const idsOf = ({ routePlan }: LayoutSide): readonly IdPlan[] => routePlan?.plan.ids ?? [];

const pairByMark = (before: readonly IdPlan[], after: readonly IdPlan[]): readonly Claims[] =>
  pairBy(before, after, (id) => ownerKeyOf(id) as number).map((claims) => {
    const [owner] = [...claims.after, ...claims.before];
    return { ...claims, mark: owner && ownerKeyOf(owner) };
  });

const pairBy = <Key>(
  before: readonly IdPlan[],
  after: readonly IdPlan[],
  keyOf: (id: IdPlan) => Key,
): readonly Claims[] => {
  const [left, right] = [groupBy(before, keyOf), groupBy(after, keyOf)];
  const keys = new Set([...left.keys(), ...right.keys()]);
  return [...keys].map((key) => ({ mark: undefined, before: left.get(key) ?? [], after: right.get(key) ?? [] }));
};

/** A layout that was declared anew has other keys, which cannot be compared. */
export const sameLayout = (a: LayoutPlan, b: LayoutPlan): boolean => definitionOf(a) === definitionOf(b);

const definitionOf = ({ layout }: LayoutPlan): string => {
  const { rows, octetOrder, text } = layout.table;
  return JSON.stringify([rows, octetOrder, text.name, text.prefix]);
};
