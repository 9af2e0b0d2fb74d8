import type { Bench } from "./bench.ts";
import { inNode, inWorkerd } from "./in-both.ts";
import { signatureCandidates } from "./signature-candidates.ts";

/** Signing a request to an origin, which the gateway does inside workerd, and verifying it, which an origin does in Node. */
export const signatureBench: Bench = {
  name: "signature",
  run: async (options) => {
    const candidates = await signatureCandidates();
    return [
      await inNode("Signatures", candidates, options),
      await inWorkerd("Signatures", candidates, "signature.ts", options),
    ];
  },
};
