import * as v from "valibot";
import { ENTITIES_MAX } from "../limits.ts";
import { COUNTRIES_MAX, COUNTRY, isStep, PERCENT_STEP } from "../resolve/table-canary.ts";
import { name } from "./parts.ts";

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
