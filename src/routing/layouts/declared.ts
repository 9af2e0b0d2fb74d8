import type { DeclarationFault, Layout, Row } from "../../ids/index.ts";
import { compileLayout, declareLayout, everyLayout } from "../../ids/index.ts";
import { LUUID_SHORT } from "../identity.ts";
import type { FaultKind, Place } from "../schema/faults.ts";
import type { DeclaredLayout, DeclaredRow } from "../schema/table.ts";
import { FORBIDDEN_KEYS } from "../schema/validate.ts";
import { KEY_NAMES, noSuchDay, parseTime, ROUTABLE_BITS_MAX } from "./fields.ts";

/** A fault of an entry of `layouts`; the place counts from the entry. */
type EntryFault = { readonly kind: FaultKind; readonly place: Place; readonly message: string };

/** Without a layout where there is a fault, and where the entry declares none. */
export type LayoutReading = { readonly layout: Layout | undefined; readonly faults: readonly EntryFault[] };

const faultAt = (place: Place, message: string, kind: FaultKind = "layout-declaration"): EntryFault => ({
  kind,
  place,
  message,
});

const reject = (...faults: readonly EntryFault[]): LayoutReading => ({ layout: undefined, faults });

const LAYOUT_NAME_SENTENCE =
  "The name of a layout has lower-case letters, digits and hyphens, and begins with a letter; rename it.";

type Explained<Fault extends DeclarationFault> = readonly [place: Place, message: (fault: Fault) => string];

/** The key at fault, which is one of a row where the fault names a field; and what to do about it. */
const EXPLAINED: { readonly [Fault in DeclarationFault as Fault["reason"]]: Explained<Fault> } = {
  "layout-name": [[], () => LAYOUT_NAME_SENTENCE],
  "text-name": [
    ["text"],
    ({ text, known }) => `There is no text form ${JSON.stringify(text)}; use one of ${known.join(", ")}.`,
  ],
  "text-prefix": [
    ["prefix"],
    () => "A prefix begins with a letter and has at most 32 letters, digits, `-` and `_`; correct it.",
  ],
  "layout-bits": [
    ["rows"],
    ({ bits, min, max }) => `The rows have ${bits} bits together, and an ID has ${min} to ${max}; add or remove bits.`,
  ],
  "total-bits": [
    ["rows"],
    ({ actual: rows, expected: text }) =>
      `The rows have ${rows} bits together, and the text holds ${text}; make them the same.`,
  ],
  "text-bits": [
    ["text"],
    ({ actual, expected }) => `The text holds ${actual} bits, and the rows have ${expected}; make them the same.`,
  ],
  "octet-order": [
    ["octetOrder"],
    (fault) => `The bits must fill whole bytes, and each of the ${fault.octets} must be in the order once; correct it.`,
  ],
  "field-name": [
    ["field"],
    () => "A field's name begins with a lower-case letter and has at most 32 letters and digits; correct it.",
  ],
  "row-bits": [["bits"], ({ max }) => `A row has 1 to ${max} bits; correct the number.`],
  "fixed-bits": [["bits"], ({ max }) => `A fixed field has at most ${max} bits; give its parts different names.`],
  "fixed-value": [["value"], ({ value, bits }) => `${value} does not fit into ${bits} bits; lower it.`],
  "max-value": [["max"], ({ max, bits }) => `${max} must be above 0 and fit into ${bits} bits; correct it.`],
  unit: [["unit"], ({ unit }) => `There is no unit ${JSON.stringify(unit)}; correct it.`],
  epoch: [["epoch"], () => "The epoch is out of range; correct it."],
  "sql-datetime-bits": [["bits"], ({ max }) => `A time in sql-datetime has at most ${max} bits; lower them.`],
  "split-field": [
    ["field"],
    () =>
      "Rows of one name are parts of one field: they have one role, unit and epoch, and no `max`; rename one of them.",
  ],
  "two-times": [
    ["role"],
    ({ fields: [first] }) => `An ID has one time, and ${first} is it already; give this row another role.`,
  ],
  "least-value": [[], () => "The least value does not fit; remove it."],
};

/** The rows are those of the declaration, in its order. */
const faultOfDeclaration = (fault: DeclarationFault, rows: readonly Row[]): EntryFault => {
  const [place, message] = EXPLAINED[fault.reason] as Explained<DeclarationFault>;
  const named = "fields" in fault ? fault.fields[1] : "field" in fault ? fault.field : undefined;
  const row = named === undefined ? [] : ["rows", rows.findLastIndex(({ field }) => field === named)];
  return faultAt([...row, ...place], message(fault));
};

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
    text,
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

/** Schemes whose issuers count from epochs of their own. */
const EPOCH_SCHEMES: readonly string[] =
  "snowflake discord-snowflake sharding-id flake-id sonyflake sonyflake-v2".split(" ");

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
    const why = "`like` takes the bits and texts of a built-in layout; remove this.";
    return stray(["text", "prefix", "octetOrder"], why);
  }
  return [
    ...stray(["like"], "A layout has `rows` or is `like` another, not both; remove one of them."),
    ...stray(["epoch"], "Give the `epoch` in the row of the time."),
    ...stray(["intervalSeconds"], "Only short-prefix-comb and short-suffix-comb count intervals; remove this."),
    ...(declared.text === undefined ? [faultAt(["text"], "A layout of your own needs a `text`; add it.")] : []),
  ];
};

const readVariant = (name: string, base: Layout, { epoch, intervalSeconds }: DeclaredLayout): LayoutReading => {
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
  if (!EPOCH_SCHEMES.includes(base.name)) {
    const key = epoch === undefined ? "like" : "epoch";
    const message = `The epoch of ${base.name} is fixed, and only ${EPOCH_SCHEMES.join(", ")} have variants; remove this.`;
    return reject(faultAt([key], message));
  }
  if (epoch === undefined) {
    const message = `Without an \`epoch\` of its own this is ${base.name}; add it, or use that name.`;
    return reject(faultAt(["epoch"], message));
  }
  const epochMs = parseTime(epoch);
  if (epochMs === undefined) return reject(faultAt(["epoch"], noSuchDay(epoch), "time-range"));
  const rows = base.table.rows.map((row): Row => (row.role === "time" ? { ...row, epochMs } : row));
  const layout =
    isOwnName || isName(name) ? compileLayout({ ...base.table, name, rows }, base.texts.slice(1)) : undefined;
  return layout?.ok ? { layout: layout.value, faults: [] } : reject(faultAt([], LAYOUT_NAME_SENTENCE));
};

/** The rule of `declareLayout`. */
const isName = (name: string): boolean => /^[a-z][a-z0-9-]*$/.test(name) && name !== LUUID_SHORT;
