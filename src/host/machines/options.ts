import { hostname } from "node:os";
import { resolve } from "node:path";
import { STATE_NODES_MAX } from "../../formats/machines.ts";
import { err, ok, type Result } from "../../ids/index.ts";
import { nearest } from "../../routing/index.ts";
import {
  type Address,
  addressText,
  isPublic,
  isWildcard,
  parseAddress,
  parseDescriptor,
  portClashes,
} from "./addresses.ts";
import { CREDENTIALS_FILE, type Given, type MemberName, resolveOption } from "./members.ts";

/** `waybill serve` runs it on a machine of several. */
export type MachineOptions = EdgeOptions | StateOptions;

interface Common {
  readonly stateFolder: string;
  readonly tlsFolder: string;
  /** Between SIGTERM and the end of requests that still run. */
  readonly stopMs: number;
  readonly tracesUrl?: string | undefined;
}

export interface EdgeOptions extends Common {
  readonly role: "edge";
  /** By which state nodes know it. */
  readonly name: string;
  readonly listen: Address | { readonly descriptor: number };
  readonly processes: number;
  readonly stateNodes: readonly string[];
}

export interface StateOptions extends Common {
  readonly role: "state";
  readonly listen: Address;
  readonly stateListen: Address;
  /** Without it the state is on this node's own disk. */
  readonly cluster?: ClusterOptions | undefined;
  readonly tableFile?: string | undefined;
}

export interface ClusterOptions {
  readonly bucket: string;
  readonly bucketOptions: readonly string[];
  readonly address: Address;
  readonly advertise?: Address | undefined;
  readonly keyFile: string;
  /** Cluster addresses of the other nodes; the watchdog asks them. Empty: no watchdog. */
  readonly peers: readonly Address[];
  readonly timeDivisor?: number | undefined;
}

const PROCESSES_MAX = 64;
const STOP_SECONDS_MAX = 3_600;
const DIVISOR_MAX = 100;
const EDGE_STOP_SECONDS = 30;

/** workerd hands its objects over within 8 of them (`ClusterConfig.stopTimeoutMs`). */
const STATE_STOP_SECONDS = 15;

const LISTEN: Address = { host: "127.0.0.1", port: 8787 };

/** Stands for an address that is missing, which is a fault. */
const NOWHERE: Address = { host: "127.0.0.1", port: 0 };

/** Reads the options, or says all that is wrong with them. Touches no file. */
export function readOptions(given: Given): Result<MachineOptions, readonly string[]> {
  const reader = optionReader(given);
  const common: Common = {
    stateFolder: given.members.state ?? `.waybill/${given.role}`,
    tlsFolder: reader.need("stateTls", "the state or edge folder of `waybill cluster certificates --out FOLDER`"),
    stopMs:
      1_000 *
      reader.within("stopTimeout", 0, STOP_SECONDS_MAX, given.role === "edge" ? EDGE_STOP_SECONDS : STATE_STOP_SECONDS),
    tracesUrl: given.members.otlpTraces,
  };
  const options = given.role === "edge" ? edgeOptions(common, reader) : stateOptions(common, reader);
  return reader.faults.length > 0 ? err(reader.faults) : ok(options);
}

type Reader = ReturnType<typeof optionReader>;

function optionReader({ members, labelOf }: Given) {
  const faults: string[] = [];
  const fault = (name: MemberName, why: string): void => {
    faults.push(`${labelOf(name)}: ${why}`);
  };
  const addressOf = (name: MemberName, text: string, needsPort = false): Address => {
    const address = parseAddress(text);
    if (!address.ok) fault(name, `${JSON.stringify(text)}: ${address.error}`);
    else if (needsPort && address.value.port === 0)
      fault(name, `${JSON.stringify(text)}: others need its port, so it is not 0`);
    return address.ok ? address.value : NOWHERE;
  };
  return {
    members,
    labelOf,
    faults,
    fault,
    need(name: "stateTls" | "stateListen" | "clusterAddr" | "clusterKeyFile", what: string): string {
      const value = members[name];
      if (value === undefined) faults.push(`${labelOf(name)} is missing: ${what}`);
      return value ?? "";
    },
    within(name: "processes" | "stopTimeout" | "unsafeTimeDivisor", min: number, max: number, none: number): number {
      const value = members[name] ?? none;
      if (value < min || value > max) fault(name, `must be a whole number from ${min} to ${max}`);
      return value;
    },
    addressOf,
    address: (name: "listen" | "stateListen" | "clusterAddr" | "clusterAdvertise", none: Address = LISTEN): Address =>
      members[name] === undefined ? none : addressOf(name, members[name]),
    addresses: (name: "stateNodes" | "peers"): readonly Address[] => {
      const before = faults.length;
      const read = (members[name] ?? []).map((text) => addressOf(name, text, true));
      const texts = read.map(addressText);
      const twice = texts.find((text, at) => texts.indexOf(text) !== at);
      if (twice !== undefined && faults.length === before) fault(name, `${twice} is there twice`);
      return read;
    },
  };
}

