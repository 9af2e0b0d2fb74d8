import {
  compileLayout,
  type DeclarationFault,
  declareLayout,
  everyLayout,
  type Layout,
  type Row,
} from "../../ids/index.ts";
import { LUUID_SHORT } from "../resolve/match.ts";
import type { FaultKind, Place } from "../schema/faults.ts";
import type { DeclaredLayout, DeclaredRow } from "../schema/table.ts";
import { FORBIDDEN_KEYS } from "../schema/validate.ts";
import { KEY_NAMES, noSuchDay, parseTime, ROUTABLE_BITS_MAX } from "./fields.ts";

/** What can be wrong with an entry of `layouts`, in sentences. */

/** What is wrong with an entry of `layouts`; the place counts from the entry. */
export interface EntryFault {
  readonly kind: FaultKind;
  readonly place: Place;
  readonly message: string;
}

export interface LayoutReading {
  /** `undefined` where a fault leaves none, and where the entry is about no layout at all. */
  readonly layout: Layout | undefined;
  readonly faults: readonly EntryFault[];
}

export const reject = (place: Place, message: string, kind: FaultKind = "layout-declaration"): LayoutReading => ({
  layout: undefined,
  faults: [{ kind, place, message }],
});

export const LAYOUT_NAME_SENTENCE =
  "The name of a layout has lower-case letters, digits and hyphens, and begins with a letter; rename it.";

/** The rows are those of the declaration, in its order. */
export const faultOfDeclaration = (fault: DeclarationFault, rows: readonly Row[]): LayoutReading => {
  const rowAt = (field: string, key: string): Place => ["rows", rows.findLastIndex((row) => row.field === field), key];
  switch (fault.reason) {
    case "layout-name":
      return reject([], LAYOUT_NAME_SENTENCE);
    case "text-name":
      return reject(
        ["text"],
        `There is no text form ${JSON.stringify(fault.text)}; use one of ${fault.known.join(", ")}.`,
      );
    case "text-prefix":
      return reject(
        ["prefix"],
        "A prefix begins with a letter and has at most 32 letters, digits, `-` and `_`; correct it.",
      );
    case "layout-bits":
      return reject(
        ["rows"],
        `The rows have ${fault.bits} bits together, and an ID has ${fault.min} to ${fault.max}; add or remove bits.`,
      );
    case "total-bits":
      return reject(
        ["rows"],
        `The rows have ${fault.actual} bits together, and the text holds ${fault.expected}; make them the same.`,
      );
    case "text-bits":
      return reject(
        ["text"],
        `The text holds ${fault.actual} bits, and the rows have ${fault.expected}; make them the same.`,
      );
    case "octet-order":
      return reject(
        ["octetOrder"],
        `The bits must fill whole bytes, and each of the ${fault.octets} must be in the order once; correct it.`,
      );
    case "field-name":
      return reject(
        rowAt(fault.field, "field"),
        "A field's name begins with a lower-case letter and has at most 32 letters and digits; correct it.",
      );
    case "row-bits":
      return reject(rowAt(fault.field, "bits"), `A row has 1 to ${fault.max} bits; correct the number.`);
    case "fixed-bits":
      return reject(
        rowAt(fault.field, "bits"),
        `A fixed field has at most ${fault.max} bits; give its parts different names.`,
      );
    case "fixed-value":
      return reject(rowAt(fault.field, "value"), `${fault.value} does not fit into ${fault.bits} bits; lower it.`);
    case "max-value":
      return reject(
        rowAt(fault.field, "max"),
        `${fault.max} must be above 0 and fit into ${fault.bits} bits; correct it.`,
      );
    case "unit":
      return reject(rowAt(fault.field, "unit"), `There is no unit ${JSON.stringify(fault.unit)}; correct it.`);
    case "epoch":
      return reject(rowAt(fault.field, "epoch"), "The epoch is out of range; correct it.");
    case "sql-datetime-bits":
      return reject(rowAt(fault.field, "bits"), `A time in sql-datetime has at most ${fault.max} bits; lower them.`);
    case "split-field":
      return reject(
        rowAt(fault.field, "field"),
        "Rows of one name are parts of one field: they have one role, unit and epoch, and no `max`; rename one of them.",
      );
    case "two-times":
      return reject(
        rowAt(fault.fields[1], "role"),
        `An ID has one time, and ${fault.fields[0]} is it already; give this row another role.`,
      );
    case "least-value":
      return reject([], "The least value does not fit; remove it.");
  }
};

