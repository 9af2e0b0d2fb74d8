import type { CanaryMember } from "../../../formats/console-canary.ts";
import * as ids from "../../../ids/index.ts";
import { writtenBy } from "../../../ids/text/form.ts";
import type { Candidate, Explanation, LayoutFault, RoutingError } from "../../../routing/index.ts";
import { detailOf } from "../../lib/errors.ts";
import { writtenForms } from "../../lib/layouts.ts";
import { escapeControls, shellWord } from "../../lib/output.ts";

type Move = (words: ids.Words) => ids.Words;

/** Both layouts have the same fields with the same widths in other places. */
const byFields =
  (from: ids.Layout, to: ids.Layout): Move =>
  (words) => {
    const fields = from.fields.filter(({ role }) => role !== "fixed");
    const moved = to.encode(Object.fromEntries(fields.map(({ name, readBig }) => [name, readBig(words)])));
    if (!moved.ok) throw new Error(`${from.name} has a field that ${to.name} has not: ${moved.error.field}`);
    return moved.value;
  };

/** Lossless conversions there and back. */
const CONVERSIONS: readonly (readonly [a: ids.Layout, b: ids.Layout, there: Move, back: Move])[] = [
  [ids.hotguid, ids.hotguidSql, ids.toSql, ids.fromSql],
  [ids.combPrefix, ids.combSuffix, ids.swapComb, ids.swapComb],
  [ids.shortPrefixComb, ids.shortSuffixComb, ids.swapShortComb, ids.swapShortComb],
  // RFC 9562 section 5.6: version 6 is version 1 with its time in order.
  [ids.uuidV1, ids.uuidV6, byFields(ids.uuidV1, ids.uuidV6), byFields(ids.uuidV6, ids.uuidV1)],
  // The same 96 bits in other digits: machine and process of one are the process of the other.
  [ids.objectId, ids.xid, (words) => words, (words) => words],
];

export const conversionsFrom = (layout: string): readonly { readonly to: ids.Layout; readonly move: Move }[] =>
  CONVERSIONS.flatMap(([a, b, there, back]) => {
    if (a.name === layout) return [{ to: b, move: there }];
    return b.name === layout ? [{ to: a, move: back }] : [];
  });

/** An entry of a table's text. `source`: the file, or `revision 41`. */
export interface DeclaredRule {
  readonly pointer: string;
  readonly source: string;
  readonly line: number;
  readonly value: unknown;
}

/** The explanation of a text, with or without a table. */
export interface Explained extends Omit<Explanation, "forms">, CanaryMember {
  /** Moves that a running gateway knows from a 421 of an origin. */
  readonly learned?: { readonly region: string };
  readonly declared?: DeclaredRule | undefined;
  /** The layouts that read the text in another spelling, where none reads it as it is. */
  readonly almost?: readonly Almost[];
  /** The layouts that only the time excludes; `--layout` accepts them. */
  readonly otherTimes?: readonly string[];
  /** Built-in layouts that read the ID, of which the table allows none. */
  readonly notAllowed?: readonly string[];
  /** Texts of libraries that only a table can declare. The text alone does not prove one of them. */
  readonly couldBe?: readonly CouldBeLine[];
  readonly forms: readonly { readonly layout: string; readonly form: string; readonly text: string }[];
}

/** Possible kinds of a text; `declared`: the entry of `layouts` by which a table reads it. */
interface CouldBeLine {
  readonly what: string;
  readonly layout: string;
  readonly mintedAt: string | undefined;
  readonly text: string;
  readonly declared: object;
}

/** Layout `uuid` reads every UUID text, so it is meant only where it is named. */
export const isMeantUnnamed = ({ table }: ids.Layout): boolean => table !== ids.uuidTable;

/** Explains a text by all layouts, without a table: no entity, no route, no decision. */
export const explainBare = (text: string, layouts: readonly ids.Layout[], nowMs: number): Explained => {
  const recognisable = layouts.filter(isMeantUnnamed).map((layout) => ({ layout }));
  const found = ids.couldBe(text, nowMs);
  const proven = found.filter(({ isProven }) => isProven);
  const others = found.filter(({ isProven }) => !isProven);
  const explained = explainAs(text, recognisable, nowMs);
  const { almost: _, otherTimes: _times, error, ...rest } = explained;
  return {
    ...(proven.length === 0 ? explained : { ...rest, error: undefined }),
    candidates: [...proven.map(provenCandidate), ...explained.candidates, ...shortKeyCandidates(text)],
    forms: [...proven.flatMap(formsOf), ...explained.forms],
    ...(others.length > 0 && { couldBe: others.map(couldBeLine) }),
  };
};

