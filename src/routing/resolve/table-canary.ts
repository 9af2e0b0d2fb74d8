import * as v from "valibot";
import { fieldOf, iuid, kindOf } from "../../ids/index.ts";
import { ENTITIES_MAX } from "../limits.ts";
import { name } from "../schema/parts.ts";
import type { CompiledTable, IdDecision } from "../table.ts";
import { percentTaking, placeOf } from "./match.ts";

/** IDs that a canary of the whole table serves. The table in force decides, so that the choice is stable. */

const PERCENT_STEP = 1e-4;

/** Exactly one of the three. A share is in percent, in steps of a ten-thousandth, as in a route's canary. */
export const canarySelectorSchema = v.union(
  [
    v.strictObject({
      share: v.pipe(v.number(), v.minValue(PERCENT_STEP), v.maxValue(100), v.check(isStep, "At most four decimals.")),
    }),
    v.strictObject({
      countries: v.pipe(v.array(v.pipe(v.string(), v.regex(/^[A-Z]{2}$/))), v.minLength(1), v.maxLength(300)),
    }),
    v.strictObject({ entities: v.pipe(v.array(name), v.minLength(1), v.maxLength(ENTITIES_MAX)) }),
  ],
  "Give exactly one of `share` (percent), `countries` (ISO 3166-1 codes), `entities` (names).",
);

export type CanarySelector = v.InferOutput<typeof canarySelectorSchema>;

function isStep(percent: number): boolean {
  const steps = percent / PERCENT_STEP;
  return Math.abs(steps - Math.round(steps)) < 1e-6;
}

/** Any but those of other uses: the share of a route's canary must be independent of the table's. */
const SEED = 0x2545f491;

const country = /* @__PURE__ */ fieldOf(iuid, "country");

/** Whether an entity belongs to the audience, by what the stable table makes of its ID. The same for all texts of an ID. */
export const selectorTest = (stable: CompiledTable, audience: CanarySelector): ((decision: IdDecision) => boolean) => {
  if ("entities" in audience) {
    const names = new Set(audience.entities);
    return ({ entity }) => names.has(entity.name);
  }
  if ("countries" in audience) {
    const numbers = new Set(audience.countries.map((code) => stable.countries.get(code)));
    const iuids = [...stable.layouts].flatMap(([name, { layout }]) => (kindOf(layout) === iuid.name ? [name] : []));
    return ({ layout, words }) => iuids.includes(layout) && numbers.has(country.read(words));
  }
  const share = audience.share / 100;
  return ({ layout, words }) => placeOf(layout, words, SEED) < share;
};

/** The least share with four decimals that the ID is in. */
export const canaryTakesFrom = ({ layout, words }: IdDecision): number => percentTaking(layout, words, SEED);

/** Whether a canary serves all of an entity, with the IDs that the stable table does not know. */
export const servesEntity = (audience: CanarySelector, entity: string): boolean =>
  "entities" in audience && audience.entities.includes(entity);

/** Names that a table declares, as far as an audience names it. */
export interface TableNames {
  readonly countries: Pick<ReadonlySet<string>, "has">;
  readonly entities: Pick<ReadonlySet<string>, "has">;
}

/** Names in a selector that neither table has: such a canary would serve no request, silently. */
export const unknownNames = (audience: CanarySelector, tables: readonly TableNames[]): readonly string[] => {
  if ("countries" in audience) return audience.countries.filter((code) => !tables[0]?.countries.has(code));
  if ("entities" in audience) return audience.entities.filter((entity) => !tables.some((t) => t.entities.has(entity)));
  return [];
};
