import { expect } from "vitest";
import { Choices, randomBody } from "./random.ts";
import { ask, oracle, REGIONS } from "./world.ts";

/** How many documents were of which kind. */
export const emptySums = () => ({ all: 0, split: 0, withErrors: 0, nulled: 0, invalid: 0, down: 0 });

interface ErrorShape {
  readonly message: string;
  readonly path?: readonly (string | number)[];
}

const shapes = (text: string): readonly string[] => {
  const { errors = [] } = JSON.parse(text) as { errors?: readonly ErrorShape[] };
  return errors.map(({ message, path }) => JSON.stringify([message, path])).toSorted();
};

/** The raw text of `data`: numbers as they stand. */
const dataOf = (text: string): string | undefined => {
  const bare = JSON.parse(text, (key, value, context?: { source?: string }) =>
    typeof value === "number" ? `number ${context?.source}` : key === "extensions" ? undefined : value,
  ) as { data?: unknown };
  return bare.data === undefined ? undefined : JSON.stringify(bare.data);
};

export async function checkAgainstOracle(
  numbers: readonly number[],
  sums: ReturnType<typeof emptySums>,
): Promise<void> {
  const choices = new Choices(numbers);
  const down = choices.chance(25) ? choices.one(REGIONS) : undefined;
  const body = randomBody(choices, { withoutHome: down !== undefined });
  const [expected, { text, parts, fault }] = await Promise.all([oracle(body, down), ask(body, down)]);
  const note = `${body}\nexpected ${expected}\nfound ${fault ?? text}`;
  sums.all++;
  if (parts > 1) sums.split++;
  if (down !== undefined) sums.down++;
  if (fault !== undefined) throw new Error(note);
  const data = dataOf(expected);
  if (data === undefined) {
    sums.invalid++;
    expect(shapes(text).length, note).toBeGreaterThan(0);
    // The region that would find the fault may be the one that is down.
    if (down === undefined) expect(dataOf(text), note).toBeUndefined();
    return;
  }
  expect(dataOf(text), note).toBe(data);
  if (shapes(expected).length > 0) sums.withErrors++;
  if (data === "null") sums.nulled++;
  expect(shapes(text), note).toEqual(shapes(expected));
}
