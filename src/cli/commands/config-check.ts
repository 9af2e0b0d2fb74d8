import { parseEnv } from "node:util";
import { HOST_SETTINGS, readConfig, readTraceSettings } from "../../edge/config.ts";
import { isUnset, SETTING_NAMES, type Settings } from "../../edge/settings.ts";
import { unknownRegions } from "../../features/mesh/table/self-regions.ts";
import type { Lack } from "../../host/deploy/requirements.ts";
import type { Members } from "../../host/machines/members.ts";
import { checkTable } from "../../routing/index.ts";
import { command, group, option } from "../command.ts";
import { unreadable } from "../lib/input.ts";
import { readJsonText } from "../lib/json-text.ts";
import { escapeControls, jsonText } from "../lib/output.ts";
import { readTableFile } from "../lib/table-file.ts";
import { EXIT, type ExitCode, fail, misuse, type Runtime } from "../runtime.ts";

export const config = group("config", "check a gateway's settings", [
  command({
    name: "check",
    description: "name every invalid setting, and what wrangler's configuration lacks; values are never printed",
    args: [
      [
        "[file]",
        "wrangler's configuration, a file of NAME=value lines, or of serve --config; by default the environment",
      ],
    ],
    options: [
      option(
        "--role <role>",
        "the file is one of serve --config, for an edge or a state node: a file with a role needs none",
      ),
      option("--table <file>", "the routing table whose regions SELF_REGIONS must name"),
      option("--env <name>", "an environment of wrangler's configuration"),
      option("--json", "one JSON object on stdout"),
    ],
    help: `
Examples:
  $ waybill config check wrangler.toml
  $ waybill config check settings.env
  $ waybill config check settings.env --table routing-table.json
  $ ADMIN_TOKENS="$(cat tokens.json)" waybill config check
  $ waybill config check /etc/waybill/edge.json

Of a machine of several it checks the certificates, keys and other files that the file names, its ports and its addresses.

Exit code: 0 without faults, 1 with faults or if the file cannot be read.`,
    run: async (runtime, [path], { env, json, role, table }) => {
      if (isOfMachine(path, role, runtime)) return checkMachineFile(path, { role }, json === true, runtime);
      const regions = table === undefined ? undefined : await regionsIn(table, runtime);
      const checked = await checkSettings(path, env, runtime, regions);
      const { faults, unknown, lacks } = checked;
      if (json)
        await runtime.print(
          jsonText({ faults, unknown, lacks: lacks.map(({ what, isFault }) => ({ what, isFault })) }),
        );
      else {
        reportFaults(checked, path, runtime);
        if (isGood(checked)) await runtime.print(`settings: no faults; ${checked.names.join(", ") || "none"} set\n`);
      }
      return isGood(checked) ? EXIT.ok : EXIT.failed;
    },
  }),
]);

/** `role` is a member of no configuration of wrangler. */
function isOfMachine(path: string | undefined, role: string | undefined, runtime: Runtime): path is string {
  if (path === undefined)
    return role === undefined ? false : misuse("--role needs a file: config check FILE --role edge\n");
  const value = /\.jsonc?$/.test(path) ? jsonAt(path, runtime) : undefined;
  if (role !== undefined) return true;
  return typeof value === "object" && value !== null && Object.hasOwn(value, "role");
}

/** Says where the syntax is wrong: neither wrangler nor `serve` does. */
function jsonAt(path: string, runtime: Runtime): unknown {
  const file = runtime.readFile(path);
  if (!file.ok) return undefined;
  const { value, faults } = readJsonText(new TextDecoder().decode(file.value), "configuration");
  const [fault] = faults;
  if (value !== undefined || fault === undefined) return value;
  const { line, column, message } = fault;
  return fail(`error: ${escapeControls(`${path}:${line}:${column}: ${message}`)}\n`);
}

async function checkMachineFile(path: string, flags: Members, isJson: boolean, runtime: Runtime): Promise<ExitCode> {
  const [{ readMachine, machineFile }, { checkMachine }] = await Promise.all([
    import("./cluster/machine.ts"),
    import("../../host/machines/files.ts"),
  ]);
  const options = await readMachine(flags, machineFile(path, runtime));
  const { faults, notes } = options.ok
    ? checkMachine(options.value, runtime.nowMs())
    : { faults: options.error, notes: [] };
  if (isJson) await runtime.print(jsonText({ faults: faults.map((why) => ({ why })), notes }));
  else {
    for (const fault of faults) runtime.report(`error: ${escapeControls(fault)}\n`);
    for (const note of notes) runtime.report(`note: ${escapeControls(note)}\n`);
    if (faults.length === 0) await runtime.print(`${escapeControls(path)}: no faults\n`);
  }
  return faults.length === 0 ? EXIT.ok : EXIT.failed;
}

