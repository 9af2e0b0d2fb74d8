import type { Layout } from "../layout/layout.ts";

/** A database engine: its column types, their literals, and the source of both. */

export const ENGINE_NAMES = [
  "mariadb",
  "mysql",
  "postgresql",
  "sqlite",
  "sqlserver",
  "oracle",
  "duckdb",
  "clickhouse",
  "redis",
] as const;

export type EngineName = (typeof ENGINE_NAMES)[number];

/** A text column's order: by code; unknown, as the database's own; or one in which letters of both cases are equal. */
export type Collation = "binary" | "language" | "caseless";

export type UuidOrder = "bits" | "sqlserver" | "halves" | "mariadb";

/** Values that a column can hold. `count`: bytes or characters; absent: any. */
export type ColumnHolds =
  | { readonly holds: "uuid"; readonly order: UuidOrder }
  | { readonly holds: "bytes"; readonly count?: number }
  | { readonly holds: "text"; readonly count?: number; readonly collation: Collation }
  | { readonly holds: "number"; readonly max: bigint }
  /** `rounds`: a double. `guesses`: it stores a number wherever a text reads as one. `opaque`: it has no literal to bound it. */
  | { readonly holds: "nothing"; readonly why: "rounds" | "guesses" | "opaque" };

/** A column without the spelling of its type. */
export type ColumnSpec = ColumnHolds & {
  /** A value as a literal: hexadecimal digits, a UUID, decimal digits or a text, as the column holds. */
  readonly literal: (value: string) => string;
  /** The same in an INSERT, if not so. */
  readonly write?: (value: string) => string;
  /** The column in a condition, if not by its name alone. */
  readonly wrap?: (column: string) => string;
  /** A literal in the bound of a partition, if not the same; `undefined`: there are no such partitions. */
  readonly bound: ((value: string) => string) | undefined;
};

/** `type`: as `CREATE TABLE` takes it. */
export type ColumnType = ColumnSpec & { readonly type: string };

/** How a type is written, and the column that it makes. The match's groups are the numbers and names of the type. */
export type TypeRow = readonly [spelling: RegExp, make: (groups: readonly (string | undefined)[]) => ColumnSpec];

/** The column types for each kind of value. */
export interface Recommended {
  readonly uuid: string;
  readonly bytes: (count: number) => string;
  /** Numbers below 2^63, below 2^64, and of more digits. */
  readonly signed: string;
  readonly unsigned: string;
  readonly decimal: (digits: number) => string;
  /** Texts of one length that sort by code. */
  readonly text: (length: number) => string;
}

/** A column of a layout, as notes ask for it. */
export interface NoteFacts {
  readonly layout: Layout;
  readonly type: ColumnType;
  /** The column's name. */
  readonly name: string;
  readonly bytes: number;
  /** The value is digits: a number, or digits as text. */
  readonly isDigits: boolean;
  /** A text of hexadecimal digits alone. */
  readonly isHex: boolean;
  /** Letters of both cases, or marks, tell IDs apart. */
  readonly hasCases: boolean;
  /** IDs of one minter rise in the column; by their bits; by their second half. */
  readonly rises: boolean;
  readonly risesByBits: boolean;
  readonly risesByHalves: boolean;
  /** IDs of the layout that MariaDB's UUID refuses. */
  readonly uuidRefuses: "none" | "some" | "all";
}

/** `read`: how to read the value as text. `driver`: a driver and its setting. `trap`: what goes wrong silently. */
export interface Note {
  readonly kind: "read" | "driver" | "trap";
  readonly when: (facts: NoteFacts) => boolean;
  readonly says: string | ((facts: NoteFacts) => string);
}

