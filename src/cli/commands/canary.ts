import { err, ok, type Result } from "../../ids/index.ts";
import { percentMoved } from "../../routing/diff/outcome.ts";
import type { DeclaredRoute } from "../../routing/schema/table.ts";
import { command, type OptionsOf, option } from "../command.ts";
import { percent } from "../lib/input.ts";
import { type Edited, editJson } from "../lib/json-edit.ts";
import { escapeControls, jsonText } from "../lib/output.ts";
import { openForEdit, saveTable } from "../lib/table-edit.ts";
import { EXIT, fail, misuse } from "../runtime.ts";

/** The target of a route to one region. */
export type RouteTarget = { readonly region: string } & Pick<DeclaredRoute, "canary">;

/** A change of a route's canary: its share, its end by `finish`, or else its removal. */
export type RampStep = Pick<Options, "percent" | "region" | "back" | "finish">;

/** The route after the step. The error ends a sentence about the route. */
export const rampRoute = ({ region, canary }: RouteTarget, step: RampStep): Result<RouteTarget, string> => {
  if (step.percent !== undefined) return rampTo(region, canary, step.percent, step);
  if (canary === undefined) return err("has no canary.");
  const has = `gives ${canary.percent} % of its IDs to ${canary.region}`;
  if (step.finish) {
    return canary.percent === 100 ? ok({ region: canary.region }) : err(`${has}; --finish requires a canary of 100 %.`);
  }
  if (canary.percent === 100 && !step.back) {
    return err(`${has}: --finish makes that its own region, and --off --back returns all of them to ${region}.`);
  }
  return ok({ region });
};

const rampTo = (
  region: string,
  canary: RouteTarget["canary"],
  percent: number,
  { region: requested, back }: RampStep,
): Result<RouteTarget, string> => {
  const to = requested ?? canary?.region;
  if (to === undefined) return err("has no canary yet; pass its region with --region.");
  if (canary === undefined || canary.percent === 0) return ok({ region, canary: { region: to, percent } });
  const has = `gives ${canary.percent} % of its IDs to ${canary.region}`;
  if (to !== canary.region) return err(`${has}; end that canary with --off before starting another.`);
  if (percent < canary.percent && !back) return err(`${has}; pass --back to return some of them to ${region}.`);
  return ok({ region, canary: { region: to, percent } });
};

/** Rewrites region or canary of one route; every other byte stays. The text must be a valid table. */
export const rewriteRoute = (text: string, index: number, { region, canary }: RouteTarget): Edited => {
  const route = new Map<string, unknown>([
    ["region", region],
    ["canary", canary],
  ]);
  return editJson(text, new Map([["routes", new Map([[index, route]])]]));
};

const OPTIONS = [
  option("--percent <number>", "percentage of the route's IDs for the canary, from 0 to 100", percent),
  option("--region <region>", "the canary's region, for a route without a canary"),
  option("--back", "allow the share to shrink: IDs return to the route's own region"),
  option("--off", "remove the canary: all of its IDs return"),
  option("--finish", "make the region of a 100 % canary the route's own"),
  option("--table <file>", "the routing table to edit (default: routing-table.json)"),
  option("--dry-run", "show what would change; write nothing"),
  option("--json", "the change as one JSON object"),
] as const;
type Options = OptionsOf<typeof OPTIONS>;

export const canary = command({
  name: "canary",
  description: "route a growing share of a route's IDs to another region, step by step",
  args: [["<route>", "the route by JSON pointer or index, such as /routes/3 or 3"]],
  options: OPTIONS,
  help: `
Examples:
  $ waybill canary /routes/3 --region us --percent 1
  $ waybill canary /routes/3 --percent 10 --dry-run
  $ waybill canary /routes/3 --off
  $ waybill canary /routes/3 --finish

The table file is edited and keeps its formatting; docs/reference/routing-table.md has the procedure.
Exit code: 0, or 1 if the step was rejected and nothing was written.`,
  run: async (runtime, [route = ""], options) => {
    checkOptions(options);
    const opened = await openForEdit(options.table, runtime);
    const { name, text, table } = opened;
    const file = escapeControls(name);
    const [, digits] = /^(?:\/routes\/)?(0|[1-9][0-9]{0,8})$/.exec(route) ?? [];
    const index = Number(digits);
    const before = table.routes[index];
    if (before === undefined) {
      fail(
        `error: ${file} has no route ${escapeControls(route)}; ${rangeOf(table.routes.length)}\n`,
        digits === undefined ? EXIT.usage : EXIT.failed,
      );
    }
    const { region, canary } = before;
    if (region === undefined) {
      const what = escapeControls(destinationOf(before));
      fail(`error: /routes/${index} leads to ${what}; only a route to one region can have a canary.\n`);
    }
    const target = { region, ...(canary === undefined ? {} : { canary }) };
    const after = rampRoute(target, options);
    if (!after.ok) return fail(`error: /routes/${index} ${escapeControls(after.error)}\n`);
    const edited = rewriteRoute(text, index, after.value);
    saveTable(opened, edited, options.dryRun === true, runtime);
    await runtime.print(formatChange(index, target, after.value, options.json === true));
    runtime.report(`${file}: ${outcomeOf(text === edited.text, options)}\n`);
    return EXIT.ok;
  },
});

/** Where a route leads that leads to no region. */
const destinationOf = ({ directory, pack }: DeclaredRoute): string => {
  if (directory !== undefined) return `the directory "${directory}", which knows the region of each ID`;
  return pack === undefined ? "the parts of a split" : `the pack "${pack}"`;
};

const checkOptions = ({ percent: share, region, back, off, finish }: Options): void => {
  const requested = [share !== undefined, off === true, finish === true].filter(Boolean).length;
  if (requested !== 1) misuse("error: pass exactly one of --percent, --off, --finish\n");
  if (share === undefined && region !== undefined) misuse("error: --region requires --percent\n");
  if (finish && back) misuse("error: --back has no effect with --finish, which reroutes no ID\n");
};

const rangeOf = (count: number): string => {
  if (count === 0) return "it has none";
  return count === 1 ? "it has /routes/0 only" : `it has /routes/0 to /routes/${count - 1}`;
};

/** `/routes/3  eu (5 % us) → eu (10 % us)  5 % of its IDs change region`. */
const formatChange = (index: number, before: RouteTarget, after: RouteTarget, json: boolean): string => {
  const moved = percentMoved(before, after);
  const route = `/routes/${index}`;
  if (json) return jsonText({ route, before, after, percentMoved: moved });
  const share = moved === 0 ? "no ID is routed differently" : `${moved} % of its IDs change region`;
  return `${route}  ${formatTarget(before)} → ${formatTarget(after)}  ${share}\n`;
};

const formatTarget = ({ region, canary }: RouteTarget): string =>
  canary === undefined ? region : `${region} (${canary.percent} % ${canary.region})`;

const outcomeOf = (isSame: boolean, { dryRun }: Options): string => {
  if (isSame) return "nothing to change";
  return dryRun ? "nothing was written (--dry-run)" : "changed; publish the table to apply it";
};
