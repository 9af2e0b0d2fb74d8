import { describe, expect, it } from "vitest";
import { everyLayout, hotguid, iuid, type Layout, luuid } from "../../../src/ids/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { type Outcome, objectsOf, waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";

const files = tableFiles();

const idsOf = ({ stdout, stderr, code }: Outcome): readonly string[] => {
  expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
  expect(stdout).toMatch(/^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\n)+$/);
  return stdout.trimEnd().split("\n");
};

const decode = (layout: Layout, id: string | undefined) => {
  const words = layout.parse(id ?? "");
  if (!words.ok) throw new Error(`${id} is no ${layout.name}: ${JSON.stringify(words.error)}`);
  return layout.decode(words.value);
};

describe.concurrent("waybill mint with a table", () => {
  it("prints bare IDs, one a line, in rising order", async () => {
    const ids = idsOf(await waybill(["mint", "--entity", "order", "--country", "KZ", "--count", "2000"], { files }));
    expect(ids).toHaveLength(2000);
    expect(ids).toEqual([...new Set(ids)].toSorted());
    expect(decode(iuid, ids[1999])).toMatchObject({ country: 5, service: 1 });
  });

  it.each([
    { args: ["--entity", "ride", "--country", "BR"], entity: "ride", layout: "iuid", region: "us" },
    { args: ["--layout", "iuid", "--service", "2", "--country", "DE"], entity: "ride", layout: "iuid", region: "eu" },
    { args: ["--entity", "order", "--field", "country=7"], entity: "order", layout: "iuid", region: "us" },
    { args: ["--layout", "hotguid", "--shard-key", "1500"], entity: "parcel", layout: "hotguid", region: "us" },
    {
      args: ["--entity", "parcel", "--slice", "partition=840", "--slice", "m49=0"],
      entity: "parcel",
      layout: "hotguid",
      region: "eu",
    },
    { args: ["--entity", "person", "--primary-key", "8312"], entity: "person", layout: "luuid", region: "eu" },
    {
      args: ["--class", "com.example.Person", "--primary-key", "1"],
      entity: "person",
      layout: "luuid",
      region: "eu",
    },
  ])("$args goes to $region, as explain says too", async ({ args, ...expected }) => {
    const minted = await waybill(["mint", "--json", "--count", "2", ...args], { files });
    expect(minted).toMatchObject({ stderr: "", code: 0 });
    const objects = objectsOf(minted.stdout);
    expect(objects).toEqual([
      { id: expect.any(String), ...expected },
      { id: expect.any(String), ...expected },
    ]);
    const explained = await waybill(["explain", "--json"], {
      files,
      stdin: objects.map(({ id }) => `${id}\n`).join(""),
    });
    expect(explained.code).toBe(0);
    expect(objectsOf(explained.stdout).map(({ decision }) => decision)).toMatchObject([expected, expected]);
  });

  it("counts primary keys up from the one that is given", async () => {
    const ids = idsOf(
      await waybill(["id", "mint", "--entity", "person", "--primary-key", "281474976710654", "--count", "2"], {
        files,
      }),
    );
    expect(ids.map((id) => decode(luuid, id)["primaryKey"])).toEqual([281474976710654, 281474976710655]);
  });

  it("mints as if at another time", async () => {
    const at = "2025-09-03T12:00:00.5+02:00";
    const [id] = idsOf(await waybill(["mint", "--entity", "order", "--country", "KZ", "--at", at], { files }));
    expect(id).toMatch(/^01990f04-daf4-8005-/);
  });

  it.each([
    { args: [], error: "by --entity and --layout: order (iuid), ride (iuid), parcel (hotguid), person (luuid)" },
    { args: ["--entity", "truck"], error: 'has no entity "truck". It has: order, ride, parcel, person.', code: 1 },
    { args: ["--entity", "order"], error: "needs a --country." },
    { args: ["--entity", "order", "--country", "ZZ"], error: 'has no country "ZZ". It has: KZ, BR, DE, AQ.', code: 1 },
    { args: ["--entity", "order", "--country", "AQ"], error: "Its key: country 200, service 1", code: 1 },
    { args: ["--entity", "order", "--country", "KZ", "--shard-key", "1"], error: "--shard-key" },
    { args: ["--entity", "order", "--country", "KZ", "--primary-key", "1"], error: "--primary-key is not a field" },
    { args: ["--entity", "order", "--country", "KZ", "--at", "1999-12-31T23:59:59Z"], error: "(--at)", code: 1 },
    { args: ["--entity", "order", "--country", "KZ", "--at", "2999-01-01T00:00:00Z"], error: "(--at)", code: 1 },
    { args: ["--entity", "parcel"], error: "--shard-key" },
    { args: ["--entity", "parcel", "--shard-key", "4294967296"], error: "from 0 to 4294967295" },
    { args: ["--entity", "parcel", "--slice", "m49=1024", "--slice", "partition=0"], error: "from 0 to 1023" },
    { args: ["--entity", "parcel", "--slice", "m49=1"], error: 'every bit of shardKey once. There are "' },
    { args: ["--entity", "parcel", "--slice", "m50=1"], error: 'has no slice "m50"', code: 1 },
    { args: ["--entity", "person"], error: "pass the first one with --primary-key" },
    { args: ["--entity", "person", "--group", "1", "--class", "A"], error: "--group or --class, not both" },
    { args: ["--entity", "person", "--primary-key", "281474976710655", "--count", "2"], error: "281474976710656" },
  ])("$args mints nothing", async ({ args, error, code: fault = 64 }) => {
    const { stdout, stderr, code } = await waybill(["mint", ...args], { files });
    expect({ stdout, code }).toEqual({ stdout: "", code: fault });
    expect(stderr).toMatch(/^error: .+\n$/);
    expect(stderr).toContain(error);
  });

  it("names an entity that has no IDs of a layout", async () => {
    const shop = { path: "/shops/:id", directory: "slug" };
    const directory = { slug: { key: { text: "lower" } } };
    const table = { ...DECLARED_TABLE, entities: { ...DECLARED_TABLE.entities, shop }, directory };
    const { stderr, code } = await waybill(["mint", "--entity", "shop"], { files: tableFiles(table) });
    expect([code, stderr]).toEqual([64, "error: The entity shop has no IDs to mint. (--entity)\n"]);
  });
});