const EDGE_NAME = /^[A-Za-z0-9.-]{1,64}$/;

function edgeOptions(common: Common, reader: Reader): EdgeOptions {
  const { members, fault, labelOf } = reader;
  const name =
    members.name ??
    hostname()
      .replace(/[^A-Za-z0-9.-]/g, "-")
      .slice(0, 64);
  if (!EDGE_NAME.test(name)) fault("name", "must be 1 to 64 letters, digits, - and .");
  const processes = reader.within("processes", 1, PROCESSES_MAX, 1);
  const listen = listenOf(reader);
  if ("port" in listen && listen.port > 0 && listen.port + processes - 1 > 65_535)
    fault("listen", `${processes} processes take the ports from ${listen.port} on, and the last one is 65535`);
  if (members.stateNodes === undefined)
    reader.faults.push(`${labelOf("stateNodes")} is missing: the state nodes' addresses, such as 10.0.0.21:8443`);
  const stateNodes = reader.addresses("stateNodes").map(addressText);
  if (stateNodes.length > STATE_NODES_MAX) fault("stateNodes", `an edge knows at most ${STATE_NODES_MAX} state nodes`);
  return { ...common, role: "edge", name, listen, processes, stateNodes };
}

function listenOf(reader: Reader): EdgeOptions["listen"] {
  const text = reader.members.listen ?? "";
  if (!text.startsWith("fd:")) return reader.address("listen");
  const descriptor = parseDescriptor(text);
  if (descriptor === undefined) reader.fault("listen", `${JSON.stringify(text)}: a socket of systemd is fd:3 or above`);
  return { descriptor: descriptor ?? 0 };
}

function stateOptions(common: Common, reader: Reader): StateOptions {
  const { members, fault, labelOf } = reader;
  if (members.listen?.startsWith("fd:") === true)
    fault("listen", "a state node opens its sockets itself: write host and port");
  const listen = reader.address("listen");
  reader.need("stateListen", "where edges reach this node, such as 10.0.0.21:8443");
  const stateListen = reader.address("stateListen", NOWHERE);
  const cluster = members.bucket === undefined ? withoutBucket(reader) : clusterOptions(members.bucket, reader);
  const listeners = [
    { ...listen, label: labelOf("listen"), count: 1 },
    { ...stateListen, label: labelOf("stateListen"), count: 1 },
    ...(cluster === undefined ? [] : [{ ...cluster.address, label: labelOf("clusterAddr"), count: 1 }]),
  ];
  reader.faults.push(...portClashes(listeners));
  if (cluster !== undefined && members.table !== undefined)
    fault("table", "nodes of a cluster publish no table at their start: use `waybill table publish FILE`");
  return { ...common, role: "state", listen, stateListen, cluster, tableFile: members.table };
}

const OF_CLUSTERS = [
  "bucketOptions",
  "clusterAddr",
  "clusterAdvertise",
  "clusterKeyFile",
  "peers",
  "unsafeTimeDivisor",
] as const;

function withoutBucket({ members, labelOf, faults }: Reader): undefined {
  for (const name of OF_CLUSTERS)
    if (members[name] !== undefined) faults.push(`${labelOf(name)} needs ${labelOf("bucket")}: only a cluster has it`);
  return undefined;
}

