import {
  compareWords,
  fieldOf,
  fromSql,
  type Layout,
  luuid,
  mixWords,
  type TextForm,
  toSql,
  type Words,
} from "../../ids/index.ts";
import { type Draft, overridesIn } from "../schema/draft.ts";
import type { EnabledLayout, Gone, MovedIndex, Target } from "../table.ts";

/** Gathers the entries of a `WordsMap`, in arrays of numbers: there may be 100,000. */
export class WordsMapBuilder {
  private readonly width: number;
  private words: Uint32Array<ArrayBuffer>;
  private hashes = new Uint32Array(ENTRIES_AT_FIRST);
  private values = new Uint32Array(ENTRIES_AT_FIRST);
  size = 0;

  /** `width`: how many words an ID has. */
  constructor(width: number) {
    this.width = width;
    this.words = new Uint32Array(ENTRIES_AT_FIRST * width);
  }

  /** `value`: of 32 bits. */
  add(words: Words, value: number): void {
    if (this.size === this.values.length) {
      this.words = twiceAsLong(this.words);
      this.hashes = twiceAsLong(this.hashes);
      this.values = twiceAsLong(this.values);
    }
    this.words.set(words, this.size * this.width);
    this.hashes[this.size] = mixWords(words);
    this.values[this.size] = value;
    this.size++;
  }

  /** Of entries with equal words the first counts. */
  build(): WordsMap {
    const { width, words, hashes, values, size } = this;
    const mask = 2 ** Math.ceil(Math.log2(Math.max(1, size))) - 1;
    const order = orderByBucket(hashes.subarray(0, size), mask);
    const compare = (a: number, b: number): number => compareRows(words, a * width, b * width, width) || a - b;
    const sorted = new Uint32Array(size * width);
    const sortedValues = new Uint32Array(size);
    const starts = new Uint32Array(mask + 2);
    let kept = 0;
    for (let bucket = 0, from = 0; bucket <= mask; bucket++) {
      starts[bucket] = kept;
      let to = from;
      while (to < size && ((hashes[order[to] as number] as number) & mask) === bucket) to++;
      const own = order.subarray(from, to);
      if (own.length > 1) own.sort(compare);
      for (const [at, row] of own.entries()) {
        if (at > 0 && compareRows(words, row * width, (own[at - 1] as number) * width, width) === 0) continue;
        sorted.set(words.subarray(row * width, (row + 1) * width), kept * width);
        sortedValues[kept++] = values[row] as number;
      }
      from = to;
    }
    starts[mask + 1] = kept;
    return new WordsMap(width, sorted.slice(0, kept * width), sortedValues.slice(0, kept), starts);
  }
}

const ENTRIES_AT_FIRST = 64;

const twiceAsLong = (array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> => {
  const longer = new Uint32Array(array.length * 2);
  longer.set(array);
  return longer;
};

/** The entries by rising bucket, and in each as they came. */
const orderByBucket = (hashes: Uint32Array, mask: number): Uint32Array => {
  const ends = new Uint32Array(mask + 1);
  for (const hash of hashes) ends[hash & mask] = (ends[hash & mask] as number) + 1;
  for (let bucket = 1; bucket <= mask; bucket++) {
    ends[bucket] = (ends[bucket] as number) + (ends[bucket - 1] as number);
  }
  const order = new Uint32Array(hashes.length);
  for (let entry = hashes.length - 1; entry >= 0; entry--) {
    const bucket = (hashes[entry] as number) & mask;
    const place = (ends[bucket] as number) - 1;
    ends[bucket] = place;
    order[place] = entry;
  }
  return order;
};

/** Below, equal to or above 0: the order of the rows that begin at two places. */
const compareRows = (words: Uint32Array, a: number, b: number, width: number): number => {
  for (let word = 0; word < width; word++) {
    const difference = (words[a + word] as number) - (words[b + word] as number);
    if (difference !== 0) return difference;
  }
  return 0;
};

/**
 * Numbers by the words of IDs of one length, found at once whatever the number of entries. Words come from outside and may
 * all have one hash, so the words of a bucket stand in order: then a search takes log2 of their number.
 */
export class WordsMap {
  private readonly width: number;
  /** By bucket, then in order, row after row. */
  private readonly words: Uint32Array;
  private readonly values: Uint32Array;
  /** For each bucket the place of its first entry; the next bucket's is where it ends. */
  private readonly starts: Uint32Array;

  constructor(width: number, words: Uint32Array, values: Uint32Array, starts: Uint32Array) {
    this.width = width;
    this.words = words;
    this.values = values;
    this.starts = starts;
  }

  get size(): number {
    return this.values.length;
  }

  get(words: Words): number | undefined {
    const bucket = mixWords(words) & (this.starts.length - 2);
    let low = this.starts[bucket] as number;
    let high = (this.starts[bucket + 1] as number) - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const order = this.compare(middle, words);
      if (order === 0) return this.values[middle];
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }

  private compare(entry: number, words: Words): number {
    const { width } = this;
    for (let word = 0; word < width; word++) {
      const difference = (this.words[entry * width + word] as number) - (words[word] as number);
      if (difference !== 0) return difference;
    }
    return 0;
  }
}

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
