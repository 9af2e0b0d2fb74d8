import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parsePublicKeys } from "../../features/public-ids/table/codec.ts";
import { type DeclaredTable, parseJson } from "../../routing/index.ts";
import { endedByItself, stopSignals } from "../child.ts";
import { copyConsole } from "../parts.ts";
import { digestOf, packsFolderOf, publishedPointer } from "../publish/publish.ts";
import { runToken } from "../run-token.ts";
import { type Environment, isOpen, settingsFrom } from "../settings.ts";
import { KV_FOLDER, type RunningGateway, type ServeOptions, serveWorker } from "../workerd/gateway.ts";
import { workerWith } from "../workerd/table-modules.ts";
import { refuseRunning } from "../workerd/workerd.ts";
import { CONSOLE_SETTINGS, consoleUrlOf, formatLogLine, type Paint } from "./lines.ts";
import { editPublisher } from "./publish-edit.ts";
import { entitySamples } from "./samples.ts";
import { ENTITIES_MAX, formatStart, type OriginRow } from "./screen.ts";
import { type StandIns, startStandIns } from "./stand-ins.ts";
import { missingKeysNote, readTableFile, type TableFile } from "./table-file.ts";
import { watchTable } from "./watch-table.ts";

export interface ProjectStart {
  readonly tableFile: string;
  readonly stateFolder: string;
  readonly host: string;
  readonly port: number;
  /** A sentence for a port that is taken: how another is chosen. */
  readonly ifTaken: string;
  /** Whether the file is published whenever it is saved. */
  readonly reload: boolean;
  /** Whether origins on loopback where nothing listens get stand-ins. */
  readonly standIns: boolean;
  readonly print: (text: string) => void;
  readonly paint: Paint;
}

const CONSOLE_FOLDER = "console";

/** `waybill start`: serves a table file for work on it, until a signal or its end. Gives the exit code; throws if it cannot start. */
export async function startProject(start: ProjectStart, environment: Environment = process.env): Promise<number> {
  // From here on, so that a signal during the start stops what has started.
  const { first, atOnce } = stopSignals();
  const file = await readTableFile(resolve(start.tableFile));
  const run = newRun(start, file, environment);
  const standIns = start.standIns ? await startStandIns({ regionsOf: run.regionsOf, onLine: run.log.line }) : undefined;
  const before = inForce(start);
  try {
    const { gateway, stop } = await serve(start, run, standIns);
    const notes = [replacementNote(before, file), missingKeysNote(file.table, environment)];
    start.print(
      await screenOf(
        start,
        run,
        gateway,
        standIns,
        notes.filter((note) => note !== undefined),
      ),
    );
    run.log.flush();
    const code = (await endedByItself(gateway.exited, first)) ? 1 : 0;
    await stop(atOnce);
    return code;
  } finally {
    await standIns?.stop();
  }
}

const inForce = ({ stateFolder }: ProjectStart) => {
  const pointer = publishedPointer(join(resolve(stateFolder), KV_FOLDER));
  return pointer.ok ? pointer.value : undefined;
};

/** A table that others published may be what the user wants to go on with. */
const replacementNote = (before: ReturnType<typeof inForce>, { name, text }: TableFile): string | undefined =>
  before === undefined || before.digest === digestOf(text)
    ? undefined
    : `note: ${name} has replaced revision ${before.revision}. To bring that back: \`waybill table rollback ${before.revision}\``;

/** Hosts that no other machine reaches. `0.0.0.0` and `[::]` are all interfaces. */
const LOCAL = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
const EVERYWHERE: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "[::]": "[::1]" };

/** State of a run: its table, its access, its log. */
type Run = ReturnType<typeof newRun>;

function newRun({ host, print, paint, reload }: ProjectStart, file: TableFile, environment: Environment) {
  let { declared } = file;
  const access = accessOf(environment, LOCAL.test(host));
  const vars = { ...CONSOLE_SETTINGS, ...settingsFrom(environment), ...access.settings };
  const edits = reload ? editPublisher(vars, access.isOpen) : undefined;
  return {
    file,
    environment,
    access,
    edits,
    vars: edits?.settings ?? vars,
    log: bufferedLog(environment["REQUEST_LOG"] === "json", print, paint, (line) => edits?.isOwn(line) === true),
    regionsOf: (origin: string): readonly string[] =>
      Object.entries(declared.regions).flatMap(([name, { origins }]) =>
        origins.some(({ url }) => new URL(url).origin === origin) ? [name] : [],
      ),
    take(text: string): void {
      declared = (parseJson(text) ?? declared) as DeclaredTable;
    },
  };
}

