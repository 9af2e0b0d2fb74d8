import { spawn } from "node:child_process";
import { err, ok, type Result } from "../../../ids/index.ts";
import { runningOn } from "../../workerd/workerd.ts";
import { type Address, addressText } from "../addresses.ts";
import type { MachineOptions } from "../options.ts";
import type { Clock } from "../supervise.ts";
import { askPlain } from "./nodes.ts";

export interface RestartOptions {
  readonly nodes: readonly RestartNode[];
  /** For each node: from its stop until it is ready again. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly isReady: (address: Address) => Promise<boolean>;
  readonly report: (sentence: string) => void;
}

export interface RestartNode {
  readonly address: Address;
  /** Begins its restart. Rejects if that fails. */
  readonly restart: () => Promise<void>;
}

const POLL_MS = 250;

export const isReady = async (address: Address): Promise<boolean> => {
  const asked = await askPlain(address, "/ready");
  return "status" in asked && asked.status === 200;
};

/** The nodes that the files name: those of this machine by the process in their folders, all others by the command. */
export function restartNodes(
  files: readonly MachineOptions[],
  command: string | undefined,
): Result<readonly RestartNode[], string> {
  const nodes = new Map<string, RestartNode>();
  const unnamed = new Set<string>();
  const clusters = files.flatMap((each) =>
    each.role === "state" && each.cluster !== undefined ? [{ folder: each.stateFolder, cluster: each.cluster }] : [],
  );
  if (clusters.length === 0) return err("No file names a node of a cluster: restart a single machine by its unit.");
  for (const { folder, cluster } of clusters) {
    const address = cluster.advertise ?? cluster.address;
    const restart = command === undefined ? () => stopHere(folder) : () => runCommand(command, address);
    nodes.set(addressText(address), { address, restart });
  }
  for (const address of clusters.flatMap(({ cluster }) => cluster.peers)) {
    const name = addressText(address);
    if (nodes.has(name)) continue;
    if (command === undefined) unnamed.add(name);
    else nodes.set(name, { address, restart: () => runCommand(command, address) });
  }
  if (unnamed.size > 0)
    return err(
      `${[...unnamed].join(" and ")}: give the file of each node of this machine with --config, or a command for nodes elsewhere, such as --command 'ssh {host} systemctl restart waybill-state'.`,
    );
  return ok([...nodes.values()]);
}

/** Restarts one node after the other. The error names the first that does not come back; the rest is left as it is. */
export async function restartOneByOne(options: RestartOptions): Promise<Result<number, string>> {
  const { nodes, clock, report } = options;
  const ready = await Promise.all(nodes.map(({ address }) => options.isReady(address)));
  const down = nodes.filter((_, at) => ready[at] !== true).map(({ address }) => addressText(address));
  if (down.length > 0)
    return err(`${down.join(", ")}: not ready, so no node was restarted. Start what is down, and run this again.`);
  for (const [at, node] of nodes.entries()) {
    const beganMs = clock.nowMs();
    const name = addressText(node.address);
    const why = await restartOne(node, options);
    if (why !== undefined) {
      const rest = nodes.slice(at + 1).map(({ address }) => addressText(address));
      const left = rest.length === 0 ? "" : ` Not restarted: ${rest.join(", ")}.`;
      return err(`${name}: ${why}.${left}`);
    }
    report(`${name} is ready again after ${((clock.nowMs() - beganMs) / 1000).toFixed(1)} s`);
  }
  return ok(nodes.length);
}

/** A node that was never seen down may be the old one still. */
async function restartOne({ address, restart }: RestartNode, options: RestartOptions): Promise<string | undefined> {
  const { clock, timeoutMs } = options;
  const endMs = clock.nowMs() + timeoutMs;
  let failure: string | undefined;
  void restart().catch((error: Error) => {
    failure = error.message;
  });
  let wasDown = false;
  while (clock.nowMs() < endMs) {
    await clock.sleep(POLL_MS);
    if (failure !== undefined) return failure;
    const isUp = await options.isReady(address);
    if (isUp && wasDown) return undefined;
    wasDown ||= !isUp;
  }
  const seconds = `${timeoutMs / 1000} s`;
  return wasDown ? `it stopped, and is not ready after ${seconds}` : `it did not stop within ${seconds}`;
}

/** `serve` starts workerd again when it ends, after its objects were handed over. */
async function stopHere(folder: string): Promise<void> {
  const pid = runningOn(folder);
  if (pid === undefined) throw new Error(`no node runs in ${folder} on this machine`);
  process.kill(pid, "SIGTERM");
}

/** Addresses hold no character that a shell reads. */
function runCommand(command: string, { host, port }: Address): Promise<void> {
  const words = { "{host}": host.replace(/^\[|\]$/g, ""), "{port}": String(port) };
  const line = command.replace(/\{host\}|\{port\}/g, (name) => words[name as keyof typeof words]);
  return new Promise((resolve, reject) => {
    const child = spawn(line, { shell: true, stdio: ["ignore", "inherit", "inherit"] });
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`\`${line}\` ended with code ${code}`));
    });
  });
}
