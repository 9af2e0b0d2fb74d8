import { expect, it } from "vitest";
import { stagesOf } from "../../src/console/moves/stages.ts";
import type { EntityLocation } from "../../src/routing/moves/steps.ts";

const move = { from: "eu", to: "us" };
const AT: readonly (readonly [EntityLocation, readonly string[]])[] = [
  [{ state: "routed", region: "eu" }, []],
  [{ ...move, state: "started", epoch: 1 }, ["Copy its data from eu to us, for as long as that takes."]],
  [
    { ...move, state: "fenced", epoch: 2 },
    [
      "Call fence(x, 2) in eu, and wait for its response.",
      "Copy what is left. Only a copy after that response is the last one.",
      "Call take(x, 2, data) in us, and wait for its response.",
    ],
  ],
  [
    { state: "moved", region: "us", epoch: 3 },
    [
      "Call open(x, 3) in us.",
      "After it, call leave(x, 3, us) in the region that it left.",
      "After an abort the order is the other: leave where a copy is, then open.",
    ],
  ],
  // By other means than a move: no region waits for a call.
  [{ state: "moved", region: "us", epoch: undefined }, []],
];

it.each(AT)("%o has its calls in the order of the guide, with its epoch", (at, todo) => {
  const stages = stagesOf("x", at);
  expect(stages.map(({ state }) => state)).toEqual(["routed", "started", "fenced", "moved"]);
  expect(stages.find(({ state }) => state === at.state)?.todo).toEqual(todo);
});

it("never says that the table alone stops writes", () => {
  const [fenced] = stagesOf("x", { state: "routed", region: "eu" }).filter(({ state }) => state === "fenced");
  expect(fenced?.holds).toContain("only the old region's own fence stops writes");
  expect(fenced?.safe).toContain("Switch is safe when both calls have responded");
});
