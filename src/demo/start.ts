import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, styleText } from "node:util";
import { parsePublicKeys } from "../features/public-ids/table/codec.ts";
import { endedByItself, stopSignals } from "../host/child.ts";
import { buildConsole } from "../host/console/build.ts";
import { documentPathOf } from "../host/project/documents.ts";
import { CONSOLE_SETTINGS, consoleUrlOf, formatLogLine, type Paint } from "../host/project/lines.ts";
import { mintSamples } from "../host/project/samples.ts";
import { missingKeysNote, publishedTable, readTableFile, type TableFile } from "../host/project/table-file.ts";
import { packsFolderOf } from "../host/publish/publish.ts";
import { isOpen, settingsFrom } from "../host/settings.ts";
import { startGateway } from "../host/workerd/gateway.ts";
import { runningOn } from "../host/workerd/workerd.ts";
import { REGIONS, type RunningOrigin, startOrigins } from "./origin.ts";
import { claimShops, SHOPS } from "./reach.ts";
import { startReloading } from "./reload.ts";
import { formatScreen, type Screen } from "./screen.ts";
import {
  checkPortsFree,
  isDemoTable,
  loopbackPortsOf,
  otherPortsNote,
  portFrom,
  TABLE_FILE,
  tableWithOrigins,
} from "./table.ts";
import { isOfTraffic, outages, startTraffic } from "./traffic.ts";

/**
 * `npm start`, and `npm run dev` with `--reload`: serves the published table. An empty state publishes `routing-table.json` or
 * the given file. The demo's table gets the demo's origins; any other table has its own.
 */

const STATES = fileURLToPath(new URL("../../.waybill", import.meta.url));

const OPEN_NOTE = "The gateway's pages are open to everyone who reaches it: docs/operate/deploy.md";

const CLOSED_NOTE = "The gateway's pages, such as /-/ids, need a credential: docs/operate/deploy.md";

const HELP = `npm start [-- table.json]: serves the published table on this machine. A new state publishes the given one
(default: routing-table.json).
npm run dev [-- table.json]: the same, and reloads the source and publishes the table when they change.
  --state FOLDER            tables, history and sequences (default: WAYBILL_STATE, or .waybill/default)
  --samples                 print all sample IDs and commands to try: those of the demo that runs already, if one does
  PORT                      the gateway's port (default: 8787); the demo's origins use the next three
  ADMIN_TOKENS, ACCESS_…    access to the gateway's own pages (default: everyone who reaches it)
  DEMO_TRAFFIC              off: no requests of the demo's own, which are not printed
  REQUEST_LOG               json: log lines as JSON; off: none
For other settings see docs/operate/deploy.md.`;

const hasColours = process.stdout.isTTY && !process.env["NO_COLOR"];
const paint: Paint = (style, text) => (hasColours ? styleText(style, text) : text);
const print = (text: string) => process.stdout.write(`${text}\n`);

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      reload: { type: "boolean", default: false },
      state: { type: "string" },
      samples: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
    allowPositionals: true,
  });
  if (values.help) {
    print(HELP);
    return;
  }
  // From here on, so that a signal during the start stops what has started.
  const signals = stopSignals();
  const port = portFrom(process.env["PORT"]);
  const given = values.state ?? process.env["WAYBILL_STATE"];
  const running = runningDemo(given, port);
  if (running !== undefined && values.samples) {
    print(running.screen);
    return;
  }
  if (running !== undefined) throw new Error(runsAlready(running));
  const file = await readTableFile(resolve(positionals[0] ?? TABLE_FILE));
  await checkPortsFree(port, false);
  const stateFolder = stateFolderOf(given, port);
  const published = publishedTable(join(stateFolder, "kv"), file);
  const inForce = published ?? file;
  const isDemo = isDemoTable(inForce.declared);
  await checkPortsFree(port, isDemo);
  const regionSwitch = outages();
  const origins = isDemo ? await startOrigins(port + 1, regionSwitch.origins) : [];
  const { reload, samples: isWhole } = values;
  try {
    await serve({ port, stateFolder, file, inForce, isDemo, origins, regionSwitch, reload, isWhole }, signals);
  } finally {
    regionSwitch.stop();
    await Promise.all(origins.map((origin) => origin.stop()));
  }
}

