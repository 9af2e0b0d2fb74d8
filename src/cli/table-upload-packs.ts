import type { Command } from "commander";
import type { Act } from "./action.ts";
import { GATEWAY_HELP, type GatewayOptions, withGateway } from "./gateway-address.ts";
import { openGateway } from "./gateway-client.ts";
import { planUploads, sendUploads, summaryOf } from "./pack-upload.ts";
import { refuse } from "./refuse.ts";
import { countOf, readPublishable, tableErrorText } from "./table-file.ts";
import { EXIT, type ExitCode, type World } from "./world.ts";

interface Options extends GatewayOptions {
  readonly json?: boolean;
}

/** `waybill table upload-packs`: the packs of a table, some time before the table. */
export const addTableUploadPacks = (parent: Command, act: Act): void => {
  withGateway(
    parent
      .command("upload-packs")
      .description("send the packs that a table names to a gateway, as far as it lacks them")
      .argument("<file>", "the table; - reads it from stdin")
      .option("--json", "what was sent of each as one JSON object"),
  )
    .addHelpText("after", HELP)
    .action(act(upload));
};

const HELP = `
Examples:
  $ waybill table upload-packs routing-table.json

\`waybill table publish\` and \`canary\` do the same before they send the table. Nothing comes into force by this alone.
What was cut short goes on where it was: the same command sends the rest.
${GATEWAY_HELP}
Exit code: 0 when the gateway has all of them, 1 when not.`;

const upload = async (world: World, [path = ""]: readonly string[], options: Options): Promise<ExitCode> => {
  const file = await readPublishable(path, world);
  if (!file.ok) return refuse(tableErrorText(file.error), world);
  const opened = openGateway(options, world);
  if (!opened.ok) return refuse(opened.error, world);
  const { json = false } = options;
  const uploads = await planUploads(opened.value, file.value.table, path, world);
  if (!uploads.ok) return refuse(uploads.error, world);
  const sent = await sendUploads(opened.value, uploads.value, json, world);
  if (!sent.ok) return refuse(sent.error, world);
  const named = Object.keys(file.value.table.packs ?? {}).length;
  const uploaded = uploads.value.map(summaryOf);
  const summary = `the gateway has ${named === 1 ? "the pack" : `all of ${countOf(named, "pack")}`} of ${file.value.name}\n`;
  await world.print(json ? `${JSON.stringify({ uploaded })}\n` : summary);
  return EXIT.ok;
};
