import type { Layout } from "../layout/layout.ts";
import { hotguid, hotguidSql, iuid, luuid } from "./builtin.ts";
import * as comb from "./comb.ts";
import * as distributed from "./distributed-id.ts";
import * as sixteen from "./sixteen.ts";
import * as snowflakes from "./snowflakes.ts";
import * as uuid from "./uuid.ts";

/** All layouts, in documentation order. To keep a bundle small, import single layouts instead. */
export const everyLayout: readonly Layout[] = [
  iuid,
  hotguid,
  hotguidSql,
  luuid,
  distributed.distributedId,
  distributed.distributedId128,
  comb.shortPrefixComb,
  comb.shortSuffixComb,
  comb.combPrefix,
  comb.combSuffix,
  comb.combSqlLegacy,
  comb.orderedUuid,
  uuid.uuidV1,
  uuid.uuidV2,
  uuid.uuidV3,
  uuid.uuidV4,
  uuid.uuidV5,
  uuid.uuidV6,
  uuid.uuidV7,
  uuid.uuidV8,
  uuid.uuidNil,
  uuid.uuidMax,
  uuid.uuid,
  sixteen.lexicalUuid,
  snowflakes.twitterSnowflake,
  snowflakes.discordSnowflake,
  sixteen.flake,
  snowflakes.instagramShardingId,
  sixteen.ksuid,
  sixteen.elasticflake,
  snowflakes.flakeId,
  snowflakes.sonyflakeV1,
  snowflakes.sonyflakeV2,
  sixteen.ulid,
  sixteen.sid,
  sixteen.pushId,
  sixteen.xid,
  sixteen.objectId,
  sixteen.cuid,
];

export const layoutNamed = (name: string): Layout | undefined => everyLayout.find((layout) => layout.name === name);
