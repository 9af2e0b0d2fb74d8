import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { configText, OPEN_PAGES_VARIABLE, quoted } from "../../../src/host/workerd/config-text.ts";
import { type ModuleFile, WORKER_FOLDER, writeWorker } from "../../../src/host/workerd/modules.ts";
import { workerWith } from "../../../src/host/workerd/table-modules.ts";

/** One state node without a cluster, and edges, on a real workerd each. Edges read the node's own KV folder in place of a mirror. */

const { default: BINARY } = createRequire(import.meta.url)("workerd") as { readonly default: string };
const RPC = 'http = (capnpConnectHost = "state.waybill:1")';

export interface Process {
  /** By the names of its sockets. */
  readonly ports: Readonly<Record<string, number>>;
  readonly child: ChildProcess;
  readonly lines: string[];
  kill(signal?: NodeJS.Signals): Promise<void>;
}

async function startProcess(config: string, sockets: readonly string[]): Promise<Process> {
  const child = spawn(BINARY, ["serve", "--control-fd=3", config], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    env: { ...process.env, [OPEN_PAGES_VARIABLE]: "on" },
  });
  const lines: string[] = [];
  for (const output of [child.stdout, child.stderr])
    createInterface({ input: output as Readable }).on("line", (line) => lines.push(line));
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const ports: Record<string, number> = {};
  await new Promise<void>((resolve, reject) => {
    void exited.then(() => reject(new Error(`workerd ended at its start\n${lines.join("\n")}`)));
    createInterface({ input: child.stdio[3] as Readable }).on("line", (line) => {
      const { event, socket, port } = JSON.parse(line);
      if (event === "listen") ports[socket] = port;
      if (sockets.every((name) => ports[name] !== undefined)) resolve();
    });
  });
  const kill = async (signal: NodeJS.Signals = "SIGKILL"): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  return { ports, child, lines, kill };
}

/** The network before a state node, at one port for its whole life. */
async function startNetwork() {
  let target = 0;
  let state: "up" | "down" | "silent" | "deaf" = "up";
  const open = new Set<Socket>();
  const server = createServer((client) => {
    if (state === "down") {
      client.destroy();
      return;
    }
    const far = connect(target, "127.0.0.1");
    for (const [own, other] of [
      [client, far],
      [far, client],
    ] as const) {
      open.add(own);
      own.on("data", (bytes) => {
        if (state === "up" || (state === "deaf" && own === client)) other.write(bytes);
      });
      own.on("error", () => other.destroy());
      own.on("close", () => {
        open.delete(own);
        if (state !== "silent") other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: (server.address() as { readonly port: number }).port,
    lead(port: number) {
      target = port;
    },
    /** `silent`: nothing arrives, and no side is told. `deaf`: calls arrive, and no answer. */
    become(next: typeof state) {
      state = next;
      if (next === "up" || next === "down") cut();
    },
    async stop() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The binding of an edge, for a test: a call as JSON, and its answer or its error. */
const ASKER = `export default {
  async fetch(request, { STATE_1 }) {
    const { method, values } = await request.json();
    try {
      return Response.json({ value: (await STATE_1[method](...values)) ?? "done" });
    } catch (error) {
      return Response.json({ error: error.message });
    }
  },
};`;

const VARS = { CLIENT_ADDRESS: "socket", REQUEST_LOG: "off", TABLE_REFRESH_SECONDS: "0.2", REPORT_SECONDS: "1" };

export async function startMachines(table: object, edgeCount: number) {
  const folder = mkdtempSync(join(tmpdir(), "waybill-machines-"));
  const worker: readonly ModuleFile[] = await workerWith(JSON.stringify(table));
  writeWorker(folder, worker);
  for (const name of ["kv", "objects"]) mkdirSync(join(folder, name));
  const modules = worker.map(({ name }) => name);
  const common = { workerFolder: WORKER_FOLDER, modules };
  const network = await startNetwork();
  const stateConfig = join(folder, "state.capnp");
  const socketOf = (name: string, more: string) => `(name = "${name}", address = "127.0.0.1:0", ${more})`;
  writeFileSync(
    stateConfig,
    configText({
      ...common,
      vars: { ...VARS, CHECK_SECONDS: "0" },
      storage: [
        `(name = "kv", disk = (path = ${quoted(join(folder, "kv"))}, writable = true))`,
        `(name = "objects", disk = (path = ${quoted(join(folder, "objects"))}, writable = true))`,
      ],
      sockets: [
        socketOf("http", 'http = (), service = "waybill"'),
        socketOf("state", `service = (name = "waybill", entrypoint = "State"), ${RPC}`),
      ],
      bindings: [],
      hasObjects: true,
      workerMembers: ['durableObjectStorage = (localDisk = "objects")'],
    }),
  );
  const startState = async (): Promise<Process> => {
    const started = await startProcess(stateConfig, ["http", "state"]);
    network.lead(started.ports["state"] as number);
    return started;
  };
  let state = await startState();
  const edgeConfig = join(folder, "edge.capnp");
  writeFileSync(
    edgeConfig,
    configText({
      ...common,
      vars: VARS,
      storage: [`(name = "kv", disk = (path = ${quoted(join(folder, "kv"))}))`],
      services: [`(name = "state1", external = (address = "127.0.0.1:${network.port}", ${RPC}))`],
      sockets: [socketOf("http", 'http = (), service = "waybill"')],
      bindings: ['(name = "STATE_1", service = "state1")'],
      hasObjects: false,
    }),
  );
  const askerConfig = join(folder, "asker.capnp");
  mkdirSync(join(folder, "asker"));
  writeFileSync(join(folder, "asker", "asker.js"), ASKER);
  writeFileSync(
    askerConfig,
    configText({
      workerFolder: "asker",
      modules: ["asker.js"],
      vars: {},
      storage: [`(name = "kv", disk = (path = ${quoted(join(folder, "kv"))}))`],
      services: [`(name = "state1", external = (address = "127.0.0.1:${network.port}", ${RPC}))`],
      sockets: [socketOf("http", 'http = (), service = "waybill"')],
      bindings: ['(name = "STATE_1", service = "state1")'],
      hasObjects: false,
    }),
  );
  const edges: Process[] = [];
  for (let at = 0; at < edgeCount; at++) edges.push(await startProcess(edgeConfig, ["http"]));
  const urlOf = ({ ports }: Process, socket = "http") => `http://127.0.0.1:${ports[socket]}`;
  return {
    folder,
    network,
    edges: edges.map((edge) => urlOf(edge)),
    startAsker: () => startProcess(askerConfig, ["http"]),
    lines: () => edges.flatMap(({ lines }) => lines),
    state: () => urlOf(state),
    stateSocket: () => urlOf(state, "state"),
    async killState() {
      await state.kill();
    },
    /** SIGSTOP: what comes meanwhile is read when it goes on. */
    signalState(signal: NodeJS.Signals) {
      state.child.kill(signal);
    },
    async startState() {
      state = await startState();
    },
    async stop() {
      await Promise.all([...edges, state].map((each) => each.kill()));
      await network.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
