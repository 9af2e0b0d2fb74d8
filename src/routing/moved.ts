import { compareWords, fromSql, type Layout, type TextForm, toSql, type Words } from "../ids/index.ts";
import type { EnabledLayout, Gone, MovedIndex, Target } from "./table.ts";
import { WordsMap } from "./words-map.ts";

/** Builds the index of the entities that the table singles out. Each text must have been checked to be canonical for one of the layouts. */
export const indexMoved = (
  singled: Iterable<readonly [text: string, goal: Target | Gone]>,
  layouts: ReadonlyMap<string, EnabledLayout>,
): MovedIndex => {
  const forms = new Map<TextForm, (readonly [Words, Target | Gone])[]>();
  const short: ShortKeys = new Map();
  const counts = { moved: 0, moving: 0, gone: 0 };
  for (const [text, goal] of singled) {
    counts[partOf(goal)]++;
    for (const { form, words } of allFormsOf(text, layouts)) {
      const entries = forms.get(form) ?? [];
      forms.set(form, entries);
      entries.push([words, goal]);
    }
    const key = readShort(text, layouts);
    if (key !== undefined) addShort(short, key, goal);
  }
  const byForm = new Map([...forms].map(([form, entries]) => [form, new WordsMap(entries)]));
  return {
    size: counts.moved + counts.moving + counts.gone,
    counts,
    find: ({ table }, words) => byForm.get(table.text)?.get(words),
    findShort: (group, primaryKey) => short.get(group)?.get(primaryKey),
  };
};

const partOf = ({ rule }: Target | Gone): keyof MovedIndex["counts"] =>
  rule.kind === "gone" ? "gone" : rule.kind === "moving" ? "moving" : "moved";

/** Equal words are one ID only where the form of the text is the same: those of XID and ObjectId are not. */
interface Reading {
  readonly form: TextForm;
  readonly words: Words;
}

type DatedLayout = Pick<EnabledLayout, "layout" | "window">;

/** The ID in its text and, where the table reads both forms of HotGuids, in the other form. */
export const allFormsOf = (text: string, layouts: ReadonlyMap<string, DatedLayout>): readonly Reading[] => {
  const forms: Reading[] = [];
  const read = formReader(text);
  for (const dated of layouts.values()) {
    const { name, table } = dated.layout;
    const words = read(dated.layout);
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

/** Reads a text in the forms of layouts, in each form once. */
export const formReader = (text: string): ((layout: Layout) => Words | undefined) => {
  const known = new Map<TextForm, Words | undefined>();
  return (layout) => {
    const form = layout.table.text;
    if (!known.has(form)) known.set(form, form.read(text, 0, text.length));
    return known.get(form);
  };
};

/** Whether words can be an ID of a layout now or later: the end of the window moves with the clock. */
export const canBeLater = ({ layout, window }: DatedLayout, words: Words): boolean =>
  layout.fits(words) &&
  (window === undefined || layout.mintedAtMs === undefined || layout.mintedAtMs(words) >= window.fromMs);

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

/** By group, then by primary key. */
type ShortKeys = Map<number, Map<number, Target | Gone>>;

const addShort = (short: ShortKeys, { group, primaryKey }: ShortKey, goal: Target | Gone): void => {
  const keys = short.get(group) ?? new Map<number, Target | Gone>();
  keys.set(primaryKey, goal);
  short.set(group, keys);
};
