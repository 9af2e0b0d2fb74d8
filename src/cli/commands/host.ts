import { InvalidArgumentError } from "commander";
import { command, option, required, withDefault } from "../command.ts";
import { EXIT, fail, misuse } from "../runtime.ts";

/** Runs work of `src/host`, which is loaded for these commands alone. */
export const hosted = async <Value>(work: () => Promise<Value>): Promise<Value> => {
  try {
    return await work();
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : error}\n`);
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

export const serve = command({
  name: "serve",
  description: "run a build of the gateway on workerd until SIGTERM or Ctrl-C",
  args: [["<build>", "the folder of waybill build"]],
  options: [
    option("--table <file>", "a table to publish at the start, if it differs from the one in force"),
    withDefault("--state <folder>", "tables, history, audit and sequences: keep it over upgrades", ".waybill/default"),
    withDefault("--listen <address>", "where clients connect", "127.0.0.1:8787"),
    option(
      "--otlp-traces <url>",
      "a collector that gets the traces of sampled requests, such as http://127.0.0.1:4318/v1/traces",
    ),
    withDefault("--stop-timeout <seconds>", "how long running requests may take after SIGTERM or Ctrl-C", 30, seconds),
  ],
  help: `
Settings and secrets come from the environment (docs/operate/deploy.md). The log goes to stdout.
A second Ctrl-C cuts off the requests that still run.

An empty state publishes the table of the build. Any other serves what was published last, unless --table names another:
then each start publishes that file, as \`waybill table publish\` does, and ends a running canary.

Examples:
  $ waybill serve build
  $ waybill serve build --table routing-table.json
  $ waybill serve /opt/waybill/2 --state /var/lib/waybill --listen 0.0.0.0:8080`,
  run: async (_, [build = ""], { state: stateFolder, table: tableFile, listen, stopTimeout, otlpTraces }) => {
    const { serveBuild } = await import("../../host/self-hosting.ts");
    const served = {
      build,
      stateFolder,
      tableFile,
      ...listenAddress(listen),
      stopMs: stopTimeout * 1000,
      tracesUrl: otlpTraces,
    };
    return (await hosted(() => serveBuild(served))) === 0 ? EXIT.ok : EXIT.failed;
  },
});
