import { createTexts } from "./create/problem-texts.ts";
import { directoryTexts } from "./directory/problem-texts.ts";
import { idempotencyTexts } from "./idempotency/problem-texts.ts";
import { listTexts } from "./lists/problem-texts.ts";
import { mintTexts } from "./mint/problem-texts.ts";
import { packTexts } from "./packs/problem-texts.ts";
import { placeTexts } from "./places/problem-texts.ts";
import { publicIdTexts } from "./public-ids/problem-texts.ts";

/** The texts of each problem of a feature. */
export const FEATURE_TEXTS = {
  ...createTexts,
  ...directoryTexts,
  ...idempotencyTexts,
  ...listTexts,
  ...mintTexts,
  ...packTexts,
  ...placeTexts,
  ...publicIdTexts,
} as const;
