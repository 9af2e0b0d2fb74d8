import { type Field, groupOfClass, type Layout, type TextForm, type Words } from "../../ids/index.ts";
import type { DeclaredEntityId } from "../schema/table.ts";
import type { EnabledLayout, Owner } from "../table.ts";

/** The LUUID group that an entity's `ids` entry declares, by number or by class name. */
export const groupOfId = ({ group, class: className }: DeclaredEntityId): number | undefined =>
  group ?? (className === undefined ? undefined : groupOfClass(className));

/** Values of more bits are not always exact as JSON numbers, and no index is cut by them. */
export const ROUTABLE_BITS_MAX = 53;

/** Keys with a condition of their own name. In every layout such a name is that of a key of at most 53 bits. */
export const KEY_NAMES = ["shardKey", "primaryKey", "country", "service", "group"] as const;

const isKeyName = (name: string): boolean => (KEY_NAMES as readonly string[]).includes(name);

/** The field that tells the entities of one layout apart. No layout has both. */
export const ownerKeyField = (layout: Layout): Field | undefined => layout.field("service") ?? layout.field("group");

/** The field that slices divide: the shard key or the primary key, else the only key. */
export const keyFieldOf = (layout: Layout): Field | undefined => {
  const named = layout.field("shardKey") ?? layout.field("primaryKey");
  if (named !== undefined) return named;
  const [only, other] = layout.fields.filter(({ role }) => role === "key");
  return only !== undefined && other === undefined && !isKeyName(only.name) && isRoutable(only) ? only : undefined;
};

export const fieldDimensionName = (name: string): string => (isKeyName(name) ? name : `fields.${name}`);

export const isIssued = ({ role }: Field): boolean => role === "key" || role === "node";

const isRoutable = (field: Field): boolean => isIssued(field) && field.bits <= ROUTABLE_BITS_MAX;

/** The fields that routes may name, those with a condition of their own first. */
export const routableFields = (layout: Layout): readonly Field[] => {
  const own = KEY_NAMES.flatMap((name) => layout.field(name) ?? []);
  return [...own, ...layout.fields.filter((field) => isRoutable(field) && !own.includes(field))];
};

export type Reading = { readonly form: TextForm; readonly words: Words };

/** The bits of a text in each text form of a layout that can read it, whether or not they fit the layout. */
export const readingsOf = ({ texts }: Layout, text: string): readonly Reading[] =>
  texts.flatMap((form) => {
    const words = form.read(text, 0, text.length);
    return words === undefined ? [] : [{ form, words }];
  });

/** Unix milliseconds of an ISO 8601 time with its offset; `undefined` for a day or an hour that does not exist. */
export const parseTime = (text: string): number | undefined => {
  const ms = Date.parse(text);
  const [, year, month, day] = /^([0-9]{4})-([0-9]{2})-([0-9]{2})T/.exec(text) ?? [];
  if (Number.isNaN(ms) || year === undefined || month === undefined || day === undefined) return undefined;
  // A date parser may take 30 February for 2 March.
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  date.setUTCFullYear(Number(year));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day) ? ms : undefined;
};

export const noSuchDay = (time: string): string => `${JSON.stringify(time)} is not a valid date and time; correct it.`;

/** The entities that claim words of a layout, in the order of the table. */
export const ownersOf = ({ owners: { mark, marked, unmarked } }: EnabledLayout, words: Words): readonly Owner[] =>
  (mark === undefined ? undefined : marked.get(mark.read(words))) ?? unmarked;