const provenCandidate = ({ layout, words, what, text }: ids.CouldBe): Candidate => {
  const [reading] = ids.recognise(layout.format(words), [{ layout, window: ANY_TIME }], 0).readings;
  const reasons = [
    `prefix ${text.prefix} and digits of a ${what}, which a table declares`,
    ...(reading?.for.slice(0, -1) ?? []),
  ];
  return { ...candidateOf({ ...(reading as ids.Reading), for: reasons, excluded: false }) };
};

/** ` It could be a …`, with a space in front; empty if the text could be nothing that a table could declare. */
export const couldBeSentence = (text: string, nowMs: number): string => {
  const whats = [...new Set(ids.couldBe(text, nowMs).map(({ what }) => what))];
  return whats.length === 0
    ? ""
    : ` It could be: ${whats.join(", ")}; \`${bareCommand(text)}\` prints how a table declares it.`;
};

/** Explains an ID by every built-in layout. */
export const bareCommand = (id: string): string => `waybill explain --no-table ${shellWord(escapeControls(id))}`;

/** Each with the entry that declares it. */
export const couldBeLines = ({ couldBe = [] }: Explained): readonly string[] =>
  couldBe.flatMap(({ what, layout, mintedAt, text, declared }) => [
    `${what}: ${layout}${mintedAt === undefined ? "" : ` of ${mintedAt}`}, ${text}`,
    `  declared in a table's layouts: ${JSON.stringify(declared)}`,
  ]);

/** How a text can be read that no layout of a table reads, whose names are `allowed`. */
export const readOtherwise = (
  text: string,
  allowed: ReadonlySet<string>,
  nowMs: number,
): Pick<Explained, "notAllowed" | "couldBe"> => {
  const others = ids.everyLayout.filter(({ name }) => !allowed.has(name));
  const isRead = ({ excluded, layout: read }: Candidate): boolean =>
    !excluded && others.some((layout) => layout.name === read && layout.parseText(text).ok);
  const read = explainBare(text, others, nowMs).candidates.filter(isRead);
  const found = ids.couldBe(text, nowMs);
  return {
    ...(read.length > 0 && { notAllowed: [...new Set(read.map(({ layout }) => layout))] }),
    ...(found.length > 0 && { couldBe: found.map(couldBeLine) }),
  };
};

const couldBeLine = (found: ids.CouldBe): CouldBeLine => ({
  what: found.what,
  layout: found.layout.name,
  mintedAt: ids.isoTime(found.mintedAtMs),
  text: found.layout.format(found.words),
  declared: ids.declarationOf(found),
});

/** At least this many matching fixed bits are unlikely by chance. */
const MARK_BITS_MIN = 4;

/** Excluded readings with matching fixed bits that only the time excludes. */
export const onlyUntimely = (readings: readonly ids.Reading[]): readonly ids.Reading[] =>
  readings.filter(
    ({ layout, words }) => layout.mintedAtMs !== undefined && layout.fixedBits >= MARK_BITS_MIN && layout.fits(words),
  );

/** Explains a text by one known layout: an implausible time does not exclude it. */
export const explainNamed = (text: string, layout: ids.Layout, nowMs: number): Explained =>
  explainAs(text, [{ layout, named: true }], nowMs, ({ words }) => layout.misfit(words) !== undefined);

const explainAs = (
  text: string,
  layouts: readonly ids.Recognisable[],
  nowMs: number,
  isExcluded = ({ excluded }: ids.Reading): boolean => excluded,
): Explained => {
  const { readings, unreadable } = ids.recognise(text, layouts, nowMs);
  const weighed = readings.map((reading) => ({ ...reading, excluded: isExcluded(reading) }));
  const candidates = weighed.map(candidateOf);
  const possible = weighed.filter(({ excluded }) => !excluded);
  const explained = { text, candidates, forms: possible.flatMap(formsOf), decision: undefined };
  if (possible.length > 0) return { ...explained, error: undefined };
  const almost = almostOf(text, unreadable, nowMs, layouts[0]?.named);
  const faults = unreadable.map(({ layout, error }) => ({ layout: layout.name, error })).filter(isTelling(readings));
  if (faults.length === 0) {
    const otherTimes = onlyUntimely(readings).map(({ layout }) => layout.name);
    return { ...explained, almost, otherTimes, error: { reason: "unknown-id", id: text, candidates } };
  }
  const error: RoutingError = { reason: "malformed-id", id: text, faults };
  return { ...explained, almost, error };
};

