import { rmSync } from "node:fs";
import type { Fault } from "../bucket/fault.ts";
import type { ShiftedClock } from "../hosts/clock.ts";
import type { Target } from "../rig/load/ask.ts";
import type { Rig } from "../rig/rig.ts";
import type { Served } from "../rig/served.ts";
import { PROBE_ID } from "../rig/table.ts";
import type { Row, Trial } from "./trial.ts";

const COLD_MAX_MS = 300;
const COLD_REQUESTS = 50;
const HOUR_MS = 3_600_000;

/** Faults of the whole bucket for a while: all nodes end, and come back with it. */
const bucketFault = (name: string, title: string, fault: Fault, ms: number, shortMs: number): Row => ({
  name,
  title,
  fail: async ({ rig, waitMs, markHealing }) => {
    await rig.bucket.call("setFaults", [fault]);
    await waitMs(ms, shortMs);
    await rig.bucket.call("setFaults", []);
    markHealing();
  },
});

const othersThan = ({ rig, victim }: Trial): string[] =>
  rig.states.flatMap((state) => (state === victim ? [] : [state.host.name]));
const edgesOf = ({ rig }: Trial): string[] => rig.edges.map(({ host }) => host.name);

/** One after the other, each to the other build and back. */
async function rollOver({ rig, isShort, note, waitMs, markHealing }: Trial, nodes: "states" | "edges"): Promise<void> {
  const codes: number[] = [];
  const [one, other] = rig.builds;
  for (const build of [other, one]) {
    // Half of them are enough to have both builds beside each other.
    for (const node of isShort ? rig[nodes].slice(0, rig[nodes].length / 2) : rig[nodes]) {
      codes.push(await node.stop());
      await node.start(build);
      // A proxy's health check has to see it before the next one stops.
      await waitMs(5_000, 1_000);
    }
  }
  if (codes.some((code) => code !== 0)) note(`exit codes ${codes.join()}`);
  markHealing();
}

const clockOf = (rig: Rig, { host }: Served): ShiftedClock => {
  const clock = rig.clockOf(host.name);
  if (clock === undefined) throw new RangeError(rig.whyNoClocks);
  return clock;
};