describe.concurrent("waybill mint without a table", () => {
  it.each([
    {
      args: ["--layout", "iuid", "--country", "5", "--service", "255"],
      layout: iuid,
      keys: { country: 5, service: 255 },
    },
    { args: ["--layout", "hotguid", "--shard-key", "4294967295"], layout: hotguid, keys: { shardKey: 4294967295 } },
    {
      args: ["--layout", "luuid", "--group", "3339", "--primary-key", "0"],
      layout: luuid,
      keys: { group: 3339, primaryKey: 0 },
    },
    {
      args: ["--no-table", "--layout", "luuid", "--class", "com.example.Person", "--primary-key", "7"],
      layout: luuid,
      keys: { group: 3339, primaryKey: 7 },
    },
  ])("$args carries these keys", async ({ args, layout, keys }) => {
    const [id] = idsOf(await waybill(["mint", ...args]));
    expect(decode(layout, id)).toMatchObject(keys);
  });

  it("prints the layout and no region as JSON", async () => {
    const { stdout } = await waybill(["mint", "--layout", "hotguid-sql", "--shard-key", "208", "--json"]);
    expect(objectsOf(stdout)).toEqual([{ id: expect.stringMatching(/^000000d0-/), layout: "hotguid-sql" }]);
  });

  it.each([
    { args: [], error: "--layout is required" },
    { args: ["--entity", "order"], error: "--entity requires a routing table" },
    { args: ["--layout", "hotguid", "--slice", "m49=1"], error: "--slice requires a routing table" },
    { args: ["--layout", "uuid-9"], error: 'There is no layout "uuid-9"; did you mean' },
    { args: ["--layout", "uuid"], error: "IDs of uuid cannot be minted: they come from " },
    { args: ["--layout", "iuid", "--service", "1"], error: "needs --country" },
    { args: ["--layout", "iuid", "--service", "1", "--country", "KZ"], error: '--country must be a number: "KZ"' },
    { args: ["--layout", "iuid", "--service", "1", "--country", "256"], error: "from 0 to 255" },
    { args: ["--layout", "iuid", "--service", "1", "--country", "5", "--group", "2"], error: "--group is not a field" },
    { args: ["--layout", "luuid", "--group", "4096", "--primary-key", "1"], error: "from 0 to 4095" },
    { args: ["--layout", "luuid", "--group", "1"], error: "pass the first one with --primary-key" },
  ])("$args mints nothing", async ({ args, error }) => {
    const { stdout, stderr, code } = await waybill(["mint", ...args]);
    expect({ stdout, code }).toEqual({ stdout: "", code: 64 });
    expect(stderr).toMatch(/^error: .+\n$/);
    expect(stderr).toContain(error);
  });
});

