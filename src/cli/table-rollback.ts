import type { Command } from "commander";
import { checkTable } from "../routing/index.ts";
import type { Act } from "./action.ts";
import { GATEWAY_HELP, type GatewayOptions, withGateway } from "./gateway-address.ts";
import type { Revision } from "./gateway-answers.ts";
import { openGateway } from "./gateway-client.ts";
import { formatUploads, planUploads, sendUploads } from "./pack-upload.ts";
import { fail } from "./refuse.ts";
import { formatRevision, makeChange, reportUnchanged } from "./table-change.ts";
import { confirm } from "./table-question.ts";
import { OVER_MOVES, OVER_MOVES_HELP, reviewChange, runningCanary, undoneMovesError } from "./table-review.ts";
import { readInForce, readRevision } from "./table-revision.ts";
import { waitOption } from "./table-wait.ts";
import { wholeNumber } from "./values.ts";
import type { ExitCode, Runtime } from "./world.ts";

interface Options extends GatewayOptions {
  readonly expect?: number;
  readonly note?: string;
  readonly yes?: boolean;
  readonly overMoves?: boolean;
  readonly wait?: number;
  readonly json?: boolean;
}

/** `waybill table rollback`: publishes an old revision's text again, as a new revision. */
export const addTableRollback = (parent: Command, act: Act): void => {
  withGateway(
    parent
      .command("rollback")
      .description("put an old revision's text into force again, as a new revision")
      .argument("<revision>", "the revision whose text it is to be", wholeNumber)
      .option("--expect <revision>", "only if this revision is in force (default: the one in force now)", wholeNumber)
      .option("--note <text>", "why, for the history")
      .option("--yes", "do not ask")
      .option(OVER_MOVES, OVER_MOVES_HELP)
      .addOption(waitOption())
      .option("--json", 'one JSON object: the new revision, or that in force and "changed": false'),
  )
    .addHelpText("after", HELP)
    .action(act(rollback));
};

const HELP = `
Examples:
  $ waybill table rollback 41 --note "errors in us"
  $ waybill table rollback 41 --yes

History only grows: the text of revision 41 becomes the next revision, and is checked like any other. Packs that it names and
that the gateway lacks by now are sent from the folder packs in the current one.
${GATEWAY_HELP}
Exit code: 0 done, or nothing to do; 1 not done; 3 somebody else changed the table first;
9 nobody knows, and the history does not show it yet;
8 with --wait, if it is in force and was not seen everywhere in time.`;

const rollback = async (runtime: Runtime, [argument]: readonly string[], options: Options): Promise<ExitCode> => {
  const to = Number(argument);
  const opened = openGateway(options, runtime);
  if (!opened.ok) return fail(opened.error, runtime);
  const gateway = opened.value;
  const inForce = await readInForce(gateway);
  if (!inForce.ok) return fail(inForce.error, runtime);
  const target = await readRevision(gateway, to, checkTable);
  if (!target.ok) return fail(target.error, runtime);
  const { revision, digest } = inForce.value;
  if (digest === target.value.digest) {
    runtime.report(`nothing to do: revision ${revision} has the text of revision ${to}\n`);
    return reportUnchanged(inForce.value, gateway, options, runtime);
  }
  const uploads = await planUploads(gateway, target.value.table, "-", runtime);
  if (!uploads.ok) return fail(uploads.error, runtime);
  const review = await reviewChange(inForce.value, target.value, undefined, await runningCanary(gateway), runtime);
  if (!review.ok) return fail(review.error, runtime);
  const { warnings, text } = review.value;
  runtime.report(`from revision ${revision} back to revision ${to}:\n${text}`);
  const refusal = undoneMovesError(review.value, options.overMoves);
  if (refusal !== undefined) return fail(refusal, runtime);
  runtime.report(formatUploads(uploads.value));
  const question = `Put the text of revision ${to} into force?`;
  const wanted = await confirm(question, options.yes === true, runtime);
  if (!wanted.ok) return wanted.error;
  const { expect: expectedRevision = revision, note = "", json = false } = options;
  const sent = await sendUploads(gateway, uploads.value, json, runtime);
  if (!sent.ok) return fail(sent.error, runtime);
  const request = { expectedRevision, note };
  const post = () => gateway.rollback(to, request);
  const message = (made: Revision) => `text of revision ${to} is in force again as ${formatRevision(made)}`;
  const change = { kind: "rollback", request, digest: target.value.digest, message, warnings } as const;
  return makeChange(post, gateway, change, options, runtime);
};
