import { builtinLayouts, groupOfClass, type Layout, type Words } from "../../src/ids/index.ts";
import { M49_PARENTS } from "../../src/routing/m49.ts";
import type { DeclaredTable } from "../../src/routing/schema.ts";

/** The slow, obvious resolver: reads the declared table line by line for one ID. The compiled table is held against it. */

type When = DeclaredTable["routes"][number]["when"];
type Id = DeclaredTable["entities"][string]["ids"][number];

export interface OracleTarget {
  readonly region: string;
  readonly rule: "moved" | "default" | number;
}

export interface OracleReading {
  readonly entity: string;
  readonly layout: string;
  readonly target: OracleTarget | undefined;
}

const DAY_MS = 86_400_000;

/** Every entity whose ID a text can be, and where it would go. */
export const readAll = (table: DeclaredTable, text: string, nowMs: number): readonly OracleReading[] =>
  Object.keys(table.entities).flatMap((entity) => readAs(table, entity, text, nowMs));

/** The same for one entity. */
export const readAs = (table: DeclaredTable, entity: string, text: string, nowMs: number): readonly OracleReading[] => {
  const readings: OracleReading[] = [];
  for (const id of table.entities[entity]?.ids ?? []) {
    const layout = builtinLayouts.get(id.layout);
    const words = layout?.parse(text);
    if (layout === undefined || words === undefined || !words.ok) continue;
    if (!isTimely(table, layout, words.value, nowMs) || !isOwn(layout, id, words.value)) continue;
    readings.push({ entity, layout: id.layout, target: targetOf(table, entity, layout, text, words.value) });
  }
  return readings;
};

const isTimely = (table: DeclaredTable, layout: Layout, words: Words, nowMs: number): boolean => {
  const within = table.layouts?.[layout.name]?.mintedWithin;
  if (layout.mintedAtMs === undefined || within === false) return true;
  const from = within === undefined ? Date.UTC(2000, 0, 1) : Date.parse(within.from);
  const ahead = within === undefined ? DAY_MS : within.aheadSeconds * 1000;
  const minted = layout.mintedAtMs(words);
  return minted >= from && minted <= nowMs + ahead;
};

const isOwn = (layout: Layout, id: Id, words: Words): boolean => {
  const group = id.class === undefined ? id.group : groupOfClass(id.class);
  const { service: actualService, group: actualGroup } = layout.decode(words);
  if (id.service !== undefined && actualService !== id.service) return false;
  return group === undefined || actualGroup === group;
};

const targetOf = (
  table: DeclaredTable,
  entity: string,
  layout: Layout,
  text: string,
  words: Words,
): OracleTarget | undefined => {
  const moved = table.moved?.[text.toLowerCase()];
  if (moved !== undefined) return { region: moved, rule: "moved" };
  for (const [index, { when, region }] of table.routes.entries()) {
    if (matches(table, when, entity, layout, words)) return { region, rule: index };
  }
  return table.default === undefined ? undefined : { region: table.default, rule: "default" };
};

const matches = (table: DeclaredTable, when: When, entity: string, layout: Layout, words: Words): boolean => {
  const fields = layout.decode(words);
  const minted = layout.mintedAtMs?.(words);
  const list = <Item>(value: Item | Item[]): Item[] => (Array.isArray(value) ? value : [value]);
  if (when.layout !== undefined && !list(when.layout).includes(layout.name)) return false;
  if (when.entity !== undefined && !list(when.entity).includes(entity)) return false;
  if (when.country !== undefined && !list(when.country).some((code) => table.countries?.[code] === fields["country"])) {
    return false;
  }
  for (const name of ["service", "shardKey", "group", "primaryKey"] as const) {
    const wanted = when[name];
    if (wanted === undefined) continue;
    const value = fields[name];
    if (value === undefined || !list(wanted).some((one) => isIn(one, Number(value)))) return false;
  }
  if (when.class !== undefined && !list(when.class).some((name) => groupOfClass(name) === fields["group"]))
    return false;
  if (when.mintedFrom !== undefined && !(minted !== undefined && minted >= Date.parse(when.mintedFrom))) return false;
  if (when.mintedBefore !== undefined && !(minted !== undefined && minted < Date.parse(when.mintedBefore)))
    return false;
  return Object.entries(when.slices ?? {}).every(([name, wanted]) => {
    const slice = table.layouts?.[layout.name]?.slices?.[name];
    const key = fields["shardKey"] ?? fields["primaryKey"];
    if (slice === undefined || key === undefined) return false;
    const keyBits = layout.field("shardKey")?.bits ?? layout.field("primaryKey")?.bits ?? 0;
    const { offset, bits, codes } = "offset" in slice ? slice : { offset: slice[0], bits: slice[1], codes: undefined };
    const value = Number.parseInt(
      BigInt(key)
        .toString(2)
        .padStart(keyBits, "0")
        .slice(offset, offset + bits),
      2,
    );
    return list(wanted).some((one) => (codes === "m49" ? isUnder(Number(one), value) : isIn(one, value)));
  });
};

const isIn = (wanted: number | string, value: number): boolean => {
  const [low, high] = String(wanted).split("-").map(Number);
  return value >= (low ?? 0) && value <= (high ?? low ?? 0);
};

const isUnder = (area: number, code: number): boolean => {
  for (let at: number | undefined = code; at !== undefined; at = M49_PARENTS.get(at))
    if (at === area) return M49_PARENTS.has(code);
  return false;
};
