import { listOf } from "../../routing/schema/records.ts";
import type { DeclaredConditions, DeclaredNumbers, DeclaredTable } from "../../routing/schema/table.ts";
import { ownOf } from "../app/own.ts";
import { countryName, timeInWords } from "../app/words.ts";

/** Conditions of a route in words: one entry for each member that the schema allows, or this does not compile. */

/** A piece of a sentence; the strong ones say which IDs are meant. */
export interface Part {
  readonly text: string;
  readonly isStrong?: boolean;
}

export const plain = (text: string): Part => ({ text });
export const strong = (text: string): Part => ({ text, isStrong: true });
export const textOf = (parts: readonly Part[]): string => parts.map(({ text }) => text).join("");

/** Values of a key with its name: `shard keys`, `0 to 1023`. */
export interface Condition {
  readonly noun: string;
  readonly values: readonly string[];
}

/** Parts of a table without which a condition has no words. Support knows these, and not the routes. */
export type Named = Pick<DeclaredTable, "layouts">;

interface Words {
  /** Names of countries. */
  readonly countries: readonly string[];
  readonly entities: readonly string[];
  readonly layouts: readonly string[];
  readonly keys: readonly Condition[];
  /** `before 1 June 2026`. */
  readonly minted: readonly string[];
}

type Conditions = Required<DeclaredConditions>;

type OfMember = { readonly [Name in keyof Conditions]: (value: Conditions[Name], named: Named) => Partial<Words> };

const keyOf =
  (one: string, many: string) =>
  (value: DeclaredNumbers): Partial<Words> => ({ keys: [counted(one, many, numbersIn(value))] });

const OF_MEMBER: OfMember = {
  layout: (value) => ({ layouts: listOf(value) }),
  entity: (value) => ({ entities: listOf(value) }),
  country: (value) => ({ countries: listOf(value).map(countryName) }),
  service: keyOf("service", "services"),
  class: (value) => ({ keys: [counted("class", "classes", listOf(value))] }),
  group: keyOf("group", "groups"),
  shardKey: keyOf("shard key", "shard keys"),
  primaryKey: keyOf("primary key", "primary keys"),
  slices: (value, named) => ({
    keys: Object.entries(value).map(([name, numbers]) =>
      isArea(name, named)
        ? counted("area", "areas", listOf(numbers).map(areaName))
        : { noun: name, values: numbersIn(numbers) },
    ),
  }),
  fields: (value) => ({
    keys: Object.entries(value).map(([name, numbers]) => ({ noun: name, values: numbersIn(numbers) })),
  }),
  mintedFrom: (value) => ({ minted: [`from ${timeInWords(value)}`] }),
  mintedBefore: (value) => ({ minted: [`before ${timeInWords(value)}`] }),
};

export const CONDITIONS = Object.keys(OF_MEMBER) as readonly (keyof Conditions)[];

export function conditionWords(when: DeclaredConditions, named: Named): Words {
  const all = CONDITIONS.map((name) => wordsOf(name, when[name], named));
  return {
    countries: all.flatMap(({ countries = [] }) => countries),
    entities: all.flatMap(({ entities = [] }) => entities),
    layouts: all.flatMap(({ layouts = [] }) => layouts),
    keys: all.flatMap(({ keys = [] }) => keys),
    minted: all.flatMap(({ minted = [] }) => minted),
  };
}

const wordsOf = <Name extends keyof Conditions>(
  name: Name,
  value: Conditions[Name] | undefined,
  named: Named,
): Partial<Words> => (value === undefined ? {} : OF_MEMBER[name](value, named));

function counted(one: string, many: string, values: readonly string[]): Condition {
  const isOne = values.length === 1 && !values[0]?.includes(" to ");
  return { noun: isOne ? one : many, values };
}

/** `0 to 1023`: a hyphen between numbers reads as a minus. */
const numbersIn = (value: DeclaredNumbers): readonly string[] =>
  listOf(value).map((each) => String(each).replace("-", " to "));

/** Whether some layout of the table says that the slice has codes of UN M.49. */
const isArea = (name: string, { layouts = {} }: Named): boolean =>
  Object.values(layouts).some(({ slices }) => {
    const slice = ownOf(slices, name);
    return slice !== undefined && !Array.isArray(slice) && "codes" in slice && slice.codes === "m49";
  });

/** CLDR has no name for codes that the standard once had. */
function areaName(code: number | string): string {
  const name = countryName(String(code));
  return /^\d/.test(name) ? `M.49 ${code}` : name;
}

const VALUES_MAX = 12;

/** `Poland`, `Poland or Germany`, and of many the first twelve. */
export function eitherOf(all: readonly string[], max = VALUES_MAX): string {
  const shown = all.slice(0, max);
  const rest = all.length - shown.length;
  const last = rest > 0 ? `${rest} more` : shown.pop();
  return shown.length === 0 ? `${last ?? "nothing"}` : `${shown.join(", ")} or ${last}`;
}
