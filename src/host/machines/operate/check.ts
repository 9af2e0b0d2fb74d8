import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { readBytes } from "../../publish/publish.ts";
import { configFiles } from "../../workerd/edge-config.ts";
import { certificateIn, TLS_FILES } from "../../workerd/tls-text.ts";
import { runningOn } from "../../workerd/workerd.ts";
import { type Address, addressText } from "../addresses.ts";
import { checkFiles, datesOf } from "../files.ts";
import type { EdgeOptions, MachineOptions, StateOptions } from "../options.ts";
import { type BucketNeeds, checkBucket } from "./bucket.ts";
import { keyFindings } from "./key.ts";
import {
  type Asked,
  apartFault,
  askPlain,
  type Finding,
  listenFault,
  type MachinesAnswer,
  type NodeSeen,
  reachable,
  type Seen,
  stateNodes,
  whyOf,
} from "./nodes.ts";
import { faultsOfEdge } from "./status.ts";

const ok = (text: string): Finding => ({ state: "ok", text });
const note = (text: string): Finding => ({ state: "note", text });
const warning = (text: string): Finding => ({ state: "warning", text });
const error = (text: string): Finding => ({ state: "error", text });

export interface CheckNeeds extends BucketNeeds {
  readonly version: string;
  readonly pause: (ms: number) => Promise<void>;
}

/** All that can be known of a machine before it serves, and while it does. Run on the machine itself. */
export async function checkMachine(options: MachineOptions, needs: CheckNeeds): Promise<readonly Finding[]> {
  const files = checkFiles(options, needs.nowMs());
  const ofFiles = [
    ...files.faults.map(error),
    ...files.warnings.map(warning),
    ...files.notes.map(note),
    ...(files.faults.length === 0 ? [ok("certificates, keys and their modes")] : []),
  ];
  const see = files.tls === undefined ? undefined : stateNodes(options.tlsFolder);
  try {
    const others =
      options.role === "edge"
        ? edgeFindings(options, see, needs)
        : stateFindings(options, see, needs, files.clusterKey);
    return [...ofFiles, ...usedCertificates(options, needs.nowMs()), ...(await others)];
  } finally {
    see?.close();
  }
}

/** Certificates that processes of this machine began with, where they are not those on the disk. */
function usedCertificates(options: MachineOptions, nowMs: number): readonly Finding[] {
  const { stateFolder, tlsFolder, role } = options;
  const path = join(tlsFolder, TLS_FILES.certificate);
  const onDisk = certificateOf(readBytes(path)?.toString());
  return configFiles(role === "edge" ? options.processes : 1).flatMap((file): readonly Finding[] => {
    const config = readBytes(join(stateFolder, file))?.toString() ?? "";
    const used = certificateOf(certificateIn(config));
    const pid = used === undefined ? undefined : runningOn(stateFolder, undefined, file);
    if (used === undefined || pid === undefined || onDisk?.fingerprint256 === used.fingerprint256) return [];
    const { state, text } = datesOf(used, nowMs);
    const remedy =
      role === "edge"
        ? "restart its `serve`"
        : "`waybill cluster restart --config FILE`, or a restart of its unit, loads it";
    const words = `process ${pid} has another certificate than ${path}, which ${text}: ${remedy}`;
    return [{ state: state === "error" ? "error" : "warning", text: words }];
  });
}

