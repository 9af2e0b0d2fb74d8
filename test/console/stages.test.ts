import { describe, expect, it } from "vitest";
import { countsOf, foundIn, isLate, rowsOf, shortId, waitsFor } from "../../src/console/moves/rows.ts";
import { stagesOf, stepOf } from "../../src/console/moves/stages.ts";
import { tickedAt, withTicks } from "../../src/console/moves/ticks.ts";
import type { EntityLocation } from "../../src/routing/moves/steps.ts";

const move = { from: "eu", to: "us" };
const started: EntityLocation = { ...move, state: "started", epoch: 1 };
const fenced: EntityLocation = { ...move, state: "fenced", epoch: 2 };
const AT: readonly (readonly [EntityLocation, readonly (string | undefined)[]])[] = [
  [{ state: "routed", region: "eu" }, []],
  [started, []],
  [fenced, ["fence(x, 2)", undefined, "take(x, 2, data)"]],
  [{ state: "moved", region: "us", epoch: 3 }, ["open(x, 3)", "leave(x, 3, us)"]],
  // By other means than a move: no region waits for a call.
  [{ state: "moved", region: "us", epoch: undefined }, []],
];

describe("the stages of a move", () => {
  it.each(AT)("%o has its calls in the order of the guide, with its epoch", (at, calls) => {
    const stages = stagesOf("x", at);
    expect(stages.map(({ state }) => state)).toEqual(["routed", "started", "fenced", "moved"]);
    expect(stages.find(({ state }) => state === at.state)?.todo.map(({ call }) => call)).toEqual(calls);
    expect(stages.map(stepOf)).toEqual([1, 2, 3, 4]);
  });

  it("copies after the fence, and before the switch both regions answer", () => {
    const stage = stagesOf("x", fenced).find(({ state }) => state === "fenced");
    expect(stage?.todo.map(({ text }) => text)).toEqual([
      "eu answered fence",
      "The rest was copied after that answer",
      "us answered take",
    ]);
    expect(stage?.danger).toContain("loses writes");
  });

  it("never says that the table alone stops writes", () => {
    const [stage] = stagesOf("x", { state: "routed", region: "eu" }).filter(({ state }) => state === "fenced");
    expect(stage?.holds).toContain("only the old region's own fence stops writes");
    expect(stage?.safe).toBe("Switch is safe when both regions have answered.");
  });

  it("names the regions that are known: before a move not its target, after it not its source", () => {
    const names = (at: EntityLocation) => stagesOf("x", at).map(({ name }) => name);
    expect(names({ state: "routed", region: "eu" })).toEqual([
      "At home in eu",
      "Started",
      "Fenced",
      "Switched to the new region",
    ]);
    expect(names({ state: "moved", region: "us", epoch: 3 }).slice(-1)).toEqual(["Switched to us"]);
    const [, stage] = stagesOf("x", { state: "routed", region: "eu" });
    expect(stage?.holds).toContain(
      "stay in eu, whatever the routes become, while its data is copied to the new region",
    );
  });

  it("says the way back at each, and that there is none after the switch", () => {
    const undo = stagesOf("x", fenced).map((stage) => stage.undo);
    expect(undo.slice(1)).toEqual([
      "Abort is safe: clients notice nothing. If us has a copy, call leave there; then open in eu.",
      "Abort is safe until the switch: writes go on in eu. Then call leave in us if it has a copy, and open in eu.",
      "No way back but another move.",
    ]);
  });
});

describe("the entities that the table names", () => {
  const table = {
    moves: { a1: { ...move, state: "started", epoch: 1 }, b2: { ...move, state: "fenced", epoch: 2 } },
    moved: { c3: "us", d4: { region: "eu", epoch: 3 } },
    gone: { e5: { epoch: 4 } },
  } as const;

  it("are counted and listed by kind, the last of the text first", () => {
    expect(countsOf(table)).toEqual({ moving: 2, moved: 2, gone: 1 });
    expect(countsOf({})).toEqual({ moving: 0, moved: 0, gone: 0 });
    expect(rowsOf(table, "moving").map(({ id }) => id)).toEqual(["b2", "a1"]);
    expect(rowsOf(table, "moved").map(({ at }) => at)).toEqual([
      { state: "moved", region: "eu", epoch: 3 },
      { state: "moved", region: "us", epoch: undefined },
    ]);
    expect(rowsOf(table, "gone")).toEqual([{ id: "e5", at: { state: "gone", epoch: 4 } }]);
  });

  it("are found by a part of the ID, and by any text of it", () => {
    const rows = rowsOf(table, "moving");
    expect(foundIn(rows, " A1 ", []).map(({ id }) => id)).toEqual(["a1"]);
    expect(foundIn(rows, "another text", ["other", "b2"]).map(({ id }) => id)).toEqual(["b2"]);
    expect(foundIn(rows, "zz", [])).toEqual([]);
    expect(foundIn(rows, "", [])).toHaveLength(2);
  });

  it("say who waits for whom: the first thing that is not ticked", () => {
    const row = { id: "b2", at: fenced };
    expect(waitsFor({ id: "a1", at: started }, new Set())).toBe("No one waits: eu is copied to us");
    expect(waitsFor(row, new Set())).toBe("Writes wait for you: fence in eu");
    expect(waitsFor(row, new Set([0]))).toBe("Writes wait for you: the last copy");
    expect(waitsFor(row, new Set([0, 1]))).toBe("Writes wait for you: take in us");
    expect(waitsFor(row, new Set([0, 1, 2]))).toBe("Writes wait for you: switch");
  });

  it("are late where writes wait for minutes, or a copy for days", () => {
    const minute = 60_000;
    expect([isLate(fenced, 14 * minute), isLate(fenced, 16 * minute)]).toEqual([false, true]);
    expect([isLate(started, 23 * 60 * minute), isLate(started, 25 * 60 * minute)]).toEqual([false, true]);
    expect(isLate({ state: "moved" }, 1e12)).toBe(false);
  });

  it("have short names that keep both ends", () => {
    expect(shortId("0192f0c1-7a30-8005-8040-8f3b2a1c9d77")).toBe("0192f0c1…1c9d77");
    expect(shortId("1a2b3c")).toBe("1a2b3c");
  });
});

it("ticks are of one step: the next one begins with none", () => {
  const ticks = withTicks({}, "x", fenced, new Set([0, 2]));
  expect([...tickedAt(ticks, "x", fenced)]).toEqual([0, 2]);
  expect([...tickedAt(ticks, "x", { ...fenced, epoch: 4 })]).toEqual([]);
  expect([...tickedAt(ticks, "y", fenced)]).toEqual([]);
  expect([...tickedAt({}, "toString", fenced)]).toEqual([]);
});
