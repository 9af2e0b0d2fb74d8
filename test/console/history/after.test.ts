import { describe, expect, it } from "vitest";
import { answersAround } from "../../../src/console/history/after.ts";
import type { MetricsHistory } from "../../../src/formats/console-api.ts";

/** `counts`: requests, errors and refused ones of each step. */
const history = (
  stepSeconds: number,
  begin: number,
  counts: readonly (readonly [requests: number, errors: number, refused: number])[],
): MetricsHistory =>
  ({
    source: "all",
    stepSeconds,
    at: counts.map((_, at) => begin + at * stepSeconds),
    total: {
      requests: counts.map(([requests]) => requests),
      errors: counts.map(([, errors]) => errors),
      refused: counts.map(([, , refused]) => refused),
    },
    problems: { "unassigned-key": counts.map(([, , refused]) => refused), rare: counts.map(() => 0) },
  }) as unknown as MetricsHistory;

const minutes = (count: number, of: readonly [number, number, number]) => Array.from({ length: count * 6 }, () => of);

describe("answers before and after a moment", () => {
  it("are ten minutes of both sides, and differ only beyond chance", () => {
    const own = history(10, 0, [...minutes(12, [100, 1, 5]), ...minutes(12, [100, 1, 2])]);
    const after = answersAround([own], { at: 720 });
    expect(after).toMatchObject({ beforeSeconds: 610, afterSeconds: 610 });
    expect(after?.outcomes).toEqual([
      { name: "errors", before: 0.01, after: 0.01, is: "same" },
      { name: "refused", before: 0.05, after: 0.02, is: "less" },
      { name: "unassigned-key", before: 0.05, after: 0.02, is: "less" },
    ]);
  });

  it("end with the next revision, and leave out the steps in which isolates still report what was before", () => {
    const own = history(10, 0, [
      ...minutes(12, [100, 0, 0]),
      ...minutes(2, [100, 0, 50]),
      ...minutes(5, [100, 100, 0]),
    ]);
    const after = answersAround([own], { at: 720, to: 840 });
    expect(after).toMatchObject({
      afterSeconds: 100,
      outcomes: [{ name: "errors", after: 0 }, { name: "refused", is: "more" }, {}],
    });
  });

  it("come from coarser steps where the fine ones are gone, and are unknown where nothing is kept or came", () => {
    const hour = history(10, 100_000, minutes(10, [100, 0, 0]));
    const day = history(
      300,
      0,
      Array.from({ length: 400 }, () => [100, 0, 0] as const),
    );
    expect(answersAround([hour, day], { at: 3_000 })).toMatchObject({ beforeSeconds: 900, afterSeconds: 900 });
    expect(answersAround([hour, undefined], { at: 3_000 })).toBeUndefined();
    expect(answersAround([hour], { at: 100_599 })).toBeUndefined();
    expect(answersAround([{ ...day, source: "none" }], { at: 3_000 })).toBeUndefined();
  });
});
