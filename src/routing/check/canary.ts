import type { Draft, DraftRoute } from "../draft.ts";
import type { Report } from "../faults.ts";

/** A canary and a shadow must each be of some use: a share that leads where the IDs go anyway is a mistake in writing. */
export const checkShares = (draft: Draft, report: Report): void => {
  for (const each of draft.routes) {
    checkCanary(each, report);
    checkShadow(each, report);
  }
};

const checkCanary = ({ index, route: { region, canary } }: DraftRoute, report: Report): void => {
  if (canary === undefined || canary.region !== region) return;
  report(
    "same-region",
    ["routes", index, "canary", "region"],
    `The route's IDs go to ${JSON.stringify(region)} anyway; name the region that is to be tried, or remove the canary.`,
  );
};

/**
 * Beside a canary a shadow may be of the route's own region, or of the canary's: it then follows only the IDs that go to the
 * other one.
 */
const checkShadow = ({ index, route: { region, canary, shadow } }: DraftRoute, report: Report): void => {
  if (shadow === undefined) return;
  const place = ["routes", index, "shadow", "region"] as const;
  const name = JSON.stringify(shadow.region);
  if (canary === undefined && shadow.region === region) {
    report("same-region", place, `The reads go to ${name} anyway; name another region, or remove the shadow.`);
  } else if (canary?.percent === 100 && canary.region === shadow.region) {
    report("same-region", place, `The canary takes every ID to ${name}, and a shadow is of no use there; remove it.`);
  }
};
