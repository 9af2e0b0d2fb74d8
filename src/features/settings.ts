import { meshFaults, PEER_KEYS, SELF_REGIONS } from "./mesh/edge/settings.ts";
import { PUBLIC_ID_KEYS } from "./public-ids/table/codec.ts";

/** Settings of features: by the member of the configuration that holds the value. */
export const FEATURE_SETTINGS = { publicKeys: PUBLIC_ID_KEYS, selfRegions: SELF_REGIONS, peerKeys: PEER_KEYS } as const;

/** Rules about several settings together. */
export const SETTING_RULES = [meshFaults];
