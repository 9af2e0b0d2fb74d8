import type { PackRange } from "../../../src/features/packs/table/format.ts";
import {
  compileLayout,
  declareLayout,
  everyLayout,
  groupOfClass,
  type Layout,
  type LayoutDeclaration,
  type Row,
  type Words,
} from "../../../src/ids/index.ts";
import { M49_AREAS } from "../../../src/routing/data/m49.ts";
import type { DeclaredEntity, DeclaredTable } from "../../../src/routing/schema/table.ts";
import type { Rule } from "../../../src/routing/table.ts";
import { slowFind } from "../packs/pack-cases.ts";
import { slowPart, slowPlace } from "./slow-canary.ts";

/** The slow, obvious resolver: reads the declared table line by line for one ID. The compiled table is held against it. */

type When = DeclaredTable["routes"][number]["when"];
type Id = DeclaredEntity["ids"][number];

export interface OracleTarget {
  /** `undefined`: removed from every region. */
  readonly region: string | undefined;
  readonly rule: Rule["kind"] | "gone" | number | `canary ${number}`;
}

export interface OracleReading {
  readonly entity: string;
  readonly layout: string;
  readonly form: string;
  readonly target: OracleTarget | undefined;
}

const DAY_MS = 86_400_000;

/** Every entity whose ID a text can be, and where it would go. */
export const readAll = (table: DeclaredTable, text: string, nowMs: number, hint?: string): readonly OracleReading[] =>
  withoutChance(
    Object.keys(table.entities ?? {}).flatMap((entity) => readIn(table, entity, text, nowMs, hint)),
    text,
  );

/** The same for one entity. */
export const readAs = (
  table: DeclaredTable,
  entity: string,
  text: string,
  nowMs: number,
  hint?: string,
): readonly OracleReading[] => withoutChance(readIn(table, entity, text, nowMs, hint), text);

const readIn = (
  table: DeclaredTable,
  entity: string,
  text: string,
  nowMs: number,
  hint: string | undefined,
): readonly OracleReading[] => {
  const readings: OracleReading[] = [];
  for (const id of table.entities?.[entity]?.ids ?? []) {
    if (hint !== undefined && hint !== id.layout) continue;
    const layout = layoutOf(table, id.layout);
    for (const form of layout.texts) {
      const words = form.parse(text);
      if (!words.ok || layout.misfit(words.value) !== undefined) continue;
      if (!isTimely(table, layout, words.value, nowMs) || !isOwn(layout, id, words.value)) continue;
      const target = targetOf(table, entity, layout, words.value);
      readings.push({ entity, layout: id.layout, form: form.name, target });
    }
  }
  return readings;
};

/** Sixteen digits and more are a decimal or hex, where one reading is. */
const withoutChance = (readings: readonly OracleReading[], text: string): readonly OracleReading[] => {
  const usual = readings.filter(({ form }) => form === "decimal" || form === "hex");
  return usual.length > 0 && /^[0-9]{16,}$/.test(text) ? usual : readings;
};

const made = new WeakMap<DeclaredTable, Map<string, Layout>>();

/** The layout that the table means by a name. */
export const layoutOf = (table: DeclaredTable, name: string): Layout => {
  const known = made.get(table) ?? new Map<string, Layout>();
  made.set(table, known);
  const layout = known.get(name) ?? makeLayout(table, name);
  known.set(name, layout);
  return layout;
};

const makeLayout = (table: DeclaredTable, name: string): Layout => {
  const { rows, text, prefix, octetOrder, like, epoch } = table.layouts?.[name] ?? {};
  const base = everyLayout.find((layout) => layout.name === (like ?? name));
  const epochMs = Date.parse(epoch ?? "");
  if (rows === undefined) {
    if (base === undefined) throw new Error(`no layout ${name}`);
    return epoch === undefined ? base : countedFrom(base, name, epochMs);
  }
  const layout = declareLayout({ name, text, prefix, octetOrder, rows: rows.map(rowOf) } as LayoutDeclaration);
  if (!layout.ok) throw new Error(`no layout ${name}: ${JSON.stringify(layout.error)}`);
  return layout.value;
};

const countedFrom = (base: Layout, name: string, epochMs: number): Layout => {
  const rows = base.table.rows.map((row) => (row.role === "time" ? { ...row, epochMs } : row));
  const layout = compileLayout({ ...base.table, name, rows }, base.texts.slice(1));
  if (!layout.ok) throw new Error(`no layout ${name}`);
  return layout.value;
};

const rowOf = ({ epoch, ...row }: { epoch?: string }): Row =>
  ({ ...row, ...(epoch === undefined ? {} : { epochMs: Date.parse(epoch) }) }) as Row;

const isTimely = (table: DeclaredTable, layout: Layout, words: Words, nowMs: number): boolean => {
  const within = table.layouts?.[layout.name]?.mintedWithin;
  if (layout.mintedAtMs === undefined || within === false) return true;
  const from = within === undefined ? Date.UTC(2000, 0, 1) : Date.parse(within.from);
  const ahead = within === undefined ? DAY_MS : within.aheadSeconds * 1000;
  const minted = layout.mintedAtMs(words);
  return minted !== undefined && minted >= from && minted <= nowMs + ahead;
};

