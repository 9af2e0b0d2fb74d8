import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type EntityLocation, entryOf, type Step, takeStep } from "../../../src/routing/moves/steps.ts";

const start = (to: string, epochMin = 1): Step => ({ name: "start", to, epochMin });
const finish = (routed?: string): Step => ({ name: "finish", routed });
const fence: Step = { name: "fence" };
const change: Step = { name: "switch" };
const abort: Step = { name: "abort" };
const gone: Step = { name: "gone", epochMin: 1 };

const AT_HOME: EntityLocation = { state: "routed", region: "eu" };
const STARTED: EntityLocation = { state: "started", from: "eu", to: "us", epoch: 1 };
const FENCED: EntityLocation = { state: "fenced", from: "eu", to: "us", epoch: 2 };
const MOVED: EntityLocation = { state: "moved", region: "us", epoch: 3 };
const BARE: EntityLocation = { state: "moved", region: "us", epoch: undefined };
const GONE: EntityLocation = { state: "gone", epoch: 4 };

describe("a step", () => {
  it.each<[string, Step, EntityLocation, EntityLocation]>([
    ["starts from where the routes lead", start("us"), AT_HOME, STARTED],
    ["starts at the epoch that regions know of", start("us", 8), AT_HOME, { ...STARTED, epoch: 8 }],
    [
      "starts from where the last move led",
      start("ap", 2),
      MOVED,
      { state: "started", from: "us", to: "ap", epoch: 4 },
    ],
    ["starts from an entry without an epoch", start("eu"), BARE, { state: "started", from: "us", to: "eu", epoch: 1 }],
    ["fences", fence, STARTED, FENCED],
    ["switches", change, FENCED, MOVED],
    ["aborts what was started", abort, STARTED, { state: "moved", region: "eu", epoch: 2 }],
    ["aborts what was fenced", abort, FENCED, { state: "moved", region: "eu", epoch: 3 }],
    ["drops an entry that says what the routes say", finish("us"), MOVED, { state: "routed", region: "us" }],
    ["keeps an entry that says something else", finish("eu"), MOVED, MOVED],
    ["keeps an entry where the routes may change", finish(undefined), MOVED, MOVED],
    ["drops an entry without an epoch", finish("us"), BARE, { state: "routed", region: "us" }],
    ["ends an entity that never moved", gone, AT_HOME, { state: "gone", epoch: 1 }],
    ["ends an entity that moved", gone, MOVED, { state: "gone", epoch: 4 }],
  ])("%s", (_, step, before, after) => {
    expect(takeStep(step, before)).toEqual({ ok: true, value: after });
  });

  it.each<[string, Step, EntityLocation, string]>([
    ["to where it is by the routes", start("eu"), AT_HOME, 'it is in "eu" already'],
    ["to where it moved", start("us"), MOVED, 'it is in "us" already'],
    ["of what is nowhere", start("us"), { state: "routed", region: undefined }, "no route matches it"],
    ["over another start", start("ap"), STARTED, 'its move to "us" is started already'],
    ["over a fence", start("us"), FENCED, 'its move to "us" is fenced already'],
    ["a fence before the start", fence, AT_HOME, "it has no move in progress; start one first"],
    ["a fence after the switch", fence, MOVED, "it has no move in progress; start one first"],
    ["a second fence", fence, FENCED, 'its move to "us" is fenced already; switch or abort it'],
    ["a switch before the start", change, AT_HOME, "it has no move in progress; start one first"],
    ["a switch before the fence", change, STARTED, "its move is not fenced: writes would be lost; fence it first"],
    ["a second switch", change, MOVED, "it has no move in progress; start one first"],
    ["to finish before the start", finish("eu"), AT_HOME, "it has not moved, so there is nothing to finish"],
    ["to finish before the fence", finish("eu"), STARTED, 'its move to "us" is started; switch or abort it first'],
    ["to finish before the switch", finish("us"), FENCED, 'its move to "us" is fenced; switch or abort it first'],
    ["to abort before the start", abort, AT_HOME, "it has no move in progress, so there is nothing to abort"],
    ["to abort after the switch", abort, MOVED, "it has no move in progress, so there is nothing to abort"],
    ["to end what is moving", gone, STARTED, 'its move to "us" is in progress; switch or abort it first'],
    ["to end what is gone", gone, GONE, "it is permanently removed"],
    ["to move what is gone", start("us"), GONE, "it is permanently removed"],
    ["to finish what is gone", finish("us"), GONE, "it is permanently removed"],
  ])("is refused: %s", (_, step, before, sentence) => {
    const after = takeStep(step, before);
    expect(after.ok ? "taken" : after.error).toContain(sentence);
  });
});

it("whatever steps are taken, the epoch rises with each, and one entry at most says where an entity is", () => {
  const step = fc.oneof(
    fc.constantFrom("eu", "us", "ap").map((to) => start(to)),
    fc.constantFrom(fence, change, abort),
    fc.constantFrom("eu", "us").map((routed) => finish(routed)),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let at: EntityLocation = AT_HOME as EntityLocation;
      let epoch = 0;
      for (const next of steps) {
        const after = takeStep(next, at);
        if (!after.ok || after.value === at) continue;
        at = after.value;
        const entry = entryOf(at);
        if (entry === undefined) {
          // Only the end of a move forgets, and only where it makes no difference.
          expect(next.name).toBe("finish");
          epoch = 0;
          continue;
        }
        const { value } = entry;
        if (typeof value === "string") throw new Error("a step leaves an entry without an epoch");
        expect(value.epoch).toBe(epoch + 1);
        epoch = value.epoch;
      }
    }),
  );
});
