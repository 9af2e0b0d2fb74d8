import type { Layout } from "../../ids/index.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { ownOf } from "../app/own.ts";
import type { Reader } from "../lookup/reader.ts";

/** An order for new IDs, from what is written in the form. Pure. */

export const COUNT_MAX = 1000;

export interface Written {
  readonly entity: string;
  readonly layout: string;
  readonly country: string;
  /** Texts of keys and nodes, by field. */
  readonly keys: Readonly<Record<string, string>>;
  readonly count: string;
}

export interface Order {
  /** All that the table has IDs for. */
  readonly entities: readonly string[];
  readonly entity: string;
  /** All that the entity has. */
  readonly layouts: readonly string[];
  readonly layout: Layout;
  readonly needsCountry: boolean;
  readonly country: string | undefined;
  /** Fields that the form asks for. */
  readonly asked: readonly string[];
  /** Those that have a number. */
  readonly fields: Readonly<Record<string, number | bigint>>;
  readonly count: number;
  /** Parts that must be chosen first, in words. */
  readonly missing: readonly string[];
}

/** Fields that the form has in words of its own, or that the gateway fills in. */
const NOT_ASKED = ["country", "service", "group", "primaryKey", "machine", "process"];

const NAMES: Readonly<Record<string, string>> = { shardKey: "Shard key" };

export const fieldName = (name: string): string => ownOf(NAMES, name) ?? name;

/** `undefined`: the table has no entity with IDs. */
export function orderOf({ entities = {} }: DeclaredTable, reader: Reader, written: Written): Order | undefined {
  const names = Object.entries(entities).flatMap(([name, { ids }]) => (ids.length > 0 ? [name] : []));
  const entity = names.includes(written.entity) ? written.entity : (names[0] ?? "");
  const layouts = (ownOf(entities, entity)?.ids ?? []).map(({ layout }) => layout);
  const layout = reader.layout(layouts.includes(written.layout) ? written.layout : (layouts[0] ?? ""));
  if (layout === undefined) return undefined;
  const needsCountry = layout.field("country") !== undefined;
  const country = needsCountry && written.country !== "" ? written.country : undefined;
  const asked = layout.fields.flatMap(({ name, role }) =>
    (role === "key" || role === "node") && !NOT_ASKED.includes(name) ? [name] : [],
  );
  const fields = Object.fromEntries(
    asked.flatMap((name) => {
      const number = numberIn(ownOf(written.keys, name) ?? "");
      return number === undefined ? [] : [[name, number]];
    }),
  );
  const count = Number(written.count);
  const isCount = Number.isInteger(count) && count >= 1 && count <= COUNT_MAX;
  const missing = [
    ...(needsCountry && country === undefined ? ["a country"] : []),
    ...asked.flatMap((name) => (Object.hasOwn(fields, name) ? [] : [fieldName(name).toLowerCase()])),
    ...(isCount ? [] : [`how many, up to ${COUNT_MAX}`]),
  ];
  return { entities: names, entity, layouts, layout, needsCountry, country, asked, fields, count, missing };
}

function numberIn(text: string): number | bigint | undefined {
  if (!/^\d{1,20}$/.test(text.trim())) return undefined;
  const number = BigInt(text.trim());
  return number > Number.MAX_SAFE_INTEGER ? number : Number(number);
}

/** The body of the request. Numbers above 53 bits go as text. */
export function bodyOf({ entity, layouts, layout, country, fields: all, count }: Order): object {
  const { shardKey, ...fields } = all;
  const texts = Object.entries(fields).map(([name, value]) => [name, typeof value === "bigint" ? `${value}` : value]);
  return {
    entity,
    count,
    ...(layouts.length > 1 && { layout: layout.name }),
    ...(country !== undefined && { country }),
    ...(shardKey !== undefined && { shardKey }),
    ...(texts.length > 0 && { fields: Object.fromEntries(texts) }),
  };
}
