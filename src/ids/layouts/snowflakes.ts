import { layoutOf } from "../layout/compile.ts";
import type { LayoutTable } from "../layout/layout.ts";
import { DECIMAL, HEX } from "../text/alphabets.ts";
import { radixText } from "../text/radix.ts";

/** 64-bit layouts in decimal. Each issuer has its own epoch, and no bit tells them apart. */

/** An issuer's variant of a layout. */
export interface EpochOptions {
  /** Unix time of tick 0. */
  readonly epochMs: number;
  /** Layout name. Defaults to the name of the scheme. */
  readonly name?: string;
}

const decimal64 = /* @__PURE__ */ radixText({ alphabet: DECIMAL, bits: 64 });
const hex64 = /* @__PURE__ */ radixText({ alphabet: HEX, bits: 64, width: 16 });

/** Discord calls these fields internal worker and process. */
export const snowflakeTable = ({ epochMs, name = "snowflake" }: EpochOptions): LayoutTable => ({
  name,
  title: "Snowflake: milliseconds, datacenter, worker and sequence",
  source: "twitter/snowflake, commit b3f6a3c, IdWorker.scala",
  text: decimal64,
  rows: [
    { field: "sign", bits: 1, role: "fixed", value: 0 },
    { field: "mintedAt", bits: 41, role: "time", unit: "ms", epochMs },
    { field: "datacenter", bits: 5, role: "key" },
    { field: "worker", bits: 5, role: "key" },
    { field: "sequence", bits: 12, role: "counter" },
  ],
});
export const twitterSnowflake = /* @__PURE__ */ layoutOf<"datacenter" | "worker">(
  /* @__PURE__ */ snowflakeTable({ epochMs: 1_288_834_974_657 }),
);

/** Discord's epoch is 2015-01-01. */
export const discordSnowflake = /* @__PURE__ */ layoutOf<"datacenter" | "worker">(
  /* @__PURE__ */ snowflakeTable({ epochMs: 1_420_070_400_000, name: "discord-snowflake" }),
);

/** The first of 41 time bits is the sign of the bigint. It is set from 2046 on; such IDs are invalid. */
export const shardingIdTable = ({ epochMs, name = "sharding-id" }: EpochOptions): LayoutTable => ({
  name,
  title: "Sharding ID of Instagram: milliseconds, shard and sequence",
  source: "Instagram engineering blog, Sharding and IDs at Instagram, 2012",
  text: decimal64,
  rows: [
    { field: "sign", bits: 1, role: "fixed", value: 0 },
    { field: "mintedAt", bits: 40, role: "time", unit: "ms", epochMs },
    { field: "shard", bits: 13, role: "key" },
    { field: "sequence", bits: 10, role: "counter" },
  ],
});
export const instagramShardingId = /* @__PURE__ */ layoutOf<"shard">(
  /* @__PURE__ */ shardingIdTable({ epochMs: 1_314_220_021_721 }),
);

/** All 64 bits are used: a signed column overflows from 2039 on. */
export const flakeIdTable = ({ epochMs, name = "flake-id" }: EpochOptions): LayoutTable => ({
  name,
  title: "FlakeID of T. Pawlak: milliseconds, datacenter, worker and counter",
  source: "flake-idgen 1.4.0",
  text: decimal64,
  rows: [
    { field: "mintedAt", bits: 42, role: "time", unit: "ms", epochMs },
    { field: "datacenter", bits: 5, role: "key" },
    { field: "worker", bits: 5, role: "key" },
    { field: "sequence", bits: 12, role: "counter" },
  ],
});
export const flakeId = /* @__PURE__ */ layoutOf<"datacenter" | "worker">(/* @__PURE__ */ flakeIdTable({ epochMs: 0 }), [
  hex64,
]);

/** Both major versions use these default widths, with different epochs. */
export const sonyflakeTable = ({ epochMs, name = "sonyflake" }: EpochOptions): LayoutTable => ({
  name,
  title: "Sonyflake: units of 10 ms, sequence and machine",
  source: "sony/sonyflake, commit f167a9d",
  text: decimal64,
  rows: [
    { field: "sign", bits: 1, role: "fixed", value: 0 },
    { field: "mintedAt", bits: 39, role: "time", unit: "10ms", epochMs },
    { field: "sequence", bits: 8, role: "counter" },
    { field: "machine", bits: 16, role: "key" },
  ],
});
export const sonyflakeV1 = /* @__PURE__ */ layoutOf<"machine">(
  /* @__PURE__ */ sonyflakeTable({ epochMs: 1_409_529_600_000 }),
);

export const sonyflakeV2 = /* @__PURE__ */ layoutOf<"machine">(
  /* @__PURE__ */ sonyflakeTable({ epochMs: 1_735_689_600_000, name: "sonyflake-v2" }),
);
