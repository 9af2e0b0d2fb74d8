import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, styleText } from "node:util";
import { startDemo } from "./demo.ts";
import { isDemoTable, otherPortsNote, TABLE_FILE } from "./demo-table.ts";
import { type Front, type FrontOptions, startFront } from "./front.ts";
import { isOpen, missingKeysNote, showsJson } from "./operator-settings.ts";
import { checkPortFree, portFrom } from "./ports.ts";
import { type Paint, showLogLine } from "./request-line.ts";
import { formatOwnScreen, formatScreen } from "./screen.ts";
import { readTableFile, type TableFile } from "./table-file.ts";

/**
 * `npm start`, and with `--reload` `npm run dev`: serves `routing-table.json`, or the file named. The demo's table gets
 * the demo's origins; any other is served in front of its own.
 */

/** What the gateway keeps between runs, a folder for each port. */
const STATE_FOLDER = process.env["WAYBILL_STATE"] ?? fileURLToPath(new URL("../../.waybill", import.meta.url));

/** How far apart the members of a group may hear one signal. */
const OWN_SIGNAL_DEADLINE_MS = 250;

const OPEN_NOTE =
  "This is for trying things out on this machine: the gateway's own pages are open to all who reach it (docs/operate/deploy.md).";

const CLOSED_NOTE =
  "The gateway's own pages, /-/ids among them, are closed: they ask for a credential of ADMIN_TOKENS or Cloudflare Access (docs/operate/deploy.md).";

const HELP = `npm start [-- table.json]: serves a routing table on this machine (default: routing-table.json); npm run dev takes up its changes.
  PORT                      the gateway's port (default: 8787); the demo's origins take the three after it
  ADMIN_TOKENS, ACCESS_…    who may see the gateway's own pages (default: everybody who reaches it)
  REQUEST_LOG               json: lines for a program; off: none
docs/operate/deploy.md has the other settings.`;

const hasColours = process.stdout.isTTY && !process.env["NO_COLOR"];
const paint: Paint = (style, text) => (hasColours ? styleText(style, text) : text);
const print = (text: string) => process.stdout.write(`${text}\n`);

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { reload: { type: "boolean", default: false }, help: { type: "boolean", short: "h", default: false } },
    allowPositionals: true,
  });
  if (values.help) {
    print(HELP);
    return;
  }
  // Heard from the first moment on: a signal during the start ends what has been started by then.
  const asked = new Promise<number>((end) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => end(0));
  });
  const shown = logBelowScreen();
  const port = portFrom(process.env["PORT"]);
  const file = await readTableFile(resolve(positionals[0] ?? TABLE_FILE));
  const options = { port, stateFolder: STATE_FOLDER, reload: values.reload, onLogLine: shown.line };
  const start = isDemoTable(file.declared) ? startOnDemoOrigins : startOnOwnOrigins;
  const { front, screen } = await start(options, file);
  const notes = [missingKeysNote(file.table, process.env), otherPortsNote(file.declared)];
  for (const note of notes) if (note !== undefined) print(paint("yellow", note));
  print(paint("dim", isOpen(process.env) ? OPEN_NOTE : CLOSED_NOTE));
  print(screen);
  shown.begin();
  process.exitCode = await Promise.race([asked, front.exited.then((code) => codeOfLostGateway(code, asked))]);
  await front.stop();
}

interface Started {
  readonly front: Front;
  readonly screen: string;
}

async function startOnDemoOrigins(options: FrontOptions, file: TableFile): Promise<Started> {
  const demo = await startDemo(options, file);
  return { front: demo, screen: formatScreen({ ...demo, paint, isOpen: isOpen(process.env) }) };
}

async function startOnOwnOrigins(options: FrontOptions, file: TableFile): Promise<Started> {
  await checkPortFree(options.port);
  const read = async () => (await readTableFile(file.path)).text;
  const front = await startFront(options, file.text, { path: file.path, read });
  const { name: tableName, table } = file;
  return { front, screen: formatOwnScreen({ ...front, tableName, table, paint }) };
}

/** Keeps the lines that come before the screen, and prints the later ones as they come. */
function logBelowScreen() {
  const show = (line: string) => print(showsJson(process.env) ? line : showLogLine(line, paint));
  const early: string[] = [];
  let isBegun = false;
  return {
    line: (line: string): void => {
      if (isBegun) show(line);
      else early.push(line);
    },
    begin: (): void => {
      isBegun = true;
      for (const line of early) show(line);
    },
  };
}

/**
 * A signal to the whole group, as Ctrl-C in a terminal is, may reach the gateway first: ours is then on its way. Any
 * other end is a failure.
 */
async function codeOfLostGateway(code: number, asked: Promise<number>): Promise<number> {
  const late = new Promise<undefined>((end) => setTimeout(end, OWN_SIGNAL_DEADLINE_MS, undefined));
  const askedCode = await Promise.race([asked, late]);
  if (askedCode !== undefined) return askedCode;
  process.stderr.write(`The gateway ended with code ${code}.\n`);
  return 1;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
});
