import { describe, expect, test } from "vitest";
import {
  choose,
  combPrefix,
  combSqlLegacy,
  combSuffix,
  cuid,
  discordSnowflake,
  distributedId,
  distributedId128,
  elasticflake,
  everyLayout,
  flake,
  flakeId,
  hotguid,
  instagramShardingId,
  iuid,
  ksuid,
  type Layout,
  lexicalUuid,
  luuid,
  objectId,
  orderedUuid,
  pushId,
  type Reading,
  recognise,
  shortPrefixComb,
  shortSuffixComb,
  sid,
  sonyflakeV1,
  sonyflakeV2,
  twitterSnowflake,
  ulid,
  uuidV1,
  uuidV2,
  uuidV3,
  uuidV4,
  uuidV5,
  uuidV6,
  uuidV7,
  uuidV8,
  xid,
} from "../../src/ids/index.ts";
import { readCases, textOf, unhandled } from "./layouts/vector-file.ts";

const NOW_MS = Date.UTC(2026, 10, 21);

/** Our layouts by their names in the vector file. `*`: the file also names the text form. */
const CANDIDATES: readonly (readonly [string, Layout])[] = [
  ["comb:prefix-unix-ms", combPrefix],
  ["comb:suffix-sql-datetime", combSqlLegacy],
  ["comb:suffix-unix-ms", combSuffix],
  ["cuid", cuid],
  ["distributed-id:*", distributedId],
  ["distributed-id-128:*", distributedId128],
  ["elasticflake", elasticflake],
  ["flake:*", flake],
  ["flakeid:*", flakeId],
  ["hotguid", hotguid],
  ["iuid", iuid],
  ["ksuid", ksuid],
  ["lexical-uuid", lexicalUuid],
  ["luuid", luuid],
  ["objectid", objectId],
  ["ordered-uuid", orderedUuid],
  ["pushid", pushId],
  ["sharding-id", instagramShardingId],
  ["short-comb:prefix", shortPrefixComb],
  ["short-comb:suffix", shortSuffixComb],
  ["sid:*", sid],
  ["snowflake:discord", discordSnowflake],
  ["snowflake:twitter", twitterSnowflake],
  ["sonyflake:1", sonyflakeV1],
  ["sonyflake:2", sonyflakeV2],
  ["ulid", ulid],
  ["uuid:v1", uuidV1],
  ["uuid:v2", uuidV2],
  ["uuid:v3", uuidV3],
  ["uuid:v4", uuidV4],
  ["uuid:v5", uuidV5],
  ["uuid:v6", uuidV6],
  ["uuid:v7", uuidV7],
  ["uuid:v8", uuidV8],
  ["xid", xid],
];

/** Names of text forms in the file, where they differ from ours. */
const formName = (layout: Layout, form: string): string => {
  if (layout === distributedId && form === "uuid") return "guid";
  return (layout === distributedId || layout === distributedId128) && form === "base62" ? "alphanumeric" : form;
};

const names = (readings: readonly Reading[]): readonly string[] =>
  readings
    .map(({ layout, form }) => {
      const [name = ""] = CANDIDATES.find(([, known]) => known === layout) ?? [];
      return name.replace("*", formName(layout, form));
    })
    .toSorted();

const withoutPublic = (listed: unknown): readonly string[] =>
  (listed as readonly string[]).filter((name) => !name.startsWith("public-identity"));

/** Public IDs are authenticated by a key and are not layouts. Their own tests cover their candidates. */
test.each(readCases("ambiguity"))("$id $op", (vector) => {
  if (vector.op !== "classify") unhandled(vector);
  const text = textOf(vector);
  const layouts = CANDIDATES.map(([, layout]) => ({ layout }));
  const { readings } = recognise(text, layouts, Number(vector.input?.["nowMs"]));
  const structural = readings.filter(({ layout, words }) => layout.fits(words));
  expect(names(structural)).toEqual(withoutPublic(vector.fields["structural"]));
  expect(names(readings.filter(({ excluded }) => !excluded))).toEqual(withoutPublic(vector.fields["plausible"]));
});

describe("choosing", () => {
  const choice = (text: string, priority?: readonly string[], layouts = everyLayout): readonly string[] => {
    const chosen = choose(
      recognise(
        text,
        layouts.map((layout) => ({ layout })),
        NOW_MS,
      ),
      priority,
    );
    if (chosen.kind === "one") return [chosen.reading.layout.name];
    return chosen.kind === "none" ? [] : ["ambiguous", ...chosen.readings.map(({ layout }) => layout.name)];
  };

  test.each([
    ["a ULID", "01ARZ3NDEKTSV4RRFFQ69G5FAV", ["ulid"]],
    ["a KSUID", "0ujtsYcgvSTl8PAuAdqWYSMnLOv", ["ksuid"]],
    ["a DistributedId in capital hex, which would be a ULID of 1970", "000384A786907DB2AD82883DC7", ["distributed-id"]],
    ["a DistributedId128", "094954a8-622c-76ad-1b93-cdefcbdf0888", ["distributed-id-128"]],
    ["UUID version 7", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F", ["uuid-v7"]],
    ["an iUID is of version 8 too", "019909d2-1e00-8042-a1c0-123456789abc", ["ambiguous", "iuid", "uuid-v8"]],
    ["nil", "00000000-0000-0000-0000-000000000000", ["uuid-nil"]],
    ["a Nano ID", "V1StGXR8_Z5jdHi6B-myT", []],
    ["a Snowflake", "1541815603606036480", ["ambiguous", "snowflake", "discord-snowflake", "sharding-id"]],
  ])("%s", (_name, text, expected) => {
    expect(choice(text)).toEqual(expected);
  });

  test("the configured order decides, and nothing else", () => {
    const text = "1541815603606036480";
    expect(choice(text, ["sonyflake", "sharding-id", "snowflake"])).toEqual(["sharding-id"]);
    expect(choice(text, ["ulid"]).at(0)).toBe("ambiguous");
  });
});

describe("digits alone", () => {
  const text = "507799779012345678901234";
  const excluded = (named: boolean) => recognise(text, [{ layout: objectId, named }], NOW_MS).readings[0]?.excluded;

  test("are a decimal", () => {
    expect(excluded(false)).toBe(true);
    expect(recognise(text, [{ layout: objectId }], NOW_MS).readings[0]?.against).toEqual([
      "digits alone are read as decimal, not hex",
      "layout object-id has no fixed bits",
    ]);
  });

  test("are what the place names", () => {
    expect(excluded(true)).toBe(false);
  });
});

test("a value out of range is excluded, and the reason says so", () => {
  const [reading] = recognise("fc3a6741-cfd0-48b6-8e4d-afc801c9c380", [{ layout: combSqlLegacy }], NOW_MS).readings;
  expect(reading?.excluded).toBe(true);
  expect(reading?.against).toContain(
    "mintedAt is outside 0 to 25919999 in the last 32 bits, the range of comb-sql-legacy",
  );
});
