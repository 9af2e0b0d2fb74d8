import { seededChance } from "./chance.ts";
import type { Inputs } from "./inputs.ts";
import { packPages } from "./packs.ts";
import { pagesKept, SimulatedPages } from "./simulated-pages.ts";

/** Packs that are larger than what an isolate keeps: pages are dropped, and requests wait for them again. */
export interface LargePacks {
  readonly pages: number;
  /** Whether all pages are looked into alike, or the k-th 1/k times as often as the first. */
  readonly keys: "anywhere" | "mostly in some";
  /** Requests whose page is not in memory, of all that look into packs: by the formula, and with `src/edge/kept-pages.ts`. */
  readonly missed: number;
  readonly simulated: number;
}

/** Looks of one isolate, of which the first ones only fill its memory. */
const LOOKS = 200_000;
const FILLING = 20_000;

export function largePacks(inputs: Inputs, seed: number): readonly LargePacks[] {
  const sizes = [packPages(inputs), 24, 36, 64];
  return sizes.flatMap((pages) =>
    (["anywhere", "mostly in some"] as const).map((keys) => {
      const weights = weightsOf(pages, keys);
      const kept = pagesKept(inputs);
      return { pages, keys, missed: missedShare(weights, kept), simulated: simulatedShare(weights, kept, seed) };
    }),
  );
}

function weightsOf(pages: number, keys: LargePacks["keys"]): readonly number[] {
  const weights = Array.from({ length: pages }, (_, at) => (keys === "anywhere" ? 1 : 1 / (at + 1)));
  const sum = weights.reduce((before, weight) => before + weight, 0);
  return weights.map((weight) => weight / sum);
}

/**
 * Of a memory that drops what was used least lately, a page is there if it was looked into in the last τ looks, with τ such that
 * so many pages are there as it keeps (Che, Tung and Wang 2002). Second chance comes near to that.
 */
export function missedShare(weights: readonly number[], kept: number): number {
  if (kept >= weights.length) return 0;
  const there = (looks: number): number => weights.reduce((sum, weight) => sum + 1 - Math.exp(-weight * looks), 0);
  let [low, high] = [0, 1];
  while (there(high) < kept) high *= 2;
  for (let at = 0; at < 60; at++) {
    const middle = (low + high) / 2;
    if (there(middle) < kept) low = middle;
    else high = middle;
  }
  return weights.reduce((sum, weight) => sum + weight * Math.exp(-weight * high), 0);
}

function simulatedShare(weights: readonly number[], kept: number, seed: number): number {
  const { uniform } = seededChance(seed);
  const pages = new SimulatedPages(weights.length, kept);
  let missed = 0;
  for (let look = 0; look < LOOKS; look++) {
    const page = drawn(weights, uniform());
    if (!pages.lacks(page)) continue;
    pages.load(page);
    if (look >= FILLING) missed++;
  }
  return missed / (LOOKS - FILLING);
}

function drawn(weights: readonly number[], point: number): number {
  let rest = point;
  for (const [at, weight] of weights.entries()) {
    rest -= weight;
    if (rest < 0) return at;
  }
  return weights.length - 1;
}
