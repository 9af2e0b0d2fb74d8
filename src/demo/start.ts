import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, styleText } from "node:util";
import { packsFolderOf } from "../host/publish/packs.ts";
import { startGateway } from "../host/workerd/gateway.ts";
import { documentPathOf, REGIONS, type RunningOrigin, startOrigins } from "./origin.ts";
import { startReloading } from "./reload.ts";
import { mintSamples } from "./samples.ts";
import { formatLogLine, formatScreen, type Paint } from "./screen.ts";
import { checkPortsFree, isOpen, missingKeysNote, portFrom, settingsFrom } from "./settings.ts";
import { isDemoTable, otherPortsNote, readTableFile, TABLE_FILE, type TableFile, tableWithOrigins } from "./table.ts";

/**
 * `npm start`, and `npm run dev` with `--reload`: serves `routing-table.json` or the given file. The demo's table gets the
 * demo's origins; any other table has its own.
 */

/** State between runs, one folder per port. */
const STATE_FOLDER = process.env["WAYBILL_STATE"] ?? fileURLToPath(new URL("../../.waybill", import.meta.url));

/** Within this time a signal reaches all processes of a group. */
const SIGNAL_DEADLINE_MS = 250;

const OPEN_NOTE =
  "For trials on this machine: the gateway's own pages are open to everyone who reaches it (docs/operate/deploy.md).";

const CLOSED_NOTE =
  "The gateway's own pages, such as /-/ids, need a credential of ADMIN_TOKENS or Cloudflare Access (docs/operate/deploy.md).";

const HELP = `npm start [-- table.json]: serves a routing table on this machine (default: routing-table.json).
npm run dev [-- table.json]: the same, and reloads the source and the table when they change.
  PORT                      the gateway's port (default: 8787); the demo's origins use the next three
  ADMIN_TOKENS, ACCESS_…    access to the gateway's own pages (default: everyone who reaches it)
  REQUEST_LOG               json: log lines as JSON; off: none
For other settings see docs/operate/deploy.md.`;

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
  // From here on, so that a signal during the start stops what has started.
  const signalled = new Promise<number>((end) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => end(0));
  });
  const port = portFrom(process.env["PORT"]);
  const file = await readTableFile(resolve(positionals[0] ?? TABLE_FILE));
  const isDemo = isDemoTable(file.declared);
  await checkPortsFree(port, isDemo);
  const origins = isDemo ? await startOrigins(port + 1) : [];
  try {
    const samples = isDemo ? mintSamples(file) : undefined;
    // A document per sample, in its region only.
    for (const { entity, id, region, path, about } of samples ?? []) {
      const { documents } = origins.find((origin) => origin.region === region) ?? {};
      documents?.set(documentPathOf(path) ?? path, { id, kind: entity, region, about });
    }
    const log = bufferedLog();
    const gateway = await startFront(port, file, origins, values.reload, log.line);
    for (const note of [missingKeysNote(file.table, process.env), otherPortsNote(file.declared)]) {
      if (note !== undefined) print(paint("yellow", note));
    }
    const open = isOpen(process.env);
    print(paint("dim", open ? OPEN_NOTE : CLOSED_NOTE));
    const { regions } = isDemo ? tableWithOrigins(file.declared, origins) : file.declared;
    const { entities } = file.table;
    print(formatScreen({ ...gateway, tableName: file.name, regions, entities, samples, isOpen: open, paint }));
    log.flush();
    process.exitCode = await Promise.race([
      signalled,
      gateway.exited.then((code) => codeOfLostGateway(code, signalled)),
    ]);
    await gateway.stop();
  } finally {
    await Promise.all(origins.map((origin) => origin.stop()));
  }
}

async function startFront(
  port: number,
  file: TableFile,
  origins: readonly RunningOrigin[],
  reload: boolean,
  onLogLine: (line: string) => void,
) {
  const folder = join(STATE_FOLDER, String(port));
  const packsFolder = packsFolderOf(file.path);
  const vars = settingsFrom(process.env);
  const options = { port, packsFolder, stateFolder: folder, onLogLine, vars, openPages: isOpen(process.env) };
  const readTable = async () => servedText(await readTableFile(file.path), origins);
  const gateway = reload
    ? await startReloading({ ...options, tableFile: file.path, readTable })
    : await startGateway({ ...options, tableText: servedText(file, origins) });
  return { ...gateway, folder };
}

/** Throws for a table that an edit made unfit for the demo's origins. */
function servedText({ name, text, declared }: TableFile, origins: readonly RunningOrigin[]): string {
  if (origins.length === 0) return text;
  if (isDemoTable(declared)) return JSON.stringify(tableWithOrigins(declared, origins), null, 2);
  throw new Error(
    `${name} names a region or an origin that the demo does not have: it has ${REGIONS.join(", ")}, on the ports that ` +
      "the table came with. Restart to serve this table with its own origins.",
  );
}

/** Holds lines back until the screen is printed. */
function bufferedLog() {
  const isJson = process.env["REQUEST_LOG"] === "json";
  const early: string[] = [];
  let show = (line: string): void => void early.push(line);
  const flush = (): void => {
    show = (line) => print(isJson ? line : formatLogLine(line, paint));
    early.forEach(show);
  };
  return { line: (line: string): void => show(line), flush };
}

/** Ctrl-C signals the whole group, so the gateway may exit before our signal arrives. Any other exit is a failure. */
async function codeOfLostGateway(code: number, signalled: Promise<number>): Promise<number> {
  const signalCode = await Promise.race([signalled, delay(SIGNAL_DEADLINE_MS)]);
  if (signalCode !== undefined) return signalCode;
  process.stderr.write(`The gateway exited with code ${code}.\n`);
  return 1;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
});
