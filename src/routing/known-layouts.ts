import { compileLayout, everyLayout, type Layout, type Row } from "../ids/index.ts";
import { type EntryFault, LAYOUT_NAME_SENTENCE, type LayoutReading, noSuchDay, reject } from "./layout-faults.ts";
import { readCustomLayout } from "./own-layouts.ts";
import { LUUID_SHORT } from "./readings.ts";
import type { DeclaredLayout } from "./schema.ts";
import { parseTime } from "./times.ts";

/** The layouts that a table may name: ours, ours with another epoch, and those that it declares itself. */

const OURS: ReadonlyMap<string, Layout> = new Map(everyLayout.map((layout) => [layout.name, layout]));

/** Schemes whose issuers count from epochs of their own. */
const EPOCH_SCHEMES: readonly string[] = [
  "snowflake",
  "discord-snowflake",
  "sharding-id",
  "flake-id",
  "sonyflake",
  "sonyflake-v2",
];

/** Every layout by name, those of entries with a fault left out. */
export const knownLayouts = (declared: ReadonlyMap<string, DeclaredLayout>): ReadonlyMap<string, Layout> => {
  const known = new Map(OURS);
  for (const [name, entry] of declared) {
    const { layout, faults } = readLayout(name, entry);
    if (layout === undefined || faults.length > 0) known.delete(name);
    else known.set(name, layout);
  }
  return known;
};

/** Whether an entry says what its layout is, rather than adding something to one of ours. */
const declaresLayout = ({ rows, like, text }: DeclaredLayout): boolean =>
  rows !== undefined || like !== undefined || text !== undefined;

/** Whether the table has a layout of this name, be it one with a fault. */
export const isLayoutName = ({ known, layouts, names }: LayoutNames, name: string): boolean => {
  if (known.has(name) || OURS.has(name)) return true;
  const declared = layouts.get(name);
  return declared === undefined ? names.layouts.has(name) : declaresLayout(declared);
};

/** What a draft says of layouts. */
interface LayoutNames {
  readonly known: ReadonlyMap<string, Layout>;
  readonly layouts: ReadonlyMap<string, DeclaredLayout>;
  readonly names: { readonly layouts: ReadonlySet<string> };
}

/** The layout of an entry of `layouts`. */
export const readLayout = (name: string, declared: DeclaredLayout): LayoutReading => {
  const ours = OURS.get(name);
  if (ours === undefined && !declaresLayout(declared)) return { layout: undefined, faults: [] };
  const stray = strayKeys(declared, ours !== undefined);
  if (stray.length > 0) return { layout: undefined, faults: stray };
  if (declared.rows !== undefined) return readCustomLayout(name, declared, declared.rows);
  const base = ours ?? OURS.get(declared.like ?? "");
  if (base === undefined) {
    return reject(
      ["like"],
      `There is no built-in layout ${JSON.stringify(declared.like)}; correct the name.`,
      "unknown-name",
    );
  }
  return readVariant(name, base, declared);
};

/** Keys that this kind of entry has no use for. */
const strayKeys = (declared: DeclaredLayout, isBuiltIn: boolean): readonly EntryFault[] => {
  const stray = (keys: readonly (keyof DeclaredLayout)[], why: string): readonly EntryFault[] =>
    keys.flatMap((key) => (declared[key] === undefined ? [] : reject([key], why).faults));
  if (isBuiltIn) {
    const why =
      "A built-in layout has this name already, and its bits are not for the table to say; choose another name.";
    return stray(["rows", "like", "text", "prefix", "octetOrder"], why);
  }
  if (declared.rows === undefined) {
    if (declared.like === undefined) return reject(["rows"], "A layout of your own needs `rows`; add them.").faults;
    return stray(
      ["text", "prefix", "octetOrder"],
      "`like` takes the bits and texts of a built-in layout; remove this.",
    );
  }
  return [
    ...stray(["like"], "A layout has `rows` or is `like` another, not both; remove one of them."),
    ...stray(["epoch"], "Give the `epoch` in the row of the time."),
    ...(declared.text === undefined ? reject(["text"], "A layout of your own needs a `text`; add it.").faults : []),
  ];
};

/** One of our layouts, as it is or counted from another epoch. */
const readVariant = (name: string, base: Layout, { epoch }: DeclaredLayout): LayoutReading => {
  const isOwnName = base.name === name;
  if (epoch === undefined && isOwnName) return { layout: base, faults: [] };
  if (!EPOCH_SCHEMES.includes(base.name)) {
    const place = epoch === undefined ? ["like"] : ["epoch"];
    return reject(
      place,
      `The epoch of ${base.name} is fixed, and only ${EPOCH_SCHEMES.join(", ")} have variants; remove this.`,
    );
  }
  if (epoch === undefined) {
    return reject(["epoch"], `Without an \`epoch\` of its own this is ${base.name}; add it, or use that name.`);
  }
  const epochMs = parseTime(epoch);
  if (epochMs === undefined) return reject(["epoch"], noSuchDay(epoch), "time-range");
  const rows = base.table.rows.map((row): Row => (row.role === "time" ? { ...row, epochMs } : row));
  const layout =
    isOwnName || isName(name) ? compileLayout({ ...base.table, name, rows }, base.texts.slice(1)) : undefined;
  return layout?.ok ? { layout: layout.value, faults: [] } : reject([], LAYOUT_NAME_SENTENCE);
};

/** As `declareLayout` has it. */
const isName = (name: string): boolean => /^[a-z][a-z0-9-]*$/.test(name) && name !== LUUID_SHORT;
