import { isAbsolute, resolve } from "node:path";
import { InvalidArgumentError } from "commander";
import { readConfig } from "../../../edge/config.ts";
import { ENGINES, type Engine, type ExportOptions } from "../../../export/index.ts";
import { parseSelfRegions } from "../../../features/mesh/table/self-regions.ts";
import type { Replaced } from "../../../host/replace-folder.ts";
import { checkTable } from "../../../routing/index.ts";
import { command, option, required, withDefault } from "../../command.ts";
import { oneOf, TABLE_FILE_DEFAULT } from "../../lib/input.ts";
import { linesText } from "../../lib/output.ts";
import { readTableFile } from "../../lib/table-file.ts";
import { EXIT, fail, misuse, type Runtime } from "../../runtime.ts";
import { leftBy, readPointer, readPublished } from "./published.ts";
import { watchPublished } from "./watch.ts";
import { leftLines, writeExport } from "./write.ts";

const engineNamed = oneOf(ENGINES, `Write one of ${ENGINES.join(", ")}.`);

/** As the engines read it: an address and a port, an IPv6 address in brackets. */
const listenAddress = (text: string): string => {
  const port = Number(/^(?:[\w.-]+|\[[0-9a-f:]+\]):(\d{1,5})$/i.exec(text)?.[1]);
  if (port > 0 && port <= 65_535) return text;
  throw new InvalidArgumentError("Write an address and a port, such as 0.0.0.0:8080.");
};

const gatewayUrl = (text: string): string => {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  throw new InvalidArgumentError("Write a URL of scheme, host and port, such as http://127.0.0.1:8787.");
};

