import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { readTraceSettings } from "../edge/config.ts";
import { parseSelfRegions, unknownRegions } from "../features/mesh/table/self-regions.ts";
import { err, ok, type Result } from "../ids/index.ts";
import { type DeclaredTable, parseJson, plainJson, TABLE_BYTES_MAX } from "../routing/index.ts";
import { endedByItself, stopSignals } from "./child.ts";
import { workerdLine } from "./log-lines.ts";
import { foreignState } from "./machines/folder.ts";
import { copyConsole } from "./parts.ts";
import {
  packsFolderOf,
  publishedPointer,
  publishedText,
  readBytes,
  readPacks,
  readTableText,
  replaceFile,
} from "./publish/publish.ts";
import { foreignFile } from "./replace-folder.ts";
import { readSettings } from "./settings.ts";
import { exportTraces, type TraceExport } from "./traces.ts";
import { serveWorker } from "./workerd/gateway.ts";
import { readWorker, writeWorker } from "./workerd/modules.ts";
import { workerWith } from "./workerd/table-modules.ts";
import { CONFIG_FILE } from "./workerd/workerd.ts";

export const CONSOLE_FOLDER = "console";
export const BUILT_TABLE = "routing-table.json";

/** Names in the folder of a build, of this and of earlier versions. */
const OWN_FILES = /^(?:worker|worker\.js|console|routing-table\.json|packs|unfinished\..*)$/;

/**
 * `waybill build`: writes the gateway into a folder, with a table as its fallback. Touches no state. The Worker comes
 * last and whole: after an interrupted build the folder can be served, or says that it has none.
 */
export async function buildGateway(folder: string, tableFile: string): Promise<Result<undefined, string>> {
  const foreign = foreignFile(folder, OWN_FILES) ?? foreignPart(folder);
  if (foreign !== undefined) return err(notOurs(foreign));
  const text = await readTableText(tableFile);
  if (!text.ok) return text;
  const packsFolder = packsFolderOf(resolve(tableFile));
  const packs = await readPacks(text.value, packsFolder);
  if (!packs.ok) return err(packs.error);
  const worker = await workerWith(text.value);
  const built = packsFolderOf(join(folder, BUILT_TABLE));
  mkdirSync(built, { recursive: true });
  for (const { sha256 } of resolve(built) === packsFolder ? [] : packs.value)
    copyFileSync(join(packsFolder, `${sha256}.pack`), join(built, `${sha256}.pack`));
  await copyConsole(join(folder, CONSOLE_FOLDER));
  replaceFile(folder, BUILT_TABLE, text.value);
  writeWorker(folder, worker);
  warnOfDemo(text.value);
  return ok(undefined);
}

export const notOurs = (path: string): string => `No build wrote ${path}. Name another folder with --out.`;

/** Folders that a build replaces whole, each with files by which it is ours, also after an interruption. */
const PARTS = [
  ["worker", /^(?:voucher|control-plane-object)\.js$/],
  [CONSOLE_FOLDER, /^shell\.html$|\.[0-9A-Z]{8}\.\w+(?:\.gz)?$/],
] as const;

/** The path of such a folder that no build wrote: it must not be lost. */
export function foreignPart(folder: string, parts = PARTS.map(([name]) => name as string)): string | undefined {
  for (const [name, own] of PARTS) {
    const path = join(folder, name);
    if (!parts.includes(name) || !existsSync(path)) continue;
    if (!statSync(path).isDirectory()) return path;
    const names = readdirSync(path);
    if (names.length > 0 && !names.some((each) => own.test(each))) return path;
  }
  return undefined;
}

export interface Preparation {
  readonly tableFile: string;
  /** Gets `worker/`, the modules that `base_dir` of `wrangler.toml` names, and `console/`, which `[assets]` names. */
  readonly folder: string;
  /** The main module of a project's own, whose imports are resolved to `FOR_PROJECTS`. */
  readonly mainCode?: string | undefined;
}

/**
 * `waybill prepare`, and `[build]` of the checkout: makes the files that wrangler uploads as they are, since its own bundler would
 * make one module of all. Gives the checked table's text, or why it cannot be deployed; then the folder stays as it was.
 */
