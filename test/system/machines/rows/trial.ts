import { setTimeout as delay } from "node:timers/promises";
import type { LoadReport } from "../rig/load.process.ts";
import type { Rig } from "../rig/rig.ts";
import type { Served } from "../rig/served.ts";

/** One row of the table of failures: a failure under load, until all is well again, and what was counted. */
export interface Row {
  readonly name: string;
  readonly title: string;
  /** It needs hosts that can be cut apart, or clocks that can be moved. */
  readonly needs?: "cuts" | "clocks";
  /** The first edge gets no load, so that the row's own requests are its first. */
  readonly sparesFirstEdge?: boolean;
  /** Edges end: a proxy in front passes over one that cannot be reached. */
  readonly isBalanced?: boolean;
  /** Peers wait for the end of these leases, which last for 20 s from their last renewal. */
  readonly losesLease?: "of the victim" | "of all";
  /** Makes the failure and ends it. */
  readonly fail: (trial: Trial) => Promise<void>;
}

export interface Trial {
  readonly rig: Rig;
  /** The state node that owns most objects: its loss is felt. */
  readonly victim: Served;
  readonly isShort: boolean;
  /** A real time, or the shortened one. */
  readonly waitMs: (ms: number, shortMs: number) => Promise<void>;
  /** Healing is measured from the last of these on; by default from the failure. */
  readonly markHealing: () => void;
  /** A figure of this row alone, for its note. */
  readonly note: (text: string) => void;
  /** A bound that was not kept. Tests on busy machines do not look at it, benchmarks do. */
  readonly fault: (text: string) => void;
}

export interface RowResult {
  readonly name: string;
  readonly title: string;
  readonly load: LoadReport;
  /** From the failure, or from its end, until the last state call began that was answered with 503, or not at all. */
  readonly healedMs: number | undefined;
  /** From the same time until the first create began that was answered. */
  readonly firstCreateMs: number | undefined;
  readonly isHealed: boolean;
  readonly lost: readonly string[];
  readonly keysWithTwo: readonly string[];
  /** Requests that origins got and that were another region's. */
  readonly misroutes: number;
  readonly notes: readonly string[];
  readonly faults: readonly string[];
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

/** The same load on cores of another speed. Publications are too few to matter. */
export const partOf = ({ publicationsPerSecond, ...rates }: Rates, percent: number): Rates => ({
  getsPerSecond: (rates.getsPerSecond * percent) / 100,
  createsPerSecond: (rates.createsPerSecond * percent) / 100,
  mintsPerSecond: (rates.mintsPerSecond * percent) / 100,
  publicationsPerSecond,
});

/** Shortened times: leases of 4 s in place of 20 s, and keys that are held for 5 s in place of a minute. */
export const SHORT = { timeDivisor: 5, leaseSeconds: 5 } as const;

const HEAL_MAX_MS = 150_000;

export async function runRow(rig: Rig, row: Row, { isShort, rates }: TrialOptions): Promise<RowResult> {
  await untilWell(rig);
  const victim = await ownerOfMost(rig);
  const before = await rig.origins.call("report");
  const { getsPerSecond, createsPerSecond, mintsPerSecond, publicationsPerSecond } = rates;
  const texts = (["us", "eu"] as const).map((region) => [region, rig.tableText(region)] as const);
  await rig.load.call("start", {
    targets: row.sparesFirstEdge ? rig.targets.slice(1) : rig.targets,
    gets: { perSecond: getsPerSecond, isBalanced: row.isBalanced },
    createsPerSecond,
    mintsPerSecond,
    publishing: { texts, token: rig.token, perSecond: publicationsPerSecond },
  });
  await delay(isShort ? 1_000 : 5_000);
  const failing = row.losesLease === "of all" ? rig.states : [victim];
  const leaseEndsMs = row.losesLease && (await leaseEndMs(rig, failing));
  const failedAtMs = Date.now();
  const notes = leaseEndsMs ? [`the lease ended after ${((leaseEndsMs - failedAtMs) / 1_000).toFixed(1)} s`] : [];
  const faults: string[] = [];
  let healsFromMs = failedAtMs;
  await row.fail({
    rig,
    victim,
    isShort,
    waitMs: (ms, shortMs) => delay(isShort ? shortMs : ms),
    markHealing: () => {
      healsFromMs = Date.now();
    },
    note: (text) => notes.push(text),
    fault: (text) => faults.push(text),
  });
  const isHealed = await untilQuiet(rig, isShort ? 1_500 : 5_000);
  await rig.load.call("stop");
  const load = await rig.load.call("report");
  const firstCreateAtMs = await rig.load.call("firstCreateFrom", healsFromMs);
  const entities = await rig.origins.call("entities", await rig.load.call("acknowledgedKeys"));
  const verified = await rig.load.call("verify", entities);
  const after = await rig.origins.call("report");
  return {
    name: row.name,
    title: row.title,
    load,
    healedMs: healedMs(load, healsFromMs),
    firstCreateMs: firstCreateAtMs === undefined ? undefined : firstCreateAtMs - healsFromMs,
    isHealed,
    ...verified,
    misroutes: after.misroutes - before.misroutes,
    notes,
    faults,
  };
}

/** State calls are those that may fail: keyed creates, and mints beyond their block. */
function healedMs({ creates, mints }: LoadReport, fromMs: number): number | undefined {
  const last = [creates?.lastFailedAtMs, mints?.lastFailedAtMs].filter((ms) => ms !== undefined);
  return last.length === 0 ? undefined : Math.max(...last) - fromMs;
}

/** No state call has failed for so long, and no create has been open for so long. */
async function untilQuiet({ load }: Rig, quietMs: number): Promise<boolean> {
  const untilMs = Date.now() + HEAL_MAX_MS;
  const fromMs = Date.now();
  while (Date.now() < untilMs) {
    const { creates, mints, oldestOpenMs } = await load.call("report");
    const last = Math.max(creates?.lastRefusedAtMs ?? 0, mints?.lastRefusedAtMs ?? 0, fromMs);
    if (Date.now() - last >= quietMs && oldestOpenMs < quietMs) return true;
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

/** A record of workerd in the bucket. */
interface Lease {
  readonly node: string;
  /** `host:port`. Records of other kinds have none. */
  readonly address?: string;
  /** Unix time. */
  readonly expires_ms: number;
}

const recordsOf = async <Record>({ bucket }: Rig, suffix: string): Promise<readonly Record[]> =>
  (await bucket.call("texts", suffix)).map((text) => JSON.parse(text) as Record);

const leasesOf = (state: Served, leases: readonly Lease[]): readonly Lease[] =>
  leases.filter(({ address }) => address?.startsWith(`${state.host.address}:`));

/** By the bucket: who leases an address, and who owns an object. */
async function ownerOfMost(rig: Rig): Promise<Served> {
  const owners = await recordsOf<{ readonly node: string }>(rig, "/own.json");
  const leases = await recordsOf<Lease>(rig, ".json");
  const owned = (state: Served): number => {
    const nodes = leasesOf(state, leases).map(({ node }) => node);
    return owners.filter(({ node }) => nodes.includes(node)).length;
  };
  return rig.states.reduce((most, state) => (owned(state) > owned(most) ? state : most));
}

/** When the leases that nodes have now end, if none is renewed: Unix time. */
async function leaseEndMs(rig: Rig, states: readonly Served[]): Promise<number> {
  const leases = await recordsOf<Lease>(rig, ".json");
  return Math.max(...states.flatMap((state) => leasesOf(state, leases)).map(({ expires_ms }) => expires_ms));
}
