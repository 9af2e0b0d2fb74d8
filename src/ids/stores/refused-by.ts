import { readUuid } from "../text/uuid.ts";
import { isRefusedByMariadb } from "./order.ts";

/** IDs that a store or a reader would lose, before they are written there. */

// No pattern below has two ways to read a run of characters: a long text costs time in its length, not in its square.

/** A number as readers of JSON, YAML, CSV and SQL recognise one in a text. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * Whether a double, JavaScript's `number`, loses an ID: an integer beyond 2^53 - 1 may be the rounding of another, and any
 * number may be printed as another text. A text that is no number loses nothing.
 */
export const losesDigits = (value: string | number | bigint): boolean => {
  if (typeof value !== "string") return !Number.isSafeInteger(Number(value)) || BigInt(Number(value)) !== BigInt(value);
  return NUMBER.test(value) && (!isSafe(Number(value)) || `${Number(value)}` !== value);
};

/** Fractions are compared as they are printed. */
const isSafe = (value: number): boolean =>
  Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));

/** Why a store loses an ID. */
export type LossReason =
  /** The store refuses it. */
  | "refused"
  /** The text is not of the store's kind: no number, or no UUID. */
  | "not-of-its-kind"
  /** It is beyond the column's range. */
  | "too-great"
  /** It is read as a number, and printed as another text. */
  | "number"
  /** It equals another ID of the list. */
  | "equal";

/** An ID that a store loses. `as`: what it would hold; `like`: the earlier ID of the list that it would equal. */
export interface LostId {
  readonly id: string;
  readonly reason: LossReason;
  readonly as?: string;
  readonly like?: string;
}

/** `undefined`: the store keeps the ID. `key`: two IDs with the same key are one in the store. */
type Verdict = { readonly reason: LossReason; readonly as?: string } | { readonly key: string };

const kept = (key: string): Verdict => ({ key });
const lost = (reason: LossReason, as?: string): Verdict => ({ reason, ...(as !== undefined && { as }) });

const INTEGER = /^[+-]?\d+$/;

/** More than any column's, so that a long text costs no arithmetic. */
const DIGITS_MAX = 80;
const INT64_MAX = 0x7fff_ffff_ffff_ffffn;

/** A column of integers: other texts are an error, and leading zeros are lost. */
/** The ends as texts: bundlers keep an unused sum of bigints. */
const integers =
  (min: string, max: string) =>
  (id: string): Verdict => {
    if (!INTEGER.test(id)) return lost("not-of-its-kind");
    if (id.length > DIGITS_MAX) return lost("too-great");
    const value = BigInt(id.replace("+", ""));
    if (value < BigInt(min) || value > BigInt(max)) return lost("too-great");
    return `${value}` === id ? kept(id) : lost("number", `${value}`);
  };

const uuidOf = (id: string) => {
  const digits = id.replaceAll("-", "");
  if (id.startsWith("-") || id.endsWith("-") || digits.length !== 32) return undefined;
  return readUuid(
    [0, 8, 12, 16, 20].map((start, at, starts) => digits.slice(start, starts[at + 1] ?? 32)).join("-"),
    0,
    36,
  );
};

const mariadbUuidVerdict = (id: string): Verdict => {
  const words = uuidOf(id);
  if (words === undefined) return lost("not-of-its-kind");
  const [, second = 0, third = 0] = words;
  return isRefusedByMariadb((second >>> 8) & 0xff, third >>> 24) ? lost("refused") : kept(words.join());
};

/** Spaces around a number count for SQLite too. */
const SQLITE_SPACE = " \t\n\v\f\r";

const trimmedEnd = (text: string, spaces: string): string => {
  let end = text.length;
  while (end > 0 && spaces.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
};

const trimmedStart = (text: string, spaces: string): string => {
  let start = 0;
  while (start < text.length && spaces.includes(text.charAt(start))) start++;
  return text.slice(start);
};

/** Numeric affinity (datatype3.html, 3): a text that is a number becomes an integer of 64 bits, else a double. */
const sqliteUuidVerdict = (id: string): Verdict => {
  const trimmed = trimmedStart(trimmedEnd(id, SQLITE_SPACE), SQLITE_SPACE);
  if (!NUMBER.test(trimmed)) return kept(id);
  if (INTEGER.test(trimmed) && trimmed.length <= DIGITS_MAX) {
    const value = BigInt(trimmed.replace("+", ""));
    if (value >= -INT64_MAX - 1n && value <= INT64_MAX) {
      return `${value}` === id ? kept(id) : lost("number", `${value}`);
    }
  }
  return lost("number", `${Number(trimmed)}`);
};

/** A column of doubles, JSON numbers, scores of Redis. */
const doubleVerdict = (id: string): Verdict => {
  if (!NUMBER.test(id)) return lost("not-of-its-kind");
  return losesDigits(id) ? lost("number", `${Number(id)}`) : kept(id);
};

/** Digits that a spreadsheet keeps. */
const SHEET_DIGITS_MAX = 15;

/** Readers of CSV that take numbers for numbers: csv-parse `cast`, papaparse `dynamicTyping`, d3 `autoType`, spreadsheets. */
const csvVerdict = (id: string): Verdict => {
  const trimmed = id.trim();
  if (!NUMBER.test(trimmed)) return kept(id);
  const value = `${Number(trimmed)}`;
  return value === id && value.replace(/\D/g, "").length <= SHEET_DIGITS_MAX ? kept(id) : lost("number", value);
};

/** Numbers of YAML 1.1 besides those of 1.2: octal, binary, with underscores, to the base of 60, and an exponent alone. */
const YAML_INTEGER = /^[+-]?(?:0b[01_]+|0o?[0-7_]+|0x[\da-fA-F_]+|[1-9][\d_]*)$/;
const YAML_FLOAT = /^[+-]?(?:(?:\d[\d_]*(?:\.[\d_]*)?|\.[\d_]*)(?:[eE][+-]?\d+)?|[eE][+-]?\d+)$/;
const YAML_SIXTIES = /^[+-]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?$/;
const YAML_WORD = /^(?:~|null|true|false|yes|no|on|off|y|n|[+-]?\.inf|\.nan)$/i;
const YAML_TIME =
  /^\d{4}-\d\d?-\d\d?(?:(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[+-]\d\d?(?::?\d\d)?))?)?$/;

