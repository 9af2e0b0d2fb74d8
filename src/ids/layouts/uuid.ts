import { layoutOf } from "../layout/compile.ts";
import type { LayoutTable, Row } from "../layout/layout.ts";
import { uuidText } from "../text/uuid.ts";

/** UUID versions 1 to 8, nil and max, and any 128 bits in UUID text. */

const SOURCE = "RFC 9562, sections 5 and 6.6";

/** 1582-10-15T00:00:00Z, the start of the Gregorian calendar. */
const GREGORIAN_EPOCH_MS = -12_219_292_800_000;

const UNIX_EPOCH_MS = 0;

/** RFC 9562 section 4.1. */
const VARIANT: Row = { field: "variant", bits: 2, role: "fixed", value: 0b10 };

/** One field around version and variant. */
const allBut = (version: number, field: string): readonly Row[] => [
  { field, bits: 48, role: "random" },
  { field: "version", bits: 4, role: "fixed", value: version },
  { field, bits: 12, role: "random" },
  VARIANT,
  { field, bits: 62, role: "random" },
];

const table = (version: number, what: string, rows: readonly Row[], minter?: "none"): LayoutTable => ({
  name: `uuid-v${version}`,
  title: `UUID version ${version}: ${what}`,
  source: SOURCE,
  text: uuidText,
  ...(minter && { minter }),
  rows,
});

const byHashOf = (version: number, what: string): LayoutTable => table(version, what, allBut(version, "hash"), "none");

/** All 128 bits are the bit that is given. */
const constant = (name: string, title: string, value: 0 | 0xffffffff): LayoutTable => ({
  name,
  title,
  source: SOURCE,
  text: uuidText,
  minter: "none",
  rows: ["first", "second", "third", "fourth"].map((field) => ({ field, bits: 32, role: "fixed", value })),
});

/** RFC 9562 section 5.1: the text starts with the low 32 bits of the time, then the middle 16. */
const LOW_TIME_FIRST = [6, 7, 4, 5, 0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15] as const;

export const uuidV1Table: LayoutTable = {
  name: "uuid-v1",
  title: "UUID version 1: Gregorian time and node",
  source: SOURCE,
  text: uuidText,
  octetOrder: LOW_TIME_FIRST,
  rows: [
    { field: "version", bits: 4, role: "fixed", value: 1 },
    { field: "mintedAt", bits: 60, role: "time", unit: "100ns", epochMs: GREGORIAN_EPOCH_MS },
    VARIANT,
    { field: "clockSequence", bits: 14, role: "node" },
    { field: "node", bits: 48, role: "node" },
  ],
};
export const uuidV1 = /* @__PURE__ */ layoutOf<"clockSequence" | "node">(uuidV1Table);

/** A local ID replaces the low bits of version 1's time (RFC 9562 section 5.2), so no instant can be read. */
export const uuidV2Table: LayoutTable = {
  name: "uuid-v2",
  title: "UUID version 2: DCE Security",
  source: SOURCE,
  text: uuidText,
  octetOrder: LOW_TIME_FIRST,
  minter: "none",
  rows: [
    { field: "version", bits: 4, role: "fixed", value: 2 },
    { field: "timeHigh", bits: 28, role: "node" },
    { field: "localId", bits: 32, role: "node" },
    VARIANT,
    { field: "clockHigh", bits: 6, role: "node" },
    { field: "domain", bits: 8, role: "node" },
    { field: "node", bits: 48, role: "node" },
  ],
};
export const uuidV2 = /* @__PURE__ */ layoutOf<"timeHigh" | "localId" | "clockHigh" | "domain" | "node">(uuidV2Table);

export const uuidV3Table: LayoutTable = /* @__PURE__ */ byHashOf(3, "MD5 of a name");
export const uuidV3 = /* @__PURE__ */ layoutOf<never>(uuidV3Table);

export const uuidV4Table: LayoutTable = /* @__PURE__ */ table(4, "random", /* @__PURE__ */ allBut(4, "random"));
export const uuidV4 = /* @__PURE__ */ layoutOf<never>(uuidV4Table);

export const uuidV5Table: LayoutTable = /* @__PURE__ */ byHashOf(5, "SHA-1 of a name");
export const uuidV5 = /* @__PURE__ */ layoutOf<never>(uuidV5Table);

export const uuidV6Table: LayoutTable = /* @__PURE__ */ table(6, "Gregorian time in order, and node", [
  { field: "mintedAt", bits: 48, role: "time", unit: "100ns", epochMs: GREGORIAN_EPOCH_MS },
  { field: "version", bits: 4, role: "fixed", value: 6 },
  { field: "mintedAt", bits: 12, role: "time", unit: "100ns", epochMs: GREGORIAN_EPOCH_MS },
  VARIANT,
  { field: "clockSequence", bits: 14, role: "node" },
  { field: "node", bits: 48, role: "node" },
]);
export const uuidV6 = /* @__PURE__ */ layoutOf<"clockSequence" | "node">(uuidV6Table);

export const uuidV7Table: LayoutTable = /* @__PURE__ */ table(7, "Unix time and random", [
  { field: "mintedAt", bits: 48, role: "time", unit: "ms", epochMs: UNIX_EPOCH_MS },
  { field: "version", bits: 4, role: "fixed", value: 7 },
  { field: "random", bits: 12, role: "random" },
  VARIANT,
  { field: "random", bits: 62, role: "random" },
]);
export const uuidV7 = /* @__PURE__ */ layoutOf<never>(uuidV7Table);

export const uuidV8Table: LayoutTable = /* @__PURE__ */ table(8, "custom", /* @__PURE__ */ allBut(8, "custom"), "none");
export const uuidV8 = /* @__PURE__ */ layoutOf<never>(uuidV8Table);

export const uuidNilTable: LayoutTable = /* @__PURE__ */ constant("uuid-nil", "Nil UUID: all bits zero", 0);
export const uuidNil = /* @__PURE__ */ layoutOf<never>(uuidNilTable);

export const uuidMaxTable: LayoutTable = /* @__PURE__ */ constant("uuid-max", "Max UUID: all bits one", 0xffffffff);
export const uuidMax = /* @__PURE__ */ layoutOf<never>(uuidMaxTable);

/** Some GUID libraries set neither version nor variant: 63 in 64 of their IDs are no UUID of version 4. */
export const uuidTable: LayoutTable = {
  name: "uuid",
  title: "Any 128 bits in UUID text, without version and variant",
  source: "RFC 9562, section 4, text alone; npm guid 0.0.12 and guid-typescript 1.0.9",
  text: uuidText,
  minter: "none",
  rows: [{ field: "value", bits: 128, role: "random" }],
};
export const uuid = /* @__PURE__ */ layoutOf<never>(uuidTable);
