import type { TextsOf } from "../../problems/feature.ts";
import type { PublicIdsError } from "./problems.ts";

/** The page of each problem: pages and documents alone load it. */
export const publicIdTexts: TextsOf<PublicIdsError> = {
  "public-ids-unavailable": {
    meaning: "The routing table makes an entity public, and this deployment has no key for its public IDs.",
    remedy: "Give the deployment the secret `PUBLIC_ID_KEYS`. Internal IDs are never shown instead.",
  },
};
