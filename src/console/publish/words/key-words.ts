import type { KeyChange } from "../../../routing/diff/key-changes.ts";
import { countryName, utcTime } from "../../app/words.ts";
import { plain, strong } from "../../routing/condition-words.ts";
import { listText, type Words } from "./words.ts";

/** Keys of IDs in words: `order and ride IDs of Brazil or Mexico`. Pure. */

const VALUES_MAX = 6;
const KINDS_MAX = 3;

/** Changes that differ in their entities alone are one kind. */
export function kindsOf(changes: readonly KeyChange[]): readonly Words[] {
  const kinds = new Map<
    string,
    { readonly entities: Set<string>; readonly condition: Words; readonly percent: number | undefined }
  >();
  for (const change of changes) {
    const condition = conditionOf(change);
    const key = JSON.stringify([condition, change.percent]);
    const kind = kinds.get(key) ?? { entities: new Set(), condition, percent: change.percent };
    kinds.set(key, kind);
    for (const outcome of [change.before, change.after]) if (outcome !== undefined) kind.entities.add(outcome.entity);
  }
  return [...kinds.values()].map(({ entities, condition, percent }) => [
    ...(percent === undefined ? [] : [strong(`${percent} %`), plain(" of ")]),
    plain(`${condition.length === 0 && percent === undefined ? "all " : ""}${listText([...entities], VALUES_MAX)} IDs`),
    ...condition,
  ]);
}

/** All of them as one text, as long as one can read it. */
export function keysInWords(changes: readonly KeyChange[]): Words {
  const kinds = kindsOf(changes);
  const shown = kinds.length > KINDS_MAX ? kinds.slice(0, KINDS_MAX - 1) : kinds;
  const rest = kinds.length - shown.length;
  const parts = rest === 0 ? shown : [...shown, [plain(`${rest} more kinds of keys`)]];
  return parts.flatMap((words, at) => (at === 0 ? words : [plain("; "), ...words]));
}

function conditionOf({ where, mintedFrom, mintedBefore, byPacks }: KeyChange): Words {
  const { country, ...others } = where;
  const parts: Words[] = [
    ...(country === undefined ? [] : [[plain(" of "), strong(countriesText(country))]]),
    ...Object.entries(others).map(([name, values]) => [
      plain(" with "),
      strong(`${nameOf(name)} ${valuesText(values)}`),
    ]),
    ...(mintedFrom === undefined ? [] : [[plain(" minted from "), strong(utcTime(mintedFrom))]]),
    ...(mintedBefore === undefined ? [] : [[plain(" minted before "), strong(utcTime(mintedBefore))]]),
    ...(byPacks === undefined ? [] : [[plain(" that packs name")]]),
  ];
  return parts.flat();
}

const NAMES = new Map([
  ["shardKey", "shard key"],
  ["primaryKey", "primary key"],
]);

const nameOf = (name: string): string => NAMES.get(name) ?? name.replace(/^slices\./, "");

const valuesText = (values: string): string =>
  listText(
    values.split(", ").map((value) => value.replace(/^(\d+)-(\d+)$/, "$1–$2")),
    VALUES_MAX,
    "or",
  );

/** Codes, numbers without a country, and a number whose country changes: `5 (KZ → BR)`. */
function countriesText(values: string): string {
  const names = values.split(", ").map((value): string => {
    if (/^[A-Z]{2}$/.test(value)) return countryName(value);
    const renamed = /^(\d+) \((\w+) → (\w+)\)$/.exec(value);
    if (renamed !== null)
      return `number ${renamed[1]}, which was ${countryName(renamed[2] ?? "")} and becomes ${countryName(renamed[3] ?? "")}`;
    return `country number ${value.replace("-", "–")}`;
  });
  return listText(names, VALUES_MAX, "or");
}
