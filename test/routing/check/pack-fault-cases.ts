import type { FaultCase } from "./fault-cases.ts";

const PACK = {
  sha256: "0123456789abcdef".repeat(4),
  bytes: 1000,
  ranges: 10,
  bits: 32,
  regions: ["eu", "us"],
};

const toPack = (when: object = { layout: "hotguid" }, more: object = {}) => ({ when, pack: "shards", ...more });

/** The sample with a route to a pack, and the pack. */
const withPack =
  (pack: object = {}, route: object = toPack()): FaultCase[1] =>
  (t) => ({ ...t, packs: { shards: { ...PACK, ...pack } }, routes: [...t.routes, route] });

export const PACK_CASES: readonly FaultCase[] = [
  ["none: a pack for a layout", withPack(), []],
  ["none: a pack for an entity", withPack({}, toPack({ layout: "hotguid", entity: "parcel" })), []],
  ["none: a pack of a slice", withPack({ slice: "partition", bits: 22 }), []],
  ["none: a pack that waits for its route", (t) => ({ ...t, packs: { shards: PACK } }), []],
  ["a pack without its route's name", withPack({}, { when: {}, pack: "shard" }), ["unknown-name /routes/5/pack"]],
  ["a region that there is not", withPack({ regions: ["eu", "mars"] }), ["unknown-name /packs/shards/regions/1"]],
  ["a region twice", withPack({ regions: ["eu", "eu"] }), ["pack /packs/shards/regions/1"]],
  ["a field that is not there", withPack({ field: "shard" }), ["pack /packs/shards"]],
  ["a field of another width", withPack({ bits: 31 }), ["pack /packs/shards"]],
  ["a slice that is not there", withPack({ slice: "low" }), ["pack /packs/shards"]],
  [
    "a field and a slice",
    withPack({ field: "shardKey", slice: "partition" }),
    ["pack /packs/shards/slice", "pack /packs/shards"],
  ],
  ["more conditions", withPack({}, toPack({ layout: "hotguid", shardKey: 5 })), ["pack /routes/5/when/shardKey"]],
  ["no layout", withPack({}, toPack({})), ["pack /routes/5/when"]],
  ["two layouts", withPack({}, toPack({ layout: ["hotguid", "iuid"] })), ["pack /routes/5/when"]],
  ["a digest in capitals", withPack({ sha256: "A".repeat(64) }), ["schema /packs/shards/sha256"]],
  ["too many ranges", withPack({ ranges: 2_000_001 }), ["schema /packs/shards/ranges"]],
  [
    "too many octets together",
    (t) => ({
      ...t,
      packs: { a: { ...PACK, bytes: 33_554_433 }, b: { ...PACK, bytes: 33_554_432 } },
      routes: [...t.routes, toPack({ layout: "hotguid" }, { pack: "a" }), toPack({ layout: "hotguid" }, { pack: "b" })],
    }),
    ["size /packs"],
  ],
  [
    "a region beside the pack",
    withPack({}, toPack({ layout: "hotguid" }, { region: "eu" })),
    ["schema /routes/5/pack"],
  ],
  [
    "a canary on a pack",
    withPack({}, toPack({ layout: "hotguid" }, { canary: { region: "eu", percent: 5 } })),
    ["schema /routes/5/canary"],
  ],
  [
    "a pack that earlier routes leave nothing",
    (t) => ({ ...t, packs: { shards: PACK }, routes: [{ when: { layout: "hotguid" }, region: "eu" }, toPack()] }),
    ["unreachable-route /routes/1"],
  ],
];

const split =
  (regions: unknown, parts = 4): FaultCase[1] =>
  (t) => ({ ...t, routes: [{ when: { layout: "hotguid" }, split: { by: "hash", parts, regions } }] });

const PLACE = "/routes/0/split/regions";

export const SPLIT_CASES: readonly FaultCase[] = [
  ["none: a region for each part", split(["eu", "us", "eu", "ap"]), []],
  ["none: regions by parts", split({ "0-1": "eu", 2: "us", 3: "eu" }), []],
  ["too few regions", split(["eu", "us", "eu"]), [`split-parts ${PLACE}`]],
  ["too many regions", split(["eu", "us", "eu", "us", "us"]), [`split-parts ${PLACE}`]],
  ["a part without a region", split({ "0-1": "eu", 3: "us" }), [`split-parts ${PLACE}`]],
  ["a part with two", split({ "0-2": "eu", "2-3": "us" }), [`split-parts ${PLACE}/2-3`]],
  ["a part that is not there", split({ "0-3": "eu", 4: "us" }), [`split-parts ${PLACE}/4`]],
  ["parts in the wrong order", split({ "3-0": "eu" }), [`split-parts ${PLACE}/3-0`]],
  ["a part that is no number", split({ "0-3": "eu", "04": "us" }), [`split-parts ${PLACE}/04`]],
  ["an unknown region", split(["eu", "us", "eu", "mars"]), [`unknown-name ${PLACE}/3`]],
  ["one region for all", split(["eu", "eu"], 2), [`same-region ${PLACE}`]],
  ["one part", split(["eu"], 1), ["schema /routes/0/split/parts"]],
  [
    "another way",
    (t) => ({ ...t, routes: [{ when: {}, split: { by: "key", parts: 2, regions: ["eu", "us"] } }] }),
    ["schema /routes/0/split/by"],
  ],
  [
    "a shadow of a split",
    (t) => ({
      ...t,
      routes: [
        {
          when: { layout: "hotguid" },
          split: { by: "hash", parts: 2, regions: ["eu", "us"] },
          shadow: { region: "ap", percent: 1 },
        },
      ],
    }),
    ["schema /routes/0/shadow"],
  ],
];

const slices =
  (declared: object): FaultCase[1] =>
  (t) => ({ ...t, layouts: { hotguid: { slices: { ...t.layouts?.["hotguid"]?.slices, ...declared } } } });

const SLICE = { offset: 10, bits: 22 };

export const SLICE_FIELD_CASES: readonly FaultCase[] = [
  ["none: a slice that origins are told", slices({ shard: { ...SLICE, header: "waybill-shard" } }), []],
  [
    "a slice in a field of the gateway's own",
    slices({ shard: { ...SLICE, header: "waybill-region" } }),
    ["name-clash /layouts/hotguid/slices/shard/header"],
  ],
  [
    "two slices in one field",
    slices({ a: { ...SLICE, header: "waybill-a" }, b: { ...SLICE, header: "waybill-a" } }),
    ["name-clash /layouts/hotguid/slices/b/header"],
  ],
];
