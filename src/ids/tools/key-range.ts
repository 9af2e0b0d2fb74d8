import { PRIMARY_KEY_MAX } from "../text/texts.ts";

/** Primary keys that one gateway, or a group of gateways with one Durable Object, may give. Both ends belong to it. */
export interface KeyRange {
  readonly first: number;
  readonly last: number;
}

/** More parts than a company has regions; each still has 2^38 keys. */
export const KEY_PARTS_MAX = 1024;

/**
 * Reads `1/4`: part 1 of 4 equal parts, of which the first is 0. Parts of one count never overlap, and `4/4` is refused, so
 * that counting from 1 is noticed.
 */
export const parseKeyRange = (text: string): KeyRange | undefined => {
  const [, part, parts] = (/^(0|[1-9]\d{0,3})\/([1-9]\d{0,3})$/.exec(text) ?? []).map(Number);
  if (part === undefined || parts === undefined || parts > KEY_PARTS_MAX || part >= parts) return undefined;
  const size = Math.floor((PRIMARY_KEY_MAX + 1) / parts);
  // Sequences begin at 1.
  return { first: Math.max(1, part * size), last: part === parts - 1 ? PRIMARY_KEY_MAX : (part + 1) * size - 1 };
};
