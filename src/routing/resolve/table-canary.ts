import { fieldOf, iuid, kindOf } from "../../ids/index.ts";
import { ENTITIES_MAX, NAME_LENGTH_MAX } from "../limits.ts";
import { isRecord, NAME_FORM } from "../schema/records.ts";
import type { CompiledTable, IdDecision } from "../table.ts";
import { percentTaking, placeOf } from "./match.ts";

/** IDs that a canary of the whole table serves. The table in force decides, so that the choice is stable. */

/** Exactly one of the three. A share is in percent. */
export type CanarySelector =
  | { readonly share: number }
  | { readonly countries: string[] }
  | { readonly entities: string[] };

export const PERCENT_STEP = 1e-4;
export const COUNTRIES_MAX = 300;
export const COUNTRY = /^[A-Z]{2}$/;

/** A share is in steps of a ten-thousandth, as in a route's canary. */
export const isStep = (percent: number): boolean => {
  const steps = percent / PERCENT_STEP;
  return Math.abs(steps - Math.round(steps)) < 1e-6;
};

/** As a pointer in KV has it, by the same rules: every start reads one, so that it needs no library. */
export const readSelector = (value: unknown): CanarySelector | undefined => {
  if (!isRecord(value) || Object.keys(value).length !== 1) return undefined;
  const { share, countries, entities } = value;
  if (typeof share === "number") return share >= PERCENT_STEP && share <= 100 && isStep(share) ? { share } : undefined;
  if (Array.isArray(countries)) return areNames(countries, COUNTRIES_MAX, isCountry) ? { countries } : undefined;
  return Array.isArray(entities) && areNames(entities, ENTITIES_MAX, isEntity) ? { entities } : undefined;
};

const areNames = (values: readonly unknown[], countMax: number, is: (value: string) => boolean): boolean =>
  values.length > 0 && values.length <= countMax && values.every((value) => typeof value === "string" && is(value));

const isCountry = (value: string): boolean => COUNTRY.test(value);
const isEntity = (value: string): boolean => NAME_FORM.test(value) && value.length <= NAME_LENGTH_MAX;

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
