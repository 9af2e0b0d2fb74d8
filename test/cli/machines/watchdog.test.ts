import { describe, expect, it } from "vitest";
import type { Address } from "../../../src/host/machines/addresses.ts";
import { watchPeers } from "../../../src/host/machines/watch-peers.ts";
import { WATCHDOG_START, WATCHDOG_TIMES, watch } from "../../../src/host/machines/watchdog.ts";

/** One letter a probe, each half a second after the last and as short. `p`: a peer answers; `l`: the lease alone; `-`: neither. */
const runs = (probes: string, lengthMs = 500): string => {
  let state = WATCHDOG_START;
  let nowMs = 0;
  return Array.from(probes, (letter) => {
    // Between two probes the machine stands still for a minute.
    if (letter === " ") nowMs += 60_000;
    if (letter === " ") return " ";
    const beganMs = nowMs;
    nowMs += lengthMs;
    const probe = { beganMs, endedMs: nowMs, reachesPeer: letter === "p", holdsLease: letter !== "-" };
    state = watch(state, probe, WATCHDOG_TIMES);
    return state.isHeld ? "." : "R";
  }).join("");
};

describe("the watchdog", () => {
  it.each<readonly [what: string, probes: string, runs: string]>([
    ["runs while a peer answers", "pppp", "RRRR"],
    ["does not start before a peer answers", "--ll-p", ".....R"],
    ["stops after 5 s of silence", "pllllllllll", "RRRRRRRRRR."],
    ["counts anew after an answer", "plllllllllplllllllll", "RRRRRRRRRRRRRRRRRRRR"],
    ["stays down while nobody answers", "pllllllllllllll", "RRRRRRRRRR....."],
    ["starts again when one answers", "pllllllllll---p", "RRRRRRRRRR....R"],
    ["leaves a node alone that lost its lease", "p-------------", "RRRRRRRRRRRRRR"],
    ["counts from when the lease is held again", "plllll-llllllllll", "RRRRRRRRRRRRRRRR."],
    ["does not count a minute in which the machine stood still", "pllll llllll", "RRRRR RRRRRR"],
    ["counts after it", "pllll lllllllllll", "RRRRR RRRRRRRRRR."],
  ])("%s", (_, probes, expected) => {
    expect(runs(probes)).toBe(expected);
  });

  it("needs three probes, however long they took", () => {
    expect(runs("plll", 10_000)).toBe("RRR.");
  });
});

/** A network by the clock: when peers answer, and when the node holds its lease. */
async function watched(reachable: (nowMs: number, peer: number) => boolean, untilMs: number) {
  let nowMs = 0;
  const stop = new AbortController();
  const events: string[] = [];
  const peers: readonly Address[] = [7_002, 7_003].map((port) => ({ host: "10.0.0.1", port }));
  const note = (event: string) => () => events.push(`${nowMs}: ${event}`);
  await watchPeers(
    {
      own: { host: "10.0.0.1", port: 7_001 },
      peers,
      clock: {
        nowMs: () => nowMs,
        async sleep(ms) {
          nowMs += ms;
          if (nowMs >= untilMs) stop.abort();
        },
      },
      network: {
        reaches: async ({ port }) => reachable(nowMs, port - 7_001),
        isReady: async () => true,
      },
      hold: note("hold"),
      release: note("release"),
      report: (sentence) => events.push(sentence),
    },
    stop.signal,
  );
  return events;
}

describe("a node among its peers", () => {
  it("starts at once where one of them answers, and says nothing", async () => {
    expect(await watched((_, peer) => peer === 2, 60_000)).toEqual(["0: release"]);
  });

  it("is held while it is cut off, and is released", async () => {
    expect(await watched((nowMs) => nowMs < 10_000 || nowMs >= 30_000, 60_000)).toEqual([
      "0: release",
      "No peer (10.0.0.1:7002, 10.0.0.1:7003) answers for 5 s: this node is cut off, and stays down until it reaches one.",
      "15000: hold",
      "A peer answers again: this node starts.",
      "30000: release",
    ]);
  });

  it("says why it does not start", async () => {
    expect(await watched((nowMs) => nowMs >= 20_000, 60_000)).toEqual([
      "No peer (10.0.0.1:7002, 10.0.0.1:7003) answers: this node is cut off, and stays down until it reaches one.",
      "A peer answers again: this node starts.",
      "20000: release",
    ]);
  });
});
