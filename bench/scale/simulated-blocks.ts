import type { Inputs } from "./inputs.ts";

/** The numbers that an isolate holds of each sequence, as `src/edge/sequences.ts` takes them: block by block. */
export class SimulatedBlocks {
  readonly #size: number;
  readonly #left: Int32Array;

  /** `left`: of each sequence, in an isolate that has run before. */
  constructor({ blockNumbers, mintNames }: Pick<Inputs, "blockNumbers" | "mintNames">, left: () => number = () => 0) {
    this.#size = blockNumbers;
    this.#left = Int32Array.from({ length: mintNames }, left);
  }

  /** Takes a number; whether the object has to be asked for a block. */
  take(name: number): boolean {
    const left = this.#left[name] as number;
    this.#left[name] = (left === 0 ? this.#size : left) - 1;
    return left === 0;
  }
}

/** The chance that an isolate mints once more from a sequence before it ends. `perSecond`: of one isolate, from one sequence. */
export const chanceOfMint = (perSecond: number, lifeSeconds: number): number =>
  perSecond / (perSecond + 1 / lifeSeconds);

/**
 * Blocks of a sequence in one life: of so many numbers each, begun by the numbers 1, B + 1, 2 B + 1 and so on, each of which is
 * reached with the chance q to its power.
 */
export const blocksPerLife = (chance: number, blockNumbers: number): number => chance / (1 - chance ** blockNumbers);

/** What is left of a block in an isolate that has run for long: its age is as random as its life. */
export function drawLeft(chance: number, blockNumbers: number, uniform: () => number): number {
  const taken = Math.floor(Math.log(uniform()) / Math.log(chance));
  return (blockNumbers - (taken % blockNumbers)) % blockNumbers;
}
