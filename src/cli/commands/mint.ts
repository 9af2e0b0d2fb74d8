import { InvalidArgumentError } from "commander";
import {
  hasEnoughEntropy,
  isRandom,
  type MintPlan,
  type MintRequest,
  planMint,
} from "../../features/mint/table/plan.ts";
import { type Ambiguous, findAmbiguous, isUnambiguous, regionsOfMinted } from "../../features/mint/table/verify.ts";
import { type Field, groupOfClass, type Layout, type RandomWords, type Words } from "../../ids/index.ts";
import { wordMinter } from "../../ids/mint/create-minter.ts";
import type { CompiledTable } from "../../routing/index.ts";
import { command, type OptionsOf, option, withDefault } from "../command.ts";
import { malformed, need, refuse } from "../lib/errors.ts";
import { namedValue, time, wholeNumber } from "../lib/input.ts";
import { findLayout, knownLayouts, suggestion } from "../lib/layouts.ts";
import { openTable } from "../lib/open-table.ts";
import { jsonText, linesText } from "../lib/output.ts";
import { EXIT, type Runtime } from "../runtime.ts";
import { codecOf } from "./public-id.ts";

/** Sources of IDs other than clock and randomness. */
const ORIGINS: Readonly<Record<string, string>> = {
  uuid: "libraries that set no version; use uuid-v4",
  "uuid-v2": "a user or a group of one host, and its clock",
  "uuid-v3": "the MD5 of a name in a namespace",
  "uuid-v5": "the SHA-1 of a name in a namespace",
  "uuid-v8": "data of their issuer",
  "uuid-nil": "nothing: it is the only ID of its layout",
  "uuid-max": "nothing: it is the only ID of its layout",
};

/** Whether IDs of one run would collide: no time, and too few random values. */
const comesTwice = (layout: Layout): boolean =>
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

export type MintKeys = Readonly<Record<string, bigint>>;

/** Field values by option. `country`: a code of the table, or a number. */
type GivenKeys = Pick<MintOptions, "country" | "service" | "shardKey" | "group" | "primaryKey" | "field">;

const OPTION_OF: Readonly<Record<string, string>> = {
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
  if (twice !== undefined) malformed(`Give ${OPTION_OF[twice]} or --field ${twice}, not both.`);
  const all: MintKeys = { ...keys, ...given.field };
  const fields = layout.fields.filter(({ role }) => role === "key" || role === "node");
  rejectStray(layout, fields, all, keys);
  requireAll(layout, fields, all);
  const wrong = fields.find(({ name, max }) => (all[name] ?? 0n) > BigInt(max));
  if (wrong === undefined) return all;
  return refuse(
    { reason: "key-out-of-range", field: wrong.name, value: `${all[wrong.name]}`, max: `${wrong.max}` },
    EXIT.usage,
  );
};

const numbersOf = ({ service, shardKey, group, primaryKey }: GivenKeys): MintKeys => {
  const given = Object.entries({ service, shardKey, group, primaryKey });
  return Object.fromEntries(given.flatMap(([name, value]) => (value === undefined ? [] : [[name, BigInt(value)]])));
};

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
  const shown = Object.hasOwn(options, stray) ? OPTION_OF[stray] : `--field ${stray}`;
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
  const needs = missing.map(({ name, max }) => OPTION_OF[name] ?? `--field ${name}=<0 to ${max}>`);
  malformed(`An ID of layout ${layout.name} needs ${needs.join(", ")}.`);
};

const groupOption = (group: number | undefined, className: string | undefined): number | undefined => {
  if (className === undefined) return group;
  return group === undefined ? groupOfClass(className) : malformed("Pass --group or --class, not both.");
};

/** The counter of a HotGuid leaves any range of unwanted IDs in fewer steps. */
const PASSED_OVER_MAX = 0x1_0000;

/** Strictly increasing if the layout has an order. `keys`: from `keysOf`. A bounded number of unwanted IDs is skipped. */
const mintOffline = (
  layout: Layout,
  keys: MintKeys,
  { count, nowMs, entropy }: { readonly count: number; readonly nowMs: number; readonly entropy: RandomWords },
  isWanted = (_: Words): boolean => true,
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
    if (passedOver > PASSED_OVER_MAX || isWanted(words)) ids.push(words);
    else passedOver++;
  }
  return ids;
};

/** All IDs are minted before the first is printed, so that an error leaves no partial output. */
const COUNT_MAX = 100_000;

