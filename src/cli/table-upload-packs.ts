import type { Command } from "commander";
import type { Act } from "./action.ts";
import { GATEWAY_HELP, type GatewayOptions, withGateway } from "./gateway-address.ts";
import { openGateway } from "./gateway-client.ts";
import { planUploads, sendUploads, summaryOf } from "./pack-upload.ts";
import { fail } from "./refuse.ts";
import { countOf, formatTableError, readPublishable } from "./table-file.ts";
import { EXIT, type ExitCode, type Runtime } from "./world.ts";

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

const upload = async (runtime: Runtime, [path = ""]: readonly string[], options: Options): Promise<ExitCode> => {
  const file = await readPublishable(path, runtime);
  if (!file.ok) return fail(formatTableError(file.error), runtime);
  const opened = openGateway(options, runtime);
  if (!opened.ok) return fail(opened.error, runtime);
  const { json = false } = options;
  const uploads = await planUploads(opened.value, file.value.table, path, runtime);
  if (!uploads.ok) return fail(uploads.error, runtime);
  const sent = await sendUploads(opened.value, uploads.value, json, runtime);
  if (!sent.ok) return fail(sent.error, runtime);
  const named = Object.keys(file.value.table.packs ?? {}).length;
  const uploaded = uploads.value.map(summaryOf);
  const summary = `the gateway has ${named === 1 ? "the pack" : `all of ${countOf(named, "pack")}`} of ${file.value.name}\n`;
  await runtime.print(json ? `${JSON.stringify({ uploaded })}\n` : summary);
  return EXIT.ok;
};
