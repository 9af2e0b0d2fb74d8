import { fieldOf, formatShortKey, fromSql, hotguidSql, type Layout, luuid, type Words } from "../ids/index.ts";
import type { CompiledTable, Decision } from "./table.ts";

/** Name of the layout of an ID that is only a primary key; its path gives the group. */
export const LUUID_SHORT = "luuid-short";

/**
 * What an entity is told by, however its ID is written: whatever depends on a hash of the entity hashes these words. Both
 * forms of a HotGuid are one entity, and so are an LUUID and its short key, which says the group and the primary key
 * alone. In all other layouts every text of an ID has the same words. `layout`: the name that a decision has.
 */
export const identityWords = (layout: string, words: Words): Words => {
  switch (layout) {
    case luuid.name:
    case LUUID_SHORT:
      return words.map((word, at) => (word & ~(LUUID_RANDOM[at] as number)) >>> 0);
    case hotguidSql.name:
      return fromSql(words);
    default:
      return words;
  }
};

const LUUID_RANDOM: Words = /* @__PURE__ */ fieldOf(luuid, "random").mask;

/** Whether a text that two layouts can read is one entity by both readings. Said of those only of which it is certain. */
export const isOneIdentity = (a: Layout, b: Layout): boolean =>
  [a, b].every(({ name, texts }) => texts.length === 1 && !ALTERED.includes(name)) && a.texts[0] === b.texts[0];

const ALTERED: readonly string[] = [luuid.name, hotguidSql.name];

/**
 * The one text of an ID in its layout, or of a short key, whichever text and case the request wrote it in: what origins may
 * compare. A short key and the full text of its LUUID stay two texts, and so do the two forms of a HotGuid.
 */
export const canonicalText = ({ layouts }: CompiledTable, { layout, id, words }: Decision): string => {
  if (layout === LUUID_SHORT) return formatShortKey(luuid.field("primaryKey")?.read(words) ?? 0);
  return layouts.get(layout)?.layout.format(words) ?? id;
};
