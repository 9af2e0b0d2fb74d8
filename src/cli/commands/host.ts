import { InvalidArgumentError } from "commander";
import type { MachineOptions } from "../../host/machines/options.ts";
import { messageOf } from "../../ids/result.ts";
import { command, option, required } from "../command.ts";
import { EXIT, fail, misuse, type Runtime } from "../runtime.ts";
import { MACHINE_FLAGS, type MachineFlags, machineOptions } from "./cluster/machine.ts";

/** Runs work of `src/host`, which is loaded for these commands alone. */
export const hosted = async <Value>(work: () => Promise<Value>): Promise<Value> => {
  try {
    return await work();
  } catch (error) {
    return fail(`${messageOf(error)}\n`);
  }
};

export const build = command({
  name: "build",
  description: "bundle the gateway for self-hosting into a folder; nothing is started or published",
  args: [["[table]", "the fallback, and the first table of an empty state (default: routing-table.json)"]],
  options: [required("--out <folder>", "where to write it; an earlier build is replaced")],
  help: `
Examples:
  $ waybill build --out build
  $ waybill build table.json --out /opt/waybill/2`,
  run: async (runtime, [table = "routing-table.json"], { out }) => {
    const { buildGateway } = await import("../../host/self-hosting.ts");
    const built = await hosted(() => buildGateway(out, table));
    if (!built.ok) return fail(`${built.error}\nNothing was built.\n`);
    await runtime.print(`${out}: the gateway of waybill ${runtime.version} with ${table}\n`);
    return EXIT.ok;
  },
});

/** `HOST:PORT`; an IPv6 address in brackets. */
export const listenAddress = (text: string) => {
  const [, host = "", digits] = /^([\w.-]+|\[[0-9a-f:]+\]):(\d{1,5})$/i.exec(text) ?? [];
  if (host !== "" && Number(digits) <= 65_535) return { host, port: Number(digits) };
  return misuse(`--listen ${text}: write host and port, such as 0.0.0.0:8080.\n`);
};

const STOP_SECONDS_MAX = 3_600;

const seconds = (text: string): number => {
  if (/^\d{1,4}$/.test(text) && Number(text) <= STOP_SECONDS_MAX) return Number(text);
  throw new InvalidArgumentError(`A whole number of seconds, at most ${STOP_SECONDS_MAX}.`);
};

/** Wrong words are misuse, wherever they stand. */
async function optionsOfMachine(flags: MachineFlags, runtime: Runtime): Promise<MachineOptions | undefined> {
  const options = await machineOptions(flags, runtime);
  if (options === undefined || options.ok) return options?.value;
  return misuse(`${options.error.join("\n")}\n`);
}

export const serve = command({
  name: "serve",
  description: "run a build of the gateway on workerd until SIGTERM or Ctrl-C",
  args: [["<build>", "the folder of waybill build"]],
  options: [
    option("--table <file>", "a table to publish at the start, if it differs from the one in force"),
    option(
      "--state <folder>",
      'tables, history, audit and sequences: keep it over upgrades (default: ".waybill/default")',
    ),
    option("--listen <address>", 'where clients connect (default: "127.0.0.1:8787")'),
    option(
      "--otlp-traces <url>",
      "a collector that gets the traces of sampled requests, such as http://127.0.0.1:4318/v1/traces",
    ),
    option(
      "--stop-timeout <seconds>",
      "how long running requests may take after SIGTERM or Ctrl-C (default: 30)",
      seconds,
    ),
    ...MACHINE_FLAGS,
  ],
  help: `
Settings and secrets come from the environment (docs/operate/deploy.md). The log goes to stdout.
A second Ctrl-C cuts off the requests that still run.

An empty state publishes the table of the build. Any other serves what was published last, unless --table names another:
then each start publishes that file, as \`waybill table publish\` does, and ends a running canary.

Examples:
  $ waybill serve build
  $ waybill serve build --table routing-table.json
  $ waybill serve /opt/waybill/2 --state /var/lib/waybill --listen 0.0.0.0:8080
  $ waybill serve build --role state --state-listen 10.0.0.21:8443 --state-tls state-tls
  $ waybill serve build --role edge --state-nodes 10.0.0.21:8443 --state-tls edge-tls --processes 4
  $ waybill serve build --config /etc/waybill/edge.json`,
  run: async (runtime, [build = ""], flags) => {
    const machine = await optionsOfMachine(flags, runtime);
    if (machine !== undefined) {
      const { serveMachine } = await import("../../host/machines/serve.ts");
      return (await hosted(() => serveMachine(build, machine))) === 0 ? EXIT.ok : EXIT.failed;
    }
    const { serveBuild } = await import("../../host/self-hosting.ts");
    const { state = ".waybill/default", listen = "127.0.0.1:8787", stopTimeout = 30 } = flags;
    const served = {
      build,
      stateFolder: state,
      tableFile: flags.table,
      ...listenAddress(listen),
      stopMs: stopTimeout * 1000,
      tracesUrl: flags.otlpTraces,
    };
    return (await hosted(() => serveBuild(served))) === 0 ? EXIT.ok : EXIT.failed;
  },
});