const count = (text: string): number => {
  const value = wholeNumber(text);
  if (value >= 1 && value <= COUNT_MAX) return value;
  throw new InvalidArgumentError(`It must be from 1 to ${COUNT_MAX}.`);
};

const className = (text: string): string => {
  if (text !== "") return text;
  throw new InvalidArgumentError("A class name has at least one character.");
};

const addSlice = (text: string, before: Readonly<Record<string, number>> = {}): Readonly<Record<string, number>> => {
  const [name, value] = namedValue("Slice", text, before);
  return { ...before, [name]: wholeNumber(value) };
};

/** Wide fields exceed the exact range of `number`. */
const addField = (text: string, before: Readonly<Record<string, bigint>> = {}): Readonly<Record<string, bigint>> => {
  const [name, value] = namedValue("Field", text, before);
  if (!/^[0-9]{1,49}$/.test(value)) throw new InvalidArgumentError("It must be a whole number of at least 0.");
  return { ...before, [name]: BigInt(value) };
};

const OPTIONS = [
  option("--entity <name>", "an entity of the routing table"),
  option("--layout <name>", "an ID layout; required without a table, or if an entity has several"),
  option("--country <code>", "iuid: a country of the table, or its number without a table"),
  option("--service <number>", "iuid: the service number, instead of the entity", wholeNumber),
  option("--shard-key <number>", "hotguid: the whole 32-bit shard key", wholeNumber),
  option("--slice <name=value>", "hotguid: a slice of the shard key; repeat until all bits are set", addSlice),
  option("--group <number>", "luuid: the group number, instead of the entity", wholeNumber),
  option("--class <name>", "luuid: the class name, whose CRC-12 is the group", className),
  option("--primary-key <number>", "luuid: the first primary key; the next IDs count up from it", wholeNumber),
  option("--field <name=value>", "a key or node field of the layout; repeat for each", addField),
  withDefault("--count <number>", "how many IDs", 1, count),
  option("--at <time>", "mint as if at this time, such as 2026-06-01T00:00:00Z", time),
  option("--public", "print the public IDs of a public entity, with the keys of PUBLIC_ID_KEYS"),
  option("--table <file>", "the routing table (default: routing-table.json, if present)"),
  option("--no-table", "mint without a table, by layout and numbers"),
  option("--json", "one JSON object per line: id, layout, entity and region"),
] as const;
type MintOptions = OptionsOf<typeof OPTIONS>;

export const mint = command({
  name: "mint",
  description: "mint IDs and print them, one per line",
  args: [["[layout]", "mint IDs of this layout by its fields, without a route"]],
  options: OPTIONS,
  help: `
Examples:
  $ waybill mint --entity order --country KZ --count 3
  $ waybill mint --entity parcel --slice m49=276 --slice partition=840
  $ waybill mint --entity person --primary-key 2298414
  $ waybill mint ulid --count 3
  $ waybill mint snowflake --field datacenter=3 --field worker=17
  $ waybill mint iuid --country 5 --service 1 --at 2026-06-01T00:00:00Z

A gateway gets the primary keys of LUUIDs from a sequence. Offline, --primary-key sets the first one: make sure that no key
is used twice. For layouts without random bits, make sure that concurrent runs use different fields.
With a layout as its argument, the command does not check routes.`,
  run: async (runtime, [layout], options) => {
    const minted = mintAll(await openTable(options.table, runtime), layout, options, runtime);
    await runtime.print(options.json ? jsonText(...minted) : linesText(minted.map(({ id }) => id)));
    return EXIT.ok;
  },
});

/** Without a layout argument the table decides, if there is one. */
const mintAll = (
  table: CompiledTable | undefined,
  name: string | undefined,
  options: MintOptions,
  runtime: Runtime,
) => {
  const { entity, layout, slice } = options;
  if (name !== undefined && layout !== undefined) malformed("Pass the layout only once.");
  if (name !== undefined && entity !== undefined) {
    malformed(`Pass either an entity or a layout: the table sets the layout of ${entity}. (--layout)`);
  }
  const group = groupOption(options.group, options.class);
  const given = { ...options, ...(group === undefined ? {} : { group }) };
  if (table !== undefined && name === undefined) return mintByTable(table, given, runtime);
  if (options.public) malformed("--public requires an entity of a routing table.");
  if (entity !== undefined) malformed("--entity requires a routing table: pass one with --table.");
  if (slice !== undefined && table === undefined) malformed("--slice requires a routing table: pass one with --table.");
  if (slice !== undefined) malformed("--slice requires an entity: pass the whole key with --shard-key.");
  const wanted = name ?? layout ?? malformed("Without a routing table, --layout is required.");
  const found = layoutNamed(wanted, table);
  const { count, at: nowMs = runtime.nowMs() } = given;
  const keys = keysOf(found, given, table?.countries);
  const minted = mintOffline(found, keys, { count, nowMs, entropy: runtime.entropy });
  return minted.map((words) => ({ id: found.format(words), layout: wanted }));
};

