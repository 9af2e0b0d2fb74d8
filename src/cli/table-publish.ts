import type { Command } from "commander";
import type { DeclaredTable } from "../routing/schema.ts";
import type { Act } from "./action.ts";
import { GATEWAY_HELP, type GatewayOptions, withGateway } from "./gateway-address.ts";
import type { Revision } from "./gateway-answers.ts";
import { type GatewayClient, openGateway } from "./gateway-client.ts";
import { formatUploads, planUploads, sendUploads } from "./pack-upload.ts";
import { fail } from "./refuse.ts";
import { conflictAdvice, formatRevision, makeChange, reportUnchanged } from "./table-change.ts";
import { readPublishable, type TableFile } from "./table-file.ts";
import { confirm } from "./table-question.ts";
import { reportTableError } from "./table-refusal.ts";
import {
  OVER_MOVES,
  OVER_MOVES_HELP,
  type Review,
  reviewChange,
  runningCanary,
  undoneMovesError,
} from "./table-review.ts";
import { readInForce } from "./table-revision.ts";
import { waitOption } from "./table-wait.ts";
import { wholeNumber } from "./values.ts";
import { EXIT, type ExitCode, type Runtime } from "./world.ts";

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
    runtime.report(`nothing to publish: revision ${revision} is this text\n`);
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
    `error: revision ${revision} is in force, not ${expected}: nothing was published\n` +
      `  ${conflictAdvice(expected, revision)}`,
  );
  return EXIT.conflict;
};
