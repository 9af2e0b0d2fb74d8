import { type Field, groupOfClass, type Layout, type RandomWords, type Words } from "../../ids/index.ts";
import { wordMinter } from "../../ids/mint/create-minter.ts";
import { hasEnoughEntropy } from "../../routing/mint/plan.ts";
import { malformed, need, refuse } from "../lib/errors.ts";
import { suggestion } from "../lib/layouts.ts";

/** Sources of IDs other than clock and randomness. */
const ORIGINS: Readonly<Record<string, string>> = {
  "uuid-v2": "a user or a group of one host, and its clock",
  "uuid-v3": "the MD5 of a name in a namespace",
  "uuid-v5": "the SHA-1 of a name in a namespace",
  "uuid-v8": "data of their issuer",
  "uuid-nil": "nothing: it is the only ID of its layout",
  "uuid-max": "nothing: it is the only ID of its layout",
};

/** Whether IDs of one run would collide: no time, and too few random values. */
export const comesTwice = (layout: Layout): boolean =>
  layout.table.minter === undefined &&
  layout.mintedAtMs === undefined &&
  !hasEnoughEntropy(layout, "random", "counter");

export const whyNotMinted = (layout: Layout): string => {
  const { name } = layout;
  if (comesTwice(layout)) {
    return `IDs of ${name} cannot be minted offline: with few random bits and no time, IDs would repeat.`;
  }
  const origin = ORIGINS[name];
  return `IDs of ${name} cannot be minted${origin === undefined ? "" : `: they come from ${origin}`}.`;
};

/** Field values that the minter is given. */
export type MintKeys = Readonly<Record<string, bigint>>;

/** Field values by option. `country`: a code of the table, or a number. */
export interface GivenKeys {
  readonly country?: string;
  readonly service?: number;
  readonly shardKey?: number;
  readonly group?: number;
  readonly primaryKey?: number;
  readonly field?: MintKeys;
}

/** Fields with an option of their own. */
const OPTIONS: Readonly<Record<string, string>> = {
  country: "--country",
  service: "--service",
  shardKey: "--shard-key",
  group: "--group",
  primaryKey: "--primary-key",
};

/** Fields that are random for the whole run unless all are given. */
const RANDOM: Readonly<Record<string, readonly string[]>> = {
  hotguid: ["machine", "process"],
  "hotguid-sql": ["machine", "process"],
};

/** Validates the fields that a layout is minted with. Missing fields are an error, never a default. */
export const keysOf = (layout: Layout, given: GivenKeys, countries?: ReadonlyMap<string, number>): MintKeys => {
  if (layout.table.minter === "none" || comesTwice(layout)) malformed(whyNotMinted(layout));
  const keys = { ...numbersOf(given), ...countryOf(given.country, countries) };
  const twice = Object.keys(given.field ?? {}).find((name) => Object.hasOwn(keys, name));
  if (twice !== undefined) malformed(`Give ${OPTIONS[twice]} or --field ${twice}, not both.`);
  const all: MintKeys = { ...keys, ...given.field };
  const fields = layout.fields.filter(({ role }) => role === "key" || role === "node");
  rejectStray(layout, fields, all, keys);
  requireAll(layout, fields, all);
  const wrong = fields.find(({ name, max }) => (all[name] ?? 0n) > BigInt(max));
  if (wrong === undefined) return all;
  return refuse({ reason: "key-out-of-range", field: wrong.name, value: `${all[wrong.name]}`, max: `${wrong.max}` });
};

const numbersOf = ({ service, shardKey, group, primaryKey }: GivenKeys): MintKeys =>
  Object.fromEntries(
    Object.entries({ service, shardKey, group, primaryKey }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, BigInt(value)]],
    ),
  );

const countryOf = (country: string | undefined, countries: ReadonlyMap<string, number> | undefined): MintKeys => {
  if (country === undefined) return {};
  if (/^[0-9]{1,16}$/.test(country)) return { country: BigInt(country) };
  const number = countries?.get(country);
  if (number !== undefined) return { country: BigInt(number) };
  if (countries !== undefined) {
    refuse({ reason: "unknown-name", what: "country", name: country, known: [...countries.keys()] });
  }
  return malformed(`Without a routing table, --country must be a number: "${country}" has none.`);
};

const rejectStray = (layout: Layout, fields: readonly Field[], all: MintKeys, options: MintKeys): void => {
  const names = fields.map(({ name }) => name);
  const stray = Object.keys(all).find((name) => !names.includes(name));
  if (stray === undefined) return;
  const shown = Object.hasOwn(options, stray) ? OPTIONS[stray] : `--field ${stray}`;
  const takes = names.length === 0 ? "it takes no fields" : `it takes ${names.join(", ")}`;
  malformed(`${shown} is not a field of layout ${layout.name}; ${takes}${suggestion(stray, names) || "."}`);
};

const requireAll = (layout: Layout, fields: readonly Field[], all: MintKeys): void => {
  const random = RANDOM[layout.name] ?? [];
  const someRandom = random.some((name) => Object.hasOwn(all, name));
  const missing = fields.filter(({ name }) => !Object.hasOwn(all, name) && (someRandom || !random.includes(name)));
  if (missing.length === 0) return;
  if (missing.length === 1 && missing[0]?.name === "primaryKey") {
    malformed("Offline there is no sequence of primary keys: pass the first one with --primary-key.");
  }
  const needs = missing.map(({ name, max }) => OPTIONS[name] ?? `--field ${name}=<0 to ${max}>`);
  malformed(`An ID of layout ${layout.name} needs ${needs.join(", ")}.`);
};

/** The group by number or by class name. */
export const groupOption = (group: number | undefined, className: string | undefined): number | undefined => {
  if (className === undefined) return group;
  return group === undefined ? groupOfClass(className) : malformed("Pass --group or --class, not both.");
};

/** Parameters besides the keys. No state is kept between runs. */
export interface OfflineMint {
  readonly count: number;
  readonly nowMs: number;
  readonly entropy: RandomWords;
  /** A bounded number of IDs that fail this test is skipped. */
  readonly isWanted?: ((words: Words) => boolean) | undefined;
}

/** The counter of a HotGuid leaves any range of unwanted IDs in fewer steps. */
const PASSED_OVER_MAX = 0x1_0000;

/** Mints IDs, strictly increasing if the layout has an order. `keys` come from `keysOf`. */
export const mintOffline = (
  layout: Layout,
  keys: MintKeys,
  { count, nowMs, entropy, isWanted }: OfflineMint,
): readonly Words[] => {
  const minter = wordMinter(layout, keys, entropy);
  if (!minter.ok) {
    const { error } = minter;
    if (error.reason === "key-out-of-range" || error.reason === "clock-behind") return refuse(error);
    throw new Error(`keys of layout ${layout.name} were let through: ${error.reason}`);
  }
  let passedOver = 0;
  const ids: Words[] = [];
  while (ids.length < count) {
    const words = need(minter.value(nowMs));
    if (passedOver > PASSED_OVER_MAX || isWanted === undefined || isWanted(words)) ids.push(words);
    else passedOver++;
  }
  return ids;
};