/** Layouts with the fields that are given to their minters. */
const MINTABLE = everyLayout
  .filter(({ table }) => table.minter !== "none")
  .map((layout) => ({
    layout,
    name: layout.name,
    fields: layout.fields
      .filter(({ role }) => role === "key" || role === "node")
      .map((field) => ({ field, value: BigInt(field.max) / 3n })),
  }));

describe.concurrent("waybill mint with a layout as its argument", () => {
  it.each(MINTABLE)("mints $name with the fields that are given", async ({ layout, name, fields }) => {
    const at = "2026-06-01T00:00:00Z";
    const given = fields.flatMap(({ field, value }) => ["--field", `${field.name}=${value}`]);
    const { stdout, stderr, code } = await waybill(["mint", name, "--count", "3", "--at", at, ...given], { files });
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    const ids = stdout.trimEnd().split("\n");
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) {
      const words = layout.parse(id);
      if (!words.ok) throw new Error(`${id}: ${JSON.stringify(words.error)}`);
      const count = name === "luuid" ? BigInt(ids.indexOf(id)) : 0n;
      for (const { field, value } of fields) {
        expect(field.readBig(words.value)).toBe(field.name === "primaryKey" ? value + count : value);
      }
      if (layout.mintedAtMs === undefined) continue;
      expect(Math.abs((layout.mintedAtMs(words.value) ?? Number.NaN) - Date.parse(at))).toBeLessThanOrEqual(1000);
    }
  });

  it.each(everyLayout.filter(({ table }) => table.minter === "none").map(({ name }) => name))(
    "says why no %s is minted",
    async (name) => {
      const { stdout, stderr, code } = await waybill(["mint", name]);
      expect({ stdout, code }).toEqual({ stdout: "", code: 64 });
      expect(stderr).toMatch(new RegExp(`^error: IDs of ${name} cannot be minted: they come from .+\\.\n$`));
    },
  );

  it("takes the options that are there for some fields, and the countries of a table", async () => {
    const [iuidText] = idsOf(await waybill(["mint", "iuid", "--country", "KZ", "--service", "9"], { files }));
    expect(decode(iuid, iuidText)).toMatchObject({ country: 5, service: 9 });
    const [luuidText] = idsOf(await waybill(["mint", "luuid", "--class", "com.example.Person", "--primary-key", "7"]));
    expect(decode(luuid, luuidText)).toMatchObject({ group: 3339, primaryKey: 7 });
  });

  it("mints HotGuids under an identity that is given", async () => {
    const keys = ["--shard-key", "208", "--field", "machine=1", "--field", "process=2"];
    const [id] = idsOf(await waybill(["mint", "hotguid", ...keys]));
    expect(decode(hotguid, id)).toMatchObject({ machine: 1, process: 2, shardKey: 208 });
  });

  it("gives JSON with the layout alone", async () => {
    const { stdout } = await waybill(["mint", "ksuid", "--json"], { files });
    expect(objectsOf(stdout)).toEqual([{ id: expect.stringMatching(/^[0-9A-Za-z]{27}$/), layout: "ksuid" }]);
  });

  it.each([
    { args: ["snowflake"], error: "needs --field datacenter=<0 to 31>, --field worker=<0 to 31>." },
    { args: ["snowflake", "--field", "datacentre=1"], error: "it takes datacenter, worker; did you mean datacenter?" },
    { args: ["snowflake", "--field", "datacenter=32", "--field", "worker=0"], error: "from 0 to 31" },
    { args: ["ulid", "--field", "random=1"], error: "it takes no fields" },
    { args: ["order"], error: "order is an entity of the table: pass it as --entity order." },
    { args: ["ulid", "--layout", "ulid"], error: "Pass the layout only once" },
    { args: ["iuid", "--entity", "order"], error: "Pass either an entity or a layout" },
    { args: ["iuid", "--service", "1", "--field", "service=1"], error: "--service or --field service, not both" },
    { args: ["iuid", "--country", "ZZ", "--service", "1"], error: 'has no country "ZZ"', code: 1 },
    { args: ["hotguid", "--shard-key", "1", "--field", "machine=1"], error: "needs --field process=<0 to 65535>" },
    { args: ["hotguid", "--slice", "m49=1"], error: "--slice requires an entity" },
    { args: ["ksuid", "--at", "2010-01-01T00:00:00Z"], error: "must be a whole number from 0 to 4294967295" },
    { args: ["--entity", "order", "--country", "KZ", "--field", "country=5"], error: "country is given twice" },
    { args: ["--entity", "order", "--field", "worker=1"], error: "Field worker is not to be given for layout iuid" },
    { args: ["--entity", "order", "--field", "country=256"], error: "must be a whole number from 0 to 255" },
  ])("$args mints nothing", async ({ args, error, code: fault = 64 }) => {
    const { stdout, stderr, code } = await waybill(["mint", ...args], { files });
    expect({ stdout, code }).toEqual({ stdout: "", code: fault });
    expect(stderr).toContain(error);
  });
});

