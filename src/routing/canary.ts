import { mixWords, type Words } from "../ids/index.ts";
import type { Target } from "./table.ts";

/**
 * The target of one ID: the canary's for as many of the IDs as it has a share. The hash is of the ID alone, so that an ID
 * never flips while a share only grows.
 */
export const shareOut = (target: Target | undefined, words: Words): Target | undefined => {
  const canary = target?.canary;
  return canary !== undefined && mixWords(words) < canary.share * 2 ** 32 ? canary.target : target;
};
