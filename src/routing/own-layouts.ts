import { declareLayout, type Layout, type Row } from "../ids/index.ts";
import { FORBIDDEN_KEYS } from "./check/shape.ts";
import type { Place } from "./faults.ts";
import { type EntryFault, faultOfDeclaration, type LayoutReading, noSuchDay, reject } from "./layout-faults.ts";
import { KEY_NAMES, ROUTABLE_BITS_MAX } from "./layout-fields.ts";
import { LUUID_SHORT } from "./readings.ts";
import type { DeclaredLayout, DeclaredRow } from "./schema.ts";
import { parseTime } from "./times.ts";

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
      faults.push(...reject(place(name), `${JSON.stringify(name)} cannot be a name; choose another.`).faults);
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
