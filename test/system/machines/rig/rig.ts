import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { BucketAccess } from "../bucket/client.ts";
import { buildClock, type ShiftedClock } from "../hosts/clock.ts";
import type { Cuts, Hosts } from "../hosts/host.ts";
import { loopbackHosts } from "../hosts/loopback.ts";
import { namespaceHosts, whyNoNamespaces } from "../hosts/namespaces.ts";
import { type Agent, startAgent } from "./agent.ts";
import type { BucketCalls } from "./bucket.process.ts";
import type { Target } from "./load/ask.ts";
import type { LoadCalls } from "./load.process.ts";
import type { OriginCalls } from "./origins.process.ts";
import type { PublisherCalls } from "./publisher.process.ts";
import { type Build, type Served, servedOn } from "./served.ts";
import { type Region, trialTable } from "./table.ts";

/** Edges, state nodes, a bucket, origins and clients, each on a host of its own. */
export interface Rig {
  readonly states: readonly Served[];
  readonly edges: readonly Served[];
  readonly targets: readonly Target[];
  /** Operators' pages of each state node. */
  readonly statePages: readonly Target[];
  readonly bucket: Agent<BucketCalls>;
  readonly origins: Agent<OriginCalls>;
  readonly load: Agent<LoadCalls>;
  readonly publisher: Agent<PublisherCalls>;
  readonly originUrls: Readonly<Record<Region, string>>;
  readonly cuts: Cuts | undefined;
  /** The clock of a node; `undefined` where clocks cannot be moved. */
  readonly clockOf: (name: string) => ShiftedClock | undefined;
  readonly whyNoClocks: string | undefined;
  /** Builds of the same table: an upgrade goes from one to the other. */
  readonly builds: readonly [Build, Build];
  readonly token: string;
  /** The trial's table as text, with the probe in that region. */
  readonly tableText: (probeTo: Region) => string;
  readonly stateFolderOf: (name: string) => string;
  stop(): Promise<void>;
}

export interface RigOptions {
  readonly states: number;
  readonly edges: number;
  /** Divides the leases of state nodes, and what else a takeover waits out. */
  readonly timeDivisor: number;
  readonly leaseSeconds?: number | undefined;
  /** Without it hosts are addresses of loopback. */
  readonly needsCuts: boolean;
  /** A store in place of the stand-in. */
  readonly store?: BucketAccess | undefined;
  /** Another checkout with its packages, which makes and serves the second build. */
  readonly against?: string | undefined;
  /** Settings of all nodes, beside those of the trial. */
  readonly env?: Readonly<Record<string, string>>;
  readonly progress?: (line: string) => void;
}

const OWN_CHECKOUT = fileURLToPath(new URL("../../../..", import.meta.url));
const fileOf = (name: string) => new URL(name, import.meta.url);
const numbered = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name}${at + 1}`);

export async function startRig(options: RigOptions): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-machines-"));
  const [stateNames, edgeNames] = [numbered("state", options.states), numbered("edge", options.edges)];
  const names = [...stateNames, ...edgeNames, "bucket", "origins", "clients"];
  const whyNot = options.needsCuts ? whyNoNamespaces() : undefined;
  if (whyNot !== undefined) throw new Error(whyNot);
  const hosts = options.needsCuts ? namespaceHosts(names) : loopbackHosts(names);
  try {
    return await started(hosts, folder, stateNames, edgeNames, options);
  } catch (error) {
    await hosts.stop();
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function started(
  hosts: Hosts,
  folder: string,
  stateNames: readonly string[],
  edgeNames: readonly string[],
  options: RigOptions,
): Promise<Rig> {
  const { leaseSeconds, store, progress = () => undefined } = options;
  const bucket = startAgent<BucketCalls>(hosts.at("bucket"), fileOf("bucket.process.ts"));
  const origins = startAgent<OriginCalls>(hosts.at("origins"), fileOf("origins.process.ts"));
  const load = startAgent<LoadCalls>(hosts.at("clients"), fileOf("load.process.ts"));
  const publisher = startAgent<PublisherCalls>(hosts.at("clients"), fileOf("publisher.process.ts"));
  const standIn = await bucket.call("start", { host: hosts.at("bucket").address });
  const originUrls = await origins.call("start", hosts.at("origins").address);
  const tableText = (probeTo: Region) => JSON.stringify(trialTable({ origins: originUrls, probeTo, leaseSeconds }));
  const builds = buildsOf(folder, tableText("eu"), options.against);
  waybill(OWN_CHECKOUT, ["cluster", "certificates", "--out", join(folder, "tls")]);
  writeFileSync(join(folder, "cluster.key"), randomBytes(32).toString("hex"), { mode: 0o600 });
  const token = randomBytes(24).toString("hex");
  const addressOf = (name: string) => hosts.at(name).address;
  const ports = await freePorts([...stateNames, ...edgeNames].map(addressOf));
  const built = buildClock(folder);
  const clocks = new Map(
    [...stateNames, ...edgeNames].flatMap((name) => ("why" in built ? [] : [[name, built.clock(name)]])),
  );
  const ground: Ground = { folder, ports, addressOf, stateNames, endpoint: store?.url ?? standIn };
  const envOf = (name: string) => ({ ...settingsOf(token), ...options.env, ...clocks.get(name)?.env });
  const serve = (name: string, config: Readonly<Record<string, unknown>>, env: Readonly<Record<string, string>> = {}) =>
    servedOn(hosts.at(name), { build: builds[0], folder, config, env: { ...envOf(name), ...env } });
  const states = stateNames.map((name) =>
    serve(name, stateConfig(name, ground, options), {
      // Faults of the bucket choose by it.
      AWS_ACCESS_KEY_ID: store?.accessKey ?? name,
      AWS_SECRET_ACCESS_KEY: store?.secretKey ?? "secret",
    }),
  );
  const edges = edgeNames.map((name) => serve(name, edgeConfig(name, ground)));
  const targetOf = (name: string): Target => ({ name, host: addressOf(name), port: ports.listen });
  progress(`starting ${states.length} state nodes`);
  await Promise.all(states.map((state) => state.start()));
  progress(`starting ${edges.length} edges`);
  await Promise.all(edges.map((edge) => edge.start()));
  return {
    states,
    edges,
    targets: edgeNames.map(targetOf),
    statePages: stateNames.map(targetOf),
    bucket,
    origins,
    load,
    publisher,
    originUrls,
    cuts: hosts.cuts,
    clockOf: (name) => clocks.get(name),
    whyNoClocks: "why" in built ? built.why : undefined,
    builds,
    token,
    tableText,
    stateFolderOf: (name) => join(folder, name),
    stop: async () => {
      await hosts.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function settingsOf(token: string): Readonly<Record<string, string>> {
  const sha256 = createHash("sha256").update(token).digest("hex");
  const tokens = [{ name: "trial", scope: "operator", sha256 }];
  return { REQUEST_LOG: "off", ADMIN_TOKENS: JSON.stringify(tokens) };
}

/** Where the nodes of a rig find each other. */
interface Ground {
  readonly folder: string;
  readonly ports: Ports;
  readonly addressOf: (name: string) => string;
  readonly stateNames: readonly string[];
  readonly endpoint: string;
}

function stateConfig(name: string, { folder, ports, addressOf, stateNames, endpoint }: Ground, options: RigOptions) {
  const { timeDivisor, store } = options;
  const clusterAddressOf = (node: string) => `${addressOf(node)}:${ports.cluster}`;
  const peers = stateNames.filter((node) => node !== name).map(clusterAddressOf);
  return {
    role: "state",
    state: join(folder, name),
    listen: `${addressOf(name)}:${ports.listen}`,
    stateListen: `${addressOf(name)}:${ports.state}`,
    stateTls: join(folder, "tls", "state"),
    bucket: `s3://${store?.name ?? "acme"}/waybill`,
    bucketOptions: [`aws_endpoint=${endpoint}`, "aws_region=us-east-1"],
    clusterAddr: clusterAddressOf(name),
    clusterKeyFile: join(folder, "cluster.key"),
    ...(peers.length > 1 ? { peers } : {}),
    ...(timeDivisor === 1 ? {} : { unsafeTimeDivisor: timeDivisor }),
  };
}

