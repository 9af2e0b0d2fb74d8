import type { Command } from "commander";
import { err, ok, type Result } from "../ids/index.ts";
import type { Act } from "./action.ts";
import { GATEWAY_HELP, type GatewayOptions, withGateway } from "./gateway-address.ts";
import type { Audience, Revision } from "./gateway-answers.ts";
import { openGateway } from "./gateway-client.ts";
import { failureText } from "./gateway-failure.ts";
import { planUploads, sendUploads, uploadsText } from "./pack-upload.ts";
import { refuse } from "./refuse.ts";
import { isWanted, revisionText, tellChange } from "./table-change.ts";
import { changesText, countChanges } from "./table-compare.ts";
import { readPublishable, tableErrorText } from "./table-file.ts";
import { readInForce } from "./table-revision.ts";
import { audienceText } from "./table-status.ts";
import { waitOption } from "./table-wait.ts";
import { percent } from "./values.ts";
import { EXIT, type ExitCode, type World } from "./world.ts";

interface Options extends GatewayOptions {
  readonly share?: number;
  readonly country?: readonly string[];
  readonly entity?: readonly string[];
  readonly note?: string;
  readonly yes?: boolean;
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
      .option("--country <code...>", "the iUIDs of these countries")
      .option("--entity <name...>", "all IDs of these entities")
      .option("--note <text>", "why, for the history")
      .option("--yes", "do not ask")
      .addOption(waitOption())
      .option("--json", "the canary's revision as one JSON object"),
  )
    .addHelpText("after", HELP)
    .action(act(start));
};

const HELP = `
Examples:
  $ waybill table canary routing-table.json --share 5
  $ waybill table canary routing-table.json --country KZ UZ
  $ waybill table canary routing-table.json --entity order --note "new routes of orders"

A canary that runs is replaced, so that its share can grow. \`waybill table promote\` puts it into force, \`abort\` ends it.
${GATEWAY_HELP}
Exit code: 0 started, 1 not started, 3 somebody else changed the table first;
9 nobody knows, and the history does not show it yet;
8 with --wait, if it runs and was not seen everywhere in time.`;

const start = async (world: World, [path = ""]: readonly string[], options: Options): Promise<ExitCode> => {
  const audience = audienceOf(options);
  if (!audience.ok) return refuse(audience.error, world);
  const file = await readPublishable(path, world);
  if (!file.ok) return refuse(tableErrorText(file.error), world);
  const opened = openGateway(options, world);
  if (!opened.ok) return refuse(opened.error, world);
  const gateway = opened.value;
  const [inForce, status] = [await readInForce(gateway), await gateway.status()];
  if (!inForce.ok) return refuse(inForce.error, world);
  if (!status.ok) return refuse(failureText(gateway.url, status.error), world);
  const uploads = await planUploads(gateway, file.value.table, path, world);
  if (!uploads.ok) return refuse(uploads.error, world);
  const { canary } = status.value;
  const changes = await countChanges(inForce.value, file.value, path, world);
  if (!changes.ok) return refuse(changes.error, world);
  world.report(`from revision ${inForce.value.revision} to ${file.value.name}, for ${audienceText(audience.value)}:\n`);
  world.report(changesText(changes.value));
  world.report(uploadsText(uploads.value));
  if (canary)
    world.report(`it takes the place of the canary of revision ${canary.revision} (${audienceText(canary)})\n`);
  if (!(await isWanted("Start the canary?", options.yes === true, world))) return EXIT.failed;
  const { note = "", json = false } = options;
  const sent = await sendUploads(gateway, uploads.value, json, world);
  if (!sent.ok) return refuse(sent.error, world);
  const wish = { expect: canary?.revision ?? inForce.value.revision, note };
  const answer = await gateway.startCanary(file.value.octets, audience.value, wish);
  const tale = (made: Revision) => `serves ${audienceText(audience.value)}: ${revisionText(made)}`;
  return tellChange(
    answer,
    gateway,
    { kind: "canary", wish, digest: file.value.digest, table: file.value, tale },
    options,
    world,
  );
};

/** Whom the canary is for: one of the three, never a guess. */
const audienceOf = ({ share, country, entity }: Options): Result<Audience, string> => {
  const said = [share, country, entity].filter((part) => part !== undefined);
  if (said.length !== 1) return err("error: say one of --share, --country and --entity\n");
  if (share === 0) return err("error: a canary of 0 % serves nobody\n");
  if (share !== undefined) return ok({ share });
  return ok(country === undefined ? { entities: [...(entity ?? [])] } : { countries: [...country] });
};
