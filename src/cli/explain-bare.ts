import {
  builtinLayouts,
  formatShortKey,
  fromSql,
  hotguid,
  hotguidSql,
  isoTime,
  type Layout,
  luuid,
  parseShortKey,
  type Reading,
  recognise,
  toSql,
  type Words,
} from "../ids/index.ts";
import type { Candidate, Explanation, RoutingError } from "../routing/index.ts";

/** What the built-in layouts say about a text when there is no table: no entity, no route, and so no decision. */
export const explainBare = (text: string, nowMs: number): Explanation => {
  const layouts = [...builtinLayouts.values()].map((layout) => ({ layout }));
  const { readings, unreadable } = recognise(text, layouts, nowMs);
  const candidates = readings.map(candidateOf);
  const possible = readings.filter((reading) => !reading.excluded);
  const explained = { text, candidates, forms: possible.flatMap(formsOf), decision: undefined };
  if (possible.length > 0) return { ...explained, error: undefined };
  if (readings.length > 0) return { ...explained, error: { reason: "unknown-id", id: text, candidates } };
  const faults = unreadable.map(({ layout, error }) => ({ layout: layout.name, error }));
  const error: RoutingError = { reason: "malformed-id", id: text, faults };
  return { ...explained, candidates: shortKeyCandidates(text), error };
};

const candidateOf = ({ layout, words, ...reasons }: Reading): Candidate => ({
  layout: layout.name,
  entity: undefined,
  fields: Object.fromEntries(layout.fields.map((field) => [field.name, field.readBig(words).toString()])),
  mintedAt: layout.mintedAtMs === undefined ? undefined : isoTime(layout.mintedAtMs(words)),
  ...reasons,
  region: undefined,
  rule: undefined,
});

const formsOf = ({ layout, words }: Reading): Explanation["forms"] => {
  const uuid = layout.format(words);
  const other = otherFormOf(layout, words);
  return [
    { layout: layout.name, form: "uuid", text: uuid },
    { layout: layout.name, form: "hex", text: uuid.replaceAll("-", "") },
    ...(other === undefined ? [] : [{ layout: layout.name, ...other }]),
  ];
};

const otherFormOf = (layout: Layout, words: Words): Pick<Explanation["forms"][number], "form" | "text"> | undefined => {
  if (layout === hotguid) return { form: "hotguid-sql", text: layout.format(toSql(words)) };
  if (layout === hotguidSql) return { form: "hotguid", text: layout.format(fromSql(words)) };
  const primaryKey = layout === luuid ? layout.field("primaryKey")?.read(words) : undefined;
  return primaryKey === undefined ? undefined : { form: "short-key", text: formatShortKey(primaryKey) };
};

/** A short key leads somewhere only together with a path, and only a table has paths. */
const shortKeyCandidates = (text: string): readonly Candidate[] => {
  const primaryKey = parseShortKey(text);
  if (!primaryKey.ok) return [];
  return [
    {
      layout: "luuid-short",
      entity: undefined,
      fields: { primaryKey: String(primaryKey.value) },
      mintedAt: undefined,
      for: [`1 to 12 hex digits, as in the short key of primary key ${primaryKey.value}`],
      against: ["a short key names nothing without the path that gives its group"],
      excluded: true,
      region: undefined,
      rule: undefined,
    },
  ];
};
