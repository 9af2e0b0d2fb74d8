import type { Command } from "commander";
import { err, ok, type Result } from "../ids/index.ts";
import type { Act } from "./action.ts";
import { GATEWAY_HELP, type GatewayOptions, withGateway } from "./gateway-address.ts";
import type { Revision } from "./gateway-answers.ts";
import { type GatewayClient, openGateway } from "./gateway-client.ts";
import { failureText } from "./gateway-failure.ts";
import { planUploads, sendUploads, uploadsText } from "./pack-upload.ts";
import { refuse } from "./refuse.ts";
import { type AudienceOptions, addCountries, addEntities, audienceOf, strangerText } from "./table-audience.ts";
import { makeChange, revisionText } from "./table-change.ts";
import { readPublishable } from "./table-file.ts";
import { confirm } from "./table-question.ts";
import { tellTableError } from "./table-refusal.ts";
import { OVER_MOVES, OVER_MOVES_HELP, overMovesRefusal, reviewChange } from "./table-review.ts";
import { readInForce, readRecord } from "./table-revision.ts";
import { canaryText, refuseStale, unnamedText } from "./table-running-canary.ts";
import { audienceText } from "./table-status.ts";
import { waitOption } from "./table-wait.ts";
import { percent, wholeNumber } from "./values.ts";
import { EXIT, type ExitCode, type World } from "./world.ts";

interface Options extends GatewayOptions, AudienceOptions {
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

const start = async (world: World, [path = ""]: readonly string[], options: Options): Promise<ExitCode> => {
  const { note = "", json = false, yes = false } = options;
  const audience = audienceOf(options);
  if (!audience.ok) return refuse(audience.error, world);
  const file = await readPublishable(path, world);
  if (!file.ok) {
    await tellTableError(file.error, json, world);
    return EXIT.failed;
  }
  const opened = openGateway(options, world);
  if (!opened.ok) return refuse(opened.error, world);
  const gateway = opened.value;
  const inForce = await readInForce(gateway);
  if (!inForce.ok) return refuse(inForce.error, world);
  const stranger = strangerText(audience.value, inForce.value, file.value);
  if (stranger !== undefined) return refuse(stranger, world);
  const uploads = await planUploads(gateway, file.value.table, path, world);
  if (!uploads.ok) return refuse(uploads.error, world);
  const review = await reviewChange(inForce.value, file.value, path, undefined, world);
  if (!review.ok) return refuse(review.error, world);
  const { warnings, text } = review.value;
  world.report(`from revision ${inForce.value.revision} to ${file.value.name}, for ${audienceText(audience.value)}:\n`);
  world.report(text);
  const refusal = overMovesRefusal(review.value, options.overMoves);
  if (refusal !== undefined) return refuse(refusal, world);
  world.report(uploadsText(uploads.value));
  const expect = await lastRevision(gateway, inForce.value.revision, options, world);
  if (!expect.ok) return expect.error;
  const wanted = await confirm("Start the canary?", yes, world);
  if (!wanted.ok) return wanted.error;
  const sent = await sendUploads(gateway, uploads.value, json, world);
  if (!sent.ok) return refuse(sent.error, world);
  const wish = { expect: expect.value, note };
  const post = () => gateway.startCanary(file.value.octets, audience.value, wish);
  const tale = (made: Revision) => `serves ${audienceText(audience.value)}: ${revisionText(made)}`;
  const change = { kind: "canary", wish, digest: file.value.digest, table: file.value, tale, warnings } as const;
  return makeChange(post, gateway, change, options, world);
};

/** The revision that the canary is to follow: that of a running canary, of which is said whose it is, or the one in force. */
const lastRevision = async (
  gateway: GatewayClient,
  inForce: number,
  { expect, yes = false }: Options,
  world: World,
): Promise<Result<number, ExitCode>> => {
  const status = await gateway.status();
  if (!status.ok) return err(refuse(failureText(gateway.url, status.error), world));
  const { canary } = status.value;
  if (canary) {
    const record = await readRecord(gateway, canary.revision);
    if (!record.ok) return err(refuse(record.error, world));
    world.report(`it takes the place of a canary: ${canaryText(canary, record.value)}\n`);
  }
  const last = canary?.revision ?? inForce;
  if (expect !== undefined && expect !== last) return err(refuseStale(expect, last, world));
  if (canary && yes && expect === undefined) return err(refuse(unnamedText("the running canary", last), world));
  return ok(last);
};
