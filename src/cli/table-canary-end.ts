import type { Command } from "commander";
import type { Act } from "./action.ts";
import { GATEWAY_HELP, type GatewayOptions, withGateway } from "./gateway-address.ts";
import type { Revision } from "./gateway-answers.ts";
import { openGateway } from "./gateway-client.ts";
import { failureText } from "./gateway-failure.ts";
import { refuse } from "./refuse.ts";
import { isWanted, revisionText, tellChange } from "./table-change.ts";
import { audienceText } from "./table-status.ts";
import { waitOption } from "./table-wait.ts";
import { EXIT, type ExitCode, type World } from "./world.ts";

interface Options extends GatewayOptions {
  readonly note?: string;
  readonly yes?: boolean;
  readonly wait?: number;
  readonly json?: boolean;
}

type End = "promote" | "abort";

/** `waybill table promote` and `waybill table abort`: the two ends of a canary. */
export const addTableCanaryEnds = (parent: Command, act: Act): void => {
  for (const end of ["promote", "abort"] as const) {
    withGateway(
      parent
        .command(end)
        .description(DESCRIPTION[end])
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
  $ waybill table ${end} --yes --note "${end === "promote" ? "a day without errors" : "errors in ap"}"

${GATEWAY_HELP}
Exit code: 0 done, 1 not done or no canary runs, 3 somebody else changed the table first;
9 nobody knows, and the history does not show it yet;
8 with --wait, if it is done and was not seen everywhere in time.`;

const finish = async (end: End, world: World, options: Options): Promise<ExitCode> => {
  const gateway = openGateway(options, world);
  if (!gateway.ok) return refuse(gateway.error, world);
  const status = await gateway.value.status();
  if (!status.ok) return refuse(failureText(gateway.value.url, status.error), world);
  const { canary, truth } = status.value;
  if (!canary) return refuse(`error: no canary runs; revision ${truth.revision} serves everybody\n`, world);
  world.report(`revision ${canary.revision} serves ${audienceText(canary)}, revision ${truth.revision} the rest\n`);
  const question = end === "promote" ? "Put it into force for everybody?" : "End it?";
  if (!(await isWanted(question, options.yes === true, world))) return EXIT.failed;
  const { note = "" } = options;
  const wish = { expect: canary.revision, note };
  const answer = await gateway.value.endCanary(end, wish);
  const tale = (made: Revision) => `in force: ${revisionText(made)}`;
  const change = { kind: end, wish, digest: end === "promote" ? canary.digest : undefined, tale };
  return tellChange(answer, gateway.value, change, options, world);
};
