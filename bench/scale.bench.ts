import type { Bench } from "./bench.ts";
import type { Section } from "./report.ts";
import { type Spread, spread } from "./sample.ts";
import { type Compared, isWithin } from "./scale/compared.ts";
import { comparisons } from "./scale/comparison.ts";

/** A simulation of many isolates against the formulas of `docs/scale.md`, with a seed for each round. */
export const scaleBench: Bench = {
  name: "scale",
  run: async ({ rounds, progress }) => {
    const runs: (readonly Compared[])[] = [];
    for (let seed = 1; seed <= rounds; seed++) {
      runs.push(comparisons(seed));
      progress(`Scale: seed ${seed} of ${rounds}`);
    }
    return [compare(runs)];
  },
};

export function compare(runs: readonly (readonly Compared[])[]): Section {
  const [first = []] = runs;
  const outside = runs.flat().filter((compared) => !isWithin(compared));
  const [worst] = outside;
  return {
    title: "Scale: simulation and formulas",
    note: `A million requests a second over 300 locations, scaled down as docs/scale.md says; ${runs.length} seeds. The ratio is simulated by calculated.`,
    columns: ["what", "formula", "simulated", "ratio", "band, %"],
    rows: first.map(({ what, unit, formula, band }, at) => {
      const found = runs.map((run) => (run[at] as Compared).simulated);
      const ratios: Spread = spread(found.map((simulated) => simulated / formula));
      return [unit === "" ? what : `${what}, ${unit}`, formula, spread(found), ratios, band * 100];
    }),
    ...(worst === undefined
      ? {}
      : { failure: `${outside.length} ratios are out of their bands, "${worst.what}" first` }),
  };
}