const edgeConfig = (name: string, { folder, ports, addressOf, stateNames }: Ground) => ({
  role: "edge",
  name,
  state: join(folder, name),
  listen: `${addressOf(name)}:${ports.listen}`,
  stateNodes: stateNames.map((node) => `${addressOf(node)}:${ports.state}`),
  stateTls: join(folder, "tls", "edge"),
});

/** Two builds of a table: of this checkout, and of another one or one that says that its code for tables is another. */
function buildsOf(folder: string, tableText: string, against?: string): readonly [Build, Build] {
  const table = join(folder, "table.json");
  writeFileSync(table, tableText);
  const [one, other] = [join(folder, "build-1"), join(folder, "build-2")];
  waybill(OWN_CHECKOUT, ["build", table, "--out", one]);
  if (against === undefined) pretendAnother(one, other);
  else waybill(resolve(against), ["build", table, "--out", other]);
  return [
    { folder: one, command: commandOf(OWN_CHECKOUT) },
    { folder: other, command: commandOf(resolve(against ?? OWN_CHECKOUT)) },
  ];
}

function pretendAnother(one: string, other: string): void {
  cpSync(one, other, { recursive: true });
  const modules = readdirSync(join(other, "worker")).map((name) => join(other, "worker", name));
  const changed = modules.filter((path) => {
    const code = readFileSync(path, "utf8");
    const next = code.replace(CODE_VERSION, OTHER_VERSION);
    if (next !== code) writeFileSync(path, next);
    return next !== code;
  });
  if (changed.length === 0) throw new Error("no module of the build has the version of the code for tables");
}

/** As the bundler writes it; not the digits of hexadecimal numbers. */
const CODE_VERSION = /([`"])(?!0123456789abcdef)[0-9a-f]{16}\1/g;
const OTHER_VERSION = '"0123456776543210"';

const commandOf = (checkout: string): string => join(checkout, "src/cli/waybill.mjs");

function waybill(checkout: string, args: readonly string[]): void {
  const main = join(checkout, "src/cli/main.ts");
  const { status, stderr } = spawnSync(process.execPath, [main, ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(`waybill ${args.join(" ")}: ${stderr}`);
}

interface Ports {
  readonly listen: number;
  readonly state: number;
  readonly cluster: number;
}

/** Below those that systems give by themselves. In a namespace nothing else listens; on loopback they are tried. */
async function freePorts(addresses: readonly string[]): Promise<Ports> {
  for (let turn = 0; turn < 100; turn++) {
    const listen = 10_000 + Math.floor(Math.random() * 20_000);
    const ports = { listen, state: listen + 1, cluster: listen + 2 };
    const isLoopback = addresses.every((address) => address.startsWith("127."));
    const tried = isLoopback ? addresses.flatMap((host) => Object.values(ports).map((port) => isFree(host, port))) : [];
    if ((await Promise.all(tried)).every(Boolean)) return ports;
  }
  throw new Error("no free ports were found");
}

const isFree = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
