import type { DecideInput } from "../../../gateway/decide.ts";
import { explainId, explainOnPath } from "../../../gateway/explain-id.ts";
import { err, fieldOf, luuid } from "../../../ids/index.ts";
import {
  type Candidate,
  type CompiledTable,
  type Explanation,
  explain,
  LUUID_SHORT,
  type RoutingError,
  type Rule,
} from "../../../routing/index.ts";
import { type Place, pointerTo } from "../../../routing/schema/faults.ts";
import { readJsonText } from "../../lib/json-text.ts";
import { objectOf } from "../../lib/json-values.ts";
import type { TableFile } from "../../lib/table-file.ts";
import { almostOf, type DeclaredRule, type Explained, readOtherwise } from "./without-table.ts";

/** Explanations by a table, with the entry of its text that decides. */

/** The deciding entry of the table, with its place in the text. */
const declaredRule = (explained: OfTable, { name, bytes }: TableFile<unknown>): DeclaredRule | undefined => {
  const { value: table, positionOf } = readJsonText(new TextDecoder().decode(bytes));
  const place = decidingPlace(explained, table);
  if (place === undefined) return undefined;
  const pointer = pointerTo(place);
  return { pointer, source: name, line: positionOf(pointer).line, value: place.slice(0, 2).reduce(at, table) };
};

const at = (value: unknown, key: string | number): unknown =>
  objectOf(value)?.[key] ?? (value as readonly unknown[])?.[Number(key)];

/** `canonical`: the internal text of a public ID, where the keys told it. */
type OfTable = Pick<Explanation, "text" | "forms" | "candidates" | "decision"> & {
  readonly canonical?: string | undefined;
};

/** The place of the entry that decides, in the table as declared. */
export const decidingPlace = (explained: OfTable, table: unknown): Place | undefined => {
  const { decision, text, forms, candidates, canonical = text } = explained;
  if (decision === undefined) return undefined;
  const texts = new Set([text, canonical, ...forms.map((form) => form.text)]);
  const fields = candidates.find(({ layout }) => layout === decision.layout)?.fields;
  // An entry may have another text of the ID as its key.
  const isOwn = (key: string): boolean =>
    texts.has(key) || (decision.layout === LUUID_SHORT && fields !== undefined && hasShortKey(key, fields));
  return placeOf(decision.rule, (part) => Object.keys(objectOf(at(table, part)) ?? {}).find(isOwn));
};

const placeOf = (rule: Rule, idIn: (part: string) => string | undefined): Place | undefined => {
  if (rule.kind === "route") return ["routes", rule.index];
  if (rule.kind === "canary") return ["routes", rule.index, "canary"];
  if (rule.kind === "default") return ["default"];
  if (rule.kind === "directory") return ["directory", rule.directory];
  const part = rule.kind === "moving" ? "moves" : "moved";
  const key = idIn(part);
  // The entry of a public ID has the internal ID as its key.
  return key === undefined ? undefined : [part, key];
};

/** An override of an LUUID is its short key's, too. */
const hasShortKey = (text: string, { group, primaryKey }: Candidate["fields"]): boolean => {
  const words = luuid.parse(text);
  const textOf = (name: string) => (words.ok ? String(fieldOf(luuid, name).read(words.value)) : undefined);
  return words.ok && luuid.fits(words.value) && textOf("group") === group && textOf("primaryKey") === primaryKey;
};

/** With the entry that decides. */
export const withRule = (explained: Explained, file: TableFile<CompiledTable>, canonical?: string): Explained =>
  explained.decision === undefined
    ? explained
    : { ...explained, declared: declaredRule({ ...explained, canonical }, file) };

/** `onPath`: the path that the ID stands in; without one it is read as on `/any`. */
interface LocatedId {
  readonly id: string;
  readonly onPath: string | undefined;
}

/** As the gateway decides; public IDs where their keys are in the environment. */
export const explainByTable = (
  file: TableFile<CompiledTable>,
  { id, onPath }: LocatedId,
  reading: Omit<DecideInput, "tables">,
): Explained => {
  const { table } = file;
  const { nowMs } = reading;
  const input = { ...reading, tables: { table, canary: undefined } };
  const explained = onPath === undefined ? explainId(input, id, true) : explainOnPath(input, id, onPath, true);
  if (explained.kind === "explanation" && explained.explanation.error !== undefined) {
    const { explanation } = explained;
    const unreadable = (explanation.unreadable ?? []).flatMap(({ layout: name, error }) => {
      const layout = table.layouts.get(name)?.layout;
      return layout === undefined ? [] : [{ layout, error }];
    });
    return { ...explanation, almost: almostOf(id, unreadable, nowMs) };
  }
  if (explained.kind === "explanation") return withRule(explained.explanation, file, explained.decided?.canonical);
  // Only a gateway has the directory.
  if (explained.kind === "load" && explained.missing.settle !== undefined) {
    return explain(table, id, nowMs, undefined, err(explained.error as RoutingError));
  }
  throw new Error(`${explained.kind} although the packs and the layout were checked`);
};

/** With the layouts that read an ID where the table allows none of them. */
export const withOtherLayouts = (explained: Explained, table: CompiledTable, nowMs: number): Explained => {
  const { error } = explained;
  if (error?.reason !== "malformed-id" && error?.reason !== "unknown-id") return explained;
  return { ...explained, ...readOtherwise(error.id, new Set(table.layouts.keys()), nowMs) };
};