/** One start: where it listens and keeps its state, and the tables and origins that it has. */
interface Demo {
  readonly port: number;
  readonly stateFolder: string;
  readonly file: TableFile;
  /** The published table, or that of the file. */
  readonly inForce: TableFile;
  /** Whether it is the demo's own, which has `origins`. */
  readonly isDemo: boolean;
  readonly origins: readonly RunningOrigin[];
  readonly regionSwitch: ReturnType<typeof outages>;
  readonly reload: boolean;
  /** Whether the screen shows all that it has. */
  readonly isWhole: boolean;
}

/** Serves until the gateway ends or a signal comes. */
async function serve(demo: Demo, { first, atOnce }: ReturnType<typeof stopSignals>): Promise<void> {
  const { stateFolder, inForce, isDemo, origins, regionSwitch, isWhole } = demo;
  const keys = parsePublicKeys(process.env["PUBLIC_ID_KEYS"] || "{}");
  const samples = isDemo ? mintSamples(inForce, keys.ok ? keys.value : undefined) : undefined;
  storeDocuments(origins, samples ?? []);
  const log = bufferedLog();
  await buildConsole(join(stateFolder, "console"));
  const gateway = await startFront(demo, log.line);
  const { url } = gateway;
  const open = isOpen(process.env);
  for (const note of notesOn(demo, url)) print(paint("yellow", note));
  if (open && isDemo && inForce.declared.directory?.["slug"] !== undefined) {
    await claimShops(url).catch(({ message }: Error) => print(paint("yellow", `note: ${message}`)));
  }
  print(paint("dim", open ? OPEN_NOTE : CLOSED_NOTE));
  const { entities, creates, withoutId } = inForce.table;
  const screen: Screen = {
    url,
    consoleUrl: consoleUrlOf(url, process.env),
    folder: shorter(stateFolder),
    tableName: inForce.name,
    regions: (isDemo ? tableWithOrigins(inForce.declared, origins) : inForce.declared).regions,
    entities,
    withoutId: withoutId.entries,
    creates,
    samples,
    isOpen: open,
    isWhole,
    paint,
    switchUrl: isDemo ? await regionSwitch.start() : undefined,
  };
  print(formatScreen(screen));
  writeFileSync(join(stateFolder, SCREEN_FILE), formatScreen({ ...screen, isWhole: true, paint: (_, text) => text }));
  log.flush();
  const stopTraffic = process.env["DEMO_TRAFFIC"] === "off" ? undefined : startTraffic(url, samples ?? []);
  process.exitCode = (await endedByItself(gateway.exited, first).finally(stopTraffic)) ? 1 : 0;
  await gateway.stop(undefined, atOnce);
}

/** Settings and tables that may not be as the user thinks. */
const notesOn = ({ file, inForce }: Demo, url: string): readonly string[] => {
  const unpublished = inForce.text === file.text ? undefined : unpublishedNote(file.name, url);
  const notes = [missingKeysNote(inForce.table, process.env), otherPortsNote(inForce.declared), unpublished];
  return notes.filter((note) => note !== undefined);
};

/** A document for each sample and each shop, in its region alone. */
function storeDocuments(origins: readonly RunningOrigin[], samples: ReturnType<typeof mintSamples>): void {
  const documentsIn = (region: string) => origins.find((origin) => origin.region === region)?.documents;
  for (const [at, { entity, id, region, internalPath, about }] of samples.entries()) {
    const document = { id, kind: entity, region, about, status: at % 3 === 0 ? "shipped" : "open", total: 10 + at };
    documentsIn(region)?.set(documentPathOf(internalPath) ?? internalPath, document);
  }
  for (const [region, shop] of SHOPS) {
    documentsIn(region)?.set(`/shops/${shop}`, { id: shop, kind: "shop", region });
  }
}