/** A layout of the user's own. */
export const readCustomLayout = (
  name: string,
  declared: DeclaredLayout,
  declaredRows: readonly DeclaredRow[],
): LayoutReading => {
  const { text, prefix, octetOrder } = declared;
  if (name === LUUID_SHORT) return reject([], `Short keys are called ${LUUID_SHORT}; rename the layout.`);
  const faults = declaredRows.flatMap((row, at) =>
    faultsOfRow(row).map((fault) => ({ ...fault, place: ["rows", at, ...fault.place] })),
  );
  const rows = declaredRows.flatMap((row) => rowOf(row) ?? []);
  if (faults.length > 0 || text === undefined) return { layout: undefined, faults };
  const layout = declareLayout({
    name,
    text,
    rows,
    ...(prefix === undefined ? {} : { prefix }),
    ...(octetOrder === undefined ? {} : { octetOrder }),
  });
  if (!layout.ok) return faultOfDeclaration(layout.error, rows);
  const names = faultsOfNames(layout.value, rows);
  return { layout: names.length === 0 ? layout.value : undefined, faults: names };
};

/** Names that mean something to the table. */
const faultsOfNames = (layout: Layout, rows: readonly Row[]): readonly EntryFault[] => {
  const place = (name: string): Place => ["rows", rows.findIndex(({ field }) => field === name), "field"];
  const faults = KEY_NAMES.flatMap((name) => {
    const field = layout.field(name);
    if (field === undefined || (field.role === "key" && field.bits <= ROUTABLE_BITS_MAX)) return [];
    return reject(
      place(name),
      `\`${name}\` is the name of a key of at most ${ROUTABLE_BITS_MAX} bits; rename this field.`,
    ).faults;
  });
  for (const { name } of layout.fields) {
    if (FORBIDDEN_KEYS.has(name))
      faults.push(...reject(place(name), `${JSON.stringify(name)} is not allowed as a name; choose another.`).faults);
  }
  const [service, group] = [layout.field("service"), layout.field("group")];
  if (service === undefined || group === undefined) return faults;
  const message = "One number marks the entity of an ID, its `service` or its `group`; rename one of them.";
  return [...faults, ...reject(place("group"), message).faults];
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
    if (row[key] !== undefined && !isOwn)
      faults.push(...reject([key], `A row of role ${row.role} has no \`${key}\`; remove it.`).faults);
    if (row[key] === undefined && isOwn && key !== "max") {
      faults.push(...reject([key], `A row of role ${row.role} needs \`${key}\`; add it.`).faults);
    }
  }
  if (row.epoch !== undefined && parseTime(row.epoch) === undefined) {
    faults.push({ kind: "time-range", place: ["epoch"], message: noSuchDay(row.epoch) });
  }
  return faults;
};

/** `undefined` for a row with a fault. */
const rowOf = ({ field, bits, role, value, unit, epoch, max }: DeclaredRow): Row | undefined => {
  const greatest = max === undefined ? {} : { max };
  if (role === "fixed") return value === undefined ? undefined : { field, bits, role, value };
  if (role !== "time") return { field, bits, role, ...greatest };
  const epochMs = epoch === undefined ? undefined : parseTime(epoch);
  return unit === undefined || epochMs === undefined ? undefined : { field, bits, role, unit, epochMs, ...greatest };
};

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
    const why = "A built-in layout already has this name; choose another.";
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