interface Access {
  readonly isOpen: boolean;
  readonly settings: Readonly<Record<string, string>>;
  /** An operator's token of this run alone. */
  readonly token?: string;
}

/**
 * Pages are open to this machine alone. A gateway that others reach has a token of this run, if the environment names none
 * that may use them.
 */
function accessOf(environment: Environment, isLocal: boolean): Access {
  if (!isOpen(environment)) return { isOpen: false, settings: {} };
  if (isLocal) return { isOpen: true, settings: {} };
  const { token, entry } = runToken("start");
  const ADMIN_TOKENS = JSON.stringify([entry]);
  return { isOpen: false, settings: { ADMIN_TOKENS }, token };
}

async function serve(start: ProjectStart, run: Run, standIns: StandIns | undefined) {
  const { file, access, edits, log } = run;
  const stateFolder = resolve(start.stateFolder);
  // Before its console is written again below.
  if (existsSync(stateFolder)) refuseRunning(stateFolder);
  const packsFolder = packsFolderOf(file.path);
  const consoleFolder = join(stateFolder, CONSOLE_FOLDER);
  const [worker] = await Promise.all([workerWith(file.text), copyConsole(consoleFolder)]);
  const options: ServeOptions = {
    host: start.host,
    port: start.port,
    ifTaken: start.ifTaken,
    stateFolder,
    vars: run.vars,
    tableText: file.text,
    packsFolder,
    published: { text: file.text, packsFolder },
    consoleFolder,
    standInsUrl: standIns?.url,
    openPages: access.isOpen,
    onLogLine: log.line,
  };
  const gateway = await serveWorker(worker, options);
  const readTable = async () => (await readTableFile(file.path)).text;
  const watched = { tableFile: file.path, readTable, gateway: () => gateway, onLine: log.line, onText: run.take };
  const table = edits && watchTable({ ...watched, edits });
  const stop = async (atOnce: Promise<void>): Promise<void> => {
    await table?.stop();
    await gateway.stop(undefined, atOnce);
  };
  return { gateway, stop };
}

async function screenOf(
  start: ProjectStart,
  run: Run,
  gateway: RunningGateway,
  standIns: StandIns | undefined,
  notes: readonly string[],
) {
  const { file, access, environment } = run;
  const url = `http://${EVERYWHERE[start.host] ?? start.host}:${gateway.port}`;
  // A name below `localhost` leads to this machine alone.
  const isConsoleThere = LOCAL.test(start.host) || start.host in EVERYWHERE || !!environment["CONSOLE_HOST"];
  const keys = parsePublicKeys(environment["PUBLIC_ID_KEYS"] || "{}");
  const pointer = publishedPointer(gateway.kvFolder);
  return formatStart({
    url,
    table: file.name,
    revision: pointer.ok ? pointer.value?.revision : undefined,
    isWatched: start.reload,
    state: relative(process.cwd(), resolve(start.stateFolder)) || ".",
    origins: await originRows(file.declared, standIns),
    entities: entitySamples(file, ENTITIES_MAX, keys.ok ? keys.value : undefined),
    entityCount: file.table.entities.size,
    notes,
    consoleUrl: isConsoleThere ? consoleUrlOf(`http://127.0.0.1:${gateway.port}`, environment) : undefined,
    token: access.token,
    isOpen: access.isOpen,
    paint: start.paint,
  });
}

async function originRows(declared: DeclaredTable, standIns: StandIns | undefined): Promise<readonly OriginRow[]> {
  const rows = Object.entries(declared.regions).flatMap(([region, { origins }]) =>
    origins.map(async ({ url }) => ({
      region,
      url,
      isStandIn: (await standIns?.portOf(new URL(url).origin)) !== undefined,
    })),
  );
  return Promise.all(rows);
}

/** Holds lines back until the screen is printed. */
function bufferedLog(
  isJson: boolean,
  print: (text: string) => void,
  paint: Paint,
  isHidden: (line: string) => boolean,
) {
  const early: string[] = [];
  let show = (line: string): void => void early.push(line);
  return {
    line: (line: string): void => (isHidden(line) ? undefined : show(line)),
    flush(): void {
      show = (line) => print(isJson ? line : formatLogLine(line, paint));
      for (const line of early) show(line);
    },
  };
}