/** In a state: all that its gateway could print, for `--samples` beside it. */
const SCREEN_FILE = "screen.txt";

/** The demo that has a port, with its whole screen. */
function runningDemo(given: string | undefined, port: number) {
  const folders = given ? [resolve(given)] : [join(STATES, "default"), join(STATES, String(port))];
  for (const folder of folders) {
    const pid = existsSync(folder) ? runningOn(folder) : undefined;
    const file = join(folder, SCREEN_FILE);
    const screen = pid !== undefined && existsSync(file) ? readFileSync(file, "utf8") : "";
    if (screen.includes(`\nready http://127.0.0.1:${port}\n`)) return { pid, port, screen };
  }
  return undefined;
}

const runsAlready = ({ pid, port }: { readonly pid: number | undefined; readonly port: number }): string =>
  `The demo runs already, on port ${port} (process ${pid}). npm start -- --samples prints its IDs, and PORT=${port + 1_000} npm start starts another.`;

/** A path as it is typed here, where that is shorter. */
const shorter = (path: string): string => {
  const here = relative(process.cwd(), path);
  return here !== "" && here.length < path.length ? here : path;
};

/** Two gateways cannot share a state: while one has the default, another has one of its own. Earlier versions named all by port. */
function stateFolderOf(given: string | undefined, port: number): string {
  if (given) return resolve(given);
  const folder = join(STATES, "default");
  const byPort = join(STATES, String(port));
  if (!existsSync(folder) && existsSync(byPort)) renameSync(byPort, folder);
  if (runningOn(folder) === undefined) return folder;
  print(paint("yellow", `note: another gateway runs on ${folder}; the state of this one is ${byPort}`));
  return byPort;
}

const unpublishedNote = (name: string, url: string): string =>
  `note: the published table is in force, and ${name} differs from it. To compare and publish the file:
  WAYBILL_GATEWAY=${url} npm run -s waybill -- table plan ${name}
  WAYBILL_GATEWAY=${url} npm run -s waybill -- table publish ${name}`;

function startFront({ port, stateFolder, file, origins, reload }: Demo, onLogLine: (line: string) => void) {
  const options = {
    port,
    stateFolder,
    onLogLine,
    tableText: file.text,
    packsFolder: packsFolderOf(file.path),
    vars: { ...CONSOLE_SETTINGS, ENVIRONMENT: "demo", ...settingsFrom(process.env) },
    consoleFolder: join(stateFolder, "console"),
    openPages: isOpen(process.env),
    loopbackPorts: loopbackPortsOf(origins),
  };
  const readTable = async () => checkedText(await readTableFile(file.path), origins);
  return reload ? startReloading({ ...options, tableFile: file.path, readTable }) : startGateway(options);
}

/** Throws for a table that an edit made unfit for the demo's origins. */
function checkedText({ name, text, declared }: TableFile, origins: readonly RunningOrigin[]): string {
  if (origins.length === 0 || isDemoTable(declared)) return text;
  throw new Error(
    `${name} names a region or an origin that the demo does not have: it has ${REGIONS.join(", ")}, on the ports that ` +
      "the table came with. Publish it over HTTP and restart, to serve this table with its own origins.",
  );
}

const CLAIMS = '"path":"/-/directory/slug/';

/** Holds lines back until the screen is printed. */
function bufferedLog() {
  const isJson = process.env["REQUEST_LOG"] === "json";
  const early: string[] = [];
  let show = (line: string): void => void early.push(line);
  const flush = (): void => {
    show = (line) => print(isJson ? line : formatLogLine(line, paint));
    // The claims of the demo's own shops are none of the user's.
    for (const each of early) if (!each.includes(CLAIMS)) show(each);
  };
  return { line: (line: string): void => (isOfTraffic(line) ? undefined : show(line)), flush };
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
});