/** The first of a chain. */
function certificateOf(pem: string | undefined): X509Certificate | undefined {
  try {
    return pem === undefined ? undefined : new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

type See = ReturnType<typeof stateNodes> | undefined;

async function edgeFindings(options: EdgeOptions, see: See, needs: CheckNeeds) {
  const { name, listen, processes, stateNodes: nodes } = options;
  const addresses =
    "port" in listen
      ? Array.from({ length: listen.port === 0 ? 0 : processes }, (_, at) => ({ ...listen, port: listen.port + at }))
      : [];
  const serving = await Promise.all(addresses.map(isHealthy));
  const [ports, seen] = await Promise.all([
    Promise.all(addresses.map((address, at) => portFinding(address, "an edge", async () => serving[at] === true))),
    see === undefined ? [] : Promise.all(nodes.map(async (node) => [node, await see.see(node)] as const)),
  ]);
  const serves = serving.includes(true);
  const faultsIn = (answer: MachinesAnswer) => faultsOfEdge(name, answer, needs.nowMs(), serves);
  const apart = await apartFindings(seen, see);
  const own = apart.length > 0 ? [] : await ownFaults(seen, see, faultsIn, needs.pause);
  return [
    ...ports,
    ...seen.map(([node, answer]) => nodeFinding(node, answer)),
    ...silenceFindings(seen),
    ...apart,
    ...own.map(warning),
    ...versionFindings(seen, needs.version),
  ];
}

async function stateFindings(
  options: StateOptions,
  see: See,
  needs: CheckNeeds,
  key: string | undefined,
): Promise<readonly Finding[]> {
  const { listen, stateListen, cluster } = options;
  const own = reachable(stateListen);
  const seeOwn = async () => see !== undefined && !("why" in (await see.see(own)));
  const [bucket, peers, keys, ...ports] = await Promise.all([
    cluster === undefined ? [] : checkBucket(cluster, needs),
    Promise.all((cluster?.peers ?? []).map((peer) => peerFinding(peer, see))),
    cluster === undefined || key === undefined ? [] : keyFindings(cluster, { key, nowMs: needs.nowMs }),
    portFinding(listen, "a gateway", () => isHealthy(listen)),
    portFinding(stateListen, "a state node", seeOwn),
    ...(cluster === undefined
      ? []
      : [portFinding(cluster.address, "a node of a cluster", () => isOfCluster(cluster.address))]),
  ]);
  const known = see === undefined ? undefined : await see.see(own);
  const found =
    known !== undefined && "machines" in known ? [[own, known] as const, ...(await others(known, own, see))] : [];
  return [
    ...bucket,
    ...ports,
    ...peers,
    ...keys,
    ...(await apartFindings(found, see)),
    ...versionFindings(found, needs.version),
  ];
}

/** Nodes by the addresses at which edges ask them. */
async function others(known: NodeSeen, own: string, see: See) {
  const addresses = ("machines" in known ? (known.machines.nodes ?? []) : []).map(({ address }) => address);
  const rest = addresses.filter((address) => address !== own);
  return Promise.all(rest.map(async (address) => [address, (await see?.see(address)) ?? { why: "" }] as const));
}

async function isHealthy(address: Address): Promise<boolean> {
  const asked = await askPlain(address, "/-/health");
  return "status" in asked && asked.status === 200 && asked.headers["content-type"] === "application/json";
}

async function isOfCluster(address: Address): Promise<boolean> {
  const asked = await askPlain(address, "/ready");
  return "status" in asked && !isOther(asked);
}

/** A gateway has no page at `/ready`. */
const isOther = (asked: Asked): boolean => ("status" in asked ? asked.status === 404 : asked.isOther === true);

async function portFinding(address: Address, who: string, isOwn: () => Promise<boolean>): Promise<Finding> {
  const where = addressText(address);
  const fault = await listenFault(address);
  if (fault === undefined) return ok(`${where} is free`);
  if (fault.code === "EADDRINUSE")
    return (await isOwn())
      ? ok(`${where} is answered by ${who}`)
      : error(`${where} is taken by another program: stop it, or choose another port`);
  if (fault.code === "EADDRNOTAVAIL" || fault.code === "ENOTFOUND")
    return error(`${where} is no address of this machine: run the check on the machine that the file is for`);
  return error(`${where} cannot be opened: ${whyOf(fault)}`);
}

/** Peers may start later: one that is down is no fault of this machine. */
async function peerFinding(address: Address, see: See): Promise<Finding> {
  const where = addressText(address);
  const [asked, seen] = await Promise.all([askPlain(address, "/ready"), see?.see(where)]);
  const isStateListen = seen !== undefined && ("machines" in seen || "status" in seen);
  if (isStateListen || isOther(asked))
    return error(`the peer ${where} is no port of a cluster: peers names the clusterAddr of each other state node`);
  if ("why" in asked) return note(`the peer ${where} does not answer: ${asked.why}`);
  return asked.status === 200 ? ok(`the peer ${where} is ready`) : note(`the peer ${where} runs, and is not ready`);
}

async function apartFindings(seen: Seen, see: See): Promise<readonly Finding[]> {
  const fault = see && (await apartFault(seen, see.see));
  return fault === undefined ? [] : [error(fault)];
}

/** Edges may be checked before state nodes are started: no error. */
function silenceFindings(seen: Seen): readonly Finding[] {
  const isSilent = seen.length > 0 && seen.every(([, each]) => "why" in each && !each.isRefused && !each.isOther);
  return isSilent ? [warning("no state node answers: start them, and correct stateNodes, routes and firewalls")] : [];
}

/** By the first node that tells: all ask one object. A publication or a start is seen by its edges some moments later. */
async function ownFaults(seen: Seen, see: See, faultsIn: (answer: MachinesAnswer) => readonly string[], pause: Pause) {
  const found = seen.find(([, each]) => "machines" in each);
  if (found === undefined || see === undefined) return [];
  const [node, first] = found;
  if (!("machines" in first) || faultsIn(first.machines).length === 0) return [];
  await pause(PUBLISHED_MS);
  const again = await see.see(node);
  return "machines" in again ? faultsIn(again.machines) : [];
}

type Pause = CheckNeeds["pause"];

/** A mirror has a table of usual size in less. */
const PUBLISHED_MS = 2_000;

function nodeFinding(node: string, seen: NodeSeen): Finding {
  if ("machines" in seen) return ok(`the state node ${node} answers`);
  if ("why" in seen && seen.isRefused === true)
    return error(
      `the state node ${node} and this machine do not trust each other: ${seen.why}. Copy the folders of certificates to both again, and restart both`,
    );
  if ("why" in seen && seen.isOther === true) return error(`the state node ${node} ${seen.why}`);
  return "status" in seen
    ? note(`the state node ${node} answers, and its control plane does not just now (${seen.status})`)
    : note(`the state node ${node} does not answer: ${seen.why}`);
}

/** In an upgrade they differ for a while. */
function versionFindings(seen: Seen, own: string): readonly Finding[] {
  const versions = seen.flatMap(([node, answer]) => {
    const version = "machines" in answer ? answer.machines.node?.version : undefined;
    return version === undefined ? [] : [{ node, version }];
  });
  if (versions.length === 0) return [];
  const unlike = versions.filter(({ version }) => version !== own);
  if (unlike.length === 0) return [ok(`state nodes that answer run waybill ${own}, as this machine has it`)];
  return unlike.map(({ node, version }) =>
    note(`the state node ${node} runs waybill ${version}, and this machine has ${own}: finish the upgrade`),
  );
}