const path = (text: string): string => {
  // A file beside a folder needs the folder's path without a slash at the end.
  const whole = resolve(text);
  if (isAbsolute(text) && whole !== "/" && /^[ !#%&(-~]+$/.test(whole)) return whole;
  throw new InvalidArgumentError("Write a whole path of ASCII characters without quotes and `$`.");
};

export const exportCommand = command({
  name: "export",
  description: "write a routing table as configuration of nginx, HAProxy or Envoy",
  args: [["<engine>", ENGINES.join(", "), engineNamed]],
  options: [
    withDefault("--table <file>", "the routing table", TABLE_FILE_DEFAULT),
    required("--out <folder>", "where to write it, a whole path", path),
    option("--waybill <url>", "the gateway for all else", gatewayUrl),
    option("--without-waybill", "answer all else with 503"),
    withDefault("--listen <address>", "where clients connect", "127.0.0.1:8080", listenAddress),
    withDefault("--ca-file <file>", "certificates that verify origins", "/etc/ssl/certs/ca-certificates.crt", path),
    withDefault("--modules <folder>", "modules of nginx", "/usr/lib/nginx/modules", path),
    option("--state <folder>", "log and temporary files of nginx", path),
    option("--no-check", "skip the engine's own check"),
    option("--published <folder>", "the state of a gateway or an edge: its table in force, in place of --table"),
    option("--watch", "with --published: export and reload on each publication"),
    option("--reload <command>", "with --watch: the command after which the engine has read the new files"),
  ],
  help: `
Examples:
  $ waybill export nginx --out /etc/waybill/nginx --waybill http://127.0.0.1:8787
  $ waybill export haproxy --table table.json --out /etc/waybill/haproxy --waybill http://127.0.0.1:8787 --listen 0.0.0.0:80
  $ waybill export haproxy --published /var/lib/waybill --watch --out /etc/waybill/haproxy --waybill http://127.0.0.1:8787 --reload 'systemctl reload haproxy'

With --watch it runs until a signal. While the table in force cannot be exported, or the engine refuses it, Waybill decides all
requests, and the export is tried again every 5 s.
While a canary is running, Waybill decides all requests.

Exit code: 0, or 1 if nothing was written.`,
  run: async (runtime, [name = ""], options) => {
    const engine = engineNamed(name);
    const { out: folder, waybill, published, watch } = options;
    const isWithoutWaybill = options.withoutWaybill === true;
    if (waybill !== undefined && isWithoutWaybill)
      return misuse("error: give --waybill or --without-waybill, not both.\n");
    const settings: ExportOptions = {
      ...deploymentSettings(runtime),
      listen: options.listen,
      waybill,
      caFile: options.caFile,
      modulesFolder: options.modules,
      stateFolder: options.state,
      folder,
    };
    const to = { engine, settings, isChecked: options.check !== false, isWithoutWaybill };
    const reload = watch === true ? reloadOf(engine, options) : undefined;
    if (reload === undefined && options.reload !== undefined) return misuse("error: --reload needs --watch.\n");
    if (reload !== undefined) {
      const { reloadProgram } = await import("../../../host/replace-folder.ts");
      const state = published ?? "";
      const farewell = `${engine} goes on by what was exported last.\n`;
      const watched = { ...to, state, reload: () => reloadProgram(reload) };
      return runtime.guard(() => watchPublished(watched, runtime), farewell);
    }
    const { table, left } = await tableOf(options, runtime);
    const written = await writeExport(table, { ...to, settings: { ...settings, left } });
    if (!written.ok) return fail(`error: ${written.error}\n`);
    const { files, limits, replaced } = written.value;
    const forwarded = leftLines(written.value);
    runtime.report(NOTES[replaced](engine));
    await runtime.print(
      linesText([
        `${folder}: ${files.map((one) => one.name).join(", ")}`,
        ...(forwarded.length === 0
          ? []
          : [waybill === undefined ? "Answered with 503:" : `Decided by ${waybill}:`, ...forwarded]),
        `Other than Waybill:`,
        ...limits.map((limit) => `  ${limit}`),
      ]),
    );
    return EXIT.ok;
  },
});

interface Source {
  readonly table: string;
  readonly published?: string | undefined;
}

async function tableOf({ table: file, published }: Source, runtime: Runtime) {
  if (published === undefined) return { ...(await readTableFile(file, runtime, checkTable)), left: undefined };
  const pointer = readPointer(published, runtime);
  const table = pointer.ok ? readPublished(published, pointer.value, runtime) : pointer;
  if (!pointer.ok || !table.ok) return fail(`error: ${table.ok ? "" : table.error}. Nothing was written.\n`);
  return { table: table.value, left: leftBy(pointer.value) };
}

interface WatchOptions {
  readonly out: string;
  readonly waybill?: string | undefined;
  readonly published?: string | undefined;
  readonly reload?: string | undefined;
}

/** The command that reloads the engine; misuse where the options do not fit together. */
function reloadOf(engine: Engine, { out, waybill, published, reload }: WatchOptions): string {
  if (published === undefined) return misuse("error: --watch needs --published, the folder of a gateway's state.\n");
  if (waybill === undefined)
    return misuse("error: --watch needs --waybill: while a canary is running, a gateway decides.\n");
  // It finds the process by the configuration's own file.
  const ownReload = engine === "nginx" ? `nginx -p '${out}' -c nginx.conf -s reload` : undefined;
  const used = reload ?? ownReload;
  return used ?? misuse(`error: --watch needs --reload, such as --reload 'systemctl reload ${engine}'.\n`);
}

/** Settings of the gateway that the engine stands in for. */
const deploymentSettings = (runtime: Runtime): Pick<ExportOptions, "deadlines" | "gatewayName" | "selfRegions"> => {
  const regions = runtime.env("SELF_REGIONS") || undefined;
  const selfRegions = regions === undefined ? undefined : readSelfRegions(regions);
  const { deadlines, gatewayName, faults } = readConfig({
    GATEWAY_NAME: runtime.env("GATEWAY_NAME") || undefined,
    FIRST_BYTE_DEADLINE_MS: runtime.env("FIRST_BYTE_DEADLINE_MS"),
    IDLE_DEADLINE_MS: runtime.env("IDLE_DEADLINE_MS"),
  });
  if (faults.length > 0) return fail(`error: ${faults.map(({ why }) => why).join("; ")}. Nothing was written.\n`);
  return { deadlines, gatewayName, selfRegions };
};

const readSelfRegions = (text: string): readonly string[] => {
  const read = parseSelfRegions(text);
  return read.ok ? read.value : fail(`error: ${read.error}. Nothing was written.\n`);
};

const NOTES: Readonly<Record<Replaced, (engine: Engine) => string>> = {
  checked: (engine) => `${engine} accepts it.\n`,
  "not-installed": (engine) => `note: ${engine} is not installed here, so the result was not checked by it\n`,
  "not-asked": () => "note: the result was not checked (--no-check)\n",
};
