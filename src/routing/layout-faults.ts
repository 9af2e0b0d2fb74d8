import type { DeclarationFault, Layout, Row } from "../ids/index.ts";
import type { FaultKind, Place } from "./faults.ts";

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

export const noSuchDay = (time: string): string =>
  `${JSON.stringify(time)} is no day or hour of the calendar; correct it.`;

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
        `The octets must be whole, and each of the ${fault.octets} must stand in the order once; correct it.`,
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
