import type { Command } from "commander";
import { ok, type Result } from "../ids/index.ts";
import { checkTable } from "../routing/index.ts";
import type { Act } from "./action.ts";
import { GATEWAY_HELP, type GatewayOptions, withGateway } from "./gateway-address.ts";
import type { Revision } from "./gateway-answers.ts";
import { type GatewayClient, openGateway } from "./gateway-client.ts";
import { failureText } from "./gateway-failure.ts";
import { refuse } from "./refuse.ts";
import { makeChange, revisionText } from "./table-change.ts";
import { confirm } from "./table-question.ts";
import { OVER_MOVES, OVER_MOVES_HELP, overMovesRefusal, type Review, reviewChange } from "./table-review.ts";
import { readInForce, readRecord, readRevision } from "./table-revision.ts";
import { canaryText, type RunningCanary, refuseStale, unnamedText } from "./table-running-canary.ts";
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
      .action(act((world, _, options: Options) => finish(end, world, options)));
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

const finish = async (end: End, world: World, options: Options): Promise<ExitCode> => {
  const opened = openGateway(options, world);
  if (!opened.ok) return refuse(opened.error, world);
  const gateway = opened.value;
  const status = await gateway.status();
  if (!status.ok) return refuse(failureText(gateway.url, status.error), world);
  const { canary, truth } = status.value;
  const { expect, yes = false, note = "" } = options;
  if (!canary) {
    world.report(`error: no canary runs; revision ${truth.revision} serves everybody\n`);
    return expect === undefined ? EXIT.failed : EXIT.outrun;
  }
  const seen = await showCanary(end, gateway, canary, world);
  if (!seen.ok) return refuse(seen.error, world);
  if (expect !== undefined && expect !== canary.revision) return refuseStale(expect, canary.revision, world);
  if (yes && expect === undefined) return refuse(unnamedText("this canary", canary.revision), world);
  const refusal = seen.value && overMovesRefusal(seen.value, options.overMoves);
  if (refusal !== undefined) return refuse(refusal, world);
  const wanted = await confirm(QUESTION[end], yes, world);
  if (!wanted.ok) return wanted.error;
  const wish = { expect: canary.revision, note };
  const tale = (made: Revision) => `in force: ${revisionText(made)}`;
  const { warnings } = seen.value ?? {};
  const change = { kind: end, wish, digest: seen.value && canary.digest, tale, ...(warnings && { warnings }) };
  return makeChange(() => gateway.endCanary(end, wish), gateway, change, options, world);
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
  world: World,
): Promise<Result<Review | undefined, string>> => {
  const record = await readRecord(gateway, canary.revision);
  if (!record.ok) return record;
  const inForce = await readInForce(gateway);
  if (!inForce.ok) return inForce;
  const { revision } = inForce.value;
  world.report(`${canaryText(canary, record.value)}, revision ${revision} the rest\n`);
  if (end === "abort") return ok(undefined);
  const goal = await readRevision(gateway, canary.revision, checkTable);
  if (!goal.ok) return goal;
  const review = await reviewChange(inForce.value, goal.value, undefined, undefined, world);
  if (review.ok) world.report(`from revision ${revision} to revision ${canary.revision}:\n${review.value.text}`);
  return review;
};
