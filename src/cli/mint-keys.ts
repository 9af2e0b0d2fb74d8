import { err, type Field, groupOfClass, type Layout, ok, type Result } from "../ids/index.ts";
import type { MintPlanError } from "../routing/mint-plan.ts";
import { comesTwice, whyNotMinted } from "./mint-refusal.ts";
import { suggestion } from "./suggest.ts";

/** The values of an ID's fields that its minter is told. */
export type MintKeys = Readonly<Record<string, bigint>>;

/** What the options say about fields; `country` is a code of the table, or a number. */
export interface GivenKeys {
  readonly country?: string;
  readonly service?: number;
  readonly shardKey?: number;
  readonly group?: number;
  readonly primaryKey?: number;
  readonly field?: MintKeys;
}

/** Fields that have an option of their own. */
const OPTIONS: Readonly<Record<string, string>> = {
  country: "--country",
  service: "--service",
  shardKey: "--shard-key",
  group: "--group",
  primaryKey: "--primary-key",
};

/** Fields that are drawn at random for the whole run unless they are given, all or none. */
const RANDOM: Readonly<Record<string, readonly string[]>> = {
  hotguid: ["machine", "process"],
  "hotguid-sql": ["machine", "process"],
};

const malformed = (detail: string): Result<never, MintPlanError> => err({ reason: "malformed-request", detail });

/** The fields that a layout is minted with, each with a value that it holds. What is missing is asked for, never filled in. */
export const keysOf = (
  layout: Layout,
  given: GivenKeys,
  countries?: ReadonlyMap<string, number>,
): Result<MintKeys, MintPlanError> => {
  if (layout.table.minter === "none" || comesTwice(layout)) return malformed(whyNotMinted(layout));
  const country = countryOf(given.country, countries);
  if (!country.ok) return country;
  const keys = { ...numbersOf(given), ...country.value };
  const twice = Object.keys(given.field ?? {}).find((name) => Object.hasOwn(keys, name));
  if (twice !== undefined) return malformed(`Give ${OPTIONS[twice]} or --field ${twice}, not both.`);
  const all: MintKeys = { ...keys, ...given.field };
  const fields = layout.fields.filter(({ role }) => role === "key" || role === "node");
  return (
    strayError(layout, fields, all, keys) ?? missingError(layout, fields, all) ?? rangeError(fields, all) ?? ok(all)
  );
};

const numbersOf = ({ service, shardKey, group, primaryKey }: GivenKeys): MintKeys =>
  Object.fromEntries(
    Object.entries({ service, shardKey, group, primaryKey }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, BigInt(value)]],
    ),
  );

const countryOf = (
  country: string | undefined,
  countries: ReadonlyMap<string, number> | undefined,
): Result<MintKeys, MintPlanError> => {
  if (country === undefined) return ok({});
  if (/^[0-9]{1,16}$/.test(country)) return ok({ country: BigInt(country) });
  const number = countries?.get(country);
  if (number !== undefined) return ok({ country: BigInt(number) });
  if (countries === undefined) {
    return malformed(`Without a routing table, --country is a number: "${country}" has none.`);
  }
  return err({ reason: "unknown-name", what: "country", name: country, known: [...countries.keys()] });
};

const strayError = (layout: Layout, fields: readonly Field[], all: MintKeys, options: MintKeys) => {
  const names = fields.map(({ name }) => name);
  const stray = Object.keys(all).find((name) => !names.includes(name));
  if (stray === undefined) return undefined;
  const shown = Object.hasOwn(options, stray) ? OPTIONS[stray] : `--field ${stray}`;
  const takes = names.length === 0 ? "no field is given to it" : `it takes ${names.join(", ")}`;
  const near = suggestion(stray, names);
  return malformed(`${shown} has no place in layout ${layout.name}; ${takes}${near === "" ? "." : near}`);
};

const missingError = (layout: Layout, fields: readonly Field[], all: MintKeys) => {
  const random = RANDOM[layout.name] ?? [];
  const someRandom = random.some((name) => Object.hasOwn(all, name));
  const missing = fields.filter(({ name }) => !Object.hasOwn(all, name) && (someRandom || !random.includes(name)));
  if (missing.length === 0) return undefined;
  if (missing.some(({ name }) => name === "primaryKey") && missing.length === 1) {
    return malformed("Offline there is no sequence of primary keys: say with --primary-key where to start.");
  }
  const needs = missing.map(({ name, max }) => OPTIONS[name] ?? `--field ${name}=<0 to ${max}>`);
  return malformed(`An ID of layout ${layout.name} needs ${needs.join(", ")}.`);
};

const rangeError = (fields: readonly Field[], all: MintKeys): Result<never, MintPlanError> | undefined => {
  const wrong = fields.find(({ name, max }) => (all[name] ?? 0n) > BigInt(max));
  if (wrong === undefined) return undefined;
  return err({ reason: "key-out-of-range", field: wrong.name, value: `${all[wrong.name]}`, max: `${wrong.max}` });
};

/** The group that the options name, by number or by class. */
export const groupOption = (
  group: number | undefined,
  className: string | undefined,
): Result<number | undefined, MintPlanError> => {
  if (className === undefined) return ok(group);
  return group === undefined ? ok(groupOfClass(className)) : malformed("Give --group or --class, not both.");
};
