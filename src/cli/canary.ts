import type { Command } from "commander";
import { err, ok, type Result } from "../ids/index.ts";
import { percentMoved, type RouteOutcome, routeOutcome } from "../routing/shared-goal.ts";
import type { Act } from "./action.ts";
import { rewriteRoute } from "./canary-edit.ts";
import { type RampStep, type RouteTarget, rampRoute } from "./canary-step.ts";
import { openForEdit, saveTable } from "./move-file.ts";
import { escapeControls } from "./printable.ts";
import { fail } from "./refuse.ts";
import { percent } from "./values.ts";
import { EXIT, type ExitCode, type Runtime } from "./world.ts";

interface Options {
  readonly percent?: number;
  readonly region?: string;
  readonly back?: boolean;
  readonly off?: boolean;
  readonly finish?: boolean;
  readonly table?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** `waybill canary`: gives a share of a route's IDs to another region, and more of them step by step. */
export const addCanary = (parent: Command, act: Act): void => {
  parent
    .command("canary")
    .description("ramp a route's canary: give a share of its IDs to another region, step by step")
    .argument("<route>", "the route by its JSON pointer or its place, such as /routes/3 or 3")
    .option("--percent <number>", "how many of the route's IDs the canary takes, from 0 to 100", percent)
    .option("--region <region>", "where they go, for a route without a canary")
    .option("--back", "let a share shrink: IDs go back to the route's own region")
    .option("--off", "remove the canary: all of its IDs go back")
    .option("--finish", "make the region of a canary of 100 % the route's own")
    .option("--table <file>", "the routing table that is edited (default: routing-table.json)")
    .option("--dry-run", "show what would change, and write nothing")
    .option("--json", "the change as one JSON object")
    .addHelpText("after", HELP)
    .action(act(ramp));
};

const HELP = `
Examples:
  $ waybill canary /routes/3 --region us --percent 1
  $ waybill canary /routes/3 --percent 10 --dry-run
  $ waybill canary /routes/3 --off
  $ waybill canary /routes/3 --finish

The table file is edited and keeps its layout; docs/reference/routing-table.md has the whole procedure.
Exit code: 0, or 1 when the step is refused and nothing was written.`;

const ramp = async (runtime: Runtime, [route = ""]: readonly string[], options: Options): Promise<ExitCode> => {
  const step = stepOf(options);
  if (!step.ok) return fail(step.error, runtime);
  const opened = await openForEdit(options.table, runtime);
  if (!opened.ok) return fail(opened.error, runtime);
  const { name, text, declared } = opened.value;
  const index = indexOf(route);
  const before = index === undefined ? undefined : declared.routes[index];
  if (index === undefined || before === undefined) {
    return fail(
      `error: ${escapeControls(name)} has no route ${escapeControls(route)}; ${rangeOf(declared.routes.length)}\n`,
      runtime,
    );
  }
  const { region, canary } = before;
  if (region === undefined) {
    const what = before.split === undefined ? "a pack" : "the parts of a split";
    return fail(`error: /routes/${index} leads to ${what}; a canary is for a route to one region.\n`, runtime);
  }
  const target = { region, ...(canary === undefined ? {} : { canary }) };
  const after = rampRoute(target, step.value);
  if (!after.ok) return fail(`error: /routes/${index} ${escapeControls(after.error)}\n`, runtime);

  const edited = rewriteRoute(text, index, target, after.value);
  const saved = saveTable(opened.value, edited, options.dryRun === true, runtime);
  if (!saved.ok) return fail(`${saved.error}error: nothing was written\n`, runtime);
  await runtime.print(formatChange(index, target, after.value, options.json === true));
  runtime.report(`${escapeControls(name)}: ${outcomeOf(text === edited, options)}\n`);
  return EXIT.ok;
};

/** Options that contradict each other are not guessed at. */
const stepOf = ({ percent: share, region, back = false, off, finish }: Options): Result<RampStep, string> => {
  const requested = [share !== undefined, off === true, finish === true].filter(Boolean).length;
  if (requested !== 1) return err("error: say one of --percent, --off and --finish\n");
  if (share !== undefined) return ok({ kind: "percent", percent: share, region, back });
  if (region !== undefined) return err("error: --region goes with --percent\n");
  if (finish !== true) return ok({ kind: "off", back });
  return back ? err("error: --back does not go with --finish, which sends no ID elsewhere\n") : ok({ kind: "finish" });
};

const indexOf = (route: string): number | undefined => {
  const [, digits] = /^(?:\/routes\/)?(0|[1-9][0-9]{0,8})$/.exec(route) ?? [];
  return digits === undefined ? undefined : Number(digits);
};

const rangeOf = (count: number): string => {
  if (count === 0) return "it has none";
  return count === 1 ? "it has /routes/0 only" : `it has /routes/0 to /routes/${count - 1}`;
};

/** `/routes/3  eu (5 % us) → eu (10 % us)  5 % of its IDs go elsewhere`. */
const formatChange = (index: number, before: RouteTarget, after: RouteTarget, json: boolean): string => {
  const moved = percentMoved(targetOf(before), targetOf(after));
  const route = `/routes/${index}`;
  if (json) {
    const plain = ({ region, canary }: RouteTarget) => ({ region, canary });
    return `${JSON.stringify({ route, before: plain(before), after: plain(after), percentMoved: moved })}\n`;
  }
  const share = moved === 0 ? "no ID goes elsewhere" : `${moved} % of its IDs go elsewhere`;
  return `${route}  ${formatTarget(before)} → ${formatTarget(after)}  ${share}\n`;
};

const targetOf = ({ region, canary }: RouteTarget): RouteOutcome => routeOutcome(region, canary);

const formatTarget = ({ region, canary }: RouteTarget): string =>
  canary === undefined ? region : `${region} (${canary.percent} % ${canary.region})`;

const outcomeOf = (isSame: boolean, { dryRun }: Options): string => {
  if (isSame) return "nothing to change";
  return dryRun ? "nothing was written (--dry-run)" : "changed; publish it to let it take effect";
};
