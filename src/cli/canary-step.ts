import { err, ok, type Result } from "../ids/index.ts";
import type { DeclaredRoute } from "../routing/schema.ts";

/** Where a route to one region leads, as the table declares it. */
export type RouteTarget = { readonly region: string } & Pick<DeclaredRoute, "canary">;

/** What is to become of a route's canary. */
export type RampStep =
  | { readonly kind: "percent"; readonly percent: number; readonly region: string | undefined; readonly back: boolean }
  | { readonly kind: "off"; readonly back: boolean }
  | { readonly kind: "finish" };

/** The route after the step; or why the step is not taken, as the end of a sentence about the route. */
export const rampRoute = ({ region, canary }: RouteTarget, step: RampStep): Result<RouteTarget, string> => {
  if (step.kind === "percent") return rampTo({ region, ...(canary === undefined ? {} : { canary }) }, step);
  if (canary === undefined) return err("has no canary.");
  const has = `gives ${canary.percent} % of its IDs to ${canary.region}`;
  if (step.kind === "finish") {
    return canary.percent === 100 ? ok({ region: canary.region }) : err(`${has}; --finish is for a canary of 100 %.`);
  }
  if (canary.percent === 100 && !step.back) {
    return err(`${has}: --finish makes that its own region, and --off --back sends all of them back to ${region}.`);
  }
  return ok({ region });
};

const rampTo = (
  { region, canary }: RouteTarget,
  { percent, region: requested, back }: Extract<RampStep, { readonly kind: "percent" }>,
): Result<RouteTarget, string> => {
  const to = requested ?? canary?.region;
  if (to === undefined) return err("has no canary yet; say with --region where a share of its IDs is to go.");
  if (canary === undefined || canary.percent === 0) return ok({ region, canary: { region: to, percent } });
  const has = `gives ${canary.percent} % of its IDs to ${canary.region}`;
  if (to !== canary.region) return err(`${has}; end that canary with --off before another one begins.`);
  if (percent < canary.percent && !back) return err(`${has}; --back is needed to send some of them back to ${region}.`);
  return ok({ region, canary: { region: to, percent } });
};
