import type { Layout, LayoutDeclaration, Row } from "../../ids/index.ts";
import { compileLayout, declareLayout, declareTexts, everyLayout } from "../../ids/index.ts";
import { bitsOf } from "../../ids/layout/runs.ts";
import { sharedForm } from "../../ids/text/alphabet-text.ts";
import { LUUID_SHORT } from "../identity.ts";
import { type Draft, type DraftRoutes, draftWith, layoutsIn } from "../schema/draft.ts";
import { FORBIDDEN_KEYS, type Json } from "../schema/records.ts";
import type { DeclaredLayout, DeclaredRow, DeclaredTable } from "../schema/table.ts";
import { type EntryFault, faultAt, faultOfDeclaration, LAYOUT_NAME_SENTENCE } from "./declaration-faults.ts";
import { KEY_NAMES, noSuchDay, parseTime, ROUTABLE_BITS_MAX } from "./fields.ts";

/** Without a layout where there is a fault, and where the entry declares none. */
export type LayoutReading = { readonly layout: Layout | undefined; readonly faults: readonly EntryFault[] };

const reject = (...faults: readonly EntryFault[]): LayoutReading => ({ layout: undefined, faults });

const readCustomLayout = (name: string, declared: DeclaredLayout, declaredRows: readonly DeclaredRow[]) => {
  const { text, prefix, octetOrder } = declared;
  if (name === LUUID_SHORT) return reject(faultAt([], `Short keys are called ${LUUID_SHORT}; rename the layout.`));
  const faults = declaredRows.flatMap((row, at) =>
    faultsOfRow(row).map((fault) => ({ ...fault, place: ["rows", at, ...fault.place] })),
  );
  const rows = declaredRows.flatMap((row) => rowOf(row) ?? []);
  if (faults.length > 0 || text === undefined) return reject(...faults);
  const layout = declareLayout({
    name,
    // A name that only a built-in layout has is a fault.
    text: text as LayoutDeclaration["text"],
    rows,
    ...(prefix === undefined ? {} : { prefix }),
    ...(octetOrder === undefined ? {} : { octetOrder }),
  });
  if (!layout.ok) return reject(faultOfDeclaration(layout.error, rows));
  const names = faultsOfNames(layout.value, rows);
  return { layout: names.length === 0 ? layout.value : undefined, faults: names };
};

const faultsOfNames = (layout: Layout, rows: readonly Row[]): readonly EntryFault[] => {
  const fault = (name: string, message: string): EntryFault =>
    faultAt(["rows", rows.findIndex(({ field }) => field === name), "field"], message);
  const keys = KEY_NAMES.flatMap((name) => {
    const field = layout.field(name);
    if (field === undefined || (field.role === "key" && field.bits <= ROUTABLE_BITS_MAX)) return [];
    const message = `\`${name}\` is the name of a key of at most ${ROUTABLE_BITS_MAX} bits; rename this field.`;
    return fault(name, message);
  });
  const forbidden = layout.fields
    .filter(({ name }) => FORBIDDEN_KEYS.has(name))
    .map(({ name }) => fault(name, `${JSON.stringify(name)} is not allowed as a name; choose another.`));
  const hasBoth = layout.field("service") !== undefined && layout.field("group") !== undefined;
  const message = "One number marks the entity of an ID, its `service` or its `group`; rename one of them.";
  return [...keys, ...forbidden, ...(hasBoth ? [fault("group", message)] : [])];
};

/** Keys of a row that only some roles have. */
const ROLE_KEYS = {
  value: ["fixed"],
  unit: ["time"],
  epoch: ["time"],
  max: ["key", "node", "counter", "random", "time"],
} as const;

const faultsOfRow = (row: DeclaredRow): readonly EntryFault[] => {
  const faults: EntryFault[] = [];
  for (const key of ["value", "unit", "epoch", "max"] as const) {
    const roles: readonly string[] = ROLE_KEYS[key];
    const isOwn = roles.includes(row.role);
    if (row[key] !== undefined && !isOwn) {
      faults.push(faultAt([key], `A row of role ${row.role} has no \`${key}\`; remove it.`));
    } else if (row[key] === undefined && isOwn && key !== "max") {
      faults.push(faultAt([key], `A row of role ${row.role} needs \`${key}\`; add it.`));
    }
  }
  if (row.epoch !== undefined && parseTime(row.epoch) === undefined) {
    faults.push(faultAt(["epoch"], noSuchDay(row.epoch), "time-range"));
  }
  return faults;
};