type Checked = Awaited<ReturnType<typeof checkSettings>>;

/** Invalid settings, and what a configuration of wrangler lacks against this version. */
export async function checkSettings(
  path: string | undefined,
  env: string | undefined,
  runtime: Runtime,
  regions?: readonly string[],
) {
  const { settings, lacks } =
    path === undefined ? { settings: fromEnvironment(runtime), lacks: [] } : await readSettings(path, env, runtime);
  const names = Object.keys(settings).filter((name) => settings[name] !== undefined);
  const { faults: ofSettings, selfRegions } = readConfig(settings as Settings);
  const ofWorker = [...ofSettings, ...unknownRegions(selfRegions, regions)];
  const named = new Set(ofWorker.map(({ setting }) => setting));
  const faults = [...ofWorker, ...readTraceSettings(settings).faults.filter(({ setting }) => !named.has(setting))];
  const unknown = names.filter((name) => ![...SETTING_NAMES, ...HOST_SETTINGS].includes(name));
  return { names, faults, unknown, lacks };
}

const regionsIn = async (file: string, runtime: Runtime): Promise<readonly string[]> =>
  Object.keys((await readTableFile(file, runtime, checkTable)).table.regions);

export const isGood = ({ faults, lacks }: Checked): boolean =>
  faults.length === 0 && lacks.every(({ isFault }) => !isFault);

export function reportFaults({ faults, unknown, lacks }: Checked, path: string | undefined, runtime: Runtime): void {
  for (const { why } of faults) runtime.report(`error: ${escapeControls(why)}\n`);
  for (const { what, isFault } of lacks)
    runtime.report(`${isFault ? "error" : "note"}: ${escapeControls(`${path}: ${what}`)}\n`);
  if (lacks.some(({ isFault }) => isFault)) runtime.report("`waybill upgrade` shows how to add what is missing.\n");
  for (const name of unknown) runtime.report(`note: ${escapeControls(name)} is no setting of the gateway\n`);
}

type Given = Readonly<Record<string, unknown>>;

const fromEnvironment = (runtime: Runtime): Given =>
  withoutUnset(Object.fromEntries([...SETTING_NAMES, ...HOST_SETTINGS].map((name) => [name, runtime.env(name)])));

interface Read {
  readonly settings: Given;
  readonly lacks: readonly Lack[];
}

async function readSettings(path: string, env: string | undefined, runtime: Runtime): Promise<Read> {
  if (/\.(?:toml|jsonc?)$/.test(path)) return fromWrangler(path, env);
  const file = runtime.readFile(path);
  if (!file.ok) return unreadable(path, file.error);
  // As Node reads lines that end in CRLF. The decoder drops a byte order mark.
  const text = new TextDecoder().decode(file.value).replaceAll("\r\n", "\n");
  // The parser skips invalid lines in silence, so they would count as checked. Quoted values may have several lines.
  const lines = text
    .replace(/=\s*(["'`])[\s\S]*?\1/g, (quoted) => `=${"\n".repeat(quoted.split("\n").length - 1)}`)
    .split("\n");
  const at = lines.findIndex((line) => !/^\s*(?:#.*|(?:export\s+)?[\w.-]+\s*=[^\r]*)?$/.test(line));
  return at === -1
    ? { settings: withoutUnset(parseEnv(text)), lacks: [] }
    : unreadable(path, `line ${at + 1} is not NAME=value`);
}

/** As the host takes them. */
const withoutUnset = (given: Given): Given =>
  Object.fromEntries(Object.entries(given).filter(([name, value]) => !isUnset(name, value)));

/** The variables and the rate limits, and what the file lacks; secrets are not in it. */
async function fromWrangler(path: string, env: string | undefined): Promise<Read> {
  const { readWranglerConfig } = await import("../../host/deploy/wrangler.ts");
  const config = await readWranglerConfig(path, env);
  if (!config.ok) return unreadable(path, config.error);
  const { vars, limits, lacks } = config.value;
  const bound = limits.map((name) => [name, { limit: () => undefined }]);
  return { settings: { ...vars, ...Object.fromEntries(bound) }, lacks };
}
