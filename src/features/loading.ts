import { directoryLoad } from "./directory/load.ts";
import { packsLoad } from "./packs/load.ts";

/** The features that load what a decision needs. */
export const LOAD_FEATURES = [packsLoad, directoryLoad];
