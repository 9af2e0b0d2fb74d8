import { layoutOf } from "../layout/compile.ts";
import type { LayoutTable, Row } from "../layout/layout.ts";
import { SQL_ORDER } from "../layout/words.ts";
import { uuidText } from "../text/uuid.ts";

/** COMB GUIDs: version 4 with a time or an interval counter where a database sorts first. */

const UNIX_EPOCH_MS = 0;

/** The interval of both libraries by default; a routing table may name another. */
const MINUTE_MS = 60_000;

/** The epoch of SQL Server's `datetime`: 1900-01-01T00:00:00Z. */
const SQL_EPOCH_MS = -2_208_988_800_000;

const VARIANT: Row = { field: "variant", bits: 2, role: "fixed", value: 0b10 };
const VERSION: Row = { field: "version", bits: 4, role: "fixed", value: 4 };

const random = (bits: number): Row => ({ field: "random", bits, role: "random" });

/** A UUID version 4 with other bits in its first 48, or in what SQL Server compares first. */
const comb = (
  end: "prefix" | "suffix",
  first: readonly Row[],
  about: Omit<LayoutTable, "text" | "rows">,
): LayoutTable =>
  end === "prefix"
    ? { ...about, text: uuidText, rows: [...first, VERSION, random(12), VARIANT, random(62)] }
    : { ...about, text: uuidText, octetOrder: SQL_ORDER, rows: [...first, VARIANT, random(22), VERSION, random(52)] };

const UNIX_MS: Row = { field: "mintedAt", bits: 48, role: "time", unit: "ms", epochMs: UNIX_EPOCH_MS };
const UNIX_10US: Row = { field: "mintedAt", bits: 48, role: "time", unit: "10us", epochMs: UNIX_EPOCH_MS };
const SQL_TIME: Row = { field: "mintedAt", bits: 48, role: "time", unit: "sql-datetime", epochMs: SQL_EPOCH_MS };
const INTERVAL: readonly Row[] = [
  { field: "interval", bits: 16, role: "counter" },
  { field: "random", bits: 32, role: "random" },
];

export const combSqlLegacyTable: LayoutTable = /* @__PURE__ */ comb("suffix", [SQL_TIME], {
  name: "comb-sql-legacy",
  title: "COMB with a SQL Server datetime in its last bytes",
  source: "J. Nilsson, The Cost of GUIDs as Primary Keys, 2002; RT.Comb, commit 24d5655, SqlCombProvider legacy",
});
export const combSqlLegacy = /* @__PURE__ */ layoutOf<never>(combSqlLegacyTable);

export const combSuffixTable: LayoutTable = /* @__PURE__ */ comb("suffix", [UNIX_MS], {
  name: "comb-suffix",
  title: "COMB with Unix milliseconds in its last bytes",
  source: "RT.Comb, commit 24d5655, SqlCombProvider; uuid-creator, commit 3f41c3e, SuffixCombFactory",
});
export const combSuffix = /* @__PURE__ */ layoutOf<never>(combSuffixTable);

export const combPrefixTable: LayoutTable = /* @__PURE__ */ comb("prefix", [UNIX_MS], {
  name: "comb-prefix",
  title: "COMB with Unix milliseconds in its first bytes",
  source: "RT.Comb, commit 24d5655, PostgreSqlCombProvider; uuid-creator, commit 3f41c3e, PrefixCombFactory",
});
export const combPrefix = /* @__PURE__ */ layoutOf<never>(combPrefixTable);

export const orderedUuidTable: LayoutTable = /* @__PURE__ */ comb("prefix", [UNIX_10US], {
  name: "ordered-uuid",
  title: "Laravel orderedUuid: COMB with units of 10 microseconds in front",
  source: "ramsey/uuid 4.6, CombGenerator and TimestampFirstCombCodec",
});
export const orderedUuid = /* @__PURE__ */ layoutOf<never>(orderedUuidTable);

export const shortPrefixCombTable: LayoutTable = /* @__PURE__ */ comb("prefix", INTERVAL, {
  name: "short-prefix-comb",
  title: "COMB with a counter of intervals in its first two bytes",
  source: "uuid-creator, commit 3f41c3e, ShortPrefixCombFactory; klokwrk",
  minter: "own",
  intervalMs: MINUTE_MS,
});
export const shortPrefixComb = /* @__PURE__ */ layoutOf<never>(shortPrefixCombTable);

export const shortSuffixCombTable: LayoutTable = /* @__PURE__ */ comb("suffix", INTERVAL, {
  name: "short-suffix-comb",
  title: "COMB with a counter of intervals in bytes 10 and 11",
  source: "uuid-creator, commit 3f41c3e, ShortSuffixCombFactory",
  minter: "own",
  intervalMs: MINUTE_MS,
});
export const shortSuffixComb = /* @__PURE__ */ layoutOf<never>(shortSuffixCombTable);
