import type { Bench } from "./bench.ts";
import { idCandidates } from "./id-candidates.ts";
import { inNode, inWorkerd } from "./in-both.ts";

/** Reading and minting IDs. */
export const idsBench: Bench = {
  name: "ids",
  run: async (options) => {
    const candidates = idCandidates();
    for (const { name, against, run } of candidates) {
      const rival = candidates.find((other) => other.name === against && name.includes("parse"));
      // The same texts must give the same fields, or else the comparison is worth nothing.
      if (rival !== undefined && rival.run(1000) !== run(1000)) throw new Error(`"${name}" and "${against}" differ`);
    }
    return [await inNode("IDs", candidates, options), await inWorkerd("IDs", idCandidates(), "ids.ts", options)];
  },
};