/** A plain scalar cannot begin so, or ends there. Three hyphens or dots begin or end a document. */
const YAML_MARK = /^[!&*@`%|>#[\]{},"'\s]|^[-?:](?:\s|$)|^(?:---|\.\.\.)(?:\s|$)|:(?:\s|$)| #|\s$/;

const sixties = (id: string): string => {
  const sign = id.startsWith("-") ? -1 : 1;
  const parts = id.replaceAll(/[_+-]/g, "").split(":");
  return `${sign * parts.reduce((sum, part) => sum * 60 + Number(part), 0)}`;
};

/** A plain scalar that a reader of YAML 1.1 or 1.2 does not take as the text that it is. */
const yamlVerdict = (id: string): Verdict => {
  if (YAML_MARK.test(id)) return lost("refused");
  if (id === "" || YAML_WORD.test(id) || YAML_TIME.test(id)) return lost("not-of-its-kind");
  if (YAML_SIXTIES.test(id)) return lost("number", sixties(id));
  if (!YAML_INTEGER.test(id) && !YAML_FLOAT.test(id)) return kept(id);
  const value = `${Number(id.replaceAll("_", ""))}`;
  return value === id && Number.isSafeInteger(Number(id)) ? kept(id) : lost("number", value);
};

const STORES = {
  /** MariaDB's column type `UUID`. */
  "mariadb-uuid": mariadbUuidVerdict,
  /** A column that is declared `UUID`, `NUMERIC` or `DECIMAL` in SQLite. */
  "sqlite-uuid": sqliteUuidVerdict,
  bigint: /* @__PURE__ */ integers("-9223372036854775808", "9223372036854775807"),
  "bigint-unsigned": /* @__PURE__ */ integers("0", "18446744073709551615"),
  /** `DECIMAL(28,0)`. */
  decimal28: /* @__PURE__ */ integers("-9999999999999999999999999999", "9999999999999999999999999999"),
  /** JSON numbers, scores of Redis, DuckDB's HUGEINT in Parquet. */
  double: doubleVerdict,
  /** Without quotes. */
  yaml: yamlVerdict,
  /** Without quotes, read with numbers recognised. */
  csv: csvVerdict,
  /** A collation that ignores case, and spaces at the end: the default of MariaDB, MySQL and SQL Server. */
  "caseless-text": (id: string) => kept(trimmedEnd(id.toLowerCase(), " ")),
  /** A collation that ignores spaces at the end, such as `ascii_bin`; so do H2's CHAR and HSQLDB's VARCHAR. */
  "padded-text": (id: string) => kept(trimmedEnd(id, " ")),
} as const satisfies Readonly<Record<string, (id: string) => Verdict>>;

/** A column or a reader with a rule of its own. */
export type RefusingStore = keyof typeof STORES;

export const REFUSING_STORES = /* @__PURE__ */ Object.keys(STORES) as readonly RefusingStore[];

/** The IDs of a list that a store would lose, each with its reason, in the list's order. An ID that is there twice is one. */
export const refusedBy = (store: RefusingStore, ids: Iterable<string>): readonly LostId[] => {
  const judge: (id: string) => Verdict = STORES[store];
  const byKey = new Map<string, string>();
  const losses: LostId[] = [];
  for (const id of ids) {
    const verdict = judge(id);
    if ("reason" in verdict) {
      losses.push({ id, ...verdict });
      continue;
    }
    const like = byKey.get(verdict.key);
    if (like === undefined) byKey.set(verdict.key, id);
    else if (like !== id) losses.push({ id, reason: "equal", like });
  }
  return losses;
};
