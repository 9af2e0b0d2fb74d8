import { command, option } from "../../command.ts";
import { openGateway } from "../../gateway/client.ts";
import { formatFailure, GATEWAY_HELP, GATEWAY_OPTIONS } from "../../gateway/http.ts";
import { faultsAtGateway } from "../../gateway/outcome.ts";
import { formatUpload, isForUploads, planUploads, summaryOf, type UploadSummary } from "../../gateway/pack-upload.ts";
import { readInForce } from "../../gateway/revision.ts";
import { countChanges, type DiffCounts, formatDiffCounts } from "../../lib/diff-summary.ts";
import { readPublishable, reportFaults, reportTableError } from "../../lib/table-file.ts";
import { formatWarning, type PlanWarning, warningsOf } from "../../lib/warnings.ts";
import { EXIT, fail, type Runtime } from "../../runtime.ts";
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
    const file = await readPublishable(path, runtime);
    const { json = false } = options;
    if (!file.ok) {
      await reportTableError(file.error, json, runtime);
      return EXIT.failed;
    }
    const opened = openGateway(options, runtime);
    if (!opened.ok) return fail(opened.error, runtime);
    const gateway = opened.value;
    const [inForce, status] = [await readInForce(gateway), await gateway.status()];
    if (!inForce.ok) return fail(inForce.error, runtime);
    if (!status.ok) return fail(formatFailure(gateway.url, status.error), runtime);
    const uploadPlan = await gateway.check(file.value.bytes);
    const uploads = await planUploads(gateway, file.value.table, path, runtime);
    if (!uploads.ok) return fail(uploads.error, runtime);
    if (!uploadPlan.ok && !isForUploads(uploadPlan.error, file.value.table, uploads.value)) {
      runtime.report(formatFailure(gateway.url, uploadPlan.error));
      await reportFaults(file.value.name, faultsAtGateway(uploadPlan.error, file.value), json, runtime);
      return EXIT.failed;
    }
    const { name, table, bytes, digest } = file.value;
    const compared = await countChanges(inForce.value, file.value, path, runtime);
    if (!compared.ok) return fail(compared.error, runtime);
    const { counts: changes, notes } = compared.value;
    const planned: Plan = {
      file: name,
      digest,
      basedOn: inForce.value.revision,
      isInForce: inForce.value.digest === digest,
      changes,
      capacity: usesOf(table, bytes.length),
      warnings: warningsOf(inForce.value.table, table, changes, status.value.canary?.revision),
      uploads: uploads.value.map(summaryOf),
    };
    await runtime.print(json ? `${JSON.stringify(planned)}\n` : formatPlan(planned, runtime.paint));
    runtime.report(notes);
    return EXIT.ok;
  },
});

interface Plan {
  readonly file: string;
  readonly digest: string;
  /** The current revision. */
  readonly basedOn: number;
  /** Whether the text is already in force, byte for byte. */
  readonly isInForce: boolean;
  /** Absent if only the text differs. */
  readonly changes: DiffCounts | undefined;
  readonly capacity: Uses;
  readonly warnings: readonly PlanWarning[];
  /** What publishing uploads before the table. */
  readonly uploads: readonly UploadSummary[];
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
    ["to upload first", uploads.map((upload) => `${formatUpload(upload)}\n`).join("")],
    ["capacity", formatUses(capacity)],
    ["warnings", warnings.map((warning) => `${formatWarning(warning)}\n`).join("")],
  ];
  return sections
    .filter(([, text]) => text !== "")
    .map(([title = "", text = ""]) => `${paint("bold", title)}\n${text.replace(/^(?=.)/gm, "  ")}`)
    .join("\n");
};
