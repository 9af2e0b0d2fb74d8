import { layoutOf } from "../layout/compile.ts";
import type { LayoutTable, Row } from "../layout/layout.ts";
import { SQL_ORDER } from "../layout/words.ts";
import { uuidText } from "../text/uuid.ts";

/** COMB GUIDs: version 4 with a time or an interval counter where a database sorts first. */

const UNIX_EPOCH_MS = 0;

/** The epoch of SQL Server's `datetime`: 1900-01-01T00:00:00Z. */
const SQL_EPOCH_MS = -2_208_988_800_000;

const VARIANT: Row = { field: "variant", bits: 2, role: "fixed", value: 0b10 };
const VERSION: Row = { field: "version", bits: 4, role: "fixed", value: 4 };

export const combSqlLegacyTable: LayoutTable = {
  name: "comb-sql-legacy",
  title: "COMB with a SQL Server datetime in its last bytes",
  source: "J. Nilsson, The Cost of GUIDs as Primary Keys, 2002; RT.Comb, commit 24d5655, SqlCombProvider legacy",
  text: uuidText,
  octetOrder: SQL_ORDER,
  rows: [
    { field: "mintedAt", bits: 48, role: "time", unit: "sql-datetime", epochMs: SQL_EPOCH_MS },
    VARIANT,
    { field: "random", bits: 22, role: "random" },
    VERSION,
    { field: "random", bits: 52, role: "random" },
  ],
};

export const combSqlLegacy = /* @__PURE__ */ layoutOf(combSqlLegacyTable);

export const combSuffixTable: LayoutTable = {
  name: "comb-suffix",
  title: "COMB with Unix milliseconds in its last bytes",
  source: "RT.Comb, commit 24d5655, SqlCombProvider; uuid-creator, commit 3f41c3e, SuffixCombFactory",
  text: uuidText,
  octetOrder: SQL_ORDER,
  rows: [
    { field: "mintedAt", bits: 48, role: "time", unit: "ms", epochMs: UNIX_EPOCH_MS },
    VARIANT,
    { field: "random", bits: 22, role: "random" },
    VERSION,
    { field: "random", bits: 52, role: "random" },
  ],
};

export const combSuffix = /* @__PURE__ */ layoutOf(combSuffixTable);

export const combPrefixTable: LayoutTable = {
  name: "comb-prefix",
  title: "COMB with Unix milliseconds in its first bytes",
  source: "RT.Comb, commit 24d5655, PostgreSqlCombProvider; uuid-creator, commit 3f41c3e, PrefixCombFactory",
  text: uuidText,
  rows: [
    { field: "mintedAt", bits: 48, role: "time", unit: "ms", epochMs: UNIX_EPOCH_MS },
    VERSION,
    { field: "random", bits: 12, role: "random" },
    VARIANT,
    { field: "random", bits: 62, role: "random" },
  ],
};

export const combPrefix = /* @__PURE__ */ layoutOf(combPrefixTable);

export const orderedUuidTable: LayoutTable = {
  name: "ordered-uuid",
  title: "Laravel orderedUuid: COMB with units of 10 microseconds in front",
  source: "ramsey/uuid 4.6, CombGenerator and TimestampFirstCombCodec",
  text: uuidText,
  rows: [
    { field: "mintedAt", bits: 48, role: "time", unit: "10us", epochMs: UNIX_EPOCH_MS },
    VERSION,
    { field: "random", bits: 12, role: "random" },
    VARIANT,
    { field: "random", bits: 62, role: "random" },
  ],
};

export const orderedUuid = /* @__PURE__ */ layoutOf(orderedUuidTable);

export const shortPrefixCombTable: LayoutTable = {
  name: "short-prefix-comb",
  title: "COMB with a counter of intervals in its first two bytes",
  source: "uuid-creator, commit 3f41c3e, ShortPrefixCombFactory; klokwrk",
  text: uuidText,
  minter: "own",
  rows: [
    { field: "interval", bits: 16, role: "counter" },
    { field: "random", bits: 32, role: "random" },
    VERSION,
    { field: "random", bits: 12, role: "random" },
    VARIANT,
    { field: "random", bits: 62, role: "random" },
  ],
};

export const shortPrefixComb = /* @__PURE__ */ layoutOf(shortPrefixCombTable);

export const shortSuffixCombTable: LayoutTable = {
  name: "short-suffix-comb",
  title: "COMB with a counter of intervals in bytes 10 and 11",
  source: "uuid-creator, commit 3f41c3e, ShortSuffixCombFactory",
  text: uuidText,
  octetOrder: SQL_ORDER,
  minter: "own",
  rows: [
    { field: "interval", bits: 16, role: "counter" },
    { field: "random", bits: 32, role: "random" },
    VARIANT,
    { field: "random", bits: 22, role: "random" },
    VERSION,
    { field: "random", bits: 52, role: "random" },
  ],
};

export const shortSuffixComb = /* @__PURE__ */ layoutOf(shortSuffixCombTable);
