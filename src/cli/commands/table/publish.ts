import type { Command } from "commander";
import { checkTable } from "../../../routing/index.ts";
import type { DeclaredTable } from "../../../routing/schema/table.ts";
import { confirm, conflictAdvice, formatRevision, makeChange, reportUnchanged } from "../../gateway/change.ts";
import { type GatewayClient, openGateway, type Revision } from "../../gateway/client.ts";
import { GATEWAY_HELP, type GatewayOptions, withGateway } from "../../gateway/http.ts";
import { formatUploads, planUploads, sendUploads } from "../../gateway/pack-upload.ts";
import { waitOption } from "../../gateway/propagation.ts";
import {
  OVER_MOVES,
  OVER_MOVES_HELP,
  type Review,
  reviewChange,
  runningCanary,
  undoneMovesError,
} from "../../gateway/review.ts";
import { readInForce, readRevision } from "../../gateway/revision.ts";
import { wholeNumber } from "../../lib/input.ts";
import { readPublishable, reportTableError, type TableFile } from "../../lib/table-file.ts";
import { type Act, EXIT, type ExitCode, fail, type Runtime } from "../../runtime.ts";

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
      .description("check a table, show its changes, and publish it to a gateway")
      .argument("<file>", "the table; - reads it from stdin")
      .option(
        "--expect <revision>",
        "publish only if this is the current revision (default: the current one)",
        wholeNumber,
      )
      .option("--note <text>", "a note for the history")
      .option("--yes", "do not ask for confirmation")
      .option(OVER_MOVES, OVER_MOVES_HELP)
      .addOption(waitOption())
      .option("--json", 'one JSON object: the new revision, or the current one and "changed": false'),
  )
    .addHelpText("after", HELP)
    .action(act(publish));
};

const HELP = `
Examples:
  $ waybill table publish routing-table.json --note "ap takes Uzbekistan"
  $ waybill table publish routing-table.json --expect 41 --yes --json
  $ waybill table publish routing-table.json --yes --wait

Packs that the gateway does not have are uploaded first; an interrupted upload resumes.
${GATEWAY_HELP}
Exit code: 0 published, or nothing to publish; 1 not published; 3 conflict: someone else published first;
9 outcome unknown: the history does not show the change yet;
8 with --wait, if the change is in force but was not seen everywhere in time.`;

const publish = async (runtime: Runtime, [path = ""]: readonly string[], options: Options): Promise<ExitCode> => {
  const opened = openGateway(options, runtime);
  const file = await readPublishable(path, runtime);
  if (!file.ok) {
    await reportTableError(file.error, options.json === true, runtime);
    runtime.report("nothing was published\n");
  }
  if (!opened.ok) runtime.report(opened.error);
  if (!opened.ok || !file.ok) return EXIT.failed;
  const gateway = opened.value;
  const inForce = await readInForce(gateway);
  if (!inForce.ok) {
    return fail(inForce.error, runtime);
  }
  const { revision, digest } = inForce.value;
  const { expect = revision } = options;
  // A higher one may be that of a canary, which only the gateway knows.
  if (expect < revision) return refuseStale(expect, revision, runtime);
  if (digest === file.value.digest) {
    runtime.report(`nothing to publish: revision ${revision} has the same text\n`);
    return reportUnchanged(inForce.value, gateway, options, runtime);
  }
  const uploads = await planUploads(gateway, file.value.table, path, runtime);
  if (!uploads.ok) return fail(`${uploads.error}nothing was published\n`, runtime);
  const review = await reviewChange(inForce.value, file.value, path, await runningCanary(gateway), runtime);
  if (!review.ok) return fail(`${review.error}nothing was published\n`, runtime);
  runtime.report(`from revision ${revision} to ${file.value.name}:\n${review.value.text}`);
  const refusal = undoneMovesError(review.value, options.overMoves);
  if (refusal !== undefined) return fail(refusal, runtime);
  runtime.report(formatUploads(uploads.value));
  const question = `Publish ${file.value.name} on top of revision ${expect}?`;
  const wanted = await confirm(question, options.yes === true, runtime);
  if (!wanted.ok) return wanted.error;
  const sent = await sendUploads(gateway, uploads.value, options.json === true, runtime);
  if (!sent.ok) return fail(`${sent.error}nothing was published\n`, runtime);
  return send(gateway, file.value, { expect, ...review.value }, options, runtime);
};

const send = async (
  gateway: GatewayClient,
  file: TableFile<DeclaredTable>,
  { expect: expectedRevision, warnings }: Pick<Review, "warnings"> & { readonly expect: number },
  options: Options,
  runtime: Runtime,
): Promise<ExitCode> => {
  const request = { expectedRevision, note: options.note ?? "" };
  const put = () => gateway.publish(file.bytes, request);
  const message = (made: Revision) => `published ${formatRevision(made)}`;
  const change = { kind: "publish", request, digest: file.digest, table: file, message, warnings } as const;
  return makeChange(put, gateway, change, options, runtime);
};

const refuseStale = (expected: number, revision: number, runtime: Runtime): ExitCode => {
  runtime.report(
    `error: conflict: the current revision is ${revision}, not ${expected}; nothing was published\n` +
      `  ${conflictAdvice(expected, revision)}`,
  );
  return EXIT.conflict;
};

interface RollbackOptions extends GatewayOptions {
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
      .description("publish the text of an old revision again, as a new revision")
      .argument("<revision>", "the revision whose text to publish", wholeNumber)
      .option("--expect <revision>", "only if this is the current revision (default: the current one)", wholeNumber)
      .option("--note <text>", "a note for the history")
      .option("--yes", "do not ask for confirmation")
      .option(OVER_MOVES, OVER_MOVES_HELP)
      .addOption(waitOption())
      .option("--json", 'one JSON object: the new revision, or the current one and "changed": false'),
  )
    .addHelpText("after", ROLLBACK_HELP)
    .action(act(rollback));
};

const ROLLBACK_HELP = `
Examples:
  $ waybill table rollback 41 --note "errors in us"
  $ waybill table rollback 41 --yes

The history is append-only: the text of revision 41 becomes the next revision, and is validated like any other.
Packs that the gateway no longer has are uploaded from ./packs.
${GATEWAY_HELP}
Exit code: 0 done, or nothing to do; 1 not done; 3 conflict: the table was changed by someone else;
9 outcome unknown: the history does not show the change yet;
8 with --wait, if the change is in force but was not seen everywhere in time.`;

const rollback = async (
  runtime: Runtime,
  [argument]: readonly string[],
  options: RollbackOptions,
): Promise<ExitCode> => {
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
    runtime.report(`nothing to do: revision ${revision} already has the text of revision ${to}\n`);
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
