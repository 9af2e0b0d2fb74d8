import { inNode, inWorkerd } from "../lib/measure.ts";
import type { Bench } from "../lib/report.ts";
import { idCandidates } from "./id-candidates.ts";

/** Reading and minting IDs. */
export const idsBench: Bench = {
  name: "ids",
  run: async (options) => {
    const candidates = idCandidates();
    for (const { name, against, run } of candidates) {
      const reference = candidates.find((other) => other.name === against && name.includes("parse"));
      // A comparison is valid only if both read the same fields from the same texts.
      if (reference !== undefined && reference.run(1000) !== run(1000))
        throw new Error(`"${name}" and "${against}" differ`);
    }
    return [
      await inNode("IDs", candidates, options),
      await inWorkerd("IDs", idCandidates(), new URL("ids.worker.ts", import.meta.url), options),
    ];
  },
};
