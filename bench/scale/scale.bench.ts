import type { Bench } from "../lib/report.ts";
import { spread } from "../lib/sample.ts";
import { type Compared, comparisons, isWithin } from "./simulation.ts";

/** A simulation of many isolates against the formulas of `docs/design/scale.md`, with a seed for each round. */
export const scaleBench: Bench = {
  name: "scale",
  run: async ({ rounds, progress }) => {
    const runs: (readonly Compared[])[] = [];
    for (let seed = 1; seed <= rounds; seed++) {
      runs.push(comparisons(seed));
      progress(`Scale: seed ${seed} of ${rounds}`);
    }
    const outside = runs.flat().filter((compared) => !isWithin(compared));
    return [
      {
        title: "Scale: simulation and formulas",
        note: `A million requests a second over 300 locations, scaled down as docs/design/scale.md says; ${rounds} seeds.`,
        columns: ["what", "formula", "simulated", "ratio", "band, %"],
        rows: (runs[0] ?? []).map(({ what, formula, band }, at) => {
          const found = runs.map((run) => (run[at] as Compared).simulated);
          return [what, formula, spread(found), spread(found.map((simulated) => simulated / formula)), band * 100];
        }),
        ...(outside[0] === undefined
          ? {}
          : { failure: `${outside.length} ratios are out of their bands, "${outside[0].what}" first` }),
      },
    ];
  },
};