export async function prepareFolder({ tableFile, folder, mainCode }: Preparation): Promise<Result<string, string>> {
  const text = await readTableText(tableFile);
  if (!text.ok) return text;
  const foreign = foreignPart(folder);
  if (foreign !== undefined) return err(notOurs(foreign));
  const modules = await workerWith(text.value, mainCode);
  mkdirSync(folder, { recursive: true });
  await copyConsole(join(folder, "console"));
  writeWorker(folder, modules, true);
  return ok(text.value);
}

export interface ServedBuild {
  /** The folder of `waybill build`. */
  readonly build: string;
  readonly stateFolder: string;
  readonly host: string;
  readonly port: number;
  /** A table to put into force, if it differs from the one that is. */
  readonly tableFile?: string | undefined;
  /** A collector of traces, in place of `OTLP_TRACES_URL`. */
  readonly tracesUrl?: string | undefined;
  /** Between SIGTERM and the end of requests that still run. */
  readonly stopMs: number;
}

/** `waybill serve`: runs a build until a signal or its end, and gives the exit code. Throws if it cannot be started. */
export async function serveBuild({ stopMs, ...served }: ServedBuild): Promise<number> {
  const { first, atOnce } = stopSignals();
  const traces = readTraces(served.tracesUrl);
  const gateway = await startBuild(served, traces);
  warnOfDemo(publishedText(gateway.kvFolder) ?? "{}");
  const pointer = publishedPointer(gateway.kvFolder);
  const revision = pointer.ok ? `revision ${pointer.value?.revision ?? 0}` : pointer.error;
  report(`ready http://${served.host}:${gateway.port}, state ${served.stateFolder}, ${revision}`);
  if (await endedByItself(gateway.exited, first)) {
    await traces?.stop();
    return 1;
  }
  const startMs = performance.now();
  if (await gateway.stop(stopMs, atOnce))
    report(`requests still ran after ${Math.round((performance.now() - startMs) / 1000)} s, and were cut off`);
  await traces?.stop();
  return 0;
}

/** An invalid setting stops the traces alone. */
export function readTraces(url: string | undefined): TraceExport | undefined {
  const given = url === undefined ? process.env : { ...process.env, OTLP_TRACES_URL: url };
  const { collector, instance, faults } = readTraceSettings(given);
  if (given["OTLP_TRACES_URL"] === undefined) return undefined;
  for (const { why } of faults) report(`warning: no traces are sent: ${why}`);
  if (collector === undefined) return undefined;
  if (process.env["REQUEST_LOG"] === "off") report("warning: REQUEST_LOG is off, and traces are made of the log");
  return exportTraces({ collector, instance, report });
}

async function startBuild(
  { build, stateFolder, host, port, tableFile }: Omit<ServedBuild, "stopMs">,
  traces: TraceExport | undefined,
) {
  const worker = readWorker(build);
  if (worker.length === 0) throw new Error(noBuild(build));
  const foreign = foreignState(stateFolder, "machine");
  if (foreign !== undefined) throw new Error(foreign);
  const text = tableFile === undefined ? undefined : await readTableText(tableFile);
  if (text?.ok === false) throw new Error(`${text.error}\nNothing was started or published.`);
  const { settings, faults } = readSettings(process.env);
  // The Worker makes the spans, and needs not know who gets them.
  const vars = traces === undefined ? settings : { TRACE_SHARE: "1", ...settings };
  const missing = missingSettings(stateFolder, vars);
  const gateway = await serveWorker(worker, {
    host,
    port,
    stateFolder,
    vars,
    tableText: readFileSync(join(build, BUILT_TABLE), "utf8"),
    packsFolder: packsFolderOf(join(build, BUILT_TABLE)),
    published: text && { text: text.value, packsFolder: packsFolderOf(resolve(tableFile ?? "")) },
    // A build of an earlier version has none.
    consoleFolder: existsSync(join(build, CONSOLE_FOLDER)) ? resolve(build, CONSOLE_FOLDER) : undefined,
    openPages: process.env["OPEN_PAGES"] === "on",
    onLogLine(line) {
      process.stdout.write(`${workerdLine(line, Date.now())}\n`);
      traces?.onLine(line);
    },
  });
  const served = publishedText(gateway.kvFolder) ?? readFileSync(join(build, BUILT_TABLE), "utf8");
  for (const fault of [...faults, ...regionFaults(vars, served)]) report(`warning: ${fault}`);
  if (missing.length > 0) report(`warning: ${missing.join(", ")} was set at the last start, and is not now`);
  return gateway;
}

