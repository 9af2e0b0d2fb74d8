import { fieldOf, fromSql, hotguidSql, type Layout, luuid, type Words } from "../ids/index.ts";

/** Layout name of an ID that is only a primary key; its path gives the group. */
export const LUUID_SHORT = "luuid-short";

/** An entity's words however its ID is written: canaries and splits hash them. `layout`: the name in a decision. */
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
  [a, b].every((layout) => layout.texts.length === 1 && !hasOtherWords(layout)) && a.texts[0] === b.texts[0];

/** Whether `identityWords` are not always the words of the layout's ID. */
export const hasOtherWords = ({ name }: Layout): boolean => name === luuid.name || name === hotguidSql.name;
