import type { Command } from "commander";
import type { DeclaredTable } from "../routing/schema.ts";
import type { Act } from "./action.ts";
import { GATEWAY_HELP, type GatewayOptions, withGateway } from "./gateway-address.ts";
import type { Revision } from "./gateway-answers.ts";
import { type GatewayClient, openGateway } from "./gateway-client.ts";
import { planUploads, sendUploads, uploadsText } from "./pack-upload.ts";
import { refuse } from "./refuse.ts";
import { makeChange, outrunAdvice, revisionText, tellUnchanged } from "./table-change.ts";
import { readPublishable, type TableFile } from "./table-file.ts";
import { confirm } from "./table-question.ts";
import { tellTableError } from "./table-refusal.ts";
import {
  OVER_MOVES,
  OVER_MOVES_HELP,
  overMovesRefusal,
  type Review,
  reviewChange,
  runningCanary,
} from "./table-review.ts";
import { readInForce } from "./table-revision.ts";
import { waitOption } from "./table-wait.ts";
import { wholeNumber } from "./values.ts";
import { EXIT, type ExitCode, type World } from "./world.ts";

interface Options extends GatewayOptions {
  readonly expect?: number;
  readonly note?: string;
  readonly yes?: boolean;
  readonly overMoves?: boolean;
  readonly wait?: number;
  readonly json?: boolean;
}

/** `waybill table publish`: puts a table into force, unless somebody else was faster. */
export const addTablePublish = (parent: Command, act: Act): void => {
  withGateway(
    parent
      .command("publish")
      .description("check a table, show what it changes, and put it into force at a gateway")
      .argument("<file>", "the table; - reads it from stdin")
      .option(
        "--expect <revision>",
        "publish only on top of this revision (default: the one in force now)",
        wholeNumber,
      )
      .option("--note <text>", "why, for the history")
      .option("--yes", "do not ask")
      .option(OVER_MOVES, OVER_MOVES_HELP)
      .addOption(waitOption())
      .option("--json", 'one JSON object: the new revision, or that in force and "changed": false'),
  )
    .addHelpText("after", HELP)
    .action(act(publish));
};

const HELP = `
Examples:
  $ waybill table publish routing-table.json --note "ap takes Uzbekistan"
  $ waybill table publish routing-table.json --expect 41 --yes --json
  $ waybill table publish routing-table.json --yes --wait

Packs that the table names are sent first, as far as the gateway lacks them; what was cut short goes on where it was.
${GATEWAY_HELP}
Exit code: 0 published, or nothing to publish; 1 not published; 3 somebody else published first;
9 nobody knows, and the history does not show it yet;
8 with --wait, if it is in force and was not seen everywhere in time.`;

const publish = async (world: World, [path = ""]: readonly string[], options: Options): Promise<ExitCode> => {
  const opened = openGateway(options, world);
  const file = await readPublishable(path, world);
  if (!file.ok) {
    await tellTableError(file.error, options.json === true, world);
    world.report("nothing was published\n");
  }
  if (!opened.ok) world.report(opened.error);
  if (!opened.ok || !file.ok) return EXIT.failed;
  const gateway = opened.value;
  const inForce = await readInForce(gateway);
  if (!inForce.ok) {
    return refuse(inForce.error, world);
  }
  const { revision, digest } = inForce.value;
  const { expect = revision } = options;
  // A higher one may be that of a canary, which only the gateway knows.
  if (expect < revision) return refuseStale(expect, revision, world);
  if (digest === file.value.digest) {
    world.report(`nothing to publish: revision ${revision} is this text\n`);
    return tellUnchanged(inForce.value, gateway, options, world);
  }
  const uploads = await planUploads(gateway, file.value.table, path, world);
  if (!uploads.ok) return refuse(`${uploads.error}nothing was published\n`, world);
  const review = await reviewChange(inForce.value, file.value, path, await runningCanary(gateway), world);
  if (!review.ok) return refuse(`${review.error}nothing was published\n`, world);
  world.report(`from revision ${revision} to ${file.value.name}:\n${review.value.text}`);
  const refusal = overMovesRefusal(review.value, options.overMoves);
  if (refusal !== undefined) return refuse(refusal, world);
  world.report(uploadsText(uploads.value));
  const question = `Publish ${file.value.name} on top of revision ${expect}?`;
  const wanted = await confirm(question, options.yes === true, world);
  if (!wanted.ok) return wanted.error;
  const sent = await sendUploads(gateway, uploads.value, options.json === true, world);
  if (!sent.ok) return refuse(`${sent.error}nothing was published\n`, world);
  return send(gateway, file.value, { expect, ...review.value }, options, world);
};

const send = async (
  gateway: GatewayClient,
  file: TableFile<DeclaredTable>,
  { expect, warnings }: Pick<Review, "warnings"> & { readonly expect: number },
  options: Options,
  world: World,
): Promise<ExitCode> => {
  const wish = { expect, note: options.note ?? "" };
  const put = () => gateway.publish(file.octets, wish);
  const tale = (made: Revision) => `published ${revisionText(made)}`;
  const change = { kind: "publish", wish, digest: file.digest, table: file, tale, warnings } as const;
  return makeChange(put, gateway, change, options, world);
};

const refuseStale = (expected: number, revision: number, world: World): ExitCode => {
  world.report(
    `error: revision ${revision} is in force, not ${expected}: nothing was published\n` +
      `  ${outrunAdvice(expected, revision)}`,
  );
  return EXIT.outrun;
};
