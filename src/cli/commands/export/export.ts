import { isAbsolute, join, resolve } from "node:path";
import { InvalidArgumentError } from "commander";
import { readConfig } from "../../../edge/config.ts";
import { ENGINES, type Engine, type ExportOptions, exportTable, type TableExport } from "../../../export/index.ts";
import { parseSelfRegions } from "../../../features/mesh/table/self-regions.ts";
import type { FolderCheck, Replaced } from "../../../host/replace-folder.ts";
import { checkTable } from "../../../routing/index.ts";
import type { DeclaredTable } from "../../../routing/schema/table.ts";
import { command, option, required, withDefault } from "../../command.ts";
import { oneOf, TABLE_FILE_DEFAULT } from "../../lib/input.ts";
import { countOf, escapeControls, linesText } from "../../lib/output.ts";
import { readTableFile } from "../../lib/table-file.ts";
import { EXIT, fail, misuse, type Runtime } from "../../runtime.ts";

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
  if (isAbsolute(text) && whole !== "/" && /^[ !#%-~]+$/.test(whole)) return whole;
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
  ],
  help: `
Examples:
  $ waybill export nginx --out /etc/waybill/nginx --waybill http://127.0.0.1:8787
  $ waybill export haproxy --table table.json --out /etc/waybill/haproxy --waybill http://127.0.0.1:8787 --listen 0.0.0.0:80

Exit code: 0, or 1 if nothing was written.`,
  run: async (runtime, [name = ""], options) => {
    const engine = engineNamed(name);
    const { out: folder, table: file, waybill, withoutWaybill } = options;
    if (waybill !== undefined && withoutWaybill)
      return misuse("error: give --waybill or --without-waybill, not both.\n");
    const { table } = await readTableFile(file, runtime, checkTable);
    const settings: ExportOptions = {
      ...deploymentSettings(runtime),
      listen: options.listen,
      waybill,
      caFile: options.caFile,
      modulesFolder: options.modules,
      stateFolder: options.state,
      folder,
    };
    const made = exported(engine, table, settings);
    const left = made.forwarded.map(({ what, why }) => `  ${escapeControls(what)}: ${why}`);
    if (left.length > 0 && waybill === undefined && withoutWaybill !== true) {
      return fail(
        `error: ${engine} cannot decide ${countOf(left.length, "part")} of the table:\n${linesText(left)}Name a gateway for them with --waybill, or answer them with 503 by --without-waybill. Nothing was written.\n`,
      );
    }
    const { foreignFile, newFolder, replaceFolder } = await import("../../../host/replace-folder.ts");
    const [foreign] = ["", ".previous", ".new"].flatMap((end) => foreignFile(`${folder}${end}`, OWN_FILES) ?? []);
    if (foreign !== undefined)
      return fail(`error: no export wrote ${foreign}. Name another folder with --out. Nothing was written.\n`);
    const check = options.check === false ? undefined : checkOf(engine, table, settings, newFolder(folder));
    let replaced: Replaced;
    try {
      replaced = replaceFolder(folder, made.files, check);
    } catch (error) {
      return fail(`error: ${error instanceof Error ? error.message : error}\nNothing was replaced.\n`);
    }
    runtime.report(NOTES[replaced](engine));
    await runtime.print(
      linesText([
        `${folder}: ${made.files.map((one) => one.name).join(", ")}`,
        ...(left.length === 0
          ? []
          : [waybill === undefined ? "Answered with 503:" : `Decided by ${waybill}:`, ...left]),
        `Other than Waybill:`,
        ...made.limits.map((limit) => `  ${limit}`),
      ]),
    );
    return EXIT.ok;
  },
});

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

/** Files of every engine's export: a folder with others is not replaced. */
const OWN_FILES =
  /^(?:(?:nginx|waybill[\w-]*)\.conf|waybill\w*\.lua|haproxy\.cfg|path-\d+\.map|named\.lst|[\w-]+\.http|envoy\.json|left-to-waybill\.txt)$/;

const NOTES: Readonly<Record<Replaced, (engine: Engine) => string>> = {
  checked: (engine) => `${engine} accepts it.\n`,
  "not-installed": (engine) => `note: ${engine} is not installed here, so the result was not checked by it\n`,
  "not-asked": () => "note: the result was not checked (--no-check)\n",
};

/** An engine cannot hold every text of a table: the error names the one. */
const exported = (engine: Engine, table: DeclaredTable, settings: ExportOptions): TableExport => {
  try {
    return exportTable(engine, table, settings);
  } catch (error) {
    return fail(`error: ${error instanceof Error ? error.message : error}. Nothing was written.\n`);
  }
};

const checkOf = (engine: Engine, table: DeclaredTable, settings: ExportOptions, folder: string): FolderCheck => {
  switch (engine) {
    case "nginx": {
      // Without a folder of its own the package's process ID would be touched.
      const global =
        settings.stateFolder === undefined ? ["-g", `pid ${JSON.stringify(join(folder, "check.pid"))};`] : [];
      const args = ["-t", "-q", "-p", folder, "-c", "nginx.conf", ...global];
      return { program: "nginx", args, files: [], leaves: ["check.pid"] };
    }
    case "haproxy": {
      // HAProxy loads no Lua of threads in a check; in this copy it is that of the process.
      const { files } = exportTable(engine, table, { ...settings, folder });
      const text = files[0]?.text.replace("lua-load-per-thread", "lua-load") ?? "";
      const file = { name: "check.cfg", text };
      return { program: "haproxy", args: ["-c", "-f", join(folder, file.name)], files: [file], leaves: [] };
    }
    case "envoy":
      return {
        program: "envoy",
        args: ["--mode", "validate", "-c", join(folder, "envoy.json")],
        files: [],
        leaves: [],
      };
  }
};