/** `undefined` for a row with a fault. */
const rowOf = ({ field, bits, role, value, unit, epoch, max }: DeclaredRow): Row | undefined => {
  const greatest = max === undefined ? {} : { max: typeof max === "string" ? BigInt(max) : max };
  if (role === "fixed") return value === undefined ? undefined : { field, bits, role, value };
  if (role !== "time") return { field, bits, role, ...greatest };
  const epochMs = epoch === undefined ? undefined : parseTime(epoch);
  return unit === undefined || epochMs === undefined ? undefined : { field, bits, role, unit, epochMs, ...greatest };
};

/** The built-in layouts by name. A table may also name variants with another epoch, and layouts that it declares. */
const OURS: ReadonlyMap<string, Layout> = new Map(everyLayout.map((layout) => [layout.name, layout]));

// A declared form that reads and writes like one of these is the same form.
for (const { texts } of everyLayout) for (const form of texts) sharedForm(form);

/** Schemes whose issuers count from epochs of their own. */
const EPOCH_SCHEMES: readonly string[] = [
  "snowflake",
  "discord-snowflake",
  "sharding-id",
  "flake-id",
  "sonyflake",
  "sonyflake-v2",
];

/** The draft of a table that fits the schema. `declared`: the table with those entries that do not. */
export const draftOf = (table: DeclaredTable, declared?: Json, routes?: DraftRoutes): Draft =>
  draftWith(knownLayouts(layoutsIn(table)), table, declared, routes);

export const knownLayouts = (declared: ReadonlyMap<string, DeclaredLayout>): ReadonlyMap<string, Layout> => {
  const known = new Map(OURS);
  for (const [name, entry] of declared) {
    const { layout, faults } = readLayout(name, entry);
    if (layout === undefined || faults.length > 0) known.delete(name);
    else known.set(name, layout);
  }
  return known;
};

/** Whether an entry declares a layout, rather than adding something to a built-in one. */
const declaresLayout = ({ rows, like, text }: DeclaredLayout): boolean =>
  rows !== undefined || like !== undefined || text !== undefined;

/** Whether the table has a layout of this name, even one with a fault. */
export const isLayoutName = ({ known, layouts, names }: LayoutNames, name: string): boolean => {
  if (known.has(name) || OURS.has(name)) return true;
  const declared = layouts.get(name);
  return declared === undefined ? names.layouts.has(name) : declaresLayout(declared);
};

/** Whether every entity fits the schema and names layouts that exist. Otherwise one of them may use what seems unused. */
export const areEntitiesSound = (draft: EntityNames): boolean =>
  draft.entities.size === draft.names.entities.size &&
  [...draft.entities.values()].every(({ ids }) => ids.every(({ layout }) => isLayoutName(draft, layout)));

interface EntityNames extends LayoutNames {
  readonly entities: ReadonlyMap<string, { readonly ids: readonly { readonly layout: string }[] }>;
  readonly names: LayoutNames["names"] & { readonly entities: ReadonlySet<string> };
}

interface LayoutNames {
  readonly known: ReadonlyMap<string, Layout>;
  readonly layouts: ReadonlyMap<string, DeclaredLayout>;
  readonly names: { readonly layouts: ReadonlySet<string> };
}

export const readLayout = (name: string, declared: DeclaredLayout): LayoutReading => {
  const ours = OURS.get(name);
  if (ours === undefined && !declaresLayout(declared)) return { layout: undefined, faults: [] };
  const stray = strayKeys(declared, ours !== undefined);
  if (stray.length > 0) return reject(...stray);
  if (declared.rows !== undefined) return readCustomLayout(name, declared, declared.rows);
  const base = ours ?? OURS.get(declared.like ?? "");
  if (base === undefined) {
    const message = `There is no built-in layout ${JSON.stringify(declared.like)}; correct the name.`;
    return reject(faultAt(["like"], message, "unknown-name"));
  }
  return readVariant(name, base, declared);
};

/** Faults of keys that this kind of entry does not have, or needs. */
const strayKeys = (declared: DeclaredLayout, isBuiltIn: boolean): readonly EntryFault[] => {
  const stray = (keys: readonly (keyof DeclaredLayout)[], why: string): readonly EntryFault[] =>
    keys.flatMap((key) => (declared[key] === undefined ? [] : [faultAt([key], why)]));
  if (isBuiltIn) {
    const why = "A built-in layout already has this name; choose another.";
    return stray(["rows", "like", "text", "prefix", "octetOrder"], why);
  }
  if (declared.rows === undefined) {
    if (declared.like === undefined) return [faultAt(["rows"], "A layout of your own needs `rows`; add them.")];
    return [];
  }
  return [
    ...stray(["like"], "A layout has `rows` or is `like` another, not both; remove one of them."),
    ...stray(["epoch"], "Give the `epoch` in the row of the time."),
    ...stray(["intervalSeconds"], "Only short-prefix-comb and short-suffix-comb count intervals; remove this."),
    ...(declared.text === undefined ? [faultAt(["text"], "A layout of your own needs a `text`; add it.")] : []),
  ];
};

