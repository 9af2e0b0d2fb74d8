import { layoutOf } from "../layout/compile.ts";
import type { LayoutTable, TextForm } from "../layout/layout.ts";
import {
  BASE32HEX,
  BASE62,
  BASE64URL,
  CROCKFORD,
  DECIMAL,
  GROUPED_HEX,
  HEX,
  LOWER_HEX,
  PUSH_ID,
  SID_64,
} from "../text/alphabets.ts";
import { cuidText } from "../text/cuid.ts";
import { pairText } from "../text/pair.ts";
import { radixText } from "../text/radix.ts";
import { groupedText } from "../text/wrapped.ts";

/** Time-ordered layouts that are not UUIDs. Those of 64 bits are in `snowflakes.ts`. */

const UNIX_EPOCH_MS = 0;

/** The time is a signed long and never negative. */
export const lexicalUuidTable: LayoutTable = {
  name: "lexical-uuid",
  title: "LexicalUUID of Twitter Cassie: microseconds and worker",
  source: "twitter/cassie, commit f6da4e0, LexicalUUID.scala",
  text: /* @__PURE__ */ groupedText({
    alphabet: GROUPED_HEX,
    bits: 128,
    width: 32,
    groups: [8, 4, 4, 16],
  }),
  rows: [
    { field: "sign", bits: 1, role: "fixed", value: 0 },
    { field: "mintedAt", bits: 63, role: "time", unit: "us", epochMs: UNIX_EPOCH_MS },
    { field: "worker", bits: 64, role: "node" },
  ],
};
export const lexicalUuid = /* @__PURE__ */ layoutOf<"worker">(lexicalUuidTable);

export const flakeTable: LayoutTable = {
  name: "flake",
  title: "Flake of Boundary: milliseconds, hardware address and sequence",
  source: "boundary/flake, commit 15c933a",
  text: /* @__PURE__ */ radixText({ alphabet: BASE62, bits: 128 }),
  rows: [
    { field: "mintedAt", bits: 64, role: "time", unit: "ms", epochMs: UNIX_EPOCH_MS },
    { field: "worker", bits: 48, role: "node" },
    { field: "sequence", bits: 16, role: "counter" },
  ],
};
export const flake = /* @__PURE__ */ layoutOf<"worker">(flakeTable, [
  /* @__PURE__ */ radixText({ alphabet: DECIMAL, bits: 128 }),
  /* @__PURE__ */ radixText({ alphabet: HEX, bits: 128, width: 32 }),
]);

export const ksuidTable: LayoutTable = {
  name: "ksuid",
  title: "KSUID: seconds since 2014 and 128 random bits",
  source: "segmentio/ksuid, commit d337249",
  text: /* @__PURE__ */ radixText({ alphabet: BASE62, bits: 160, width: 27 }),
  rows: [
    { field: "mintedAt", bits: 32, role: "time", unit: "s", epochMs: 1_400_000_000_000 },
    { field: "random", bits: 128, role: "random" },
  ],
};
export const ksuid = /* @__PURE__ */ layoutOf<never>(ksuidTable);

export const elasticflakeTable: LayoutTable = {
  name: "elasticflake",
  title: "Elasticflake: milliseconds, disguised hardware address and sequence",
  source: "ppearcy/elasticflake, commit dd71c21",
  text: /* @__PURE__ */ radixText({ alphabet: BASE64URL, bits: 120, width: 20 }),
  rows: [
    { field: "mintedAt", bits: 48, role: "time", unit: "ms", epochMs: UNIX_EPOCH_MS },
    { field: "node", bits: 48, role: "node" },
    { field: "sequence", bits: 24, role: "counter" },
  ],
};
export const elasticflake = /* @__PURE__ */ layoutOf<"node">(elasticflakeTable);

export const ulidTable: LayoutTable = {
  name: "ulid",
  title: "ULID: milliseconds and 80 random bits",
  source: "github.com/ulid/spec",
  text: /* @__PURE__ */ radixText({ alphabet: CROCKFORD, bits: 128, width: 26 }),
  rows: [
    { field: "mintedAt", bits: 48, role: "time", unit: "ms", epochMs: UNIX_EPOCH_MS },
    { field: "random", bits: 80, role: "random" },
  ],
};
export const ulid = /* @__PURE__ */ layoutOf<never>(ulidTable);

/** Two halves of 63 bits, each a signed long. */
const sidHalves = (name: string, high: TextForm, low: TextForm, lowLength: number): TextForm =>
  pairText({ name, high, low, separator: "-", lowLength });
