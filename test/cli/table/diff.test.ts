import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { objectsOf, waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";

const files = tableFiles();
const before = files.text("routing-table.json");

const { us, ap } = DECLARED_TABLE.regions;
const [kz, ...others] = DECLARED_TABLE.routes;
const AFTER = {
  ...DECLARED_TABLE,
  regions: { us, ap, sa: { origins: [{ url: "http://sa.test" }] }, eu: { origins: [{ url: "http://eu-2.test" }] } },
  moved: { "01990f04-d900-8007-8040-000000000001": "eu" },
  routes: [
    { when: { layout: "iuid", country: "KZ", mintedFrom: "2027-01-01T00:00:00Z" }, region: "sa" },
    kz,
    ...others,
    { when: { layout: "hotguid", shardKey: "2000-2499" }, region: "sa" },
  ],
};
files.write("after.json", JSON.stringify(AFTER));

const DIFF = ["table", "diff", "routing-table.json", "after.json"];

/** Two tables that are alike but for the files of their pack. */
function twoTablesWithPacks() {
  const routes = [{ when: { layout: "hotguid" }, pack: "shards" }, ...DECLARED_TABLE.routes];
  const folder = tableFiles({ ...DECLARED_TABLE, routes });
  folder.write("new.json", JSON.stringify({ ...DECLARED_TABLE, routes }));
  const pack = (table: string, stdin: string) =>
    waybill(["table", "pack", "-", "--layout", "hotguid", "--table", table, "--name", "shards"], {
      files: folder,
      stdin,
    });
  return { folder, pack };
}

describe.concurrent("waybill table diff", () => {
  it("decides a log's requests by the packs beside both tables", async () => {
    const { folder, pack } = twoTablesWithPacks();
    expect((await pack("routing-table.json", "0,999,us\n")).code).toBe(0);
    expect((await pack("new.json", "0,999,eu\n")).code).toBe(0);
    const log = ["--log", "-", "--json"];
    const { stdout, code, stderr } = await waybill(["table", "diff", "routing-table.json", "new.json", ...log], {
      files: folder,
      stdin: "/any/6347eb00-bbaa-01cc-0201-02030a000000\n",
    });
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout).traffic).toMatchObject({ open: 0, changed: 1, changes: [{ from: "us", to: "eu" }] });
  });

  it("counts the keys that packs send elsewhere where both files are there, and says which is not", async () => {
    const { folder, pack } = twoTablesWithPacks();
    expect((await pack("routing-table.json", "0,999,us\n5000,us\n")).code).toBe(0);
    expect((await pack("new.json", "0,99,us\n100,199,eu\n")).code).toBe(0);
    const diff = (...more: string[]) =>
      waybill(["table", "diff", "routing-table.json", "new.json", ...more], { files: folder });
    const { stdout, stderr, code } = await diff();
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    expect(stdout.slice(stdout.indexOf("keys routed")).split("\n")).toEqual([
      "keys routed differently",
      "  parcel (hotguid)  shardKey 0-999, by packs            us → eu       900 keys, less than 0.01 % of the key space",
      "  parcel (hotguid)  shardKey 2000-4294967295, by packs  us → nowhere  1 key, less than 0.01 % of the key space",
      "",
    ]);
    const [{ keys }] = objectsOf((await diff("--json")).stdout) as [{ keys: readonly object[] }];
    expect(keys).toContainEqual(
      expect.objectContaining({
        keys: "900",
        percentOfSpace: (900 / 2 ** 32) * 100,
        byPacks: true,
        where: { shardKey: "0-999" },
      }),
    );
    const { sha256 } = folder.json("new.json").packs.shards;
    const file = `packs/${sha256}.pack`;
    const bytes = folder.bytes(file);
    folder.remove(file);
    const missing = await diff();
    expect(missing.stderr).toBe(
      `note: pack shards of new.json is missing (packs/${sha256}.pack): IDs that depend on it stay undetermined\n`,
    );
    expect(missing.stdout).toContain("1,000 keys, less than 0.01 % of the key space\n");
    expect((await diff("--log", "-")).stderr).toContain("error: - has no request");
    folder.write(file, bytes.fill(7, bytes.length - 1));
    expect(await diff()).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining(`error: packs/${sha256}.pack is not pack shards of new.json: `),
    });
  });

  it("shows what is added, removed and changed, and which keys go elsewhere", async () => {
    const { stdout, stderr, code } = await waybill(DIFF, { files });
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    expect(stdout.split("\n")).toEqual([
      "regions",
      '  + sa  {"origins":[{"url":"http://sa.test"}]}',
      '  - eu  {"origins":[{"url":"http://eu.test"}],"failover":["us"]}',
      '  + eu  {"origins":[{"url":"http://eu-2.test"}]}',
      "",
      "moved",
      '  + 01990f04-d900-8007-8040-000000000001  "eu"',
      "",
      "routes",
      "  6 before, 8 after",
      "",
      "keys routed differently",
      "  order (iuid)      country KZ, minted from 2027-01-01T00:00:00.000Z  ap → sa       1 key, 0.39 % of the key space, 1 of 4 countries",
      "  ride (iuid)       country KZ, minted from 2027-01-01T00:00:00.000Z  ap → sa       1 key, 0.39 % of the key space, 1 of 4 countries",
      "  parcel (hotguid)  shardKey 2000-2499                                nowhere → sa  500 keys, less than 0.01 % of the key space",
      "",
      "overridden entities routed differently: 1",
      "  01990f04-d900-8007-8040-000000000001  order  us → eu  routes → moved",
      "",
    ]);
  });

  it("gives the same as one JSON object, with the digests of both files", async () => {
    const { stdout, code } = await waybill([...DIFF, "--json", "--exit-code"], { files });
    expect(code).toBe(2);
    expect(objectsOf(stdout)).toEqual([
      expect.objectContaining({
        before: { file: "routing-table.json", digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
        after: { file: "after.json", digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
        isEmpty: false,
        routes: { before: 6, after: 8, differ: true },
        keys: [
          expect.objectContaining({
            service: 1,
            where: { country: "KZ" },
            keys: "1",
            percentOfSpace: 100 / 256,
            before: { entity: "order", region: "ap" },
            after: { entity: "order", region: "sa" },
          }),
          expect.objectContaining({ service: 2, after: { entity: "ride", region: "sa" } }),
          {
            layout: "hotguid",
            where: { shardKey: "2000-2499" },
            keys: "500",
            percentOfSpace: (500 / 2 ** 32) * 100,
            before: { entity: "parcel" },
            after: { entity: "parcel", region: "sa" },
          },
        ],
      }),
    ]);
  });

  it("shows IDs that another entity gets, and those that no entity has any more", async () => {
    const { order, ride, ...others } = DECLARED_TABLE.entities;
    const handedOver = { ...ride, ids: order.ids };
    const stdin = JSON.stringify({ ...DECLARED_TABLE, entities: { ...others, ride: handedOver } });
    const { stdout } = await waybill(["table", "diff", "routing-table.json", "-"], { files, stdin });
    const lines = stdout.slice(stdout.indexOf("keys routed differently")).split("\n");
    expect(lines).toEqual([
      "keys routed differently",
      "  order → ride (iuid)  service 1, country KZ  ap → ap       1 key, 0.39 % of the key space, 1 of 4 countries",
      "  order → ride (iuid)  service 1, country BR  us → us       1 key, 0.39 % of the key space, 1 of 4 countries",
      "  order → ride (iuid)  service 1, country DE  eu → eu       1 key, 0.39 % of the key space, 1 of 4 countries",
      "  ride (iuid)          service 2, country KZ  ap → nowhere  1 key, 0.39 % of the key space, 1 of 4 countries",
      "  ride (iuid)          service 2, country BR  us → nowhere  1 key, 0.39 % of the key space, 1 of 4 countries",
      "  ride (iuid)          service 2, country DE  eu → nowhere  1 key, 0.39 % of the key space, 1 of 4 countries",
      "",
    ]);
    const asJson = await waybill(["table", "diff", "routing-table.json", "-", "--json"], { files, stdin });
    const [{ keys }] = objectsOf(asJson.stdout) as [{ keys: readonly { service: number; after?: unknown }[] }];
    expect(keys.filter(({ service }) => service === 2).every((change) => !("after" in change))).toBe(true);
    expect(keys[0]).toMatchObject({ service: 1, before: { entity: "order" }, after: { entity: "ride" } });
  });

  it("finds no difference in another spelling of the same table", async () => {
    const stdin = JSON.stringify(JSON.parse(before));
    const outcome = await waybill(["table", "diff", "--exit-code", "-", "routing-table.json"], { files, stdin });
    expect(outcome).toEqual({ stdout: "", stderr: "no differences\n", code: 0 });
  });

  it("checks both tables first", async () => {
    files.write("faulty.json", before.replace('"region": "eu"', '"region": "mars"'));
    const { stdout, stderr, code } = await waybill(["table", "diff", "--exit-code", "faulty.json", "-"], {
      files,
      stdin: "{",
    });
    expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
    expect(stderr).toMatch(/^faulty.json:\d+:7: \/routes\/2\/region: .*"mars"/);
    expect(stderr).toContain("stdin:1:2: (whole table): An object that was opened is not closed; add `}`.\n");
  });

  it("takes one table from stdin, not both", async () => {
    const { stderr, code } = await waybill(["table", "diff", "-", "-"], { files });
    expect({ stderr, code }).toEqual({ stderr: "error: only one of the two tables can be stdin\n", code: 64 });
  });
});