export const ROWS: readonly Row[] = [
  {
    name: "state-killed",
    title: "SIGKILL of a state node",
    losesLease: "of the victim",
    fail: async ({ victim, waitMs }) => {
      await victim.host.kill();
      await waitMs(15_000, 1_000);
      await victim.start();
    },
  },
  {
    name: "state-stopped",
    title: "SIGSTOP of a state node, 30 s",
    losesLease: "of the victim",
    fail: async ({ victim, waitMs }) => {
      victim.host.signal("SIGSTOP");
      await waitMs(30_000, 4_000);
      victim.host.signal("SIGCONT");
    },
  },
  {
    name: "states-upgraded",
    title: "SIGTERM of one state node after the other, to another build and back",
    fail: (trial) => rollOver(trial, "states"),
  },
  {
    name: "edges-upgraded",
    title: "SIGTERM of one edge after the other, to another build and back",
    isBalanced: true,
    fail: (trial) => rollOver(trial, "edges"),
  },
  {
    name: "states-erased",
    title: "all state nodes killed, their disks erased",
    losesLease: "of all",
    fail: async ({ rig }) => {
      await Promise.all(rig.states.map(({ host }) => host.kill()));
      for (const { host } of rig.states) rmSync(rig.stateFolderOf(host.name), { recursive: true, force: true });
      await Promise.all(rig.states.map((state) => state.start()));
    },
  },
  {
    name: "bucket-down",
    title: "bucket down 30 s",
    fail: async ({ rig, waitMs, markHealing }) => {
      await rig.bucket.call("setDown", true);
      await waitMs(30_000, 4_000);
      await rig.bucket.call("setDown", false);
      markHealing();
    },
  },
  bucketFault("bucket-slow", "bucket takes 5 s, for 30 s", { kind: "delay", ms: 5_000 }, 30_000, 4_000),
  bucketFault("bucket-silent", "bucket silent 30 s", { kind: "black-hole" }, 30_000, 4_000),
  bucketFault("bucket-500", "bucket 500, 20 s", { kind: "status", status: 500 }, 20_000, 2_000),
  bucketFault("bucket-503", "bucket 503, 20 s", { kind: "status", status: 503 }, 20_000, 3_000),
  bucketFault("bucket-403", "bucket 403, 20 s", { kind: "status", status: 403 }, 20_000, 3_000),
  {
    name: "answers-lost",
    title: "bucket resets the answers of 50 writes of objects that it has done",
    fail: async ({ rig, waitMs, markHealing }) => {
      await rig.bucket.call("setFaults", [
        { kind: "answer-lost", methods: ["PUT"], prefix: "waybill/v1/do/", times: 50 },
      ]);
      await waitMs(10_000, 3_000);
      await rig.bucket.call("setFaults", []);
      markHealing();
    },
  },
  {
    name: "state-without-bucket",
    title: "a state node cut off from the bucket 35 s",
    losesLease: "of the victim",
    fail: async (trial) => {
      const { rig, waitMs } = trial;
      if (rig.cuts === undefined)
        await rig.bucket.call("setFaults", [{ kind: "black-hole", accessKey: trial.victim.host.name }]);
      rig.cuts?.cut(trial.victim.host.name, ["bucket"]);
      await waitMs(35_000, 5_000);
      await rig.bucket.call("setFaults", []);
      rig.cuts?.mend();
    },
  },
  {
    name: "owner-cut-off",
    title: "a state node cut off from peers and edges 60 s, bucket reachable",
    needs: "cuts",
    fail: async (trial) => {
      trial.rig.cuts?.cut(trial.victim.host.name, [...othersThan(trial), ...edgesOf(trial)]);
      await trial.waitMs(60_000, 8_000);
      trial.rig.cuts?.mend();
    },
  },
  {
    name: "edge-cut-off",
    title: "an edge cut off from all state nodes 20 s",
    needs: "cuts",
    fail: async (trial) => {
      const [edge = ""] = edgesOf(trial);
      trial.rig.cuts?.cut(
        edge,
        trial.rig.states.map(({ host }) => host.name),
      );
      await trial.waitMs(20_000, 5_000);
      trial.rig.cuts?.mend();
      trial.markHealing();
    },
  },
  {
    name: "edge-cold",
    title: "an edge stopped, and started while it is cut off",
    needs: "cuts",
    sparesFirstEdge: true,
    fail: async ({ rig, note, fault, markHealing }) => {
      const [edge] = rig.edges;
      const [target] = rig.targets;
      if (edge === undefined || target === undefined) throw new RangeError("there is no edge");
      await edge.stop();
      rig.cuts?.cut(
        edge.host.name,
        rig.states.map(({ host }) => host.name),
      );
      const startMs = performance.now();
      await edge.start();
      const readyMs = performance.now() - startMs;
      const first = await rig.load.call("ask", target, `/probes/${PROBE_ID}`);
      note(`ready after ${Math.round(readyMs)} ms; the first answer ${first.status} took ${Math.round(first.ms)} ms`);
      if (first.status !== 200) throw new Error(`a cold edge that is cut off answers ${first.outcome}`);
      if (first.ms > COLD_MAX_MS) fault(`the first answer of a cold edge took ${Math.round(first.ms)} ms`);
      for (let turn = 0; turn < COLD_REQUESTS; turn++) {
        const next = await rig.load.call("ask", target, `/probes/${PROBE_ID}`);
        if (next.status !== 200) throw new Error(`an edge that is cut off answers ${next.outcome}`);
      }
      rig.cuts?.mend();
      markHealing();
    },
  },
  {
    name: "day-without-state",
    title: "all state nodes away for a day, by the clocks of the edges; an edge starts anew in it",
    needs: "clocks",
    isBalanced: true,
    fail: async ({ rig, isShort, waitMs, markHealing }) => {
      await Promise.all(rig.states.map((state) => state.stop()));
      const shiftAll = (ms: number) => {
        for (const edge of rig.edges) clockOf(rig, edge).shift(ms);
      };
      for (let hour = 1; hour <= 24; hour += isShort ? 6 : 1) {
        shiftAll(hour * HOUR_MS);
        await waitMs(2_000, 500);
      }
      await rig.edges[0]?.stop();
      await rig.edges[0]?.start();
      await waitMs(10_000, 1_000);
      // A clock that goes back a day is another failure: each edge starts anew with the time of all others.
      for (const edge of rig.edges) {
        await edge.stop();
        clockOf(rig, edge).shift(0);
        await edge.start();
        await waitMs(5_000, 1_000);
      }
      await Promise.all(rig.states.map((state) => state.start()));
      markHealing();
    },
  },
  {
    name: "clock-jumps",
    title: "the clock of a state node jumps by 20 s",
    needs: "clocks",
    losesLease: "of the victim",
    fail: async ({ rig, victim, waitMs }) => {
      const clock = clockOf(rig, victim);
      clock.shift(20_000);
      await waitMs(30_000, 6_000);
      clock.shift(0);
    },
  },
  {
    name: "clock-wrong",
    title: "a state node starts with its clock 60 s off",
    needs: "clocks",
    fail: async ({ rig, victim, note, fault, waitMs, markHealing }) => {
      const clock = clockOf(rig, victim);
      await victim.stop();
      clock.shift(60_000);
      victim.begin();
      await waitMs(15_000, 8_000);
      const page = rig.statePages[rig.states.indexOf(victim)] as Target;
      const { status, outcome } = await rig.load.call("ask", page, "/-/health");
      note(`its pages answer ${outcome}`);
      if (status !== 0) fault("a node serves whose clock is 60 s off");
      clock.shift(0);
      markHealing();
    },
  },
  {
    name: "workerd-killed",
    title: "SIGKILL of a state node's workerd alone",
    losesLease: "of the victim",
    fail: async ({ victim, waitMs }) => {
      for (const pid of victim.host.named("workerd")) process.kill(pid, "SIGKILL");
      await waitMs(15_000, 1_500);
    },
  },
];

export const rowsOf = (names: readonly string[]): readonly Row[] =>
  names.map((name) => ROWS.find((row) => row.name === name) ?? noSuchRow(name));

const noSuchRow = (name: string): never => {
  throw new RangeError(`there is no row "${name}": there are ${ROWS.map((row) => row.name).join(", ")}`);
};