/** Whether the faults of other layouts help: not if a canonical form reads the text. A second form, such as 32 digits, may. */
const isTelling =
  (readings: readonly ids.Reading[]) =>
  ({ error }: LayoutFault): boolean =>
    readings.length === 0 ||
    (readings.every(({ form, layout }) => form !== layout.table.text.name) &&
      error.reason === "shape" &&
      error.suggestion !== undefined);

/** Changes that people and tools make to a text: case, what stands around it, its hyphens, a leading zero, letters like digits. */
const SPELLINGS: readonly ((text: string) => string)[] = [
  (text) => text.toLowerCase(),
  (text) => text.toUpperCase(),
  (text) => text.replace(/^[\s"'`<({[]+|[\s"'`>)}\].,;:!]+$/g, ""),
  (text) => text.replaceAll(/[\s-]/g, ""),
  (text) => `0${text}`,
  (text) => text.toUpperCase().replaceAll("O", "0").replaceAll(/[IL]/g, "1"),
];

/** A layout that reads the text in another spelling. */
export interface Almost {
  readonly layout: string;
  readonly error: ids.ParseError;
  readonly text: string;
}

const ANY_TIME: ids.TimeWindow = { fromMs: Number.NEGATIVE_INFINITY, aheadMs: Number.POSITIVE_INFINITY };

/** Layouts that cannot read a text, and read another spelling of it. Its time must be plausible, unless the layout is `named`. */
export const almostOf = (
  text: string,
  unreadable: ids.Recognition["unreadable"],
  nowMs: number,
  named = false,
): readonly Almost[] => {
  const how = named ? { named, window: ANY_TIME } : {};
  const spellings = new Set(SPELLINGS.map((spell) => spell(text)).filter((each) => each !== text && each !== ""));
  return unreadable.flatMap(({ layout, error }) => {
    const reads = (spelling: string): boolean =>
      ids.recognise(spelling, [{ layout, ...how }], nowMs).readings.some(({ excluded }) => !excluded);
    const meant = [...spellings].find(reads);
    return meant === undefined ? [] : [{ layout: layout.name, error, text: meant }];
  });
};

/** Only a table has entities and routes. */
const UNROUTED = { entity: undefined, region: undefined, rule: undefined };

const candidateOf = ({ layout, words, excluded, for: reasons, against }: ids.Reading): Candidate => ({
  ...UNROUTED,
  layout: layout.name,
  fields: Object.fromEntries(layout.fields.map((field) => [field.name, field.readBig(words).toString()])),
  mintedAt: layout.mintedAtMs === undefined ? undefined : ids.isoTime(layout.mintedAtMs(words)),
  for: reasons,
  against,
  excluded,
});

/** All texts of its layout, and the canonical texts of layouts with the same bits. */
const formsOf = ({ layout: source, words }: Pick<ids.Reading, "layout" | "words">): Explained["forms"] => {
  const layout = source.name;
  const own = writtenForms(source).map((form) => ({ form: form.name, text: writtenBy(form, words) }));
  const others = conversionsFrom(layout).map(({ to, move }) => ({ form: to.name, text: to.format(move(words)) }));
  const key =
    source === ids.luuid
      ? [{ form: "short-key", text: ids.formatShortKey(ids.luuid.field("primaryKey")?.read(words) ?? 0) }]
      : [];
  return [...own, ...others, ...key].flatMap(({ form, text }) => (text === undefined ? [] : [{ layout, form, text }]));
};

/** A short key needs a path, and only a table has paths. */
const shortKeyCandidates = (text: string): readonly Candidate[] => {
  const primaryKey = ids.parseShortKey(text);
  if (!primaryKey.ok) return [];
  const fields = { primaryKey: String(primaryKey.value) };
  const reasons = [`1 to 12 hex digits, as in the short key of primary key ${primaryKey.value}`];
  const against = ["a short key is meaningless without the path of its group"];
  return [{ ...UNROUTED, layout: "luuid-short", fields, mintedAt: undefined, for: reasons, against, excluded: true }];
};

export const ambiguityLines = ({ candidates, error }: Explained): readonly string[] => {
  if (error !== undefined && error.reason !== "ambiguous-id") return [];
  const possible = [...new Set(candidates.filter(({ excluded }) => !excluded).map(({ layout }) => layout))];
  return possible.length < 2 ? [] : [`one of ${possible.join(", ")}: the text is ambiguous`];
};

/** The error as one sentence. */
export const plainOf = ({ error, ...explanation }: Explained): object => {
  if (error === undefined) return explanation;
  const evidence = Object.entries(error).filter(([name]) => !["id", "candidates", "missing"].includes(name));
  return { ...explanation, error: { ...Object.fromEntries(evidence), detail: detailOf(error) } };
};
