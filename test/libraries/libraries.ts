/** ID libraries, and what a routing table says of their IDs. `docs/reference/layouts.md` prints it; a slow test proves it by running them. */

export interface Library {
  /** The package's name, and which of its IDs where it makes several. */
  readonly name: string;
  /** The layout for `ids`: built in, or an entry of `ENTRIES`. Absent: a directory. */
  readonly layout?: string;
  /** Fields that Waybill and the library read alike. `bits`: all bits, as a UUID. */
  readonly alike: readonly string[];
  /** Whether the library reads all that Waybill mints; `undefined`: it has no parser, or Waybill mints none. */
  readonly reads?: "yes" | "no";
  readonly note?: string;
  /** A layout that one may take it for, and the share of its IDs that this one reads as IDs of about now, at least and at most. */
  readonly mistaken?: { readonly layout: string; readonly least: number; readonly most: number };
}

export interface Kind {
  readonly title: string;
  readonly libraries: readonly Library[];
}

type Json = string | number | boolean | readonly Json[] | { readonly [key: string]: Json };
export type Entry = { readonly [key: string]: Json };

const GREGORIAN = "1582-10-15T00:00:00Z";
const UNIX = "1970-01-01T00:00:00Z";
const time = (bits: number, unit: string, epoch = UNIX): Entry => ({
  field: "mintedAt",
  bits,
  role: "time",
  unit,
  epoch,
});
const fixed = (field: string, bits: number, value: number): Entry => ({ field, bits, role: "fixed", value });
const field = (name: string, bits: number, role: string): Entry => ({ field: name, bits, role });
const key = (name: string, bits: number) => field(name, bits, "key");
const node = (name: string, bits: number) => field(name, bits, "node");
const counter = (name: string, bits: number) => field(name, bits, "counter");
const random = (bits: number) => field("random", bits, "random");

/** The bytes of a UUID of version 1, most significant first, at their places in its text. */
const V1_ORDER = [6, 7, 4, 5, 0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15];
/** Six times 2^54 units of 100 ns after 1582-10-15: the two bits that uuid-1345 overwrites, and those above. */
const UUID_1345_EPOCH = "1925-04-19T23:45:05.689Z";
const IN_ORDER = Array.from({ length: 16 }, (_, at) => at);
/** Three bits of parity for each 32. */
const check = field("check", 3, "random");
const v4 = (text: Json): Entry => ({ like: "uuid-v4", text });