/** Sentences on regions that the settings name, and the table in force has not. */
function regionFaults({ SELF_REGIONS: text }: Readonly<Record<string, string>>, tableText: string): readonly string[] {
  const named = text === undefined ? undefined : parseSelfRegions(text);
  const { regions = {} } = (parseJson(tableText) ?? {}) as Partial<DeclaredTable>;
  return named?.ok ? unknownRegions(named.value, Object.keys(regions)).map(({ why }) => why) : [];
}

/** Why a path is no build, with the command that helps. */
export function noBuild(path: string): string {
  const kind = statSync(path, { throwIfNoEntry: false });
  if (kind === undefined)
    return `${path} does not exist: \`waybill build --out ${shellWord(path)}\` makes a build there`;
  if (kind.isDirectory()) return `${path} has no build: ${commandFor(path)}`;
  const takes = "serve takes the folder of a build";
  if (!isTable(path)) return `${path} is a file, and ${takes}: \`waybill build --out build\` makes one`;
  return [
    `${path} is a table, and ${takes}. Build it, then serve the build:`,
    `  waybill build ${shellWord(path)} --out build`,
    "  waybill serve build",
    `To publish it with a build that is there: \`waybill serve build --table ${shellWord(path)}\``,
  ].join("\n");
}

/** A folder with other files in it takes no build, but may have a table. */
function commandFor(folder: string): string {
  if (foreignFile(folder, OWN_FILES) === undefined) return `\`waybill build --out ${shellWord(folder)}\` makes one`;
  const table = join(folder, BUILT_TABLE);
  return existsSync(table)
    ? `\`waybill build ${shellWord(table)} --out build\` makes one; then \`waybill serve build\``
    : "`waybill build --out build` makes one; then `waybill serve build`";
}

/** By its content; by its name alone where a fault hides that. */
function isTable(path: string): boolean {
  const text = readBytes(path)?.toString() ?? "";
  const read = text.length > TABLE_BYTES_MAX ? undefined : parseJson(plainJson(text));
  return read === undefined ? /\.jsonc?$/i.test(path) : typeof read === "object" && read !== null && "regions" in read;
}

/** A word of a POSIX shell. */
const shellWord = (text: string): string =>
  /^[\w./:@%+,][\w./:@%+,-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** Ports of the demo's origins in its table. */
export const DEMO_PORTS: readonly string[] = ["8788", "8789", "8790"];

export const originUrls = ({ regions = {} }: Partial<DeclaredTable>): string[] =>
  Object.values(regions).flatMap(({ origins }) => origins.map(({ url }) => url));

export const isLoopback = (url: string): boolean =>
  /^(?:127(?:\.\d+){3}|localhost|\[::1\])$/.test(new URL(url).hostname);

export function isDemoOrigin(url: string): boolean {
  const { protocol, port, pathname } = new URL(url);
  return protocol === "http:" && isLoopback(url) && DEMO_PORTS.includes(port) && pathname === "/";
}

function warnOfDemo(tableText: string): void {
  const urls = originUrls((parseJson(tableText) ?? {}) as Partial<DeclaredTable>).filter(isDemoOrigin);
  if (urls.length > 0)
    report(`warning: the table names the demo's origins, which only npm start runs: ${urls.join(", ")}`);
}

/** Settings of the last start that are gone, such as a secret left out of the unit file. */
export function missingSettings(stateFolder: string, vars: Readonly<Record<string, string>>): readonly string[] {
  const before = readBytes(join(stateFolder, CONFIG_FILE))?.toString() ?? "";
  const names = [...before.matchAll(/^ {4}\(name = "([A-Z_]+)", text = /gm)].map(([, name = ""]) => name);
  return names.filter((name) => /_KEYS$|_TOKENS$|_HEADERS$|^ACCESS_/.test(name) && vars[name] === undefined);
}

export const report = (line: string) => process.stderr.write(`${line}\n`);
