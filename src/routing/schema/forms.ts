import type { Place } from "./faults.ts";

/** The forms that a schema takes, in words with an example: the library names types alone. */

/** The inner parts of the library's schemas. */
export interface Inside {
  readonly type?: string;
  readonly literal?: unknown;
  readonly wrapped?: Inside;
  readonly entries?: Readonly<Record<string, Inside>>;
  readonly item?: Inside;
  readonly items?: readonly Inside[];
  readonly value?: Inside;
  /** Schemas of a union, or texts of a picklist. */
  readonly options?: readonly (Inside | string)[];
  readonly pipe?: readonly Step[];
}

/** A check of a pipe, or the schema that it begins with. */
interface Step extends Inside {
  readonly requirement?: unknown;
  readonly message?: unknown;
}

/** `undefined` if no union stands at the place. */
export const formsAt = (schema: Inside, place: Place): string | undefined => {
  const union = insidesAt(schema, place).find(({ type }) => type === "union");
  if (union === undefined) return undefined;
  const key = place[0] === "moved" ? "region" : String(place.at(-1));
  const forms = [...new Set(armsOf(union).map((arm) => formOf(arm, key)))];
  const last = forms.pop();
  return forms.length === 0 ? last : `${forms.join(", ")} or ${last}`;
};

const insidesAt = (schema: Inside, place: Place): readonly Inside[] => {
  const { wrapped, entries = {}, item, value, type } = schema;
  if (wrapped !== undefined) return insidesAt(wrapped, place);
  const [key, ...rest] = place;
  if (key === undefined) return [schema];
  if (type === "union") return armsOf(schema).flatMap((arm) => insidesAt(arm, place));
  const next = entries[key] ?? item ?? value;
  return next === undefined ? [] : insidesAt(next, rest);
};

const armsOf = (schema: Inside): readonly Inside[] =>
  schema.type === "union"
    ? (schema.options ?? []).flatMap((option) => (typeof option === "string" ? [] : armsOf(option)))
    : [schema];

const formOf = (schema: Inside, key: string): string => {
  const { type, options = [] } = schema;
  if (type === "literal") return JSON.stringify(schema.literal);
  if (type === "picklist") return options.map((option) => JSON.stringify(option)).join(" or ");
  if (type === "boolean") return "true or false";
  return `${KINDS[String(type)] ?? "an object"} such as ${JSON.stringify(exampleOf(schema, key))}`;
};

const KINDS: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  array: "a list",
  strict_tuple: "a list",
};

const exampleOf = (schema: Inside, key: string): unknown =>
  (EXAMPLES[String(schema.type)] ?? objectExample)(schema, key);

type Example = (schema: Inside, key: string) => unknown;

const objectExample: Example = ({ entries = {} }) => {
  const all = Object.entries(entries);
  // A choice of yes or no fits all others; some objects need one.
  const shown = all.filter(([, entry]) => entry.type !== "exact_optional" || entry.wrapped?.type === "boolean");
  return Object.fromEntries(
    (shown.length > 0 ? shown : all.slice(0, 1)).map(([name, entry]) => [name, exampleOf(entry, name)]),
  );
};

const EXAMPLES: Readonly<Record<string, Example>> = {
  exact_optional: ({ wrapped = {} }, key) => exampleOf(wrapped, key),
  literal: ({ literal }) => literal,
  picklist: ({ options = [] }) => options[0],
  union: (schema, key) => exampleOf(armsOf(schema)[0] ?? {}, key),
  boolean: () => true,
  number: (schema) => stepsOf(schema).find(({ type }) => type === "min_value")?.requirement || 1,
  string: (schema, key) => textExample(schema, key),
  array: ({ item = {} }, key) => [exampleOf(item, key)],
  strict_tuple: ({ items = [] }) => items.map((_, at) => at * 10),
  record: ({ value = {} }, key) => ({ [KEY_EXAMPLES[key] ?? "name"]: exampleOf(value, key) }),
};

const SUCH = /(?:such as|for example) "?([^\s"]+?)"?[.,;]?(?:$|\s)/g;

/** The last example in the schema's own messages. */
const textExample = (schema: Inside, key: string): string => {
  const messages = stepsOf(schema).map(({ message }) =>
    String(typeof message === "function" ? message({ input: "" }) : message),
  );
  const found = messages.flatMap((message) => [...message.matchAll(SUCH)].map(([, example]) => example));
  return found.at(-1) ?? TEXT_EXAMPLES[key] ?? "name";
};

/** A pipe may begin with another. */
const stepsOf = ({ pipe = [] }: Inside): readonly Step[] =>
  pipe.flatMap((step) => [...stepsOf(step), step]).slice(0, STEPS_MAX);

const STEPS_MAX = 32;

const KEY_EXAMPLES: Readonly<Record<string, string>> = { regions: "0-1" };

const TEXT_EXAMPLES: Readonly<Record<string, string>> = {
  region: "eu",
  regions: "eu",
  layout: "uuid-v7",
  entity: "order",
  country: "KZ",
  next: "/next",
  member: "/createdAt",
  cursor: "/next",
};
