import type { Draft } from "../draft.ts";
import type { Report } from "../faults.ts";
import type { DeclaredRoute } from "../schema.ts";
import { readSplit } from "../split.ts";

const DESTINATIONS = ["region", "split", "pack"] as const;

/** Whether a route says in one way where its IDs go. */
export const hasOneDestination = (route: DeclaredRoute): boolean =>
  DESTINATIONS.filter((destination) => route[destination] !== undefined).length === 1;

/** Each route leads to a region, to the parts of a split, or to a pack; and each part of a split to one region. */
export const checkDestinations = (draft: Draft, report: Report): void => {
  for (const { index, route } of draft.routes) {
    const [first, second] = DESTINATIONS.filter((destination) => route[destination] !== undefined);
    if (first === undefined) {
      report("schema", ["routes", index, "region"], '"region" is missing; add it, or a "split" or a "pack".');
    } else if (second !== undefined) {
      const message = `A route has a region, a split or a pack; remove ${JSON.stringify(first)} or ${JSON.stringify(second)}.`;
      report("schema", ["routes", index, second], message);
    }
    if (first !== "region" && second === undefined) {
      for (const part of ["canary", "shadow"] as const) {
        if (route[part] === undefined) continue;
        report(
          "schema",
          ["routes", index, part],
          `A route with a ${first ?? "region"} alone has a ${part}; remove it.`,
        );
      }
    }
    if (route.split === undefined) continue;
    const place = ["routes", index, "split", "regions"] as const;
    const { regions, faults } = readSplit(route.split);
    for (const fault of faults) report("split-parts", [...place, ...fault.place], fault.message);
    if (faults.length === 0 && new Set(regions).size === 1) {
      report("same-region", place, "Every part goes to one region; name it as the route's region instead.");
    }
  }
};
