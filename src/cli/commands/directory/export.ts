import * as v from "valibot";
import type { DirectoryRow } from "../../../features/directory/table/row.ts";
import { GATEWAY_HELP, GATEWAY_OPTIONS } from "../../client/http.ts";
import { command, option } from "../../command.ts";
import { countOf, escapeControls, jsonText, startProgress } from "../../lib/output.ts";
import { EXIT, fail, type Runtime } from "../../runtime.ts";
import { type DirectoryClient, linesIn, openDirectory, openState } from "./client.ts";

/** How often an answer may break off without a row. */
const IDLE_MAX = 5;
const IDLE_PAUSE_MS = 4_000;

const LINE = v.union([
  v.looseObject({ done: v.boolean(), next: v.optional(v.string()), why: v.optional(v.string()) }),
  v.object({ key: v.string(), region: v.string(), owner: v.optional(v.string()) }),
]);

/** A part of an export: whole, in the order of shards and keys. `next`: where the next one begins; `undefined` at the end. */
export type ExportPart = { readonly rows: readonly DirectoryRow[]; readonly next: string | undefined };

/** All rows, in parts of ten thousand or so. A part that breaks off is asked for again. */
export async function* exportParts(
  client: DirectoryClient,
  from: string | undefined,
  { pause }: Pick<Runtime, "pause">,
): AsyncGenerator<ExportPart> {
  let cursor = from;
  for (let idle = 0; ; ) {
    const path = `/-/export${cursor === undefined ? "" : `?cursor=${encodeURIComponent(cursor)}`}`;
    const answer = await client.insist({ method: "GET", path });
    const lines = linesIn(client, answer, LINE);
    const last = lines.at(-1);
    const rows = lines.flatMap((line) => ("done" in line ? [] : [line as DirectoryRow]));
    if (last === undefined || !("done" in last) || (!last.done && last.next === undefined)) {
      if (++idle > IDLE_MAX) fail(`error: ${escapeControls(client.url)} broke its answers off\n`);
      await pause(IDLE_PAUSE_MS * idle);
      continue;
    }
    const { next, why } = last;
    if (last.done) return yield { rows, next: undefined };
    idle = rows.length > 0 && why === undefined ? 0 : idle + 1;
    if (idle > IDLE_MAX) fail(`error: ${escapeControls(client.url)} ended the export: ${escapeControls(why ?? "")}\n`);
    yield { rows, next };
    cursor = next;
    if (why !== undefined) await pause(IDLE_PAUSE_MS * idle);
  }
}

const STATE = v.object({ command: v.literal("export"), place: v.string(), next: v.nullable(v.string()) });

export const directoryExport = command({
  name: "export",
  description: "print all confirmed keys as NDJSON",
  args: [["<directory>", "as the table names it"]],
  options: [
    option("--resume <file>", "keep the progress in this file, and go on from it if it is there"),
    ...GATEWAY_OPTIONS,
  ],
  help: `
Examples:
  $ waybill directory export slug > slugs.ndjson
  $ waybill directory export slug --resume slugs.state >> slugs.ndjson

Rows are as the import takes them, in no order that means anything. A key that changes meanwhile is printed as before or after
the change. The rows of an export that was resumed may come twice at the seam: the import takes them.
${GATEWAY_HELP}
Exit code: 0.`,
  run: async (runtime, [directory = ""], options) => {
    const client = openDirectory(directory, options, runtime);
    const first = { command: "export", place: client.place, next: "" } as const;
    const { state, save } = openState(options.resume, STATE, first, ({ place }) => place === client.place, runtime);
    if (state.next === null) {
      runtime.report(`The export is complete; delete ${escapeControls(options.resume ?? "")} for another.\n`);
      return EXIT.ok;
    }
    const progress = startProgress({ label: `export of ${escapeControls(directory)}`, bytes: 0 }, runtime);
    let rows = 0;
    const print = async (): Promise<void> => {
      for await (const part of exportParts(
        client,
        state.next === "" ? undefined : (state.next ?? undefined),
        runtime,
      )) {
        const text = jsonText(...part.rows);
        await runtime.print(text);
        rows += part.rows.length;
        progress.add(text.length, part.rows.length);
        save({ ...first, next: part.next ?? null });
      }
    };
    const farewell =
      options.resume === undefined
        ? "interrupted: the rows so far are printed; with --resume the command could go on\n"
        : "interrupted: run the same command again and append its rows\n";
    await runtime.guard(() => print().finally(progress.clear), farewell);
    runtime.report(`${countOf(rows, "row")}\n`);
    return EXIT.ok;
  },
});
