import type { DeclarationFault, Row } from "../../ids/index.ts";
import type { FaultKind, Place } from "../schema/faults.ts";

/** Faults of an entry of `layouts`, each with its place and its remedy. */

/** A fault of an entry of `layouts`; the place counts from the entry. */
export type EntryFault = { readonly kind: FaultKind; readonly place: Place; readonly message: string };

export const faultAt = (place: Place, message: string, kind: FaultKind = "layout-declaration"): EntryFault => ({
  kind,
  place,
  message,
});

export const LAYOUT_NAME_SENTENCE =
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
    () => "A prefix begins with a letter and has at most 64 letters, digits, `-` and `_`; correct it.",
  ],
  "form-prefix": [
    ["text", "prefix"],
    () => "A prefix begins with a letter and has at most 64 letters, digits, `-` and `_`; correct it.",
  ],
  "two-prefixes": [["text", "prefix"], () => "The layout has a `prefix` for each text already; remove one of them."],
  "two-texts": [
    ["text", "name"],
    ({ name }) => `Another text of this layout is called ${JSON.stringify(name)}; give one of them another \`name\`.`,
  ],
  "no-text": [["text"], () => "An ID needs a text form; add one."],
  "text-length": [
    ["text"],
    ({ length, max }) =>
      `A text would have ${length} characters, and an ID has at most ${max}; choose a larger alphabet.`,
  ],
  "alphabet-name": [
    ["text", "alphabet"],
    ({ alphabet, known }) =>
      `There is no alphabet ${JSON.stringify(alphabet)}; write its digits in order, or use one of ${known.join(", ")}.`,
  ],
  "alphabet-size": [["text", "alphabet"], () => "An alphabet has two digits at least; add the others."],
  "alphabet-twice": [
    ["text", "alphabet"],
    ({ digit }) => `The digit ${JSON.stringify(digit)} is in the alphabet twice; remove one of them.`,
  ],
  "alphabet-character": [
    ["text", "alphabet"],
    ({ digit }) =>
      `A path cannot hold ${JSON.stringify(digit)} as it is (RFC 3986, section 3.3); ${/[+/]/.test(digit) ? "write such IDs in base64url, with `-` and `_`" : "use another digit"}.`,
  ],
  "alphabet-dot": [
    ["text", "alphabet"],
    () => "A text of one or two dots is no segment of a path; remove `padded`, or use another digit.",
  ],
  "alphabet-case": [
    ["text", "case"],
    ({ digit }) =>
      `The alphabet has ${digit} and ${digit.toLowerCase()}, so their case matters; remove \`case\`, or one of the two.`,
  ],
  "text-width": [
    ["text", "width"],
    ({ width, min, bits }) => `${width} digits do not hold ${bits} bits; write ${min} or more, or remove \`width\`.`,
  ],
  "text-fill": [
    ["text", "fill"],
    ({ radix, width, needed }) =>
      width === undefined || width === needed
        ? `Bits fill up at the end only where a digit is whole bits, and the alphabet has ${radix} digits; remove \`fill\`.`
        : `Filled up at the end, the bits have ${needed} digits; remove \`width\`, or \`fill\`.`,
  ],
  "text-groups": [
    ["text", "groups"],
    ({ sum, width }) =>
      `The groups have ${sum} digits together, and a text has ${width} in two groups or more; correct them.`,
  ],
  "text-separator": [
    ["text", "separator"],
    () => "A separator is one character that a path holds as it is, and no digit; choose another, such as `-`.",
  ],
  "text-suffix": [
    ["text", "suffix"],
    () => "A suffix has up to 8 characters that a path holds as they are, and begins with no digit; correct it.",
  ],
  "form-name": [
    ["text", "name"],
    ({ name }) =>
      `${JSON.stringify(name)} names another text form, or is not of lower-case letters, digits and hyphens; choose another.`,
  ],
  "text-conflict": [
    ["text"],
    ({ key, other, isMissing }) =>
      isMissing
        ? `\`${key}\` needs \`${other}\`; add it, or remove this.`
        : `\`${key}\` says nothing beside this \`${other}\`; remove one of them.`,
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
export const faultOfDeclaration = (fault: DeclarationFault, rows: readonly Row[]): EntryFault => {
  const [place, message] = EXPLAINED[fault.reason] as Explained<DeclarationFault>;
  if (place[0] === "text" || "at" in fault) return faultAt(placeOfText(fault, place), message(fault));
  const named = "fields" in fault ? fault.fields[1] : "field" in fault ? fault.field : undefined;
  const row = named === undefined ? [] : ["rows", rows.findLastIndex(({ field }) => field === named)];
  return faultAt([...row, ...place], message(fault));
};

/** A text is alone, or one of a list; and a name, or an object with keys. */
const placeOfText = (fault: DeclarationFault, place: Place): Place => {
  const key = fault.reason === "text-conflict" ? [fault.key] : place.slice(1);
  return ["text", ...("at" in fault && fault.at !== undefined ? [fault.at] : []), ...key];
};
