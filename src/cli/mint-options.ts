import { type Command, InvalidArgumentError } from "commander";
import { namedValue, time, wholeNumber } from "./values.ts";

/** The options of `waybill mint`, read but not yet held against a layout. */
export interface MintOptions {
  readonly entity?: string;
  readonly layout?: string;
  readonly country?: string;
  readonly service?: number;
  readonly group?: number;
  readonly class?: string;
  readonly shardKey?: number;
  readonly slice?: Readonly<Record<string, number>>;
  readonly primaryKey?: number;
  /** Fields of a layout by name. */
  readonly field?: Readonly<Record<string, bigint>>;
  readonly count: number;
  /** Unix ms. */
  readonly at?: number;
  /** `false`: the table in the current folder is not looked at. */
  readonly table?: string | false;
  /** Public IDs instead of internal ones. */
  readonly public?: boolean;
  readonly json?: boolean;
}

/** Most IDs of one run: they are all made before the first is printed, so that an error leaves nothing half done. */
const COUNT_MAX = 100_000;

export const addMintOptions = (command: Command): Command =>
  command
    .option("--entity <name>", "an entity of the routing table")
    .option("--layout <name>", "an ID layout; needed without a table, and where an entity has several")
    .option("--country <code>", "iuid: a country of the table; without a table, its number")
    .option("--service <number>", "iuid: the service number, instead of the entity", wholeNumber)
    .option("--shard-key <number>", "hotguid: the whole 32-bit shard key", wholeNumber)
    .option("--slice <name=value>", "hotguid: a slice of the shard key; repeat until every bit is given", addSlice)
    .option("--group <number>", "luuid: the group number, instead of the entity", wholeNumber)
    .option("--class <name>", "luuid: the class name, whose CRC-12 is the group", className)
    .option("--primary-key <number>", "luuid: the first primary key; the next IDs count up from it", wholeNumber)
    .option("--field <name=value>", "a key or node field of the layout; repeat for each", addField)
    .option("--count <number>", "how many IDs", count, 1)
    .option("--at <time>", "mint as if at this time, such as 2026-06-01T00:00:00Z", time)
    .option("--public", "of a public entity, print the IDs that clients see, with the keys of PUBLIC_ID_KEYS")
    .option("--table <file>", "the routing table (default: routing-table.json, if it is there)")
    .option("--no-table", "mint without a table, by layout and numbers")
    .option("--json", "one JSON object a line: id, layout, entity and region");

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

/** Wide fields hold more than a `number` is exact for. */
const addField = (text: string, before: Readonly<Record<string, bigint>> = {}): Readonly<Record<string, bigint>> => {
  const [name, value] = namedValue("Field", text, before);
  if (!/^[0-9]{1,49}$/.test(value)) throw new InvalidArgumentError("It must be a whole decimal number from 0 on.");
  return { ...before, [name]: BigInt(value) };
};
