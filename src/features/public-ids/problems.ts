import type { ProblemsOf } from "../../problems/feature.ts";
import type { PublicIdsError } from "./table/reading.ts";

export type { PublicIdsError };

export const publicIdProblems: ProblemsOf<PublicIdsError> = {
  "public-ids-unavailable": {
    status: 503,
    title: "Public IDs unavailable",
    meaning: "The routing table makes an entity public, and this deployment has no key for its public IDs.",
    remedy: "Give the deployment the secret `PUBLIC_ID_KEYS`. Internal IDs are never shown instead.",
    detail: ({ entity }) =>
      entity === undefined
        ? "This deployment has no key for public IDs that the response may contain."
        : `This deployment has no key for the public IDs of "${entity}".`,
    members: ["entity"],
  },
};
