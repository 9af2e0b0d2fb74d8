import { inNode, inWorkerd } from "../lib/measure.ts";
import type { Bench } from "../lib/report.ts";
import { signatureCandidates } from "./signature-candidates.ts";

/** Signing a request (in the gateway, inside workerd) and verifying it (at an origin, in Node). */
export const signatureBench: Bench = {
  name: "signature",
  run: async (options) => {
    const candidates = await signatureCandidates();
    return [
      await inNode("Signatures", candidates, options),
      await inWorkerd("Signatures", candidates, new URL("signature.worker.ts", import.meta.url), options),
    ];
  },
};