describe.concurrent("IDs that another layout can read", () => {
  const entities = {
    parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] },
    row: { path: "/rows/:id", ids: [{ layout: "hotguid-sql" }] },
    tweet: { path: "/tweets/:id", ids: [{ layout: "snowflake" }] },
    picture: { path: "/pictures/:id", ids: [{ layout: "sharding-id" }] },
  };
  const routes = [{ when: { entity: ["parcel", "tweet"] }, region: "eu" }];
  const folder = tableFiles({ regions: DECLARED_TABLE.regions, entities, routes, default: "us" });

  it("are passed over where others of the layout are clear", async () => {
    const request = ["--entity", "parcel", "--shard-key", "840", "--count", "200"];
    const ids = idsOf(await waybill(["mint", ...request], { files: folder }));
    expect(ids).toEqual([...new Set(ids)].toSorted());
    const explained = await waybill(["explain", "--json"], { files: folder, stdin: ids.join("\n") });
    expect(objectsOf(explained.stdout).every(({ decision }) => decision !== undefined)).toBe(true);
  });

  it("are minted with a note where none is", async () => {
    const request = ["--entity", "tweet", "--field", "datacenter=1", "--field", "worker=1", "--count", "2"];
    const { stdout, stderr, code } = await waybill(["mint", ...request], { files: folder });
    expect([stdout.split("\n").length, code]).toEqual([3, 0]);
    expect(stderr).toBe(
      "note: 2 of the IDs can also be read as others', and /any rejects them as ambiguous; use /tweets/:id, or /any with the header id-layout: snowflake\n",
    );
  });
});