const isOwn = (layout: Layout, id: Id, words: Words): boolean => {
  const group = id.class === undefined ? id.group : groupOfClass(id.class);
  const { service: actualService, group: actualGroup } = layout.decode(words);
  if (id.service !== undefined && actualService !== id.service) return false;
  return group === undefined || actualGroup === group;
};

const targetOf = (table: DeclaredTable, entity: string, layout: Layout, words: Words): OracleTarget | undefined => {
  const text = layout.format(words);
  const moved = table.moved?.[text];
  if (moved !== undefined) return { region: typeof moved === "string" ? moved : moved.region, rule: "moved" };
  const move = table.moves?.[text];
  if (move !== undefined) return { region: move.from, rule: "moving" };
  if (table.gone?.[text] !== undefined) return { region: undefined, rule: "gone" };
  for (const [index, { when, region, canary, split, pack }] of table.routes.entries()) {
    if (!matches(table, when, entity, layout, words)) continue;
    if (split !== undefined) return { region: partsOf(split)[slowPart(layout, words, split.parts)], rule: index };
    if (pack !== undefined) {
      const held = slowFind(contents.get(table.packs?.[pack]?.sha256 ?? "") ?? [], keyIn(table, pack, layout, words));
      if (held === undefined) continue;
      return { region: held, rule: index };
    }
    const isTaken = canary !== undefined && slowPlace(layout, words) * 100 < canary.percent;
    return isTaken ? { region: canary.region, rule: `canary ${index}` } : { region, rule: index };
  }
  return table.default === undefined ? undefined : { region: table.default, rule: "default" };
};

const contents = new Map<string, readonly PackRange[]>();

/** Tells what a pack's file holds, by its digest. */
export const tellContents = (digest: string, ranges: readonly PackRange[]): unknown => contents.set(digest, ranges);

const keyIn = (table: DeclaredTable, pack: string, layout: Layout, words: Words): number => {
  const { field, slice } = table.packs?.[pack] ?? {};
  const fields = layout.decode(words);
  if (slice !== undefined) return sliceValue(table, layout, words, slice) ?? Number.NaN;
  return Number(fields[field ?? keyOf(layout)?.name ?? ""]);
};

const partsOf = ({ parts, regions }: NonNullable<DeclaredTable["routes"][number]["split"]>): readonly string[] => {
  if (Array.isArray(regions)) return regions;
  return Array.from({ length: parts }, (_, part) => {
    const found = Object.entries(regions).find(([wanted]) => isIn(wanted, part));
    return found?.[1] ?? "";
  });
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
  for (const [name, wanted] of Object.entries(when.fields ?? {})) {
    const value = fields[name];
    if (value === undefined || !list(wanted).some((one) => isIn(one, Number(value)))) return false;
  }
  if (when.mintedFrom !== undefined && !(minted !== undefined && minted >= Date.parse(when.mintedFrom))) return false;
  if (when.mintedBefore !== undefined && !(minted !== undefined && minted < Date.parse(when.mintedBefore)))
    return false;
  return Object.entries(when.slices ?? {}).every(([name, wanted]) => {
    const slice = table.layouts?.[layout.name]?.slices?.[name];
    const value = sliceValue(table, layout, words, name);
    if (slice === undefined || value === undefined) return false;
    const codes = "offset" in slice ? slice.codes : undefined;
    return list(wanted).some((one) => (codes === "m49" ? isUnder(Number(one), value) : isIn(one, value)));
  });
};

const sliceValue = (table: DeclaredTable, layout: Layout, words: Words, name: string): number | undefined => {
  const slice = table.layouts?.[layout.name]?.slices?.[name];
  const key = keyOf(layout);
  const whole = key && layout.decode(words)[key.name];
  if (slice === undefined || key === undefined || whole === undefined) return undefined;
  const { offset, bits } = "offset" in slice ? slice : { offset: slice[0], bits: slice[1] };
  const digits = BigInt(whole).toString(2).padStart(key.bits, "0");
  return Number.parseInt(digits.slice(offset, offset + bits), 2);
};

/** The key that slices are parts of. */
const keyOf = (layout: Layout) => {
  const keys = layout.fields.filter(({ role }) => role === "key");
  const named = layout.field("shardKey") ?? layout.field("primaryKey");
  return named ?? (keys.length === 1 ? keys[0] : undefined);
};

const isIn = (wanted: number | string, value: number): boolean => {
  const [low, high] = String(wanted).split("-").map(Number);
  return value >= (low ?? 0) && value <= (high ?? low ?? 0);
};

const isUnder = (area: number, code: number): boolean =>
  M49_AREAS.some(
    ([of, ...members]) => of === area && (area === code || members.some((member) => isUnder(member, code))),
  ) ||
  (area === code && M49_AREAS.flat().includes(code));
