import type { Command } from "commander";
import { ok, type Result } from "../ids/index.ts";
import { checkTable } from "../routing/index.ts";
import type { Act } from "./action.ts";
import { GATEWAY_HELP, type GatewayOptions, withGateway } from "./gateway-address.ts";
import type { Revision } from "./gateway-answers.ts";
import { type GatewayClient, openGateway } from "./gateway-client.ts";
import { formatFailure } from "./gateway-failure.ts";
import { fail } from "./refuse.ts";
import { formatRevision, makeChange } from "./table-change.ts";
import { confirm } from "./table-question.ts";
import { OVER_MOVES, OVER_MOVES_HELP, type Review, reviewChange, undoneMovesError } from "./table-review.ts";
import { readInForce, readRecord, readRevision } from "./table-revision.ts";
import { formatCanary, formatUnnamed, type RunningCanary, refuseStale } from "./table-running-canary.ts";
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

type End = "promote" | "abort";

/** `waybill table promote` and `waybill table abort`: the two ends of a canary. */
export const addTableCanaryEnds = (parent: Command, act: Act): void => {
  for (const end of ["promote", "abort"] as const) {
    const command = parent.command(end).description(DESCRIPTION[end]);
    if (end === "promote") command.option(OVER_MOVES, OVER_MOVES_HELP);
    withGateway(
      command
        .option("--expect <revision>", "only if the canary is this revision; needed with --yes", wholeNumber)
        .option("--note <text>", "why, for the history")
        .option("--yes", "do not ask")
        .addOption(waitOption())
        .option("--json", "the revision that is in force then as one JSON object"),
    )
      .addHelpText("after", helpOf(end))
      .action(act((runtime, _, options: Options) => finish(end, runtime, options)));
  }
};

const DESCRIPTION: Readonly<Record<End, string>> = {
  promote: "put the table of the running canary into force for everybody",
  abort: "end the running canary: the revision in force serves everybody again",
};

const helpOf = (end: End): string => `
Examples:
  $ waybill table ${end}
  $ waybill table ${end} --yes --expect 42 --note "${end === "promote" ? "a day without errors" : "errors in ap"}"

It says first which canary runs, by whom and for whom${end === "promote" ? ", and what its table changes" : ""}. Whoever is not asked has to name it.
${GATEWAY_HELP}
Exit code: 0 done, 1 not done or no canary runs, 3 the canary of --expect does not run, or somebody else was faster;
9 nobody knows, and the history does not show it yet;
8 with --wait, if it is done and was not seen everywhere in time.`;

const finish = async (end: End, runtime: Runtime, options: Options): Promise<ExitCode> => {
  const opened = openGateway(options, runtime);
  if (!opened.ok) return fail(opened.error, runtime);
  const gateway = opened.value;
  const status = await gateway.status();
  if (!status.ok) return fail(formatFailure(gateway.url, status.error), runtime);
  const { canary, truth: current } = status.value;
  const { expect, yes = false, note = "" } = options;
  if (!canary) {
    runtime.report(`error: no canary runs; revision ${current.revision} serves everybody\n`);
    return expect === undefined ? EXIT.failed : EXIT.conflict;
  }
  const seen = await showCanary(end, gateway, canary, runtime);
  if (!seen.ok) return fail(seen.error, runtime);
  if (expect !== undefined && expect !== canary.revision) return refuseStale(expect, canary.revision, runtime);
  if (yes && expect === undefined) return fail(formatUnnamed("this canary", canary.revision), runtime);
  const refusal = seen.value && undoneMovesError(seen.value, options.overMoves);
  if (refusal !== undefined) return fail(refusal, runtime);
  const wanted = await confirm(QUESTION[end], yes, runtime);
  if (!wanted.ok) return wanted.error;
  const request = { expectedRevision: canary.revision, note };
  const message = (made: Revision) => `in force: ${formatRevision(made)}`;
  const { warnings } = seen.value ?? {};
  const change = { kind: end, request, digest: seen.value && canary.digest, message, ...(warnings && { warnings }) };
  return makeChange(() => gateway.endCanary(end, request), gateway, change, options, runtime);
};

const QUESTION: Readonly<Record<End, string>> = {
  promote: "Put it into force for everybody?",
  abort: "End it?",
};

/** Says whose canary runs and for whom; before it serves everybody also what that changes, which it returns. */
const showCanary = async (
  end: End,
  gateway: GatewayClient,
  canary: RunningCanary,
  runtime: Runtime,
): Promise<Result<Review | undefined, string>> => {
  const record = await readRecord(gateway, canary.revision);
  if (!record.ok) return record;
  const inForce = await readInForce(gateway);
  if (!inForce.ok) return inForce;
  const { revision } = inForce.value;
  runtime.report(`${formatCanary(canary, record.value)}, revision ${revision} the rest\n`);
  if (end === "abort") return ok(undefined);
  const target = await readRevision(gateway, canary.revision, checkTable);
  if (!target.ok) return target;
  const review = await reviewChange(inForce.value, target.value, undefined, undefined, runtime);
  if (review.ok) runtime.report(`from revision ${revision} to revision ${canary.revision}:\n${review.value.text}`);
  return review;
};
