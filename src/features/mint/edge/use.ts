/** How much of a sequence's range is used up, in steps of which operators are told. */
export interface SequenceUse {
  readonly name: string;
  /** The last number of the block. */
  readonly last: number;
  readonly max: number;
  readonly percent: (typeof STEPS)[number];
  /** Whether this block is the one that reached the step: one of all isolates has it. */
  readonly isFirst: boolean;
}

const STEPS = [99, 90, 0] as const;

export function useOf(
  block: { readonly name: string; readonly first: number; readonly end: number },
  { first, max }: { readonly first: number; readonly max: number },
): SequenceUse {
  const stepAt = (count: number) => STEPS.find((step) => (count / (max - first + 1)) * 100 >= step) ?? 0;
  const percent = stepAt(block.end - first);
  return { name: block.name, last: block.end - 1, max, percent, isFirst: stepAt(block.first - first) < percent };
}
