import { fieldOf, formatShortKey, fromSql, hotguidSql, type Layout, luuid, type Words } from "../ids/index.ts";
import type { CompiledTable, Decision } from "./table.ts";

/** Layout name of an ID that is only a primary key; its path gives the group. */
export const LUUID_SHORT = "luuid-short";

/**
 * The identity of an entity, however its ID is written: canaries and splits hash these words. Both forms of a HotGuid
 * have the same words, and so have an LUUID and its short key. `layout`: the name in a decision.
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

/** Whether a text that two layouts can parse certainly has the same identity in both. */
export const isOneIdentity = (a: Layout, b: Layout): boolean =>
  [a, b].every(({ name, texts }) => texts.length === 1 && !ALTERED.includes(name)) && a.texts[0] === b.texts[0];

const ALTERED: readonly string[] = [luuid.name, hotguidSql.name];

/**
 * The canonical text of an ID in its layout, or of a short key, which origins can compare. A short key and its LUUID
 * have two texts, and so have the two forms of a HotGuid.
 */
export const canonicalText = ({ layouts }: CompiledTable, { layout, id, words }: Decision): string => {
  if (layout === LUUID_SHORT) return formatShortKey(luuid.field("primaryKey")?.read(words) ?? 0);
  return layouts.get(layout)?.layout.format(words) ?? id;
};
