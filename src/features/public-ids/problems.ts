import type { ProblemsOf } from "../../problems/feature.ts";
import type { PublicIdsError } from "./table/reading.ts";

export type { PublicIdsError };

export const publicIdProblems: ProblemsOf<PublicIdsError> = {
  "public-ids-unavailable": {
    status: 503,
    title: "Public IDs unavailable",
    detail: ({ entity }) =>
      entity === undefined
        ? "This deployment has no key for public IDs that the response may contain."
        : `This deployment has no key for the public IDs of "${entity}".`,
    members: ["entity"],
  },
};
