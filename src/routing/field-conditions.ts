import type { Layout } from "../ids/index.ts";
import { listNames, type Place, type Report } from "./faults.ts";
import { fieldDimensionName, isIssued, ROUTABLE_BITS_MAX, routableFields } from "./layout-fields.ts";
import { readNumbers } from "./numbers.ts";
import type { Ranges } from "./ranges.ts";
import type { DeclaredNumbers } from "./schema.ts";

/**
 * Reads the values that a route asks of fields by their names. `layouts` are those that its other conditions leave. The
 * sets come by dimension; what is at fault is reported and left out.
 */
export const readFieldConditions = (
  declared: Readonly<Record<string, DeclaredNumbers>>,
  layouts: readonly Layout[],
  place: Place,
  report: Report,
): ReadonlyMap<string, Ranges> => {
  const sets = new Map<string, Ranges>();
  for (const [name, numbers] of Object.entries(declared)) {
    const fault = faultOfField(name, layouts);
    if (fault !== undefined) report(fault.kind, [...place, name], fault.message);
    else sets.set(fieldDimensionName(name), readValues(numbers, maxOf(name, layouts), [...place, name], report));
  }
  return sets;
};

/** The greatest value that a field of this name has in any of the layouts. */
export const maxOf = (name: string, layouts: readonly Layout[]): number | undefined => {
  const fields = layouts.flatMap((layout) => layout.field(name) ?? []);
  return fields.length === 0 ? undefined : Math.max(...fields.map(({ max }) => Number(max)));
};

/** Numbers of a field; without a greatest value any whole number will do. */
export const readValues = (
  declared: DeclaredNumbers,
  max: number | undefined,
  place: Place,
  report: Report,
): Ranges => {
  const { ranges, faults } = readNumbers(declared, max ?? Number.MAX_SAFE_INTEGER);
  for (const { item, message } of faults) report("key-range", item === undefined ? place : [...place, item], message);
  return ranges;
};

const faultOfField = (
  name: string,
  layouts: readonly Layout[],
): { readonly kind: "unknown-name" | "key-range"; readonly message: string } | undefined => {
  // A route that no layout is left for is reported as a whole.
  if (layouts.length === 0) return undefined;
  const found = layouts.flatMap((layout) => {
    const field = layout.field(name);
    return field === undefined ? [] : [{ layout: layout.name, field }];
  });
  const issued = found.filter(({ field }) => isIssued(field));
  if (issued.length === 0) {
    const known = new Set(layouts.flatMap((layout) => routableFields(layout).map((field) => field.name)));
    const [other] = found;
    const what =
      other === undefined
        ? "No layout of this route has a field"
        : `A route cannot depend on the ${other.field.role} field`;
    return { kind: "unknown-name", message: `${what} ${JSON.stringify(name)}; name one of ${listNames(known)}.` };
  }
  const wide = issued.find(({ field }) => field.bits > ROUTABLE_BITS_MAX);
  if (wide === undefined) return undefined;
  return {
    kind: "key-range",
    message: `Field ${name} of layout ${wide.layout} has ${wide.field.bits} bits, and routes can depend on fields of at most ${ROUTABLE_BITS_MAX}; remove it, or name other layouts with \`layout\`.`,
  };
};
