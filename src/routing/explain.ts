import { formatShortKey, fromSql, hotguid, hotguidSql, luuid, readShortKey, toSql } from "../ids/index.ts";
import { describeAll, describeShort, shortKeyOwners } from "./candidates.ts";
import { ID_LENGTH_MAX } from "./limits.ts";
import { canBe, readWhole } from "./readings.ts";
import { resolveAny } from "./resolve.ts";
import type { Candidate, CompiledTable, Decision, EnabledLayout, RoutingError, Rule } from "./table.ts";

/** Everything that a table says about a text. Plain JSON: no number that could lose a digit, no object of the table. */
export interface Explanation {
  readonly text: string;
  /** Every layout in use, the excluded ones too, each with the reasons for and against it. */
  readonly candidates: readonly Candidate[];
  /** The texts that name the same ID, for each layout that the text can be. */
  readonly forms: readonly TextFormOf[];
  /** Where `/any/:id` leads; absent when it leads nowhere. */
  readonly decision: PlainDecision | undefined;
  /** Why `/any/:id` leads nowhere; absent when there is a decision. */
  readonly error: RoutingError | undefined;
}

export interface TextFormOf {
  readonly layout: string;
  readonly form: "uuid" | "hex" | "hotguid" | "hotguid-sql" | "short-key";
  readonly text: string;
}

export interface PlainDecision {
  readonly entity: string;
  readonly layout: string;
  readonly region: string;
  readonly rule: Rule;
  /** The entity's own path of this ID. */
  readonly path: string;
}

/** Reads a text in every way, without asking any origin. Time in Unix milliseconds. */
export const explain = (table: CompiledTable, text: string, nowMs: number): Explanation => {
  const resolved = resolveAny(table, text, nowMs);
  const isTooLong = text.length > ID_LENGTH_MAX;
  return {
    text,
    candidates: isTooLong ? [] : [...describeAll(table, text, nowMs), ...shortCandidates(table, text)],
    forms: isTooLong ? [] : [...table.layouts.values()].flatMap((enabled) => formsOf(enabled, text, nowMs)),
    decision: resolved.ok ? plain(resolved.value) : undefined,
    error: resolved.ok ? undefined : resolved.error,
  };
};

const shortCandidates = (table: CompiledTable, text: string): readonly Candidate[] => {
  const primaryKey = readShortKey(text, 0, text.length);
  if (primaryKey === undefined) return [];
  return shortKeyOwners(table).map((owner) => describeShort(table, owner, owner.group, primaryKey, false));
};

const formsOf = (enabled: EnabledLayout, text: string, nowMs: number): readonly TextFormOf[] => {
  const { layout } = enabled;
  const words = readWhole(layout, text);
  if (words === undefined || !canBe(enabled, words, nowMs)) return [];
  const uuid = layout.format(words);
  const forms: TextFormOf[] = [
    { layout: layout.name, form: "uuid", text: uuid },
    { layout: layout.name, form: "hex", text: uuid.replaceAll("-", "") },
  ];
  if (layout === hotguid) forms.push({ layout: layout.name, form: "hotguid-sql", text: layout.format(toSql(words)) });
  if (layout === hotguidSql) forms.push({ layout: layout.name, form: "hotguid", text: layout.format(fromSql(words)) });
  const primaryKey = layout === luuid ? layout.field("primaryKey")?.read(words) : undefined;
  if (primaryKey !== undefined)
    forms.push({ layout: layout.name, form: "short-key", text: formatShortKey(primaryKey) });
  return forms;
};

const plain = ({ entity, layout, id, target }: Decision): PlainDecision => ({
  entity: entity.name,
  layout,
  region: target.region.name,
  rule: target.rule,
  path: (entity.paths[0] ?? "").replace(":id", () => id),
});
