import { checkTable } from "../../../routing/index.ts";
import { measureTable } from "../../../routing/load.ts";
import type { DeclaredTable } from "../../../routing/schema/table.ts";
import { faultsAtGateway, formatFaultsAtGateway } from "../../client/change.ts";
import { type GatewayClient, openGateway, readInForce } from "../../client/client.ts";
import { answerOf, formatFailure, GATEWAY_HELP, GATEWAY_OPTIONS } from "../../client/http.ts";
import { formatUpload, isForUploads, planUploads, summaryOf } from "../../client/pack-upload.ts";
import { EFFECT } from "../../client/propagation.ts";
import { command, option } from "../../command.ts";
import { countChanges, formatDiffCounts } from "../../lib/diff.ts";
import { tableArgument } from "../../lib/input.ts";
import { alignColumns, formatCount, jsonText, linesText } from "../../lib/output.ts";
import { readPublishable, readTableFile, type TableFile } from "../../lib/table-file.ts";
import { formatWarning, warningsOf } from "../../lib/warnings.ts";
import { EXIT, fail, Stop } from "../../runtime.ts";

type Uses = Readonly<Record<string, { readonly used: number; readonly max: number }>>;

export const tableCapacity = command({
  name: "capacity",
  description: "show how much of each limit a table uses: a file, or the current table of a gateway",
  args: [["[file]", "the table; - reads it from stdin (default: the gateway's current table)"]],
  options: [option("--json", "one JSON object"), ...GATEWAY_OPTIONS],
  help: `
Examples:
  $ waybill table capacity routing-table.json
  $ waybill table capacity --gateway https://api.example.com --json

${GATEWAY_HELP}
Exit code: 0, or 1 if the table has faults or cannot be read.`,
  run: async (runtime, [path], options) => {
    const uses =
      path === undefined
        ? await usesAt(openGateway(options, runtime))
        : usesOf(await readTableFile(path, runtime, checkTable));
    await runtime.print(options.json ? jsonText(uses) : formatUses(uses));
    return EXIT.ok;
  },
});

const usesAt = async (gateway: GatewayClient): Promise<Uses> => answerOf(gateway, await gateway.capacity());

const usesOf = ({ table, bytes }: TableFile<DeclaredTable>): Uses => {
  const uses = measureTable(table, bytes.length);
  if (!uses.ok) throw new Error("the table was not checked");
  return { ...uses.value };
};

/** `routes  11 of 200,000  0.006 %`. */
const formatUses = (uses: Uses): string => {
  const rows = Object.entries(uses).map(([part, { used, max }]) => {
    const percent = Number(((used / max) * 100).toFixed(3));
    return [part, `${formatCount(used)} of ${formatCount(max)}`, `${percent} %`];
  });
  return linesText(alignColumns(rows));
};

export const tablePlan = command({
  name: "plan",
  description: "preview a publication: faults, changes, use of limits, packs to upload, warnings",
  args: [["[file]", "the table; - reads it from stdin (default: routing-table.json)"]],
  options: [option("--json", "one JSON object, or the faults as in table check"), ...GATEWAY_OPTIONS],
  help: `
Examples:
  $ waybill table plan routing-table.json
  $ waybill table plan routing-table.json --json | jq .warnings

Nothing is published. The gateway validates the table too, since its version may differ.
${GATEWAY_HELP}
Exit code: 0 if it can be published, otherwise 1.`,
  run: async (runtime, [given], options) => {
    const path = tableArgument(given, runtime);
    const { json = false } = options;
    const file = await readPublishable(path, runtime, json ? "json" : "stderr");
    const gateway = openGateway(options, runtime);
    const inForce = await readInForce(gateway);
    const status = answerOf(gateway, await gateway.status());
    const checked = await gateway.check(file.bytes);
    const uploads = await planUploads(gateway, file.table, path, runtime);
    if (!checked.ok && !isForUploads(checked.error, file.table, uploads)) {
      const why = formatFailure(gateway.url, checked.error);
      if (!json) fail(why + formatFaultsAtGateway(checked.error, file));
      const faults = faultsAtGateway(checked.error, file).map((fault) => ({ file: file.name, ...fault }));
      throw new Stop(why, EXIT.failed, jsonText(...faults));
    }
    const { name, table, digest } = file;
    const { counts: changes, notes } = await countChanges(inForce, file, path, runtime);
    const basedOn = inForce.revision;
    const isInForce = inForce.digest === digest;
    const capacity = usesOf(file);
    const warnings = warningsOf(inForce.table, table, changes, status.canary?.revision);
    const summaries = uploads.map(summaryOf);
    const nothing = `nothing to publish: revision ${basedOn} has the same text\n`;
    const same = isInForce ? nothing : "no differences except in the text\n";
    const sections = [
      [`${name} on top of revision ${basedOn}`, changes === undefined ? same : formatDiffCounts(changes)],
      ["to upload first", linesText(summaries.map(formatUpload))],
      ["capacity", formatUses(capacity)],
      ["warnings", linesText(warnings.map(formatWarning))],
      ["publishing", isInForce ? "" : EFFECT],
    ].flatMap(([title = "", text = ""]) =>
      text === "" ? [] : [`${runtime.paint("bold", title)}\n${text.replace(/^(?=.)/gm, "  ")}`],
    );
    const planned = { file: name, digest, basedOn, isInForce, changes, capacity, warnings, uploads: summaries };
    await runtime.print(json ? jsonText(planned) : sections.join("\n"));
    runtime.report(notes);
    return EXIT.ok;
  },
});
