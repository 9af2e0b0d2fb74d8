import type { Command } from "commander";
import type { Act } from "./action.ts";
import type { DiffCounts } from "./diff-counts.ts";
import { diffCountsText } from "./diff-counts-text.ts";
import { GATEWAY_HELP, type GatewayOptions, withGateway } from "./gateway-address.ts";
import { openGateway } from "./gateway-client.ts";
import { failureText } from "./gateway-failure.ts";
import { isForUploads, planUploads, summaryOf, type UploadSummary, uploadText } from "./pack-upload.ts";
import { type PlanWarning, warningsOf, warningText } from "./plan-warnings.ts";
import { refuse } from "./refuse.ts";
import { type Uses, usesOf, usesText } from "./table-capacity.ts";
import { faultsAtGateway } from "./table-change.ts";
import { countChanges } from "./table-compare.ts";
import { readPublishable } from "./table-file.ts";
import { tellFaults, tellTableError } from "./table-refusal.ts";
import { readInForce } from "./table-revision.ts";
import { EXIT, type ExitCode, type World } from "./world.ts";

interface Options extends GatewayOptions {
  readonly json?: boolean;
}

/** `waybill table plan`: what publishing a table would do, without doing it. */
export const addTablePlan = (parent: Command, act: Act): void => {
  withGateway(
    parent
      .command("plan")
      .description(
        "say what publishing a table would do: its faults, what changes, its use of each cap, packs to send, what looks odd",
      )
      .argument("<file>", "the table; - reads it from stdin")
      .option("--json", "one JSON object, or the faults as table check has them"),
  )
    .addHelpText("after", HELP)
    .action(act(plan));
};

const HELP = `
Examples:
  $ waybill table plan routing-table.json
  $ waybill table plan routing-table.json --json | jq .warnings

The table is checked here, with places in the file, and by the gateway, which may be of another version. Nothing is published.
${GATEWAY_HELP}
Exit code: 0 when it could be published, 1 when not.`;

interface Plan {
  readonly file: string;
  readonly digest: string;
  /** The revision that the table would follow. */
  readonly basedOn: number;
  /** Whether the text is the one in force, octet for octet: there is nothing to publish. */
  readonly isInForce: boolean;
  /** Absent where nothing but the text differs. */
  readonly changes: DiffCounts | undefined;
  readonly capacity: Uses;
  readonly warnings: readonly PlanWarning[];
  /** What publishing sends before the table. */
  readonly uploads: readonly UploadSummary[];
}

const plan = async (world: World, [path = ""]: readonly string[], options: Options): Promise<ExitCode> => {
  const file = await readPublishable(path, world);
  const { json = false } = options;
  if (!file.ok) {
    await tellTableError(file.error, json, world);
    return EXIT.failed;
  }
  const opened = openGateway(options, world);
  if (!opened.ok) return refuse(opened.error, world);
  const gateway = opened.value;
  const [inForce, status] = [await readInForce(gateway), await gateway.status()];
  if (!inForce.ok) return refuse(inForce.error, world);
  if (!status.ok) return refuse(failureText(gateway.url, status.error), world);
  const verdict = await gateway.check(file.value.octets);
  const uploads = await planUploads(gateway, file.value.table, path, world);
  if (!uploads.ok) return refuse(uploads.error, world);
  if (!verdict.ok && !isForUploads(verdict.error, file.value.table, uploads.value)) {
    world.report(failureText(gateway.url, verdict.error));
    await tellFaults(file.value.name, faultsAtGateway(verdict.error, file.value), json, world);
    return EXIT.failed;
  }
  const { name, table, octets, digest } = file.value;
  const compared = await countChanges(inForce.value, file.value, path, world);
  if (!compared.ok) return refuse(compared.error, world);
  const { counts: changes, notes } = compared.value;
  const planned: Plan = {
    file: name,
    digest,
    basedOn: inForce.value.revision,
    isInForce: inForce.value.digest === digest,
    changes,
    capacity: usesOf(table, octets.length),
    warnings: warningsOf(inForce.value.table, table, changes, status.value.canary?.revision),
    uploads: uploads.value.map(summaryOf),
  };
  await world.print(json ? `${JSON.stringify(planned)}\n` : planText(planned, world.paint));
  world.report(notes);
  return EXIT.ok;
};

const sameText = (isInForce: boolean, revision: number): string =>
  isInForce ? `nothing to publish: revision ${revision} is this text\n` : "no differences but in the text\n";

const planText = (
  { file, basedOn, isInForce, changes, capacity, warnings, uploads }: Plan,
  paint: World["paint"],
): string => {
  const sections = [
    [
      `${file} on top of revision ${basedOn}`,
      changes === undefined ? sameText(isInForce, basedOn) : diffCountsText(changes),
    ],
    ["to be uploaded first", uploads.map((upload) => `${uploadText(upload)}\n`).join("")],
    ["capacity", usesText(capacity)],
    ["warnings", warnings.map((warning) => `${warningText(warning)}\n`).join("")],
  ];
  return sections
    .filter(([, text]) => text !== "")
    .map(([title = "", text = ""]) => `${paint("bold", title)}\n${text.replace(/^(?=.)/gm, "  ")}`)
    .join("\n");
};
