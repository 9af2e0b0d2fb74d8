import { formatShortKey, luuid } from "../ids/index.ts";
import { LUUID_SHORT } from "./identity.ts";
import type { CompiledTable, Decision } from "./table.ts";

/**
 * The one text of an ID in its layout, or of a short key, whichever text and case the request wrote it in: what origins may
 * compare. A short key and the full text of its LUUID stay two texts, and so do the two forms of a HotGuid.
 */
export const canonicalText = ({ layouts }: CompiledTable, { layout, id, words }: Decision): string => {
  if (layout === LUUID_SHORT) return formatShortKey(luuid.field("primaryKey")?.read(words) ?? 0);
  return layouts.get(layout)?.layout.format(words) ?? id;
};
