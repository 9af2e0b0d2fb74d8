import type { Draft } from "../draft.ts";
import type { Place, Report } from "../faults.ts";
import { readLayout } from "../known-layouts.ts";
import { keyFieldOf } from "../layout-fields.ts";
import { sliceOf } from "../layout-plans.ts";
import type { DeclaredSlice } from "../schema.ts";
import { parseTime } from "../times.ts";

/** A layout must be one, and what the table adds to it must be about bits and times that the layout has. */
export const checkLayouts = (draft: Draft, report: Report): void => {
  const used = new Set([...draft.entities.values()].flatMap(({ ids }) => ids.map(({ layout }) => layout)));
  for (const [name, declared] of draft.layouts) {
    const place = ["layouts", name];
    for (const fault of readLayout(name, declared).faults) {
      report(fault.kind, [...place, ...fault.place], fault.message);
    }
    const { slices = {}, mintedWithin } = declared;
    const layout = draft.known.get(name);
    if (layout === undefined) continue;
    if (!used.has(name)) {
      report(
        "unknown-name",
        place,
        `No entity has IDs of layout ${name}; remove it here or add it to an entity's \`ids\`.`,
      );
    }
    const key = keyFieldOf(layout);
    for (const [slice, bits] of Object.entries(slices)) {
      const message = faultOfSlice(slice, bits, name, key?.bits);
      if (message !== undefined) report("slice-range", [...place, "slices", slice], message);
    }
    checkHeaders(slices, place, report);
    if (mintedWithin === undefined) continue;
    if (layout.mintedAtMs === undefined) {
      report("time-range", [...place, "mintedWithin"], `IDs of layout ${name} carry no time; remove the window.`);
    } else if (mintedWithin !== false && parseTime(mintedWithin.from) === undefined) {
      const message = `${JSON.stringify(mintedWithin.from)} is no day or hour of the calendar; correct it.`;
      report("time-range", [...place, "mintedWithin", "from"], message);
    }
  }
};

/** Fields that origins are told anyway. */
const GATEWAY_HEADERS: readonly string[] = [
  "waybill-client-country",
  "waybill-entity-id",
  "waybill-epoch",
  "waybill-layout",
  "waybill-region",
  "waybill-revision",
  "waybill-signature",
];

/** Each field says one thing. */
const checkHeaders = (slices: Readonly<Record<string, DeclaredSlice>>, place: Place, report: Report): void => {
  const taken = new Set(GATEWAY_HEADERS);
  for (const [name, slice] of Object.entries(slices)) {
    const { header } = sliceOf(name, slice);
    if (header === undefined) continue;
    if (taken.has(header)) {
      const message = `The field ${header} says something else already; choose another name.`;
      report("name-clash", [...place, "slices", name, "header"], message);
    }
    taken.add(header);
  }
};

/** Ten bits hold every M.49 code, which are numbers of three decimal digits. */
const M49_BITS_MIN = 10;

const faultOfSlice = (
  name: string,
  declared: DeclaredSlice,
  layout: string,
  keyBits: number | undefined,
): string | undefined => {
  if (keyBits === undefined) return `IDs of layout ${layout} have no key to slice; remove ${JSON.stringify(name)}.`;
  const { offset, bits, codes } = sliceOf(name, declared);
  if (bits === 0) return `${JSON.stringify(name)} has no bits; give it at least one.`;
  if (offset + bits > keyBits) {
    return `Bits ${offset} to ${offset + bits - 1} are outside of the key, which has bits 0 to ${keyBits - 1}; move or shorten ${JSON.stringify(name)}.`;
  }
  if (codes === "m49" && bits < M49_BITS_MIN) {
    return `UN M.49 codes need ${M49_BITS_MIN} bits; widen ${JSON.stringify(name)}.`;
  }
  return undefined;
};
