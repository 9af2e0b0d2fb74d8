import type { StoredParts } from "../control-plane/feature.ts";
import { storedPacks } from "./packs/edge/index.ts";

/** Features whose parts of a table are stored apart from its text. */
export const STORED_PARTS: readonly StoredParts[] = [storedPacks];

/** Their calls to the object of the control plane. */
export const PART_CALLS = { ...storedPacks.calls };
