import { groupOfClass, type Layout } from "../../ids/index.ts";
import { draftOf } from "../../routing/layouts/declared.ts";
import { type IdPlan, type LayoutPlan, planLayouts } from "../../routing/layouts/plan.ts";
import { listOf } from "../../routing/schema/records.ts";
import type { DeclaredConditions, DeclaredTable } from "../../routing/schema/table.ts";

/** Entities whose IDs can fulfil the conditions of a route: by their layouts, not by what earlier routes take. */

type Named = Pick<DeclaredTable, "entities" | "layouts">;

const plansOf = new WeakMap<object, readonly LayoutPlan[]>();

/** Routes that differ in the values of their keys alone have the same IDs. */
const idsByConditions = new WeakMap<readonly LayoutPlan[], Map<string, readonly IdPlan[]>>();

export function plansIn(named: Named): readonly LayoutPlan[] {
  const { entities = {}, layouts = {} } = named;
  const known = plansOf.get(entities);
  if (known !== undefined) return known;
  const plans = [...planLayouts(draftOf({ regions: {}, entities, layouts, routes: [] })).values()];
  plansOf.set(entities, plans);
  return plans;
}

export function ownersOf(when: DeclaredConditions, named: Named): readonly string[] {
  const found = new Set(idsOf(when, plansIn(named)).map(({ entity }) => entity));
  // In the order of the table. Keys of a directory have no layout.
  const own = Object.keys(named.entities ?? {}).filter((entity) => found.has(entity));
  return own.length > 0 || when.entity === undefined ? own : listOf(when.entity);
}

/** Whether the other conditions hold for no other layout, so that its name says nothing more. */
export function isLayoutImplied({ layout, ...others }: DeclaredConditions, named: Named): boolean {
  const plans = plansIn(named);
  const without = idsOf(others, plans).length;
  return (
    Object.keys(others).length > 0 &&
    without > 0 &&
    idsOf({ layout, ...others } as DeclaredConditions, plans).length === without
  );
}

/** Whether IDs that fulfil the conditions say when they were minted. */
export function timesOf(when: DeclaredConditions, named: Named): "all" | "some" | "none" {
  const plans = plansIn(named).filter((plan) => findIds(when, [plan]).length > 0);
  const timed = plans.filter(({ layout }) => layout.mintedAtMs !== undefined);
  return timed.length === 0 ? "none" : timed.length === plans.length ? "all" : "some";
}

function idsOf(when: DeclaredConditions, plans: readonly LayoutPlan[]): readonly IdPlan[] {
  const { layout, entity, service, group, class: classes, slices = {}, fields = {} } = when;
  const names = [Object.keys(when), Object.keys(slices), Object.keys(fields)];
  const key = JSON.stringify([layout, entity, service, group, classes, names]);
  const known = idsByConditions.get(plans) ?? new Map<string, readonly IdPlan[]>();
  idsByConditions.set(plans, known);
  const ids = known.get(key) ?? findIds(when, plans);
  known.set(key, ids);
  return ids;
}

const findIds = (when: DeclaredConditions, plans: readonly LayoutPlan[]): readonly IdPlan[] =>
  plans.filter((plan) => canHold(when, plan)).flatMap(({ ids }) => ids.filter((id) => isOwn(when, id)));

const KEYS = ["service", "shardKey", "primaryKey", "country", "group"] as const;

function canHold(when: DeclaredConditions, { layout, slices }: LayoutPlan): boolean {
  const { slices: asked = {}, fields = {}, mintedFrom, mintedBefore } = when;
  if (when.layout !== undefined && !listOf(when.layout).includes(layout.name)) return false;
  if ((mintedFrom ?? mintedBefore) !== undefined && layout.mintedAtMs === undefined) return false;
  if (when.class !== undefined && !has(layout, "group")) return false;
  return (
    KEYS.every((name) => when[name] === undefined || has(layout, name)) &&
    Object.keys(fields).every((name) => has(layout, name)) &&
    Object.keys(asked).every((name) => slices.has(name))
  );
}

const has = (layout: Layout, name: string): boolean => layout.field(name) !== undefined;

/** The marks of an entity's IDs are known: a route for other ones takes none of them. */
const isOwn = ({ entity, service, group, class: classes }: DeclaredConditions, id: IdPlan): boolean =>
  (entity === undefined || listOf(entity).includes(id.entity)) &&
  (service === undefined || id.service === undefined || isIn(id.service, service)) &&
  (group === undefined || id.group === undefined || isIn(id.group, group)) &&
  (classes === undefined || id.group === undefined || listOf(classes).some((name) => groupOfClass(name) === id.group));

const isIn = (number: number, among: NonNullable<DeclaredConditions["service"]>): boolean =>
  listOf(among).some((each) => {
    const [from = "", to = from] = String(each).split("-");
    return Number(from) <= number && number <= Number(to);
  });
