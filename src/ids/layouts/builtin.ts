import { layoutOf } from "../layout/compile.ts";
import type { Layout, LayoutTable, Row } from "../layout/layout.ts";
import { uuidText } from "../text/uuid.ts";

/** The built-in layouts of routing tables. Each table reads like the diagram in its specification. */

/** IETF variant `10`, RFC 9562 section 4.1. */
const VARIANT_10 = 0b10;

const UNIX_EPOCH_MS = 0;

export const iuidTable = {
  name: "iuid",
  title: "iUID: UUID version 8 with country and service",
  source: "inDriver/handbook, docs/software-architecture/universal-entity-identifier.md, commit 1d1f2c5",
  text: uuidText,
  minter: "own",
  rows: [
    { field: "mintedAt", bits: 48, role: "time", unit: "ms", epochMs: UNIX_EPOCH_MS },
    { field: "version", bits: 4, role: "fixed", value: 8 },
    { field: "formatVersion", bits: 4, role: "fixed", value: 0 },
    { field: "country", bits: 8, role: "key" },
    { field: "variant", bits: 2, role: "fixed", value: VARIANT_10 },
    { field: "service", bits: 8, role: "key" },
    { field: "random", bits: 54, role: "random" },
  ],
} as const satisfies LayoutTable;

/** The bytes in the order in which the .NET library writes them. */
const hotguidRows = [
  { field: "mintedAt", bits: 32, role: "time", unit: "s", epochMs: UNIX_EPOCH_MS },
  { field: "machine", bits: 24, role: "node" },
  { field: "process", bits: 16, role: "node" },
  { field: "counter", bits: 24, role: "counter" },
  { field: "shardKey", bits: 32, role: "key" },
] as const satisfies readonly Row[];

export const hotguidTable = {
  name: "hotguid",
  title: "HotGuid: time, machine, process, counter and shard key",
  source: "dmlarionov/HotGuid, commit 792ef38, HotGuidGenerator.cs",
  text: uuidText,
  minter: "own",
  rows: hotguidRows,
  // `Guid.ToString()` reverses bytes 0-3, 4-5 and 6-7. The shard key is little-endian in memory.
  octetOrder: [0, 1, 2, 3, 5, 4, 7, 6, 8, 9, 10, 11, 15, 14, 13, 12],
} as const satisfies LayoutTable;

export const hotguidSqlTable = {
  name: "hotguid-sql",
  title: "HotGuid in its SQL Server form",
  source: "dmlarionov/HotGuid, commit 792ef38, HotGuidExtensions.cs",
  text: uuidText,
  minter: "own",
  rows: hotguidRows,
  // The same bytes after `ToSqlGuid`: the key first, the time where SQL Server compares first.
  octetOrder: [10, 11, 12, 13, 15, 14, 9, 8, 7, 6, 5, 4, 0, 1, 2, 3],
} as const satisfies LayoutTable;

export const luuidTable = {
  name: "luuid",
  title: "LUUID: primary key and group",
  source: "LUUID blog post, 11 October 2013, createUuid",
  text: uuidText,
  minter: "own",
  rows: [
    { field: "primaryKey", bits: 48, role: "key" },
    { field: "version", bits: 4, role: "fixed", value: 6 },
    { field: "group", bits: 12, role: "key" },
    { field: "variant", bits: 4, role: "fixed", value: 0xa },
    { field: "random", bits: 60, role: "random" },
  ],
} as const satisfies LayoutTable;

export const iuid = /* @__PURE__ */ layoutOf<"country" | "service">(iuidTable);
export const hotguid = /* @__PURE__ */ layoutOf<"shardKey", "machine" | "process">(hotguidTable);
export const hotguidSql = /* @__PURE__ */ layoutOf<"shardKey", "machine" | "process">(hotguidSqlTable);
export const luuid = /* @__PURE__ */ layoutOf<"primaryKey" | "group">(luuidTable);

/** The layouts that a routing table can name without declaring them. */
export const builtinLayouts: ReadonlyMap<string, Layout> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ [iuid, hotguid, hotguidSql, luuid].map((layout) => [layout.name, layout]),
);