const readVariant = (name: string, base: Layout, declared: DeclaredLayout): LayoutReading => {
  const { epoch, intervalSeconds } = declared;
  const isOwnName = base.name === name;
  if (intervalSeconds !== undefined) {
    if (base.table.intervalMs === undefined || !isOwnName || epoch !== undefined) {
      const message =
        "Only short-prefix-comb and short-suffix-comb count intervals, under their own names; remove this.";
      return reject(faultAt(["intervalSeconds"], message));
    }
    const variant = compileLayout({ ...base.table, intervalMs: intervalSeconds * 1000 });
    if (variant.ok) return { layout: variant.value, faults: [] };
  }
  if (epoch === undefined && isOwnName) return { layout: base, faults: [] };
  if (!isOwnName && !isName(name)) return reject(faultAt([], LAYOUT_NAME_SENTENCE));
  return readLike(name, base, declared);
};

/** Layouts that mean more than bits under their names. */
const UNLIKE: Readonly<Record<string, string>> = {
  luuid: "short keys",
  hotguid: "a second form in SQL Server",
  "hotguid-sql": "a second form",
};

/** Faults of an entry that is like a built-in layout. */
const faultsOfLike = (base: Layout, declared: DeclaredLayout, isOwnName: boolean): readonly EntryFault[] => {
  const { epoch, text, prefix, octetOrder } = declared;
  const faults: EntryFault[] = [];
  const own = isOwnName ? undefined : UNLIKE[base.name];
  if (own !== undefined) {
    faults.push(
      faultAt(["like"], `Layout ${base.name} has ${own} under its own name alone; use that name, or declare \`rows\`.`),
    );
  }
  if (epoch !== undefined) faults.push(...faultsOfEpoch(base.name, epoch));
  if (epoch === undefined && text === undefined && prefix === undefined && octetOrder === undefined) {
    const key = EPOCH_SCHEMES.includes(base.name) ? "epoch" : "text";
    const message = `Without ${key === "epoch" ? "an `epoch` or " : "a "}\`text\` of its own this is ${base.name}; add it, or use that name.`;
    faults.push(faultAt([key], message));
  }
  if (octetOrder !== undefined && (base.table.least !== undefined || base.table.minter === "own")) {
    faults.push(faultAt(["octetOrder"], `IDs of ${base.name} are minted in their own order of bytes; remove this.`));
  }
  return faults;
};

const faultsOfEpoch = (scheme: string, epoch: string): readonly EntryFault[] => {
  if (EPOCH_SCHEMES.includes(scheme)) {
    return parseTime(epoch) === undefined ? [faultAt(["epoch"], noSuchDay(epoch), "time-range")] : [];
  }
  const message = `The epoch of ${scheme} is fixed, and only ${EPOCH_SCHEMES.join(", ")} have variants; remove this.`;
  return [faultAt(["epoch"], message)];
};

/** The bits of a built-in layout, with another epoch or other texts. */
const readLike = (name: string, base: Layout, declared: DeclaredLayout): LayoutReading => {
  const { epoch, text, prefix, octetOrder } = declared;
  const { table, texts } = base;
  const isOwnName = base.name === name;
  const faults = faultsOfLike(base, declared, isOwnName);
  if (faults.length > 0) return reject(...faults);
  const epochMs = epoch === undefined ? undefined : parseTime(epoch);
  const rows =
    epochMs === undefined ? table.rows : table.rows.map((row) => (row.role === "time" ? { ...row, epochMs } : row));
  const forms = declareTexts(text ?? texts.map((form) => form.name), bitsOf(table), prefix, texts);
  if (!forms.ok) return reject(faultOfDeclaration(forms.error, rows));
  const [canonical, ...others] = forms.value;
  const kind = isOwnName ? {} : { like: base.name };
  const order = octetOrder === undefined ? {} : { octetOrder };
  const layout = compileLayout({ ...table, name, rows, text: canonical, ...kind, ...order }, others);
  return layout.ok ? { layout: layout.value, faults: [] } : reject(faultOfDeclaration(layout.error, rows));
};

/** The rule of `declareLayout`. */
const isName = (name: string): boolean => /^[a-z][a-z0-9-]*$/.test(name) && name !== LUUID_SHORT;
