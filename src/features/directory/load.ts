import type { LoadFeature } from "../../gateway/feature.ts";
import { err } from "../../ids/result.ts";
import type { MissingKey } from "./table/types.ts";

/** Keys of directories. Their answers are in no table. */
export const directoryLoad: LoadFeature = {
  name: "directory",
  load: async ({ directory }, _, missing, caller) => {
    const { plan, key } = missing as MissingKey;
    const answer = await directory.lookup(plan, key, caller);
    return answer.ok ? answer : err({ ...answer.error, missing: missing as MissingKey });
  },
};
