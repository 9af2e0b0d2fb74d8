import { InvalidArgumentError } from "commander";
import type { Finding } from "../../../host/machines/operate/nodes.ts";
import type { ClusterStatus } from "../../../host/machines/operate/status.ts";
import type { MachineOptions } from "../../../host/machines/options.ts";
import { command, option, required, withDefault } from "../../command.ts";
import { alignColumns, countOf, escapeControls, jsonText, linesText, section } from "../../lib/output.ts";
import { EXIT, fail, misuse, type Runtime } from "../../runtime.ts";
import { machineFile, readMachine } from "./machine.ts";

async function machineOf(path: string, runtime: Runtime): Promise<MachineOptions> {
  const read = await readMachine({}, machineFile(path, runtime));
  return read.ok ? read.value : fail(`${read.error.join("\n")}\n`);
}

export const check = command({
  name: "check",
  description: "prove what a machine of several needs: bucket, clock, ports, keys, other machines, versions",
  options: [
    required("--config <file>", "the machine's file, as `waybill serve BUILD --config FILE` takes it"),
    option("--json", "one JSON object on stdout"),
  ],
  help: `
Run it on the machine itself, before it serves or while it does. A bucket is asked by real requests: several writes at once
of which one may win, a conditional replacement, a read, a list; what was written is deleted. Keys are never printed.

Example:
  $ waybill cluster check --config /etc/waybill/state.json

Exit code: 0 without faults; 1 with faults, or if the file cannot be read. Notes and warnings are no faults.`,
  run: async (runtime, _, { config, json }) => {
    const options = await machineOf(config, runtime);
    const { checkMachine } = await import("../../../host/machines/operate/check.ts");
    const { readText } = await import("../../../host/machines/files.ts");
    const { nowMs, fetch, deadline, env, version, pause } = runtime;
    const findings = await checkMachine(options, { nowMs, fetch, deadline, env, version, readText, pause });
    const isGood = findings.every(({ state }) => state !== "error");
    if (json) await runtime.print(jsonText({ isGood, findings }));
    else await showFindings(findings, runtime);
    return isGood ? EXIT.ok : EXIT.failed;
  },
});

async function showFindings(findings: readonly Finding[], runtime: Runtime): Promise<void> {
  for (const { state, text } of findings) {
    const line = `${state}: ${escapeControls(text)}\n`;
    if (state === "ok") await runtime.print(line);
    else runtime.report(line);
  }
}

const files = (text: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), text];

export const status = command({
  name: "status",
  description: "show state nodes with their leases, and edges with their revision and the age of their mirror",
  options: [
    required("--config <file>", "a machine's file; repeat it for a state node and an edge", files),
    option("--json", "one JSON object on stdout"),
  ],
  help: `
The file of a state node names the cluster's nodes, whose leases are asked, and its own address for edges. The file of an
edge names the state nodes as edges reach them. Nodes that edges asked lately are found by themselves.

Examples:
  $ waybill cluster status --config /etc/waybill/state.json
  $ waybill cluster status --config /etc/waybill/edge.json --json

Exit code: 0 if all is well; 2 if a node is not ready, or an edge is behind or ahead, silent, or has a mirror older than a
minute; 1 if a file cannot be read.`,
  run: async (runtime, _, { config, json }) => {
    const options = await Promise.all(config.map((path) => machineOf(path, runtime)));
    const { clusterStatus, knownMachines } = await import("../../../host/machines/operate/status.ts");
    const known = knownMachines(options);
    const shown = await clusterStatus(known, runtime.nowMs());
    await runtime.print(json ? jsonText(shown) : formatStatus(shown));
    return shown.isWell ? EXIT.ok : EXIT.differs;
  },
});

function formatStatus({ published, leases, nodes, edges, faults }: ClusterStatus): string {
  const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;
  const isAnswered = nodes.some(({ why }) => why === undefined);
  const none = isAnswered ? "none" : "unknown, no state node answers";
  const first = published === null ? none : `revision ${published.revision}, change ${published.change}`;
  return linesText([
    `published: ${first}`,
    ...section(
      "leases",
      alignColumns(leases.map(({ address, isReady, why = "" }) => [address, isReady ? "ready" : why])),
    ),
    ...section(
      "state nodes, as edges reach them",
      alignColumns(
        nodes.map(({ address, why, version }) => [
          address,
          why ?? "answers",
          version === undefined ? "" : `version ${version}`,
        ]),
      ),
    ),
    ...section(
      "edges",
      alignColumns(
        edges.map(({ name, revision, change, version, processes, mirrorAgeMs, heardMs, isBehind, isAhead }) => [
          name,
          `revision ${revision}, change ${change}${isBehind ? ", behind" : isAhead ? ", ahead" : ""}`,
          `mirror ${seconds(mirrorAgeMs)} old`,
          `heard ${seconds(heardMs)} ago`,
          `version ${version}`,
          countOf(processes, "process", "processes"),
        ]),
      ),
    ),
    ...(faults.length === 0 ? ["all is well"] : section("not well", faults.map(escapeControls))),
  ]);
}

const KEPT =
  "note: each node keeps the options, settings and build that its `serve` began with; for new ones use --command\n";

const TIMEOUT_SECONDS = 60;
const TIMEOUT_SECONDS_MAX = 3_600;

const seconds = (text: string): number => {
  if (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= TIMEOUT_SECONDS_MAX) return Number(text);
  throw new InvalidArgumentError(`A whole number of seconds from 1 to ${TIMEOUT_SECONDS_MAX}.`);
};

export const restart = command({
  name: "restart",
  description: "restart the state nodes of a cluster, one at a time, each once the one before is ready",
  options: [
    required("--config <file>", "a state node's file; repeat it for each node of this machine", files),
    option("--command <line>", "how a node is restarted, by a shell: {host} and {port} are its cluster address"),
    withDefault("--timeout <seconds>", "for each node, until it is ready again", TIMEOUT_SECONDS, seconds),
  ],
  help: `
Without --command the nodes are on this machine: each workerd gets SIGTERM, hands its objects over, and its \`serve\` starts it
again, with the certificates on the disk, and the options, settings and build that it had. New ones of these, and certificates
by LoadCredential of systemd, need the unit to be restarted: use --command.
The nodes are those of the files and their peers. It stops at the first node that does not come back.

Examples:
  $ waybill cluster restart --config s1.json --config s2.json --config s3.json
  $ waybill cluster restart --config state.json --command 'ssh {host} sudo systemctl restart waybill-state'

Exit code: 0 if all nodes are ready again; 1 if one is not, or was not before: then none is restarted; 64 for wrong options.`,
  run: async (runtime, _, { config, command: line, timeout }) => {
    const options = await Promise.all(config.map((path) => machineOf(path, runtime)));
    const { isReady, restartNodes, restartOneByOne } = await import("../../../host/machines/operate/restart.ts");
    const nodes = restartNodes(options, line);
    if (!nodes.ok) return misuse(`${nodes.error}\n`);
    if (line === undefined) runtime.report(KEPT);
    const restarted = await restartOneByOne({
      nodes: nodes.value,
      timeoutMs: timeout * 1000,
      clock: { nowMs: runtime.nowMs, sleep: runtime.pause },
      isReady,
      report: (sentence) => runtime.report(`${sentence}\n`),
    });
    if (!restarted.ok) return fail(`${restarted.error}\n`);
    await runtime.print(`${countOf(restarted.value, "node")} restarted\n`);
    return EXIT.ok;
  },
});
