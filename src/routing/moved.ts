import { fromSql, type Layout, type TextForm, toSql, type Words } from "../ids/index.ts";
import type { EnabledLayout, MovedIndex, Target } from "./table.ts";

interface Entry {
  /** Equal words are one ID only where the canonical texts are equal too: those of XID and ObjectId are not. */
  readonly text: TextForm;
  readonly words: Words;
  readonly target: Target;
}

/** Builds the index of moved entities. Each text must have been checked to be canonical for one of the layouts. */
export const indexMoved = (
  moved: Iterable<readonly [text: string, target: Target]>,
  layouts: ReadonlyMap<string, EnabledLayout>,
): MovedIndex => {
  const entries = new Map<number, Entry[]>();
  const short = new Map<number, Map<number, Target>>();
  let size = 0;
  for (const [text, target] of moved) {
    size++;
    for (const form of allFormsOf(text, layouts)) addEntry(entries, { ...form, target });
    const key = readShort(text, layouts);
    if (key !== undefined) addShort(short, key, target);
  }
  return {
    size,
    find: ({ table }, words) => findEntry(entries.get(hashOf(words)), table.text, words),
    findShort: (group, primaryKey) => short.get(group)?.get(primaryKey),
  };
};

/** The words of the ID, and of its other form where the table reads both forms of HotGuids. */
const allFormsOf = (
  text: string,
  layouts: ReadonlyMap<string, EnabledLayout>,
): readonly Pick<Entry, "text" | "words">[] => {
  const forms: Pick<Entry, "text" | "words">[] = [];
  for (const enabled of layouts.values()) {
    const words = enabled.layout.parse(text);
    if (!words.ok || !isOldEnough(enabled, words.value)) continue;
    const { name, table } = enabled.layout;
    const add = (own: Words): unknown => forms.push({ text: table.text, words: own });
    add(words.value);
    if (name === "hotguid" && layouts.has("hotguid-sql")) add(toSql(words.value));
    if (name === "hotguid-sql" && layouts.has("hotguid")) add(fromSql(words.value));
  }
  return forms;
};

/** The end of the window moves with the clock, so only its beginning can tell here. */
const isOldEnough = ({ layout, window }: EnabledLayout, words: Words): boolean =>
  window === undefined || layout.mintedAtMs === undefined || layout.mintedAtMs(words) >= window.fromMs;

const addEntry = (entries: Map<number, Entry[]>, entry: Entry): void => {
  const hash = hashOf(entry.words);
  const bucket = entries.get(hash);
  if (bucket === undefined) entries.set(hash, [entry]);
  else if (findEntry(bucket, entry.text, entry.words) === undefined) bucket.push(entry);
};

const findEntry = (bucket: readonly Entry[] | undefined, text: TextForm, words: Words): Target | undefined => {
  if (bucket === undefined) return undefined;
  for (const { text: ownText, words: own, target } of bucket) {
    if (ownText === text && own.length === words.length && own.every((word, index) => word === words[index]))
      return target;
  }
  return undefined;
};

/** Every bit counts, and the factor keeps words that differ in the same place from cancelling each other. */
const hashOf = (words: Words): number => {
  let hash = 0;
  for (let at = 0; at < words.length; at++) hash = (Math.imul(hash, 31) + (words[at] as number)) | 0;
  return hash;
};

interface ShortKey {
  readonly group: number;
  readonly primaryKey: number;
}

/** Group and primary key of an LUUID's text. */
const readShort = (text: string, layouts: ReadonlyMap<string, EnabledLayout>): ShortKey | undefined => {
  const layout: Layout | undefined = layouts.get("luuid")?.layout;
  const words = layout?.parse(text);
  if (layout === undefined || words === undefined || !words.ok) return undefined;
  return shortKeyOf(layout, words.value);
};

export const shortKeyOf = (layout: Layout, words: Words): ShortKey | undefined => {
  const group = layout.field("group");
  const primaryKey = layout.field("primaryKey");
  if (group === undefined || primaryKey === undefined) return undefined;
  return { group: group.read(words), primaryKey: primaryKey.read(words) };
};

const addShort = (short: Map<number, Map<number, Target>>, { group, primaryKey }: ShortKey, target: Target): void => {
  const keys = short.get(group) ?? new Map<number, Target>();
  keys.set(primaryKey, target);
  short.set(group, keys);
};
