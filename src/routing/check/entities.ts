import { type Layout, luuid } from "../../ids/index.ts";
import { groupOfId, ownerKeyField } from "../layouts/fields.ts";
import { groupBy } from "../layouts/plan.ts";
import { areTwins } from "../lookup/rank.ts";
import type { Draft } from "../schema/draft.ts";
import type { Place, Report } from "../schema/faults.ts";
import type { DeclaredEntityId } from "../schema/table.ts";

/** An entity's IDs must have the declared numbers, and no two entities may own the same IDs of a marked layout. */
export const checkEntities = (draft: Draft, report: Report): void => {
  const all = [...draft.entities].flatMap(([entity, { ids }]) =>
    ids.flatMap((id, index): readonly Claim[] => {
      const layout = draft.known.get(id.layout);
      const place: Place = ["entities", entity, "ids", index];
      if (layout === undefined || !checkMarks(id, layout, place, report)) return [];
      return [{ entity, id, layout, mark: id.service ?? groupOfId(id), place }];
    }),
  );
  const claims = [...groupBy(all, ({ layout, mark }) => `${layout.name} ${mark}`).values()].flatMap((alike) =>
    alike.filter((claim, at) => !alike.slice(0, at).some((earlier) => isTwin(draft, earlier, claim))),
  );
  for (const [layout, own] of groupBy(claims, (claim) => claim.layout)) {
    const mark = ownerKeyField(layout)?.name;
    if (mark === undefined) checkUnmarked(own, layout, report);
    else checkMarked(own, layout, mark === "service" ? mark : "group", report);
  }
};

/** Whether both mean the same IDs on one path, and the request's method or host says for which. */
const isTwin = ({ entities }: Draft, a: Claim, b: Claim): boolean => {
  if (a.entity === b.entity) return false;
  const one = entities.get(a.entity);
  const other = entities.get(b.entity);
  return one !== undefined && other !== undefined && areTwins(one, other);
};

const MARKS = ["service", "class", "group"] as const;

/** Only LUUIDs name their group by a class. */
const hasMark = (layout: Layout, mark: (typeof MARKS)[number]): boolean =>
  mark === "class" ? layout.name === luuid.name : ownerKeyField(layout)?.name === mark;

const checkMarks = (id: DeclaredEntityId, layout: Layout, place: Place, report: Report): boolean => {
  let isSound = true;
  const fault: Report = (...found) => {
    isSound = false;
    report(...found);
  };
  for (const mark of MARKS) {
    if (id[mark] === undefined) continue;
    const max = ownerKeyField(layout)?.max;
    if (!hasMark(layout, mark)) {
      fault("unknown-name", [...place, mark], `IDs of layout ${layout.name} have no ${mark}; remove it.`);
    } else if (mark !== "class" && max !== undefined && (id[mark] as number) > max) {
      fault("key-range", [...place, mark], `${id[mark]} is greater than ${max}, the maximum ${mark}; lower it.`);
    }
  }
  if (id.class !== undefined && id.group !== undefined) {
    fault("group-clash", [...place, "group"], "A class has its own group; give the class or the group, not both.");
  }
  return isSound;
};

interface Claim {
  readonly entity: string;
  readonly id: DeclaredEntityId;
  readonly layout: Layout;
  readonly mark: number | undefined;
  readonly place: Place;
}

/** Where a number marks the entity, each number has one owner; an entity without a number owns all of them. */
const checkMarked = (claims: readonly Claim[], layout: Layout, name: "service" | "group", report: Report): void => {
  const kind = name === "service" ? "number-clash" : "group-clash";
  const owners = new Map<number, Claim>();
  for (const claim of claims) {
    const { entity, id, mark, place } = claim;
    if (mark === undefined) {
      if (claims.length === 1) continue;
      const message = `Without a ${name}, ${JSON.stringify(entity)} takes the ${layout.name} IDs of every other entity too; add it.`;
      report(kind, place, message);
      continue;
    }
    const owner = owners.get(mark);
    if (owner === undefined) {
      owners.set(mark, claim);
      continue;
    }
    const key = MARKS.find((each) => id[each] !== undefined) ?? name;
    const message = `${name === "group" ? "Group" : "Service"} ${mark}${classOf(id)} is already that of ${JSON.stringify(owner.entity)}${classOf(owner.id)}; give one of them another.`;
    report(kind, [...place, key], message);
  }
};

const classOf = ({ class: className }: DeclaredEntityId): string =>
  className === undefined ? "" : ` (class ${JSON.stringify(className)})`;

/** Several entities may share a layout without such a number, each of them once. */
const checkUnmarked = (claims: readonly Claim[], layout: Layout, report: Report): void => {
  const seen = new Set<string>();
  for (const { entity, place } of claims) {
    const message = `Layout ${layout.name} is duplicated in ${JSON.stringify(entity)}; remove one of them.`;
    if (seen.has(entity)) report("number-clash", place, message);
    seen.add(entity);
  }
};
