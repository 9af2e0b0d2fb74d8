import { listOf } from "../../../routing/schema/records.ts";
import type { DeclaredConditions, DeclaredNumbers } from "../../../routing/schema/table.ts";

/** Whether one ID could fulfil both. Where that is not plain it is so: then the new route only stands earlier than it must. */
export function mayOverlap(a: DeclaredConditions, b: DeclaredConditions): boolean {
  const names = ["layout", "entity", "country", "class"] as const;
  if (names.some((name) => areApart(a[name], b[name]))) return false;
  const keys = ["service", "shardKey", "primaryKey", "group"] as const;
  if (keys.some((name) => areNumbersApart(a[name], b[name]))) return false;
  const fields = Object.keys(a.fields ?? {});
  if (fields.some((name) => areNumbersApart(a.fields?.[name], b.fields?.[name]))) return false;
  return !isOver(a, b) && !isOver(b, a);
}

const areApart = <Value>(a: Value | readonly Value[] | undefined, b: Value | readonly Value[] | undefined): boolean =>
  a !== undefined && b !== undefined && !listOf(a).some((each) => listOf(b).includes(each));

const areNumbersApart = (a: DeclaredNumbers | undefined, b: DeclaredNumbers | undefined): boolean =>
  a !== undefined &&
  b !== undefined &&
  !listOf(a).some((one) => listOf(b).some((other) => touch(boundsOf(one), boundsOf(other))));

type Bounds = readonly [from: number, to: number];

const boundsOf = (item: number | string): Bounds => {
  const [from = "", to = from] = String(item).split("-");
  return [Number(from), Number(to)];
};

const touch = ([from, to]: Bounds, [start, end]: Bounds): boolean => from <= end && start <= to;

/** Whether the first ends before the other begins. */
const isOver = ({ mintedBefore }: DeclaredConditions, { mintedFrom }: DeclaredConditions): boolean =>
  mintedBefore !== undefined && mintedFrom !== undefined && Date.parse(mintedBefore) <= Date.parse(mintedFrom);
