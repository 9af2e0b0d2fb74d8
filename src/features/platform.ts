import { directory } from "./directory/edge/index.ts";
import { idempotency } from "./idempotency/edge/index.ts";
import { lists } from "./lists/edge.ts";
import { mesh } from "./mesh/edge/index.ts";
import { mint } from "./mint/edge/index.ts";
import { packs } from "./packs/edge/index.ts";
import { publicIds } from "./public-ids/edge.ts";
import { shadow } from "./shadow/edge.ts";

/** The features that stand on the platform. A feature of this build has a line in each list that it has a part for. */
export const PLATFORM_FEATURES = [directory, idempotency, lists, mesh, mint, packs, publicIds, shadow] as const;
