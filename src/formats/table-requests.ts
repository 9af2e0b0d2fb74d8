import * as v from "valibot";
import { ENTITIES_MAX } from "../routing/limits.ts";
import { COUNTRIES_MAX, COUNTRY, isStep, PERCENT_STEP } from "../routing/resolve/table-canary.ts";
import { name } from "../routing/schema/parts.ts";

/** Requests to `/-/table`. The Worker validates them; answers are in `table-api.ts`. */

export const PAGE_ENTRIES_MAX = 100;
export const PAGE_ENTRIES_DEFAULT = 20;

/** Long enough for a sentence and a link; every list of revisions shows it. */
export const NOTE_CHARACTERS_MAX = 500;

/** Carries the note of a `PUT`, percent-encoded: HTTP headers are not UTF-8 (RFC 9110 §5.5). */
export const NOTE_HEADER = "waybill-note";

const note = v.optional(v.string(), "");

/** Promotes or aborts a canary. */
export const endCanarySchema = v.strictObject({ note });

export const rollbackSchema = v.strictObject({ to: v.pipe(v.number(), v.safeInteger(), v.minValue(0)), note });

/** As callers send it. A share is in steps of a ten-thousandth, as in a route's canary. */
export const canarySelectorSchema = v.union(
  [
    v.strictObject({
      share: v.pipe(v.number(), v.minValue(PERCENT_STEP), v.maxValue(100), v.check(isStep, "At most four decimals.")),
    }),
    v.strictObject({
      countries: v.pipe(v.array(v.pipe(v.string(), v.regex(COUNTRY))), v.minLength(1), v.maxLength(COUNTRIES_MAX)),
    }),
    v.strictObject({
      entities: v.pipe(v.array(name), v.minLength(1), v.maxLength(ENTITIES_MAX)),
    }),
  ],
  "Give exactly one of `share` (percent), `countries` (ISO 3166-1 codes), `entities` (names).",
);

/** `canarySelectorSchema` validates the other members. */
export const startCanarySchema = v.looseObject({ table: v.pipe(v.unknown(), v.metadata({ type: "object" })), note });
