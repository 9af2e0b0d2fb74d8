import { compareWords, fieldOf, fromSql, type Layout, luuid, type TextForm, toSql, type Words } from "../ids/index.ts";
import type { Draft } from "./draft.ts";
import { overridesIn } from "./singled.ts";
import type { EnabledLayout, Gone, MovedIndex, Target } from "./table.ts";
import { WordsMapBuilder } from "./words-map.ts";

/** Entries for single entities by their IDs. An entry is known by its number: its place among those of `overridesIn`. */
export interface OverrideIndex {
  readonly find: (form: TextForm, words: Words) => number | undefined;
  readonly findShort: (group: number, primaryKey: number) => number | undefined;
  /** Whether no two entries have one ID or one short key. */
  readonly isDistinct: boolean;
}

type DatedLayout = Pick<EnabledLayout, "layout" | "window">;
type DatedLayouts = ReadonlyMap<string, DatedLayout>;

/** Indexes the entries whose texts are accepted. Of several with one ID, or with one short key, the first is found. */
export const indexOverrides = (
  draft: Draft,
  layouts: DatedLayouts,
  accepts: (reader: TextReader) => boolean,
): OverrideIndex => {
  const forms = new Map<TextForm, WordsMapBuilder>();
  const shortKeys = new WordsMapBuilder(SHORT_KEY_WORDS);
  const reader = new TextReader();
  let next = 0;
  for (const { text } of overridesIn(draft)) {
    const number = next++;
    reader.begin(text);
    if (!accepts(reader)) continue;
    for (const { form, words } of allFormsOf(reader, layouts)) {
      const entries = forms.get(form) ?? new WordsMapBuilder(words.length);
      forms.set(form, entries);
      entries.add(words, number);
    }
    const key = shortKeyIn(reader, layouts);
    if (key !== undefined) shortKeys.add(wordsOfShort(key.group, key.primaryKey), number);
  }
  const byForm = new Map([...forms].map(([form, entries]) => [form, entries.build()]));
  const byShort = shortKeys.build();
  return {
    find: (form, words) => byForm.get(form)?.get(words),
    findShort: (group, primaryKey) => byShort.get(wordsOfShort(group, primaryKey)),
    isDistinct:
      byShort.size === shortKeys.size &&
      [...forms].every(([form, { size: added }]) => byForm.get(form)?.size === added),
  };
};

/** What look-ups ask, with the goal of each entry by its number. */
export const movedIndex = ({ find, findShort }: OverrideIndex, targets: readonly (Target | Gone)[]): MovedIndex => ({
  size: targets.length,
  counts: countsOf(targets),
  find: ({ table }, words) => {
    const number = find(table.text, words);
    return number === undefined ? undefined : targets[number];
  },
  findShort: (group, primaryKey) => {
    const number = findShort(group, primaryKey);
    return number === undefined ? undefined : targets[number];
  },
});

const countsOf = (targets: readonly (Target | Gone)[]): MovedIndex["counts"] => {
  const counts = { moved: 0, moving: 0, gone: 0 };
  for (const { rule } of targets) counts[rule.kind === "gone" || rule.kind === "moving" ? rule.kind : "moved"]++;
  return counts;
};

/** Equal words are one ID only where the form of the text is the same: those of XID and ObjectId are not. */
interface Reading {
  readonly form: TextForm;
  readonly words: Words;
}

/** The ID in its text and, where the table reads both forms of HotGuids, in the other form. */
export const allFormsOf = (reader: TextReader, layouts: DatedLayouts): readonly Reading[] => {
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

/** Reads one text after another in the forms of layouts, each in each form once. */
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

/** Whether words can be an ID of a layout now or later: the end of the window moves with the clock. */
export const canBeLater = ({ layout, window }: DatedLayout, words: Words): boolean =>
  layout.fits(words) &&
  (window === undefined || layout.mintedAtMs === undefined || layout.mintedAtMs(words) >= window.fromMs);

export interface ShortKey {
  readonly group: number;
  readonly primaryKey: number;
}

/** Group and primary key of an LUUID's text. */
export const shortKeyIn = (reader: TextReader, layouts: DatedLayouts): ShortKey | undefined => {
  const words = layouts.has(luuid.name) ? reader.read(luuid) : undefined;
  if (words === undefined || !luuid.fits(words)) return undefined;
  return { group: fieldOf(luuid, "group").read(words), primaryKey: fieldOf(luuid, "primaryKey").read(words) };
};

/** The group, and the primary key of 48 bits. */
const SHORT_KEY_WORDS = 3;

const wordsOfShort = (group: number, primaryKey: number): Words => [
  group,
  Math.floor(primaryKey / 2 ** 32),
  primaryKey >>> 0,
];
