import type { Layout, TextForm, Words } from "../../ids/index.ts";
import { compareWords, fieldOf, fromSql, luuid, toSql } from "../../ids/index.ts";
import type { Reading } from "../layouts/fields.ts";
import { WordsMap } from "../lookup/id-index.ts";
import { type Draft, overridesIn } from "../schema/draft.ts";
import type { Gone, MovedIndex, Target, TimedLayout } from "../table.ts";

/** Overrides by ID. An entry's number is its place in `overridesIn`. */
export interface OverrideIndex {
  readonly byForm: ReadonlyMap<TextForm, WordsMap>;
  readonly byShort: WordsMap;
  /** Whether no two entries have the same ID or the same short key. */
  readonly isDistinct: boolean;
}

type TimedLayouts = ReadonlyMap<string, TimedLayout>;

/** Rows of words, and the number of the entry of each. Plain arrays, since there may be 100,000. */
type Rows = { readonly width: number; readonly words: number[]; readonly numbers: number[] };

const newRows = (width: number): Rows => ({ width, words: [], numbers: [] });

const addRow = ({ words: all, numbers }: Rows, words: Words, number: number): void => {
  all.push(...words);
  numbers.push(number);
};

type Accepts = (reader: TextReader) => boolean;

/** Indexes the entries whose texts are accepted. The first of several with the same ID or short key is found. */
export const indexOverrides = (draft: Draft, layouts: TimedLayouts, accepts: Accepts): OverrideIndex => {
  const forms = new Map<TextForm, Rows>();
  const shortKeys = newRows(SHORT_KEY_WORDS);
  const reader = new TextReader();
  let next = 0;
  for (const { text } of overridesIn(draft)) {
    const number = next++;
    reader.begin(text);
    if (!accepts(reader)) continue;
    for (const { form, words } of allFormsOf(reader, layouts)) {
      const rows = forms.get(form) ?? newRows(words.length);
      forms.set(form, rows);
      addRow(rows, words, number);
    }
    const key = shortKeyIn(reader, layouts);
    if (key !== undefined) addRow(shortKeys, wordsOfShort(...key), number);
  }
  let isDistinct = true;
  const mapOf = ({ width, words, numbers }: Rows): WordsMap => {
    const map = WordsMap.of(width, words, numbers);
    isDistinct &&= map.size === numbers.length;
    return map;
  };
  const byForm = new Map([...forms].map(([form, rows]) => [form, mapOf(rows)]));
  const byShort = mapOf(shortKeys);
  return { byForm, byShort, isDistinct };
};

export const findShort = (byShort: WordsMap, group: number, primaryKey: number): number | undefined =>
  byShort.get(wordsOfShort(group, primaryKey));

/** The index for requests: the target of each entry, by its number. */
export const movedIndex = ({ byShort }: OverrideIndex, targets: readonly (Target | Gone)[]): MovedIndex => {
  const counts = { moved: 0, moving: 0, gone: 0 };
  for (const { rule } of targets) counts[rule.kind === "gone" || rule.kind === "moving" ? rule.kind : "moved"]++;
  // Without an entry the number is -1, which no target has.
  return { counts, targets, findShort: (group, primaryKey) => targets[findShort(byShort, group, primaryKey) ?? -1] };
};

/**
 * The ID in its own text form, and in the other HotGuid form where the table reads both. Equal words are the same ID
 * only in the same form: XID and ObjectId share words and not texts.
 */
export const allFormsOf = (reader: TextReader, layouts: TimedLayouts): readonly Reading[] => {
  const forms: Reading[] = [];
  for (const dated of layouts.values()) {
    const { name, table } = dated.layout;
    const words = reader.read(dated.layout);
    if (words === undefined || !canBeLater(dated, words)) continue;
    const add = (own: Words): void => {
      // A table may have hundreds of layouts with one form.
      if (forms.some(({ form, words: known }) => form === table.text && compareWords(known, own) === 0)) return;
      forms.push({ form: table.text, words: own });
    };
    add(words);
    if (name === "hotguid" && layouts.has("hotguid-sql")) add(toSql(words));
    if (name === "hotguid-sql" && layouts.has("hotguid")) add(fromSql(words));
  }
  return forms;
};

/** Reads texts one after another, each at most once in each text form. */
export class TextReader {
  text = "";
  private readonly known = new Map<TextForm, Words | undefined>();

  begin(text: string): void {
    this.text = text;
    this.known.clear();
  }

  read(layout: Layout): Words | undefined {
    const form = layout.table.text;
    const known = this.known.get(form);
    if (known !== undefined || this.known.has(form)) return known;
    const words = form.read(this.text, 0, this.text.length);
    this.known.set(form, words);
    return words;
  }
}

/** Whether words can be an ID of a layout now or later: only the start of its time window is fixed. */
export const canBeLater = ({ layout, window }: TimedLayout, words: Words): boolean =>
  layout.fits(words) &&
  (window === undefined ||
    layout.mintedAtMs === undefined ||
    (layout.mintedAtMs(words) ?? window.fromMs) >= window.fromMs);

type ShortKey = readonly [group: number, primaryKey: number];

export const shortKeyIn = (reader: TextReader, layouts: TimedLayouts): ShortKey | undefined => {
  const words = layouts.has(luuid.name) ? reader.read(luuid) : undefined;
  if (words === undefined || !luuid.fits(words)) return undefined;
  return [fieldOf(luuid, "group").read(words), fieldOf(luuid, "primaryKey").read(words)];
};

/** The group, and the primary key of 48 bits. */
const SHORT_KEY_WORDS = 3;

const wordsOfShort = (group: number, primaryKey: number): Words => [
  group,
  Math.floor(primaryKey / 2 ** 32),
  primaryKey >>> 0,
];
