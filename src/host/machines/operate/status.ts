import { isAhead, isBehind } from "../../../formats/machines.ts";
import { type Address, addressText } from "../addresses.ts";
import type { MachineOptions } from "../options.ts";
import {
  apartFault,
  askPlain,
  type MachinesAnswer,
  type NodeSeen,
  reachable,
  type SeenEdge,
  stateNodes,
} from "./nodes.ts";

/** An edge asks every 20 s at the latest. */
const STALE_MS = 60_000;

export interface ClusterStatus {
  readonly isWell: boolean;
  /** Sentences on all that is not well. */
  readonly faults: readonly string[];
  readonly published: { readonly revision: number; readonly change: number } | null;
  /** By cluster addresses: `ready` nodes serve and hold their lease. */
  readonly leases: readonly { readonly address: string; readonly isReady: boolean; readonly why?: string }[];
  /** By the addresses at which edges ask them. */
  readonly nodes: readonly { readonly address: string; readonly version?: string; readonly why?: string }[];
  readonly edges: readonly EdgeStatus[];
}

export interface EdgeStatus
  extends Pick<SeenEdge, "name" | "revision" | "change" | "version" | "processes" | "silent" | "isTwice"> {
  /** Since its mirror was found to be what is published. */
  readonly mirrorAgeMs: number;
  readonly heardMs: number;
  readonly isBehind: boolean;
  /** It has a change that the state nodes do not have. */
  readonly isAhead: boolean;
}

/** The cluster as the files of some machines name it. */
export interface KnownMachines {
  readonly clusterAddresses: readonly Address[];
  readonly stateAddresses: readonly string[];
  readonly tlsFolder: string;
}

export function knownMachines(files: readonly MachineOptions[]): KnownMachines {
  const clusters = files.flatMap((each) =>
    each.role === "state" && each.cluster !== undefined
      ? [each.cluster.advertise ?? each.cluster.address, ...each.cluster.peers]
      : [],
  );
  const clusterAddresses = [...new Map(clusters.map((address) => [addressText(address), address])).values()];
  const stateAddresses = [
    ...new Set(files.flatMap((each) => (each.role === "edge" ? each.stateNodes : [reachable(each.stateListen)]))),
  ];
  return { clusterAddresses, stateAddresses, tlsFolder: files[0]?.tlsFolder ?? "" };
}

/** Asks all nodes that the files name, and those that edges have asked. */
export async function clusterStatus(known: KnownMachines, nowMs: number): Promise<ClusterStatus> {
  const asker = stateNodes(known.tlsFolder);
  try {
    const seeAll = (addresses: readonly string[]) =>
      Promise.all(addresses.map(async (address) => [address, await asker.see(address)] as const));
    const [leases, named] = await Promise.all([leasesOf(known.clusterAddresses), seeAll(known.stateAddresses)]);
    const first = answerIn(named);
    const further = (first?.nodes ?? []).map(({ address }) => address);
    const seen = [...named, ...(await seeAll(further.filter((each) => !known.stateAddresses.includes(each))))];
    const answer = first ?? answerIn(seen);
    const nodes = seen.map(([address, each]) => nodeOf(address, each));
    const edges = answer === undefined ? [] : edgesOf(answer, nowMs);
    const apart = await apartFault(seen, asker.see);
    const faults = [
      ...faultsOf(leases, nodes),
      ...(apart === undefined ? [] : [apart]),
      ...edgeFaults(edges, answer?.published),
      ...(answer ? noTable(answer) : [NO_ANSWER]),
    ];
    return { isWell: faults.length === 0, faults, published: answer?.published ?? null, leases, nodes, edges };
  } finally {
    asker.close();
  }
}

const NO_ANSWER = "no state node says which edges there are";

function noTable({ published, isUnpublished }: MachinesAnswer): readonly string[] {
  if (published !== undefined) return [];
  return [isUnpublished === true ? "no table is published" : "the state nodes do not name the table that is published"];
}

const answerIn = (seen: readonly (readonly [string, NodeSeen])[]): MachinesAnswer | undefined =>
  seen.flatMap(([, each]) => ("machines" in each ? [each.machines] : []))[0];

const leasesOf = (addresses: readonly Address[]) =>
  Promise.all(
    addresses.map(async (address) => {
      const asked = await askPlain(address, "/ready");
      const where = { address: addressText(address) };
      if ("why" in asked) return { ...where, isReady: false, why: asked.why };
      const isReady = asked.status === 200;
      return { ...where, isReady, ...(isReady ? {} : { why: "it is stopping, or has no lease" }) };
    }),
  );

function nodeOf(address: string, seen: NodeSeen): ClusterStatus["nodes"][number] {
  if ("why" in seen) return { address, why: seen.why };
  if ("status" in seen) return { address, why: `the control plane does not answer (${seen.status})` };
  const version = seen.machines.node?.version;
  return version === undefined ? { address } : { address, version };
}

/** Times are the node's: only its own clock is compared with them. */
function edgesOf(answer: MachinesAnswer, nowMs: number): readonly EdgeStatus[] {
  const { edges = [], published, time } = answer;
  const atMs = time === undefined ? nowMs : Date.parse(time);
  return edges.map(({ name, revision, change, version, processes, ageMs, silent = [], isTwice, heardAt }) => {
    const heardMs = Math.max(0, atMs - Date.parse(heardAt));
    const own = { name, revision, change, version, processes, silent, ...(isTwice && { isTwice }) };
    const order = { isBehind: isBehind(own, published), isAhead: isAhead(own, answer) };
    return { ...own, mirrorAgeMs: ageMs + heardMs, heardMs, ...order };
  });
}

function faultsOf(leases: ClusterStatus["leases"], nodes: ClusterStatus["nodes"]): readonly string[] {
  const named = (address: string, why: string) => `state node ${address}: ${why}`;
  return [
    ...leases.flatMap(({ address, isReady, why = "" }) => (isReady ? [] : [named(address, why)])),
    ...nodes.flatMap(({ address, why }) => (why === undefined ? [] : [named(address, why)])),
  ];
}

/** Faults of an edge, as the state nodes know it. One that does not serve need not ask. */
export function faultsOfEdge(name: string, answer: MachinesAnswer, nowMs: number, serves: boolean): readonly string[] {
  const isMeant = (edge: EdgeStatus): boolean => edge.name === name && (serves || edge.heardMs < STALE_MS);
  return edgeFaults(edgesOf(answer, nowMs).filter(isMeant), answer.published);
}

function edgeFaults(edges: readonly EdgeStatus[], published: MachinesAnswer["published"]): readonly string[] {
  return edges.flatMap(({ name, revision, change, isBehind, isAhead, isTwice, heardMs, mirrorAgeMs, silent = [] }) => {
    const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;
    if (isTwice) return [`edge ${name}: two edges have this name, and one hides the other; give each its own`];
    // A time that cannot be read is none.
    if (!(heardMs < STALE_MS)) return [`edge ${name}: it has not asked for ${seconds(heardMs)}`];
    const own = `edge ${name}: it has revision ${revision}, change ${change}`;
    if (isBehind) return [`${own}, and revision ${published?.revision}, change ${published?.change} is published`];
    if (isAhead) return [`${own}, which no state node has: their bucket lost it, or is another`];
    if (mirrorAgeMs >= STALE_MS) return [`edge ${name}: its mirror is ${seconds(mirrorAgeMs)} old`];
    return silent.length === 0 ? [] : [`edge ${name}: its mirror gets nothing from ${silent.join(" and ")}`];
  });
}
