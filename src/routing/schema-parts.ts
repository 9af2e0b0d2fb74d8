import * as v from "valibot";
import { CONDITION_VALUES_MAX, NAME_LENGTH_MAX, PATTERN_LENGTH_MAX } from "./limits.ts";

/** What several parts of the declared table are made of. */

export const name = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z][A-Za-z0-9_-]*$/, "A name starts with a letter and has only letters, digits, `-` and `_`."),
  v.maxLength(NAME_LENGTH_MAX, `A name has at most ${NAME_LENGTH_MAX} characters.`),
);

export const oneOrMore = <const Item extends v.GenericSchema>(item: Item) =>
  v.union([item, v.pipe(v.array(item), v.minLength(1), v.maxLength(CONDITION_VALUES_MAX))]);

export const text = v.pipe(v.string(), v.minLength(1), v.maxLength(PATTERN_LENGTH_MAX));

export const wholeNumber = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const numberText = v.pipe(
  v.string(),
  v.regex(
    /^[0-9]{1,16}(-[0-9]{1,16})?$/,
    'Write a decimal number such as "7", or an inclusive range such as "0-1023".',
  ),
);

export const numbers = oneOrMore(v.union([wholeNumber, numberText]));

export const time = v.pipe(
  v.string(),
  v.regex(
    /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,3})?(Z|[+-][0-9]{2}:[0-9]{2})$/,
    "Write a time with its offset, such as 2026-06-01T00:00:00Z.",
  ),
);

export const jsonPath = v.pipe(
  v.string(),
  v.description("JSON pointer in which `*` is any one name or index and `**` any number of them: /items/*/orderId."),
);

export const otherBodies = v.pipe(
  v.picklist(["pass", "refuse"]),
  v.description("Bodies that are no JSON, in which no ID is sought: passed on (the default) or refused."),
);

export type DeclaredNumbers = v.InferOutput<typeof numbers>;
