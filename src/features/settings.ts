import { PUBLIC_ID_KEYS } from "./public-ids/table/codec.ts";

/** Settings of features: by the member of the configuration that holds the value. */
export const FEATURE_SETTINGS = { publicKeys: PUBLIC_ID_KEYS } as const;
