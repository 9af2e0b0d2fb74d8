import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { endWithParent } from "../../../src/host/child.ts";

/** `waybill serve` as an operator types it, and an origin behind it. */

const MAIN = fileURLToPath(new URL("../../../src/cli/main.ts", import.meta.url));
const READY_DEADLINE_MS = 45_000;

export interface Serving {
  /** Where clients connect, or operators. */
  readonly urls: readonly string[];
  readonly statePort: number;
  /** The Worker's log. */
  readonly log: () => string;
  /** Sentences for operators. */
  readonly said: () => string;
  readonly signal: (name: NodeJS.Signals) => void;
  readonly ended: Promise<number | null>;
  readonly stop: () => Promise<number | null>;
}

export interface ServingOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdio?: StdioOptions;
}

/** Arguments of a state node without a cluster: certificates in `tls`, ports that the system chooses. */
export const nodeArgs = (...more: readonly string[]): readonly string[] => [
  ...["build", "--role", "state", "--state", "node", "--state-tls", "tls/state"],
  ...["--listen", "127.0.0.1:0", "--state-listen", "127.0.0.1:0", ...more],
];

/** An edge with a folder of its name. `nodes`: addresses of state sockets. */
export const edgeArgs = (name: string, nodes: readonly string[], ...more: readonly string[]): readonly string[] => [
  ...["build", "--role", "edge", "--name", name, "--state", name, "--state-tls", "tls/edge"],
  ...["--state-nodes", nodes.join(), "--listen", "127.0.0.1:0", ...more],
];

const running: ChildProcess[] = [];

/** Resolves once it says that it is ready. Rejects with all that it said where it ends before. */
export async function serve(args: readonly string[], { cwd, env, stdio }: ServingOptions): Promise<Serving> {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", MAIN, "serve", ...args], {
    cwd,
    env: { ...process.env, OPEN_PAGES: "on", ...env },
    stdio: stdio ?? ["ignore", "pipe", "pipe"],
    detached: true,
  });
  endWithParent(child);
  running.push(child);
  let log = "";
  let said = "";
  const ended = once(child, "close").then(([code]) => code as number | null);
  child.stdout?.on("data", (chunk) => {
    log += chunk;
  });
  const ready = await new Promise<string>((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`${args.join(" ")}: ${why}\n${said}${log}`));
    const deadline = setTimeout(fail, READY_DEADLINE_MS, "is not ready");
    void ended.then((code) => fail(`ended with code ${code}`));
    child.stderr?.on("data", (chunk) => {
      said += chunk;
      const line = /^ready .*$/m.exec(said)?.[0];
      if (line === undefined) return;
      clearTimeout(deadline);
      resolve(line);
    });
  });
  const signal = (name: NodeJS.Signals) => void child.kill(name);
  return {
    urls: [...ready.matchAll(/http:\/\/[\d.]+:\d+/g)].map(([url]) => url),
    statePort: Number(/edges at [\d.]+:(\d+)/.exec(ready)?.[1] ?? 0),
    log: () => log,
    said: () => said,
    signal,
    ended,
    stop: () => {
      signal("SIGTERM");
      return ended;
    },
  };
}

/** For `afterAll`: none is left, whatever a test did. */
export async function killAll(): Promise<void> {
  const left = running.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  await Promise.all(
    left.map(async (child) => {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    }),
  );
}

/** An origin that says what it was asked, after a while where the path says so. */
export async function startOrigin(): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const { method, url = "", headers } = request;
    const id = method === "POST" ? headers["waybill-entity-id"] : "";
    const answer = () => response.writeHead(method === "POST" ? 201 : 200).end(`${method} ${url} ${id}`.trim());
    setTimeout(answer, url.endsWith("/slow") ? 3_000 : 0);
    request.resume();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`, server };
}

export const ORDER = "0192f0c1-7a30-8005-8240-8f3b2a1c9d78";

/** A table with one region, whose orders are created here. */
export function writeTable(folder: string, originUrl: string, note = "orders"): string {
  const path = join(folder, `${note}.json`);
  const entities = {
    order: {
      path: "/orders/:id",
      ids: [{ layout: "iuid", service: 9 }],
      create: { key: { country: { header: "x-country" } }, idempotency: { keepAnswer: {} } },
    },
    ...(note === "orders" ? {} : { [note]: { path: `/${note}/:id`, ids: [{ layout: "iuid", service: 8 }] } }),
  };
  writeFileSync(
    path,
    JSON.stringify({
      regions: { eu: { origins: [{ url: originUrl }] } },
      countries: { DE: 9 },
      entities,
      routes: [],
      default: "eu",
    }),
  );
  return path;
}

/** The process of a workerd in a state folder. */
export const pidIn = (folder: string, name = "workerd.pid"): number => Number(readFileSync(join(folder, name), "utf8"));
