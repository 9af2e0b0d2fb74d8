import { InvalidArgumentError } from "commander";
import { command, option, withDefault } from "../../command.ts";
import { TABLE_FILE_DEFAULT } from "../../lib/input.ts";
import { asCalled } from "../../lib/output.ts";
import { EXIT, fail, misuse } from "../../runtime.ts";
import { hosted, listenAddress } from "../host.ts";

const PORT_MAX = 65_535;

const portNumber = (text: string): number => {
  if (/^\d{1,5}$/.test(text) && Number(text) <= PORT_MAX) return Number(text);
  throw new InvalidArgumentError(`A port from 0 to ${PORT_MAX}; 0 takes a free one.`);
};

const HOST = "127.0.0.1";
const PORT = 8787;

const OTHER_PORT = "Choose another one with --port, for example `waybill start --port 9000`.";
const OTHER_ADDRESS = "Choose another one with --listen, for example `waybill start --listen 0.0.0.0:9000`.";

const PORT_OF_NPM =
  "error: npm took --port for itself; write -- before it, and npm passes it on: npm start -- --port 9000\n";

const NO_PROJECT = `error: no table: there is no ${TABLE_FILE_DEFAULT} in this folder; \`waybill init\` writes a project with one\n`;

export const start = command({
  name: "start",
  description: "serve a routing table on this machine while you work on it",
  args: [["[table]", `the routing table (default: ${TABLE_FILE_DEFAULT})`]],
  options: [
    option("--port <number>", `the port on ${HOST}; 0 takes a free one (default: ${PORT})`, portNumber),
    option("--listen <address>", "host and port, for other machines to reach it"),
    option("--state <folder>", "tables, history and sequences (default: WAYBILL_STATE, or .waybill/default)"),
    withDefault("--no-reload", "do not publish the table when its file is saved", true),
    withDefault("--no-stand-ins", "leave origins on this machine alone where nothing listens", true),
  ],
  help: `
The file is in force at the start, and again whenever it is saved. A faulty one is not published; its faults are printed.
An origin on this machine where nothing listens gets a stand-in: it answers with JSON, and remembers what is PUT. Once such an
origin listens itself, its stand-in is gone until the next start. A line says so, and another when the origin is stopped again.
The gateway's own pages are open to this machine. With --listen for others they need a token, which is printed.
Settings and secrets come from the environment (docs/operate/deploy.md). REQUEST_LOG=json prints the log as it is.

Examples:
  $ waybill start
  $ waybill start routing-table.json --port 0
  $ waybill start --listen 0.0.0.0:8787 --no-stand-ins

Exit code: 0 after Ctrl-C or SIGTERM, 1 if the table has faults or the gateway cannot run.`,
  run: async (runtime, [named], { port, listen, state, reload, standIns }) => {
    if (port === undefined && runtime.env("npm_config_port")) return misuse(PORT_OF_NPM);
    if (port !== undefined && listen !== undefined) return misuse("error: --port and --listen exclude each other\n");
    const address = listen === undefined ? { host: HOST, port: port ?? PORT } : listenAddress(listen);
    if (named === undefined && !runtime.fileExists(TABLE_FILE_DEFAULT)) return fail(NO_PROJECT);
    const { startProject } = await import("../../../host/project/start.ts");
    const code = await hosted(() =>
      startProject({
        tableFile: named ?? TABLE_FILE_DEFAULT,
        stateFolder: state ?? (runtime.env("WAYBILL_STATE") || ".waybill/default"),
        ...address,
        ifTaken: listen === undefined ? OTHER_PORT : OTHER_ADDRESS,
        reload,
        standIns,
        print: (text) => void runtime.print(`${asCalled(text, runtime.env)}\n`),
        paint: runtime.paint,
      }),
    );
    return code === 0 ? EXIT.ok : EXIT.failed;
  },
});
