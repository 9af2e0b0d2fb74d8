import { describe, expect, it } from "vitest";
import { WatchedStates } from "../../../src/edge/events/settled.ts";
import { MachineWatch } from "../../../src/edge/events/watch-machines.ts";
import type { HeardEdge, Machines } from "../../../src/formats/machines.ts";

const START = Date.UTC(2026, 10, 23);
const SECOND = 1_000;

/** A cluster that is asked every 15 s. */
function cluster() {
  let states = new WatchedStates([]);
  let nowMs = START;
  let machines = new MachineWatch(states, nowMs);
  const told: string[] = [];
  const edge = (name: string, more: Partial<HeardEdge> = {}): HeardEdge => ({
    name,
    revision: 42,
    change: 7,
    version: "1.0.0",
    processes: 1,
    ageMs: 0,
    heardAtMs: nowMs,
    ...more,
  });
  const ask = (seconds: number, seen: () => Partial<Machines>) => {
    for (const endMs = nowMs + seconds * SECOND; nowMs < endMs; nowMs += 15 * SECOND) {
      const all = { edges: [], nodes: [], published: { revision: 42, change: 7 }, ...seen() };
      for (const { type, words, isOver } of machines.watch(all, nowMs))
        told.push(`${(nowMs - START) / SECOND} ${type}${isOver === true ? " (over)" : ""}: ${words}`);
    }
  };
  const restart = () => {
    const kept = states.takeChanges().flatMap(([key, state]) => (state === undefined ? [] : [[key, state] as const]));
    states = new WatchedStates(kept);
    machines = new MachineWatch(states, nowMs);
  };
  return { ask, edge, told, restart };
}

describe("the machines of a cluster", () => {
  it("are no events while they ask, restart within seconds, and follow publications", () => {
    const { ask, edge, told } = cluster();
    ask(120, () => ({ edges: [edge("fra-1")] }));
    ask(30, () => ({ edges: [edge("fra-1", { revision: 41 })] }));
    ask(60, () => ({ edges: [] }));
    ask(60, () => ({ edges: [edge("fra-1")] }));
    expect(told).toEqual([]);
  });

  it("are edges that are behind for a minute, until they have what is published", () => {
    const { ask, edge, told } = cluster();
    ask(30, () => ({ edges: [edge("fra-1"), edge("ams-1")] }));
    ask(90, () => ({ edges: [edge("fra-1", { revision: 41 }), edge("ams-1")] }));
    ask(15, () => ({ edges: [edge("fra-1"), edge("ams-1")] }));
    expect(told).toEqual([
      "90 edge.behind: Edge fra-1 is behind: it has revision 41, and 42 is published.",
      "120 edge.current (over): Edge fra-1 has what is published again, after 90 s.",
    ]);
  });

  it("are edges that no longer ask, also after the control plane began anew, and are forgotten after a day", () => {
    const { ask, edge, told, restart } = cluster();
    ask(30, () => ({ edges: [edge("fra-1"), edge("ams-1")] }));
    // The control plane that begins anew has heard of nobody.
    ask(120, () => ({ edges: [edge("ams-1")] }));
    restart();
    ask(60, () => ({ edges: [edge("ams-1")] }));
    expect(told).toEqual(["105 edge.gone: Edge fra-1 is gone: it has not asked for 90 s."]);
    ask(30, () => ({ edges: [edge("fra-1"), edge("ams-1")] }));
    expect(told.at(-1)).toMatch(/^210 edge.current \(over\): Edge fra-1 is back, after 105 s\.$/);
    ask(86_400 + 60, () => ({ edges: [edge("ams-1")] }));
    expect(told.at(-1)).toContain("edge.forgotten (over): Edge fra-1 was not heard of for 24 h, and is forgotten.");
  });

  it("are state nodes that do not answer edges for a while", () => {
    const { ask, edge, told } = cluster();
    const silent = { silent: ["10.0.0.2:8790"] };
    ask(15, () => ({ edges: [edge("fra-1", silent), edge("ams-1")] }));
    ask(30, () => ({ edges: [edge("fra-1"), edge("ams-1")] }));
    expect(told).toEqual([]);
    ask(60, () => ({ edges: [edge("fra-1", silent), edge("ams-1", silent), edge("par-1")] }));
    ask(60, () => ({ edges: [edge("fra-1"), edge("ams-1"), edge("par-1")] }));
    expect(told).toEqual([
      "75 node.silent: State node 10.0.0.2:8790 does not answer 2 of 3 edges: fra-1, ams-1.",
      "135 node.answering (over): State node 10.0.0.2:8790 answers all edges again, after 60 s.",
    ]);
  });
});
