import { command, option } from "../../command.ts";
import { openGateway } from "../../gateway/client.ts";
import { answerOf, formatFailure, GATEWAY_HELP, GATEWAY_OPTIONS } from "../../gateway/http.ts";
import { faultsAtGateway } from "../../gateway/outcome.ts";
import { formatUpload, isForUploads, planUploads, summaryOf } from "../../gateway/pack-upload.ts";
import { readInForce } from "../../gateway/revision.ts";
import { countChanges, type DiffCounts, formatDiffCounts } from "../../lib/diff-summary.ts";
import { jsonText, linesText } from "../../lib/output.ts";
import { faultLine, readPublishable } from "../../lib/table-file.ts";
import { formatWarning, type PlanWarning, warningsOf } from "../../lib/warnings.ts";
import { EXIT, fail, type Runtime, Stop } from "../../runtime.ts";
import { formatUses, type Uses, usesOf } from "./capacity.ts";

/** `waybill table plan`: what publishing a table would do. */
export const tablePlan = command({
  name: "plan",
  description: "preview a publication: faults, changes, use of limits, packs to upload, warnings",
  args: [["<file>", "the table; - reads it from stdin"]],
  options: [option("--json", "one JSON object, or the faults as in table check"), ...GATEWAY_OPTIONS],
  help: `
Examples:
  $ waybill table plan routing-table.json
  $ waybill table plan routing-table.json --json | jq .warnings

The table is validated here, with places in the file, and by the gateway, whose version may differ. Nothing is published.
${GATEWAY_HELP}
Exit code: 0 if it can be published, otherwise 1.`,
  run: async (runtime, [path = ""], options) => {
    const { json = false } = options;
    const file = await readPublishable(path, runtime, json ? "json" : "stderr");
    const gateway = openGateway(options, runtime);
    const inForce = await readInForce(gateway);
    const status = answerOf(gateway, await gateway.status());
    const checked = await gateway.check(file.bytes);
    const uploads = await planUploads(gateway, file.table, path, runtime);
    if (!checked.ok && !isForUploads(checked.error, file.table, uploads)) {
      const faults = faultsAtGateway(checked.error, file);
      const why = formatFailure(gateway.url, checked.error);
      if (json) throw new Stop(why, EXIT.failed, jsonText(...faults.map((fault) => ({ file: file.name, ...fault }))));
      fail(why + faults.map((fault) => faultLine(file.name, fault)).join(""));
    }
    const { name, table, bytes, digest } = file;
    const { counts: changes, notes } = await countChanges(inForce, file, path, runtime);
    const planned = {
      file: name,
      digest,
      basedOn: inForce.revision,
      /** Whether the text is already in force, byte for byte. */
      isInForce: inForce.digest === digest,
      /** Absent if only the text differs. */
      changes,
      capacity: usesOf(table, bytes.length),
      warnings: warningsOf(inForce.table, table, changes, status.canary?.revision),
      uploads: uploads.map(summaryOf),
    };
    await runtime.print(json ? jsonText(planned) : formatPlan(planned, runtime.paint));
    runtime.report(notes);
    return EXIT.ok;
  },
});

interface Plan {
  readonly file: string;
  readonly basedOn: number;
  readonly isInForce: boolean;
  readonly changes: DiffCounts | undefined;
  readonly capacity: Uses;
  readonly warnings: readonly PlanWarning[];
  readonly uploads: readonly ReturnType<typeof summaryOf>[];
}

const formatSame = (isInForce: boolean, revision: number): string =>
  isInForce ? `nothing to publish: revision ${revision} has the same text\n` : "no differences except in the text\n";

const formatPlan = (
  { file, basedOn, isInForce, changes, capacity, warnings, uploads }: Plan,
  paint: Runtime["paint"],
): string => {
  const sections = [
    [
      `${file} on top of revision ${basedOn}`,
      changes === undefined ? formatSame(isInForce, basedOn) : formatDiffCounts(changes),
    ],
    ["to upload first", linesText(uploads.map(formatUpload))],
    ["capacity", formatUses(capacity)],
    ["warnings", linesText(warnings.map(formatWarning))],
  ];
  return sections
    .filter(([, text]) => text !== "")
    .map(([title = "", text = ""]) => `${paint("bold", title)}\n${text.replace(/^(?=.)/gm, "  ")}`)
    .join("\n");
};