export interface Engine {
  readonly name: EngineName;
  readonly title: string;
  /** Where its rows come from. */
  readonly source: string;
  readonly types: readonly TypeRow[];
  readonly recommended: Recommended;
  readonly notes: readonly Note[];
  /** Other types to name where the recommended one has no order. */
  readonly others: readonly string[];
  /** The bounds of a partition: from the first ID up to, but not including, the next one, which may be absent. */
  readonly partition?: (from: string, to: string | undefined) => string;
  /** The condition of a period, if not `BETWEEN`. */
  readonly condition?: (column: string, from: string, to: string) => string;
  /** The column in `CREATE TABLE`. `rises`: new IDs are greater than all before. `value`: as written. */
  readonly define: (column: string, type: ColumnType, rises: boolean, value: string) => string;
  /** The rest of `CREATE TABLE` that makes the column the key. */
  readonly key?: (column: string, type: ColumnType) => string;
}

export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A literal as it is: digits of a number. */
export const plain = (value: string): string => value;

/** Hexadecimal digits as a binary literal of standard SQL. */
export const hexLiteral = (value: string): string => `x'${value}'`;

/** A quoted value of a type. */
export const typed =
  (type: string) =>
  (value: string): string =>
    `${quoted(value)}::${type}`;

export const digitsMax = (digits: string | undefined, otherwise: number): bigint =>
  10n ** BigInt(digits ?? otherwise) - 1n;

export const INT64_MAX = (1n << 63n) - 1n;
export const UINT64_MAX = (1n << 64n) - 1n;

/** Digits without quotes, up to a greatest value. */
export const numberTo = (max: bigint) => ({ holds: "number", max, literal: plain, bound: plain }) as const;

/** Greatest values of SQL's integers. */
const INTEGERS: Readonly<Record<string, bigint>> = {
  tinyint: 127n,
  smallint: 32_767n,
  int2: 32_767n,
  mediumint: 8_388_607n,
  int: 2_147_483_647n,
  int4: 2_147_483_647n,
  integer: 2_147_483_647n,
};

/** A column of one of these types, whose name is the match's first group. */
export const smallInteger = ([name = ""]: readonly (string | undefined)[]) =>
  numberTo(INTEGERS[name.toLowerCase()] as bigint);

export const ROUNDS = {
  holds: "nothing",
  why: "rounds",
  literal: plain,
  bound: undefined,
} as const;

/** `nothing` for a reason. */
export const NOTHING = (why: "guesses" | "opaque") => ({ ...ROUNDS, why }) as const;

export const countOf = (text: string | undefined): { readonly count?: number } =>
  text === undefined ? {} : { count: Number(text) };

/** Notes of one kind. */
const notes =
  (kind: Note["kind"]) =>
  (when: Note["when"], says: Note["says"]): Note => ({ kind, when, says });

export const read = /* @__PURE__ */ notes("read");
export const driver = /* @__PURE__ */ notes("driver");
export const trap = /* @__PURE__ */ notes("trap");

/** When a note is told. */
export const always = (): boolean => true;
export const inBytes = ({ type }: NoteFacts): boolean => type.holds === "bytes";
export const inUuid = ({ type }: NoteFacts): boolean => type.holds === "uuid";
export const inText = ({ type }: NoteFacts): boolean => type.holds === "text";
export const inNumber = ({ type }: NoteFacts): boolean => type.holds === "number";
export const isNamed =
  (shape: RegExp) =>
  ({ type }: NoteFacts): boolean =>
    shape.test(type.type);
export const allOf =
  (...conditions: readonly Note["when"][]) =>
  (facts: NoteFacts): boolean =>
    conditions.every((condition) => condition(facts));

/** Wider than 64 bits. */
export const isWide = ({ bytes, isDigits }: NoteFacts): boolean => isDigits && bytes > 8;

/** Effects of mappers on numbers, whatever the engine. */
export const MAPPER_TRAPS: readonly Note[] = [
  trap(
    inNumber,
    "Drizzle's findMany({ with }) and Prisma's relation joins pass children as JSON numbers: rounded. Drizzle's joins and Prisma's relationLoadStrategy \"query\" are exact.",
  ),
  trap(
    allOf(inNumber, isWide),
    "Prisma's Decimal is exact, but toString() and JSON.stringify print an exponent: use toFixed().",
  ),
];

/** Some tools ask an ID's time by its version alone. */
export const isDistributed128 = ({ layout }: NoteFacts): boolean => layout.name === "distributed-id-128";