const sidHex = /* @__PURE__ */ radixText({ alphabet: LOWER_HEX, bits: 64, width: 16 });
const sid32 = /* @__PURE__ */ radixText({ alphabet: BASE32HEX, bits: 64, width: 13 });
const sid64 = /* @__PURE__ */ radixText({ alphabet: SID_64, bits: 64, width: 11 });

/** Only the low half of the decimal text is zero-padded. */
export const sidTable: LayoutTable = {
  name: "sid",
  title: "SID: nanoseconds and 63 random bits",
  source: "chilts/sid, commit 660e947",
  text: /* @__PURE__ */ sidHalves(
    "decimal",
    /* @__PURE__ */ radixText({ alphabet: DECIMAL, bits: 64 }),
    /* @__PURE__ */ radixText({ alphabet: DECIMAL, bits: 64, width: 19 }),
    19,
  ),
  rows: [
    { field: "sign", bits: 1, role: "fixed", value: 0 },
    { field: "mintedAt", bits: 63, role: "time", unit: "ns", epochMs: UNIX_EPOCH_MS },
    { field: "randomSign", bits: 1, role: "fixed", value: 0 },
    { field: "random", bits: 63, role: "random" },
  ],
};
export const sid = /* @__PURE__ */ layoutOf<never>(sidTable, [
  /* @__PURE__ */ sidHalves("hex", sidHex, sidHex, 16),
  /* @__PURE__ */ sidHalves("base32", sid32, sid32, 13),
  /* @__PURE__ */ sidHalves("base64", sid64, sid64, 11),
]);

export const pushIdTable: LayoutTable = {
  name: "push-id",
  title: "Push ID of Firebase: milliseconds and 72 random bits",
  source: "firebase-js-sdk, @firebase/database 1.1.5, NextPushId.ts",
  text: /* @__PURE__ */ radixText({ alphabet: PUSH_ID, bits: 120, width: 20 }),
  rows: [
    { field: "mintedAt", bits: 48, role: "time", unit: "ms", epochMs: UNIX_EPOCH_MS },
    { field: "random", bits: 72, role: "random" },
  ],
};
export const pushId = /* @__PURE__ */ layoutOf<never>(pushIdTable);

export const xidTable: LayoutTable = {
  name: "xid",
  title: "XID: seconds, machine, process and counter",
  source: "rs/xid, commit 643d161",
  text: /* @__PURE__ */ radixText({ alphabet: BASE32HEX, bits: 96, width: 20, padBits: 4 }),
  rows: [
    { field: "mintedAt", bits: 32, role: "time", unit: "s", epochMs: UNIX_EPOCH_MS },
    { field: "machine", bits: 24, role: "node" },
    { field: "process", bits: 16, role: "node" },
    { field: "counter", bits: 24, role: "counter" },
  ],
};
export const xid = /* @__PURE__ */ layoutOf<"machine" | "process">(xidTable);

export const objectIdTable: LayoutTable = {
  name: "object-id",
  title: "ObjectId of MongoDB: seconds, process and counter",
  source: "MongoDB manual, ObjectId; bson 7.3.4",
  text: /* @__PURE__ */ radixText({ alphabet: HEX, bits: 96, width: 24 }),
  rows: [
    { field: "mintedAt", bits: 32, role: "time", unit: "s", epochMs: UNIX_EPOCH_MS },
    { field: "process", bits: 40, role: "node" },
    { field: "counter", bits: 24, role: "counter" },
  ],
};
export const objectId = /* @__PURE__ */ layoutOf<"process">(objectIdTable);

/** Groups of base36 digits. Each field has the bits that its digits need. */
export const cuidTable: LayoutTable = {
  name: "cuid",
  title: "CUID version 1: milliseconds, counter, fingerprint and random",
  source: "paralleldrive/cuid 3.0.0",
  text: cuidText,
  rows: [
    { field: "mintedAt", bits: 42, role: "time", unit: "ms", epochMs: UNIX_EPOCH_MS, max: 2_821_109_907_455 },
    { field: "counter", bits: 21, role: "counter", max: 1_679_615 },
    { field: "fingerprint", bits: 21, role: "node", max: 1_679_615 },
    { field: "random", bits: 42, role: "random", max: 2_821_109_907_455 },
  ],
};
export const cuid = /* @__PURE__ */ layoutOf<"fingerprint">(cuidTable);