const layoutNamed = (name: string, table: CompiledTable | undefined): Layout => {
  const found = findLayout(name, knownLayouts(table));
  if (found.ok) return found.value;
  const isEntity = table?.entities.has(name) === true;
  return malformed(isEntity ? `${name} is an entity of the table: pass it as --entity ${name}.` : found.error);
};

const mintByTable = (table: CompiledTable, given: MintOptions, runtime: Runtime) => {
  const { nowMs, entropy, report } = runtime;
  const { entity, layout, country, service, shardKey, group, slice: slices, field, primaryKey, at, count } = given;
  const fields = field && Object.fromEntries(Object.entries(field).map(([name, value]) => [name, String(value)]));
  const request: MintRequest = { entity, layout, country, service, shardKey, slices, fields, group };
  const plan = need(planMint(table, request));
  const { entity: owner, enabled, order } = plan;
  const keys = keysOf(enabled.layout, {
    field: Object.fromEntries(Object.entries(order.keys).map(([name, value]) => [name, BigInt(value)])),
    ...(primaryKey === undefined ? {} : { primaryKey }),
  });
  const shownAs = textsOf(table, owner, given, runtime);
  const textOf = (words: Words): string => shownAs(enabled.layout.format(words));
  // Clients never send internal IDs of a public entity to /any.
  const isShown = owner.public === undefined || given.public === true;
  const isClear = (words: Words): boolean => !isShown || isUnambiguous(table, owner, textOf(words));
  const isWanted = isRandom(enabled.layout) ? isClear : undefined;
  const minted = mintOffline(enabled.layout, keys, { count, nowMs: at ?? nowMs(), entropy }, isWanted);
  const unclear = minted.filter((words) => !isClear(words)).map(textOf);
  const ambiguous = findAmbiguous(table, plan, unclear);
  if (ambiguous !== undefined) report(formatAmbiguous(ambiguous));
  return minted.map((words) => route(plan, words, nowMs(), textOf));
};

/** The printed text of an ID: itself, or its public ID. */
const textsOf = (
  table: CompiledTable,
  { name, public: kind }: MintPlan["entity"],
  given: MintOptions,
  runtime: Runtime,
): ((internal: string) => string) => {
  if (given.public !== true) {
    const note = `note: these are internal IDs of ${name}, which clients never see; --public prints the public ones\n`;
    if (kind !== undefined) runtime.report(note);
    return (internal) => internal;
  }
  const codec = codecOf(table, name, runtime);
  return (internal) => {
    const shown = codec.show(internal);
    if (shown === undefined) throw new Error(`a minted ID of ${name} has no public text`);
    return shown;
  };
};

/** Ambiguous IDs are valid, but callers must send a hint or use the entity's path. */
const formatAmbiguous = ({ count, path, idLayout }: Ambiguous): string => {
  const isOne = count === 1;
  const field = idLayout === undefined ? "" : `, or /any with the header id-layout: ${idLayout}`;
  const what = isOne ? "1 ID can also be read as another's" : `${count} of the IDs can also be read as others'`;
  return `note: ${what}, and /any rejects ${isOne ? "it" : "them"} as ambiguous; use ${path}${field}\n`;
};

/** Never prints an ID that the table does not route, or does not read as its layout. */
const route = ({ entity, enabled }: MintPlan, words: Words, nowMs: number, textOf: (words: Words) => string) => {
  const { layout, window } = enabled;
  const mintedMs = layout.mintedAtMs?.(words);
  if (window && mintedMs !== undefined && (mintedMs < window.fromMs || mintedMs > nowMs + window.aheadMs)) {
    const accepted = `times from ${new Date(window.fromMs).toISOString()} until ${window.aheadMs / 1000} s from now`;
    malformed(
      `An ID of ${entity.name} with this time would be invalid: the table accepts ${accepted}. (--at)`,
      EXIT.failed,
    );
  }
  const [region] = need(regionsOfMinted(entity, enabled, [words]));
  return { id: textOf(words), layout: layout.name, entity: entity.name, ...(region === undefined ? {} : { region }) };
};