function clusterOptions(bucket: string, reader: Reader): ClusterOptions {
  const { members, fault, labelOf } = reader;
  if (!/^(?:s3|gs):\/\/[a-z0-9][a-z0-9._-]{1,61}[a-z0-9](?:\/[^/?#\s]+)*\/?$/.test(bucket))
    fault("bucket", `${JSON.stringify(bucket)}: write s3://NAME/PREFIX or gs://NAME/PREFIX`);
  reader.need(
    "clusterAddr",
    "where the other state nodes reach this one, such as 10.0.0.21:7000, on a private network",
  );
  reader.need("clusterKeyFile", "a file with the cluster's key: openssl rand -hex 32 > FILE");
  const address =
    members.clusterAddr === undefined ? NOWHERE : reader.addressOf("clusterAddr", members.clusterAddr, true);
  const advertise = members.clusterAdvertise === undefined ? undefined : reader.address("clusterAdvertise");
  for (const [name, each] of [
    ["clusterAddr", address],
    ["clusterAdvertise", advertise],
  ] as const)
    if (each !== undefined && isPublic(each.host))
      fault(
        name,
        `${each.host} is a public address, and traffic between nodes is not encrypted: use a private network`,
      );
  if (advertise !== undefined && isWildcard(advertise.host))
    fault("clusterAdvertise", "must be the address of this node");
  if (isWildcard(address.host) && advertise === undefined)
    fault(
      "clusterAddr",
      `${address.host} needs ${labelOf("clusterAdvertise")}: the address at which the others reach this node`,
    );
  const timeDivisor = reader.within("unsafeTimeDivisor", 1, DIVISOR_MAX, 1);
  return {
    bucket,
    bucketOptions: bucketOptions(bucket, reader),
    address,
    advertise,
    keyFile: members.clusterKeyFile ?? "",
    peers: peersOf(advertise ?? address, reader),
    timeDivisor: timeDivisor === 1 ? undefined : timeDivisor,
  };
}

/** With a single peer neither can tell which of the two is cut off. */
function peersOf(own: Address, reader: Reader): readonly Address[] {
  const peers = reader.addresses("peers");
  if (peers.length === 1)
    reader.fault("peers", "the watchdog needs two peers or more: of two nodes each would stop for the other");
  if (peers.some(({ host, port }) => host === own.host && port === own.port))
    reader.fault("peers", `${own.host}:${own.port} is this node: name the others alone`);
  return peers;
}

/** Those of workerd (`ClusterConfig.bucketOptions`) that are no secret. */
const BUCKET_OPTIONS = ["aws_endpoint", "aws_region", CREDENTIALS_FILE];
const SECRET_OPTIONS = ["aws_access_key_id", "aws_secret_access_key", "aws_token"];

function bucketOptions(bucket: string, { members, fault }: Reader): readonly string[] {
  const given = members.bucketOptions ?? [];
  if (given.length > 0 && bucket.startsWith("gs://"))
    fault("bucketOptions", "a bucket of Google takes none: GOOGLE_APPLICATION_CREDENTIALS names its key");
  const seen = new Set<string>();
  for (const text of given) {
    const [, name = "", value = ""] = /^(\w+)=(.+)$/.exec(text) ?? [];
    const why =
      name === "" ? 'an option is NAME=VALUE, such as "aws_region=auto"' : optionFault(name, value, seen.has(name));
    // Never the value: it may be a secret.
    if (why !== undefined) fault("bucketOptions", why);
    seen.add(name);
  }
  return given.map((text) => resolveOption(text, (path) => resolve(path)));
}

function optionFault(name: string, value: string, isTwice: boolean): string | undefined {
  if (SECRET_OPTIONS.includes(name))
    return `${name} is a secret: write it into a file that ${CREDENTIALS_FILE}=/PATH names`;
  if (!BUCKET_OPTIONS.includes(name)) {
    const near = nearest(name, BUCKET_OPTIONS);
    return `${name} is unknown; ${near === undefined ? `there are ${BUCKET_OPTIONS.join(", ")}` : `write ${near}`}`;
  }
  if (isTwice) return `${name} is there twice`;
  if (name === "aws_endpoint" && !/^https?:\/\/[^/?#\s@]+(?:\/[^?#\s]*)?$/.test(value))
    return `${name} must be a URL, such as https://s3.eu-central-1.amazonaws.com`;
  return undefined;
}
