import type { LoadFeature } from "../../gateway/feature.ts";
import type { MissingPage } from "./table/pack.ts";

/** Pages of packs. The table has them once they are loaded. */
export const packsLoad: LoadFeature = {
  name: "packs",
  load: ({ packs }, table, missing) => packs.load(table, missing as MissingPage),
};