/** Entries of `layouts`, ready to copy. */
export const ENTRIES: Readonly<Record<string, Entry>> = {
  "uuid-base58": v4({ alphabet: "base58", padded: false }),
  "uuid-base58-padded": v4({ alphabet: "base58" }),
  "short-uuid": v4({ alphabet: "base58-flickr" }),
  "uuid-base62": v4({ alphabet: "base62-lower-first" }),
  uuid25: v4({ alphabet: "base36" }),
  "uuid-base36": v4({ alphabet: "base36", padded: false }),
  slugid: v4({ alphabet: "base64url", fill: "end" }),
  "uuid-d64": v4({ alphabet: ".0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz", fill: "end" }),
  "small-uuid": v4({ alphabet: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-", fill: "end" }),
  id62: { rows: [random(122)], text: { alphabet: "base62", width: 21 } },
  "uuid-apikey": {
    rows: [
      random(32),
      check,
      random(16),
      fixed("version", 4, 4),
      random(12),
      check,
      fixed("variant", 2, 2),
      random(30),
      check,
      random(32),
      check,
    ],
    text: { alphabet: "crockford", groups: [7, 7, 7, 7], separator: "-" },
  },
  "uuid-v7-base58": { like: "uuid-v7", text: { alphabet: "base58", padded: false } },
  "ordered-uuid-v1": { like: "uuid-v1", octetOrder: IN_ORDER, text: "hex" },
  "ordered-uuid-v1-upper": { like: "uuid-v1", octetOrder: IN_ORDER, text: { alphabet: "hex-upper" } },
  "monotonic-id": {
    like: "uuid-v1",
    octetOrder: IN_ORDER,
    text: { alphabet: "hex", groups: [4, 4, 8, 4, 12], separator: "-" },
  },
  "uuid-1345-v1": {
    rows: [
      fixed("version", 4, 1),
      time(4, "100ns", UUID_1345_EPOCH),
      fixed("marker", 2, 2),
      time(54, "100ns", UUID_1345_EPOCH),
      fixed("variant", 2, 0),
      node("clockSequence", 14),
      node("node", 48),
    ],
    octetOrder: V1_ORDER,
    text: "uuid",
  },
  "uuid-with-v6": {
    rows: [time(48, "100ns", GREGORIAN), fixed("version", 4, 6), time(12, "100ns", GREGORIAN), random(64)],
    text: "uuid",
  },
  "id128-uuid1": {
    rows: [
      fixed("version", 4, 1),
      time(48, "ms", GREGORIAN),
      counter("hires", 12),
      fixed("variant", 2, 2),
      node("clockSequence", 14),
      node("node", 48),
    ],
    octetOrder: V1_ORDER,
    text: "uuid",
  },
  "id128-uuid6": {
    rows: [
      time(48, "ms", GREGORIAN),
      fixed("version", 4, 6),
      counter("hires", 12),
      fixed("variant", 2, 2),
      node("clockSequence", 14),
      node("node", 48),
    ],
    text: "uuid",
  },
  "sequential-uuid": { rows: [time(32, "s"), random(96)], text: "uuid" },
  "seq-uuid": { rows: [counter("interval", 16), random(32), fixed("version", 4, 0), random(76)], text: "uuid" },
  cuuid: { rows: [time(44, "ms"), random(84)], text: "uuid" },
  "ulid-uuid": { like: "ulid", text: "uuid" },
  pfid: { rows: [time(48, "ms"), key("partition", 30), random(80)], text: { alphabet: "crockford-lower" } },
  "ksuid-hex": { like: "ksuid", text: "hex" },
  "ksuid-2020": { rows: [time(32, "s", "2020-09-13T12:26:40Z"), random(128)], text: "base62" },
  "ksuid-2020-ms": { rows: [time(64, "ms", "2020-09-13T12:26:40Z"), random(96)], text: "base62" },
  "langwatch-user": {
    rows: [
      fixed("zero", 16, 0),
      counter("copy", 16),
      time(32, "s"),
      node("scheme", 8),
      node("instance", 64),
      counter("sequence", 32),
    ],
    text: { alphabet: "base62", prefix: "user_" },
  },
  "typeid-user": { like: "uuid-v7", text: { alphabet: "crockford-lower", prefix: "user_" } },
  "xid-crockford": { like: "xid", text: { alphabet: "crockford-lower", fill: "end" } },
  scru128: {
    rows: [time(48, "ms"), counter("counterHi", 24), counter("counterLo", 24), random(32)],
    text: { alphabet: "base36" },
  },
  tid: { rows: [fixed("zero", 1, 0), time(53, "us"), node("clock", 10)], text: { alphabet: "base32-sortable" } },
  tsid: {
    rows: [time(42, "ms", "2020-01-01T00:00:00Z"), random(22)],
    text: ["base32", "decimal"],
    mintedWithin: { from: "2020-01-02T00:00:00Z", aheadSeconds: 86400 },
  },
  "tsid-decimal": {
    rows: [time(42, "ms", "2020-01-01T00:00:00Z"), random(22)],
    text: ["decimal", "base32"],
    mintedWithin: { from: "2020-01-02T00:00:00Z", aheadSeconds: 86400 },
  },
  "unix-snowflake": { rows: [time(42, "ms"), key("machine", 10), counter("sequence", 12)], text: "decimal" },
  "snowflake-2020": {
    rows: [time(42, "ms", "2020-08-10T00:00:00Z"), key("machine", 10), counter("sequence", 12)],
    text: "decimal",
  },
  "snowflake-2021": { like: "snowflake", epoch: "2021-01-01T00:00:00Z" },
  "nodejs-snowflake": {
    rows: [fixed("sign", 1, 0), time(41, "ms", "2020-01-01T00:00:00Z"), key("instance", 12), counter("sequence", 10)],
    text: "decimal",
  },
  "nocobase-snowflake": {
    rows: [time(32, "s", "2020-11-10T16:00:00Z"), key("worker", 5), counter("sequence", 16)],
    text: "decimal",
  },
  "snowflake-generator": {
    rows: [time(41, "ms", "2000-01-01T00:00:00Z"), key("shard", 13), counter("sequence", 10)],
    text: "decimal",
  },
  "sonyflake-npm": { rows: [time(41, "ms"), counter("sequence", 8), key("machine", 16)], text: "decimal" },
  "sonyflake-npm-2015": {
    rows: [time(40, "ms", "2015-01-01T00:00:00Z"), counter("sequence", 8), key("machine", 16)],
    text: "decimal",
  },
  "simple-flakeid": {
    rows: [time(41, "ms", "2020-01-01T00:00:00Z"), key("worker", 6), counter("sequence", 6)],
    text: "decimal",
  },
  simpleflake: { rows: [time(41, "ms", "2000-01-01T00:00:00Z"), random(23)], text: "decimal" },
  "uuid-int": { rows: [time(32, "s"), key("instance", 9), counter("sequence", 12)], text: "decimal" },
  itemid: { rows: [time(44, "ms"), counter("counter", 12), key("machine", 8)], text: "hex" },
};

export const KINDS: readonly Kind[] = [
  {
    title: "UUIDs",
    libraries: [
      { name: "uuid v1", layout: "uuid-v1", alike: ["clockSequence", "mintedAt", "node"], reads: "yes" },
      { name: "uuid v3", layout: "uuid-v3", alike: ["bits"], note: "A hash of a name." },
      { name: "uuid v4", layout: "uuid-v4", alike: ["bits"], reads: "yes" },
      { name: "uuid v5", layout: "uuid-v5", alike: ["bits"], note: "A hash of a name." },
      { name: "uuid v6", layout: "uuid-v6", alike: ["clockSequence", "mintedAt", "node"], reads: "yes" },
      { name: "uuid v7", layout: "uuid-v7", alike: ["bits", "mintedAt"], reads: "yes" },
      { name: "uuidv7", layout: "uuid-v7", alike: ["bits", "mintedAt"], reads: "yes" },
      { name: "@kripod/uuidv7", layout: "uuid-v7", alike: ["mintedAt"] },
      {
        name: "uuidv7-js",
        layout: "uuid-v7-base58",
        alike: ["mintedAt"],
        reads: "yes",
        note: "Its `encodeUUIDv7`; what `uuidv7()` makes is `uuid-v7`.",
      },
      { name: "ui7", layout: "uuid-v7", alike: ["mintedAt"], reads: "yes" },
      { name: "uniku uuid/v7", layout: "uuid-v7", alike: ["mintedAt"], reads: "yes" },
      { name: "uuid-random", layout: "uuid-v4", alike: [], reads: "yes" },
      { name: "@lukeed/uuid", layout: "uuid-v4", alike: [] },
      {
        name: "uuidjs v1",
        layout: "uuid-v1",
        alike: ["clockSequence", "mintedAt", "node"],
        reads: "yes",
      },
      { name: "uuidjs v4", layout: "uuid-v4", alike: ["bits"], reads: "yes" },
      { name: "uuidjs v6", layout: "uuid-v6", alike: ["clockSequence", "mintedAt", "node"], reads: "yes" },
      { name: "pure-uuid v1", layout: "uuid-v1", alike: ["bits", "mintedAt"], reads: "yes" },
      { name: "pure-uuid v4", layout: "uuid-v4", alike: ["bits"], reads: "yes" },
      {
        name: "uuid-1345 v1",
        layout: "uuid-1345-v1",
        alike: ["clockSequence", "mintedAt", "node"],
        reads: "yes",
        mistaken: { layout: "uuid-v1", least: 0, most: 0 },
        note: "It sets the variant in byte 7, in the time, and not in byte 8: `uuid-v1` refuses all of them. The entry is right until 2039.",
      },
      { name: "uuid-1345 v4", layout: "uuid-v4", alike: ["bits"], reads: "yes" },
      {
        name: "uuid-with-v6",
        layout: "uuid-with-v6",
        alike: ["mintedAt"],
        mistaken: { layout: "uuid-v6", least: 0.1, most: 0.4 },
        note: "`v6()` writes random bits over the variant: `uuid-v6` refuses 3 of 4.",
      },
      {
        name: "id128 Uuid1",
        layout: "id128-uuid1",
        alike: ["clockSequence", "hires", "mintedAt", "node"],
        reads: "yes",
        mistaken: { layout: "uuid-v1", least: 0, most: 0 },
        note: "Counts milliseconds where RFC 9562 has 100 ns: `uuid-v1` reads the year 1764. Its capitals are read; Waybill prints small letters.",
      },
      { name: "id128 Uuid4", layout: "uuid-v4", alike: ["bits"], reads: "yes" },
      {
        name: "id128 Uuid6",
        layout: "id128-uuid6",
        alike: ["clockSequence", "hires", "mintedAt", "node"],
        reads: "yes",
        mistaken: { layout: "uuid-v6", least: 0, most: 0 },
        note: "As Uuid1, for `uuid-v6`.",
      },
      { name: "uuid-js", layout: "uuid-v1", alike: ["mintedAt"] },
      { name: "uuidv1", layout: "uuid-v1", alike: ["mintedAt"] },
      {
        name: "node-uuid",
        layout: "uuid-v1",
        alike: ["clockSequence", "mintedAt", "node"],
        reads: "yes",
      },
      {
        name: "cassandra-driver",
        layout: "uuid-v1",
        alike: ["mintedAt", "node"],
        reads: "yes",
        note: "`TimeUuid`. The node is given: a table may name it under `fields`.",
      },
      { name: "uuidv4", layout: "uuid-v4", alike: [], reads: "yes" },
      { name: "uuid-by-string", layout: "uuid-v5", alike: [], note: "A hash of a name." },
      { name: "uuid5", layout: "uuid-v5", alike: [], note: "A hash of a name." },
      {
        name: "guid",
        layout: "uuid",
        alike: [],
        mistaken: { layout: "uuid-v4", least: 0, most: 0.1 },
        note: "No version and no variant: `uuid-v4` refuses 63 of 64.",
      },
      {
        name: "guid-typescript",
        layout: "uuid",
        alike: [],
        mistaken: { layout: "uuid-v4", least: 0, most: 0.1 },
        note: "No version and no variant: `uuid-v4` refuses 63 of 64.",
      },
      { name: "js-guid", layout: "uuid-v4", alike: [], reads: "yes" },
      { name: "aguid", layout: "uuid-v4", alike: [] },
      {
        name: "sequential-guid",
        layout: "uuid-v4",
        alike: [],
        note: "A random UUID, then one more each time: neighbours differ in their last digits.",
      },
    ],
  },
  {
    title: "UUIDs with a time or an order of their own",
    libraries: [
      {
        name: "uuid1",
        layout: "uuid",
        alike: [],
        mistaken: { layout: "uuid-v1", least: 0, most: 0.1 },
        note: "Not version 1: no version, no variant, and parts of one number several times over.",
      },
      {
        name: "ordered-uuid",
        layout: "ordered-uuid-v1",
        alike: ["mintedAt"],
        note: "Not Laravel's: version 1 with its time in order, as 32 hex digits.",
      },
      {
        name: "innodb-optimized-uuid",
        layout: "ordered-uuid-v1-upper",
        alike: ["mintedAt"],
        note: "The same in capitals.",
      },
      {
        name: "monotonic-id",
        layout: "monotonic-id",
        alike: ["clockSequence", "mintedAt", "node"],
        reads: "yes",
        note: "`toID()`; what `toUUID()` prints is `uuid-v1`.",
      },
      {
        name: "sequential-uuid",
        layout: "sequential-uuid",
        alike: ["mintedAt"],
        mistaken: { layout: "uuid-v4", least: 0, most: 0.1 },
        note: "Rounded seconds: half of the IDs are of the next one. No version and no variant.",
      },
      {
        name: "seq-uuid",
        layout: "seq-uuid",
        alike: ["interval"],
        note: "A counter of minutes that starts again after 45 days, and version 0.",
      },
      {
        name: "cuuid",
        layout: "cuuid",
        alike: ["mintedAt"],
        mistaken: { layout: "comb-prefix", least: 0, most: 0.1 },
        note: "Milliseconds in 11 hex digits, where a COMB has 12. No version and no variant.",
      },
      {
        name: "uuid-timestamp",
        layout: "uuid-v4",
        alike: [],
        mistaken: { layout: "comb-prefix", least: 0, most: 0 },
        note: "The time is written in **decimal** digits: `comb-prefix` would read the year 2791, and no table reads it right.",
      },
      {
        name: "ulid-uuid-converter",
        layout: "ulid-uuid",
        alike: ["mintedAt"],
        reads: "yes",
        mistaken: { layout: "uuid-v7", least: 0, most: 0.1 },
        note: "Version and variant are random: `uuid-v7` refuses 63 of 64.",
      },
    ],
  },
  {
    title: "UUIDs in other texts",
    libraries: [
      { name: "short-uuid", layout: "short-uuid", alike: ["bits"], reads: "yes", note: "Flickr's base58." },
      { name: "short-uuid uuid25Base36", layout: "uuid25", alike: ["bits"], reads: "yes" },
      { name: "uuid25", layout: "uuid25", alike: ["bits"], reads: "yes" },
      { name: "uuid-encoder", layout: "uuid-base36", alike: ["bits"], reads: "yes", note: "No leading zeros." },
      { name: "uuid58", layout: "uuid-base58", alike: ["bits"], reads: "yes", note: "No leading zeros." },
      { name: "uuid-base58", layout: "uuid-base58", alike: ["bits"], reads: "yes", note: "No leading zeros." },
      { name: "@nakanoaas/uuid58", layout: "uuid-base58-padded", alike: ["bits"], reads: "yes" },
      {
        name: "uuid-base62",
        layout: "uuid-base62",
        alike: ["bits"],
        reads: "yes",
        note: "Small letters before capitals.",
      },
      { name: "uuid62", layout: "uuid-base62", alike: ["bits"], reads: "yes", note: "Small letters before capitals." },
      { name: "id62", layout: "id62", alike: [], note: "122 bits, no UUID." },
      { name: "slugid", layout: "slugid", alike: ["bits"], reads: "yes" },
      { name: "uuid64", layout: "slugid", alike: [] },
      {
        name: "small-uuid",
        layout: "small-uuid",
        alike: ["bits"],
        reads: "yes",
        note: "Its `-` is 63, and base64url's 62: `slugid` refuses or reads another UUID where one is in the text.",
      },
      {
        name: "uuid-base64",
        layout: "uuid-d64",
        alike: ["bits"],
        reads: "yes",
        note: "Not base64, but d64: digits in ASCII order.",
      },
      { name: "uuid-d64", layout: "uuid-d64", alike: ["bits"], reads: "yes" },
      {
        name: "uuid-apikey",
        layout: "uuid-apikey",
        alike: ["random"],
        reads: "no",
        note: "Each group of seven digits is 32 bits and 3 bits of parity, which Waybill reads over and does not make: create these IDs yourselves.",
      },
    ],
  },
  {
    title: "ULIDs, KSUIDs, TypeIDs and others that sort by time",
    libraries: [
      { name: "ulid", layout: "ulid", alike: ["mintedAt"], reads: "yes" },
      { name: "ulidx", layout: "ulid", alike: ["mintedAt"], reads: "yes" },
      { name: "@kiosked/ulid", layout: "ulid", alike: ["mintedAt"], reads: "yes" },
      { name: "ulid-workers", layout: "ulid", alike: ["mintedAt"], reads: "yes" },
      { name: "uniku ulid", layout: "ulid", alike: ["mintedAt"], reads: "yes" },
      { name: "id128 Ulid", layout: "ulid", alike: ["mintedAt", "random"], reads: "yes" },
      { name: "@thi.ng/ksuid ULID", layout: "ulid", alike: ["mintedAt", "random"], reads: "yes" },
      {
        name: "@prefactor/pfid",
        layout: "pfid",
        alike: ["mintedAt", "partition", "random"],
        reads: "yes",
        note: "Its partition is made for routing.",
      },
      { name: "ksuid", layout: "ksuid", alike: ["mintedAt", "random"], reads: "yes" },
      {
        name: "ksuid in hex",
        layout: "ksuid-hex",
        alike: ["mintedAt", "random"],
        reads: "yes",
        note: '`raw` in hex. `"text": ["base62", "hex"]` reads both.',
      },
      { name: "xksuid", layout: "ksuid", alike: ["mintedAt", "random"], reads: "yes" },
      { name: "uniku ksuid", layout: "ksuid", alike: ["mintedAt"], reads: "yes" },
      {
        name: "@thi.ng/ksuid KSUID32",
        layout: "ksuid-2020",
        alike: ["mintedAt", "random"],
        reads: "yes",
        mistaken: { layout: "ksuid", least: 0, most: 0 },
        note: "Counts from 2020-09-13 by default: as `ksuid` it is six years early.",
      },
      {
        name: "@thi.ng/ksuid KSUID64",
        layout: "ksuid-2020-ms",
        alike: ["mintedAt", "random"],
        reads: "yes",
        mistaken: { layout: "ksuid", least: 0, most: 0 },
        note: "Milliseconds. 27 digits, as a KSUID has: as `ksuid` it is of May 2014.",
      },
      {
        name: "@langwatch/ksuid",
        layout: "langwatch-user",
        alike: ["instance", "mintedAt", "scheme", "sequence"],
        reads: "yes",
        note: "For prefix `user`; one entry for each prefix. 16 bits above the seconds repeat the low 16: IDs do **not** sort by time beyond 18 hours.",
      },
      {
        name: "typeid-js",
        layout: "typeid-user",
        alike: ["bits", "mintedAt"],
        reads: "yes",
        note: "One entry for each prefix.",
      },
      {
        name: "typeid-ts",
        layout: "typeid-user",
        alike: ["bits", "mintedAt"],
        reads: "yes",
        note: "One entry for each prefix.",
      },
      {
        name: "uniku typeid",
        layout: "typeid-user",
        alike: ["mintedAt"],
        reads: "yes",
        note: "One entry for each prefix.",
      },
      { name: "scru128", layout: "scru128", alike: ["counterHi", "counterLo", "mintedAt", "random"], reads: "yes" },
      { name: "xid-ts", layout: "xid", alike: ["counter", "machine", "mintedAt", "process"], reads: "yes" },
      { name: "uniku xid", layout: "xid", alike: ["mintedAt"], reads: "yes" },
      {
        name: "xid-js",
        layout: "xid-crockford",
        alike: ["mintedAt"],
        note: "Crockford's digits in place of XID's: `xid` refuses the letters w to z, and without them reads other times and machines.",
      },
      { name: "firebase-key", layout: "push-id", alike: ["mintedAt"], reads: "yes" },
      { name: "pushid", layout: "push-id", alike: ["mintedAt"] },
      { name: "firebase-auto-ids", layout: "push-id", alike: ["mintedAt"] },
      { name: "cuid", layout: "cuid", alike: ["mintedAt"], reads: "yes" },
      { name: "@bugsnag/cuid", layout: "cuid", alike: ["mintedAt"], reads: "yes" },
      { name: "scuid", layout: "cuid", alike: ["mintedAt"] },
    ],
  },
  {
    title: "ObjectIds",
    libraries: [
      { name: "bson", layout: "object-id", alike: ["mintedAt"], reads: "yes" },
      { name: "mongoose", layout: "object-id", alike: ["mintedAt"], reads: "yes" },
      { name: "bson-objectid", layout: "object-id", alike: ["mintedAt"], reads: "yes" },
      { name: "objectid", layout: "object-id", alike: ["mintedAt"], reads: "yes" },
      { name: "mongo-objectid", layout: "object-id", alike: ["mintedAt"], reads: "yes" },
      { name: "isomorphic-mongo-objectid", layout: "object-id", alike: ["mintedAt"], reads: "yes" },
      { name: "@tybys/oid", layout: "object-id", alike: ["mintedAt"], reads: "yes" },
      { name: "mdbid", layout: "object-id", alike: ["mintedAt"] },
      {
        name: "timestamp-objectid",
        layout: "object-id",
        alike: ["counter", "mintedAt", "process"],
        note: "Time alone: equal IDs within a second.",
      },
      { name: "@tadashi/hex-id", layout: "object-id", alike: ["mintedAt"] },
      { name: "mongoid-js", layout: "object-id", alike: ["counter", "mintedAt", "process"], reads: "yes" },
      { name: "uniku objectid", layout: "object-id", alike: ["mintedAt"], reads: "yes" },
    ],
  },
  {
    title: "Snowflakes",
    libraries: [
      {
        name: "@sapphire/snowflake",
        layout: "discord-snowflake",
        alike: ["datacenter", "mintedAt", "sequence", "worker"],
        reads: "yes",
        note: "`DiscordSnowflake`: `workerId` is `datacenter`, `processId` is `worker`. `TwitterSnowflake` is `snowflake`.",
      },
      {
        name: "discord-snowflake",
        layout: "discord-snowflake",
        alike: ["datacenter", "mintedAt", "sequence", "worker"],
        reads: "yes",
        note: "A parser alone.",
      },
      {
        name: "snowflakify",
        layout: "discord-snowflake",
        alike: ["datacenter", "mintedAt", "sequence", "worker"],
        reads: "yes",
        note: "`worker` is the process ID: it says nothing about the region unless it is given.",
      },
      { name: "node-snowflake", layout: "snowflake", alike: ["datacenter", "mintedAt", "worker"] },
      {
        name: "snowyflake",
        layout: "snowflake",
        alike: ["datacenter", "mintedAt", "sequence", "worker"],
        reads: "yes",
        note: "With `Epoch.Twitter`. Its default counts from 1970: `flake-id`.",
      },
      { name: "snowflake-uuid", layout: "snowflake-2021", alike: ["datacenter", "mintedAt", "worker"] },
      { name: "snowfall", layout: "flake-id", alike: ["datacenter", "mintedAt", "sequence", "worker"], reads: "yes" },
      {
        name: "flake-idgen",
        layout: "flake-id",
        alike: ["datacenter", "mintedAt", "worker"],
        note: "8 bytes: print them as decimal or 16 hex digits. No longer a signed `BIGINT` from 2039.",
      },
      {
        name: "snowflake-id",
        layout: "unix-snowflake",
        alike: ["machine", "mintedAt"],
        note: "Machines count modulo 1023: machine 1023 is machine 0.",
      },
      {
        name: "flakeid",
        layout: "unix-snowflake",
        alike: ["machine", "mintedAt"],
        note: "Machines count modulo 1023: machine 1023 is machine 0.",
      },
      {
        name: "@skorotkiewicz/snowflake-id",
        layout: "unix-snowflake",
        alike: ["machine", "mintedAt", "sequence"],
        reads: "yes",
      },
      {
        name: "@theinternetfolks/snowflake",
        layout: "unix-snowflake",
        alike: ["machine", "mintedAt", "sequence"],
        reads: "yes",
        note: "Give it a `shard_id`: without one **each ID** has another at random, and routes by it are chance.",
      },
      { name: "@akashrajpurohit/snowflake-id", layout: "snowflake-2020", alike: ["machine", "mintedAt"] },
      {
        name: "nodejs-snowflake",
        layout: "nodejs-snowflake",
        alike: ["instance", "mintedAt"],
        reads: "yes",
        note: "Give it a `custom_epoch`, here 2020: without one every process counts from its own start.",
      },
      {
        name: "@nocobase/snowflake-id",
        layout: "nocobase-snowflake",
        alike: ["mintedAt", "sequence", "worker"],
        reads: "yes",
        note: "53 bits, in seconds: safe as a JSON number.",
      },
      {
        name: "simple-flakeid",
        layout: "simple-flakeid",
        alike: ["mintedAt", "worker"],
        note: "By its default widths; others give other rows. 53 bits until 2089.",
      },
      {
        name: "uuid-int",
        layout: "uuid-int",
        alike: ["instance", "mintedAt"],
        note: "53 bits, in seconds, one second ahead.",
      },
      {
        name: "snowflake-generator",
        layout: "snowflake-generator",
        alike: ["mintedAt", "sequence", "shard"],
        reads: "yes",
      },
      { name: "simpleflakes", layout: "simpleflake", alike: ["mintedAt", "random"], reads: "yes" },
      {
        name: "sonyflake at its default",
        layout: "sonyflake-npm",
        alike: ["machine", "mintedAt", "sequence"],
        reads: "yes",
        mistaken: { layout: "sonyflake", least: 0, most: 0 },
        note: "Not Sony's: it counts milliseconds, from 1970. 65 bits: **no BIGINT holds them**.",
      },
      {
        name: "sonyflake from Discord's epoch",
        layout: "sonyflake-npm-2015",
        alike: ["machine", "mintedAt", "sequence"],
        reads: "yes",
        mistaken: { layout: "sonyflake", least: 0, most: 0 },
        note: "The same with `Epoch.DISCORD`: 64 bits. `sonyflake` reads other times.",
      },
      { name: "itemid", layout: "itemid", alike: ["counter", "machine", "mintedAt"], reads: "yes" },
      {
        name: "tsid-ts",
        layout: "tsid",
        alike: ["mintedAt", "random"],
        reads: "yes",
        note: "The entry reads 13 digits and decimals.",
      },
      {
        name: "tsid-ts decimal",
        layout: "tsid-decimal",
        alike: ["mintedAt", "random"],
        reads: "yes",
        note: "The same, printed as decimals. `toDecimalString()` rounds to a float and prints **another ID**: use `toBigInt()`.",
      },
      { name: "uniku tsid", layout: "tsid-decimal", alike: ["mintedAt"], reads: "yes" },
      { name: "@atproto/common-web", layout: "tid", alike: ["clock", "mintedAt"], reads: "yes", note: "`TID`." },
      { name: "@atcute/tid", layout: "tid", alike: ["clock", "mintedAt"], reads: "yes" },
    ],
  },
  {
    title: "IDs that no layout reads",
    libraries: [
      { name: "nanoid", alike: [], note: "Random." },
      { name: "@paralleldrive/cuid2", alike: [], note: "A hash." },
      { name: "hyperid", alike: [], note: "A UUID and a number. Use `urlSafe`: its default has `/`." },
      { name: "happner-hyperid", alike: [], note: "A UUID and a number. Use `urlSafe`: its default has `/`." },
      { name: "shortuuid", alike: [], note: "A UUID in base57 with its **last** digit first." },
      { name: "shortid", alike: [], note: "Parts of changing lengths." },
      { name: "uniqid", alike: [], note: "Parts of changing lengths." },
      { name: "uid", alike: [], note: "Random." },
      { name: "puid", alike: [], note: "Parts in base36, machine and process among them." },
      { name: "yeast", alike: [], note: "The time alone, and a number if two are equal." },
      { name: "nuid", alike: [], note: "Random, then counted." },
      { name: "pika-id", alike: [], note: "The decimal **text** of a Snowflake in base64." },
      { name: "kuuid", alike: [], note: "Five base62 numbers, 190 bits." },
      { name: "yid", alike: [], note: "Two decimals, 13 and up to 13 digits." },
      { name: "order-id", alike: [], note: "A decimal under a cipher." },
      { name: "eventid", alike: [], note: "192 bits." },
    ],
  },
];
