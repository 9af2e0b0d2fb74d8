import { setTimeout as delay } from "node:timers/promises";
import type { LoadReport } from "../rig/load.process.ts";
import type { Rig } from "../rig/rig.ts";

/** One row of the table of failures: a failure under load, until all is well again, and what was counted. */
export interface Row {
  readonly name: string;
  readonly title: string;
  /** It needs hosts that can be cut apart, or clocks that can be moved. */
  readonly needs?: "cuts" | "clocks";
  /** Edges end: a proxy in front passes over one that cannot be reached. */
  readonly isBalanced?: boolean;
  /** Makes the failure and ends it. */
  readonly fail: (trial: Trial) => Promise<void>;
}

export interface Trial {
  readonly rig: Rig;
  /** A real time, or the shortened one. */
  readonly waitMs: (ms: number, shortMs: number) => Promise<void>;
  /** Healing is measured from the last of these on; by default from the failure. */
  readonly markHealing: () => void;
  /** A figure of this row alone, for its note. */
  readonly note: (text: string) => void;
  /** When each of these nodes ended by itself is noted. */
  readonly watchExits: (at: readonly number[]) => void;
}

export interface RowResult {
  readonly name: string;
  readonly title: string;
  readonly load: LoadReport;
  /** From the failure, or from its end, until the last state call that failed began; `undefined` if none failed. */
  readonly healedMs: number | undefined;
  readonly isHealed: boolean;
  readonly lost: readonly string[];
  readonly keysWithTwo: readonly string[];
  /** Requests that origins got and that were another region's. */
  readonly misroutes: number;
  readonly notes: readonly string[];
}

export interface TrialOptions {
  readonly isShort: boolean;
  readonly rates: Rates;
}

export interface Rates {
  readonly getsPerSecond: number;
  readonly createsPerSecond: number;
  readonly mintsPerSecond: number;
  readonly publicationsPerSecond: number;
}

export const RATES: Rates = { getsPerSecond: 150, createsPerSecond: 20, mintsPerSecond: 5, publicationsPerSecond: 0.2 };

const HEAL_MAX_MS = 150_000;
const EXIT_POLL_MS = 50;

export async function runRow(rig: Rig, row: Row, { isShort, rates }: TrialOptions): Promise<RowResult> {
  await untilWell(rig);
  const before = await rig.origins.call("report");
  const { getsPerSecond, createsPerSecond, mintsPerSecond, publicationsPerSecond } = rates;
  const texts = (["us", "eu"] as const).map((region) => [region, rig.tableText(region)] as const);
  await rig.load.call("start", {
    targets: rig.targets,
    gets: { perSecond: getsPerSecond, isBalanced: row.isBalanced },
    createsPerSecond,
    mintsPerSecond,
    publishing: { texts, token: rig.token, perSecond: publicationsPerSecond },
  });
  await delay(isShort ? 1_000 : 5_000);
  const failedAtMs = Date.now();
  const notes: string[] = [];
  const watching = new AbortController();
  let healsFromMs = failedAtMs;
  await row.fail({
    rig,
    waitMs: (ms, shortMs) => delay(isShort ? shortMs : ms),
    markHealing: () => {
      healsFromMs = Date.now();
    },
    note: (text) => notes.push(text),
    watchExits: (at) => {
      for (const each of at) void noteExit(rig, each, failedAtMs, watching.signal, notes);
    },
  });
  const isHealed = await untilQuiet(rig, isShort ? 2_000 : 5_000);
  watching.abort();
  await rig.load.call("stop");
  const load = await rig.load.call("report");
  const entities = await rig.origins.call("entities", await rig.load.call("acknowledgedKeys"));
  const verified = await rig.load.call("verify", entities);
  const after = await rig.origins.call("report");
  return {
    name: row.name,
    title: row.title,
    load,
    healedMs: healedMs(load, healsFromMs),
    isHealed,
    ...verified,
    misroutes: after.misroutes - before.misroutes,
    notes,
  };
}

/** State calls are those that may fail: keyed creates, and mints beyond their block. */
function healedMs({ creates, mints }: LoadReport, fromMs: number): number | undefined {
  const last = [creates?.lastFailedAtMs, mints?.lastFailedAtMs].filter((ms) => ms !== undefined);
  return last.length === 0 ? undefined : Math.max(...last) - fromMs;
}

/** No state call has failed for so long, and no create is open that began before. */
async function untilQuiet({ load }: Rig, quietMs: number): Promise<boolean> {
  const untilMs = Date.now() + HEAL_MAX_MS;
  const fromMs = Date.now();
  while (Date.now() < untilMs) {
    const { creates, mints } = await load.call("report");
    const last = Math.max(creates?.lastFailedAtMs ?? 0, mints?.lastFailedAtMs ?? 0, fromMs);
    if (Date.now() - last >= quietMs) return true;
    await delay(100);
  }
  return false;
}

/** Before a row: every node is there, and states are had at every edge. */
async function untilWell({ states, edges, targets, load }: Rig): Promise<void> {
  for (const each of [...states, ...edges]) if (!each.isRunning()) await each.start();
  const untilMs = Date.now() + HEAL_MAX_MS;
  for (let good = 0; good < 10; ) {
    const outcomes = await load.call("createAtAll", targets);
    good = outcomes.every((outcome) => outcome === "201") ? good + 1 : 0;
    if (good > 0) continue;
    if (Date.now() > untilMs) throw new Error(`creates are still refused: ${outcomes.join(", ")}`);
    await delay(200);
  }
}

async function noteExit(rig: Rig, at: number, fromMs: number, signal: AbortSignal, notes: string[]): Promise<void> {
  const node = rig.states[at];
  const before = node?.printed().length ?? 0;
  while (!signal.aborted) {
    const said = (node?.printed() ?? "").slice(before);
    if (/\bended\b|\bexited\b/.test(said)) {
      notes.push(`${node?.host.name} ended after ${((Date.now() - fromMs) / 1_000).toFixed(1)} s`);
      return;
    }
    await delay(EXIT_POLL_MS);
  }
}
