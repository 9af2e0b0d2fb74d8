import { join } from "node:path";
import { type Engine, type ExportOptions, exportTable, type TableExport } from "../../../export/index.ts";
import type { FolderCheck, Replaced } from "../../../host/replace-folder.ts";
import { err, ok, type Result } from "../../../ids/index.ts";
import { messageOf } from "../../../ids/result.ts";
import type { DeclaredTable } from "../../../routing/schema/table.ts";
import { countOf, escapeControls, linesText } from "../../lib/output.ts";

/** Files of every engine's export: a folder with others is not replaced. */
const OWN_FILES =
  /^(?:(?:nginx|waybill[\w-]*)\.conf|waybill\w*\.lua|haproxy\.cfg|path-\d+\.map|named\.lst|[\w-]+\.http|envoy\.json|left-to-waybill\.txt)$/;

export interface ExportTo {
  readonly engine: Engine;
  readonly settings: ExportOptions;
  /** Whether the engine checks the files before they replace those in use. */
  readonly isChecked: boolean;
  /** Whether parts that the engine cannot decide may be answered with 503. */
  readonly isWithoutWaybill: boolean;
}

export interface Written extends TableExport {
  readonly replaced: Replaced;
}

/** Writes a checked table as an engine's configuration. The error says why nothing was replaced. */
export async function writeExport(
  table: DeclaredTable,
  { engine, settings, isChecked, isWithoutWaybill }: ExportTo,
): Promise<Result<Written, string>> {
  const { folder } = settings;
  const made = exported(engine, table, settings);
  if (!made.ok) return made;
  const left = leftLines(made.value);
  if (left.length > 0 && settings.waybill === undefined && !isWithoutWaybill)
    return err(
      `${engine} cannot decide ${countOf(left.length, "part")} of the table:\n${linesText(left)}Name a gateway for them with --waybill, or answer them with 503 by --without-waybill. Nothing was written.`,
    );
  const { foreignFile, newFolder, replaceFolder } = await import("../../../host/replace-folder.ts");
  const [foreign] = ["", ".previous", ".new"].flatMap((end) => foreignFile(`${folder}${end}`, OWN_FILES) ?? []);
  if (foreign !== undefined)
    return err(`no export wrote ${foreign}. Name another folder with --out. Nothing was written.`);
  const check = isChecked ? checkOf(engine, table, settings, newFolder(folder)) : undefined;
  try {
    return ok({ ...made.value, replaced: replaceFolder(folder, made.value.files, check) });
  } catch (error) {
    return err(`${messageOf(error)}\nNothing was replaced.`);
  }
}

export const leftLines = ({ forwarded }: TableExport): readonly string[] =>
  forwarded.map(({ what, why }) => `  ${escapeControls(what)}: ${why}`);

/** An engine cannot hold every text of a table: the error names the one. */
const exported = (engine: Engine, table: DeclaredTable, settings: ExportOptions): Result<TableExport, string> => {
  try {
    return ok(exportTable(engine, table, settings));
  } catch (error) {
    return err(`${messageOf(error)}. Nothing was written.`);
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
