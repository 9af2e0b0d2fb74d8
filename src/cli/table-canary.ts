import type { Command } from "commander";
import { err, ok, type Result } from "../ids/index.ts";
import type { Act } from "./action.ts";
import { GATEWAY_HELP, type GatewayOptions, withGateway } from "./gateway-address.ts";
import type { Revision } from "./gateway-answers.ts";
import { type GatewayClient, openGateway } from "./gateway-client.ts";
import { formatFailure } from "./gateway-failure.ts";
import { formatUploads, planUploads, sendUploads } from "./pack-upload.ts";
import { fail } from "./refuse.ts";
import { addCountries, addEntities, readSelector, type SelectorOptions, unknownNameMessage } from "./table-audience.ts";
import { formatRevision, makeChange } from "./table-change.ts";
import { readPublishable } from "./table-file.ts";
import { confirm } from "./table-question.ts";
import { reportTableError } from "./table-refusal.ts";
import { OVER_MOVES, OVER_MOVES_HELP, reviewChange, undoneMovesError } from "./table-review.ts";
import { readInForce, readRecord } from "./table-revision.ts";
import { formatCanary, formatUnnamed, refuseStale } from "./table-running-canary.ts";
import { formatAudience } from "./table-status.ts";
import { waitOption } from "./table-wait.ts";
import { percent, wholeNumber } from "./values.ts";
import { EXIT, type ExitCode, type Runtime } from "./world.ts";

interface Options extends GatewayOptions, SelectorOptions {
  readonly expect?: number;
  readonly note?: string;
  readonly yes?: boolean;
  readonly overMoves?: boolean;
  readonly wait?: number;
  readonly json?: boolean;
}

/** `waybill table canary`: lets a new table serve a part of the IDs first. */
export const addTableCanary = (parent: Command, act: Act): void => {
  withGateway(
    parent
      .command("canary")
      .description("let a table serve a part of the IDs first: a share, a country or an entity")
      .argument("<file>", "the table; - reads it from stdin")
      .option("--share <percent>", "of all IDs, always the same ones", percent)
      .option("--country <codes>", "the iUIDs of these countries, with commas between", addCountries)
      .option("--entity <names>", "all IDs of these entities, with commas between", addEntities)
      .option(
        "--expect <revision>",
        "only on top of this revision, or in place of the canary that it is; needed with --yes where one runs",
        wholeNumber,
      )
      .option("--note <text>", "why, for the history")
      .option("--yes", "do not ask")
      .option(OVER_MOVES, OVER_MOVES_HELP)
      .addOption(waitOption())
      .option("--json", "the canary's revision as one JSON object"),
  )
    .addHelpText("after", HELP)
    .action(act(start));
};

const HELP = `
Examples:
  $ waybill table canary routing-table.json --share 5
  $ waybill table canary routing-table.json --country KZ,UZ
  $ waybill table canary routing-table.json --entity order --note "new routes of orders"

A canary that runs is replaced, so that its share can grow; with --yes only if --expect names it. \`waybill table promote\` puts it into force, \`abort\` ends it.
${GATEWAY_HELP}
Exit code: 0 started, 1 not started, 3 somebody else changed the table first;
9 nobody knows, and the history does not show it yet;
8 with --wait, if it runs and was not seen everywhere in time.`;

const start = async (runtime: Runtime, [path = ""]: readonly string[], options: Options): Promise<ExitCode> => {
  const { note = "", json = false, yes = false } = options;
  const audience = readSelector(options);
  if (!audience.ok) return fail(audience.error, runtime);
  const file = await readPublishable(path, runtime);
  if (!file.ok) {
    await reportTableError(file.error, json, runtime);
    return EXIT.failed;
  }
  const opened = openGateway(options, runtime);
  if (!opened.ok) return fail(opened.error, runtime);
  const gateway = opened.value;
  const inForce = await readInForce(gateway);
  if (!inForce.ok) return fail(inForce.error, runtime);
  const unknown = unknownNameMessage(audience.value, inForce.value, file.value);
  if (unknown !== undefined) return fail(unknown, runtime);
  const uploads = await planUploads(gateway, file.value.table, path, runtime);
  if (!uploads.ok) return fail(uploads.error, runtime);
  const review = await reviewChange(inForce.value, file.value, path, undefined, runtime);
  if (!review.ok) return fail(review.error, runtime);
  const { warnings, text } = review.value;
  runtime.report(
    `from revision ${inForce.value.revision} to ${file.value.name}, for ${formatAudience(audience.value)}:\n`,
  );
  runtime.report(text);
  const refusal = undoneMovesError(review.value, options.overMoves);
  if (refusal !== undefined) return fail(refusal, runtime);
  runtime.report(formatUploads(uploads.value));
  const expect = await lastRevision(gateway, inForce.value.revision, options, runtime);
  if (!expect.ok) return expect.error;
  const wanted = await confirm("Start the canary?", yes, runtime);
  if (!wanted.ok) return wanted.error;
  const sent = await sendUploads(gateway, uploads.value, json, runtime);
  if (!sent.ok) return fail(sent.error, runtime);
  const request = { expectedRevision: expect.value, note };
  const post = () => gateway.startCanary(file.value.bytes, audience.value, request);
  const message = (made: Revision) => `serves ${formatAudience(audience.value)}: ${formatRevision(made)}`;
  const change = { kind: "canary", request, digest: file.value.digest, table: file.value, message, warnings } as const;
  return makeChange(post, gateway, change, options, runtime);
};

/** The revision that the canary is to follow: that of a running canary, of which is said whose it is, or the one in force. */
const lastRevision = async (
  gateway: GatewayClient,
  inForce: number,
  { expect, yes = false }: Options,
  runtime: Runtime,
): Promise<Result<number, ExitCode>> => {
  const status = await gateway.status();
  if (!status.ok) return err(fail(formatFailure(gateway.url, status.error), runtime));
  const { canary } = status.value;
  if (canary) {
    const record = await readRecord(gateway, canary.revision);
    if (!record.ok) return err(fail(record.error, runtime));
    runtime.report(`it takes the place of a canary: ${formatCanary(canary, record.value)}\n`);
  }
  const last = canary?.revision ?? inForce;
  if (expect !== undefined && expect !== last) return err(refuseStale(expect, last, runtime));
  if (canary && yes && expect === undefined) return err(fail(formatUnnamed("the running canary", last), runtime));
  return ok(last);
};
