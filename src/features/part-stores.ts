import type { PartStoreFeature } from "../control-plane/feature.ts";
import { packStore } from "./packs/edge/uploads.ts";

/** The same features in the object of the control plane. */
export const PART_STORES: readonly PartStoreFeature[] = [packStore];
