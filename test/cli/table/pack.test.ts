import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { objectsOf, waybill } from "../fake-runtime.ts";
import { type MemoryFiles, tableFiles } from "../memory-files.ts";

const PACK = ["table", "pack", "-", "--layout", "hotguid"];

const pack = (stdin: string, files: MemoryFiles, ...more: string[]) => waybill([...PACK, ...more], { files, stdin });

describe.concurrent("waybill table pack", () => {
  it("makes a file of lines in any order, CSV and NDJSON, and tells the entry", async () => {
    const folder = tableFiles();
    const lines = '5000,5999,us\n\n{"from":0,"to":998,"region":"eu"}\r\n999,eu\n{"key":"7000","region":"us"}\n';
    const made = await pack(lines, folder);
    expect(made.code, made.stderr).toBe(0);
    const entry = JSON.parse(made.stdout);
    expect(entry).toMatchObject({ ranges: 3, bits: 32, regions: ["eu", "us"] });
    expect(folder.names("packs")).toEqual([`${entry.sha256}.pack`]);
    expect(folder.bytes(`packs/${entry.sha256}.pack`).length).toBe(entry.bytes);
    expect(made.stderr).toBe(`packs/${entry.sha256}.pack: 4 lines, 3 ranges in 1 page\n`);
  });

  it("names the line of every fault, and both lines of an overlap", async () => {
    const folder = tableFiles();
    const lines = '0,9,eu\n5,us\n20,10,eu\n4294967296,eu\n1,2\n1,2,3,4\n{"from":1}\n7,\n-1,eu\n';
    const made = await pack(lines, folder, "--json");
    expect(made.code).toBe(1);
    expect(objectsOf(made.stdout).map(({ line, message }) => [line, String(message).slice(0, 30)])).toEqual([
      [2, "Key 5 is also in line 1, for e"],
      [3, "The range ends at 10, before i"],
      [4, '"4294967296" is not a key: a w'],
      [5, "Key 1 is also in line 1, for e"],
      [6, "A line is from,to,region or ke"],
      [7, 'It is not a JSON object with "'],
      [8, "The region is missing."],
      [9, '"-1" is not a key: a whole num'],
    ]);
    expect(folder.names()).toEqual(["routing-table.json"]);
  });

  it("writes the entry into a table, where a route then uses it, and explains by it", async () => {
    const folder = tableFiles();
    const made = await pack("0,999,us\n", folder, "--table", "routing-table.json", "--name", "shards");
    expect(made.code, made.stderr).toBe(0);
    const table = folder.json("routing-table.json");
    table.routes.unshift({ when: { layout: "hotguid" }, pack: "shards" });
    folder.write("routing-table.json", JSON.stringify(table));
    const checked = await waybill(["table", "check", "routing-table.json"], { files: folder });
    expect(checked.code, checked.stdout).toBe(0);
    const explained = await waybill(["explain", "--json", "6347eb00-bbaa-01cc-0201-02030a000000"], { files: folder });
    expect(JSON.parse(explained.stdout).decision).toMatchObject({
      region: "us",
      rule: { kind: "route", index: 0, pack: "shards" },
    });
    const file = `packs/${table.packs.shards.sha256}.pack`;
    const bytes = folder.bytes(file);
    folder.write(file, bytes.fill(7, bytes.length - 1));
    const spoilt = await waybill(["table", "check", "--json", "routing-table.json"], { files: folder });
    expect(spoilt.code).toBe(1);
    expect(objectsOf(spoilt.stdout)).toMatchObject([{ kind: "pack", pointer: "/packs/shards", line: 1 }]);
  });

  it("prints the entry beside a table as well, and says that no route leads to it yet, as the check does", async () => {
    const folder = tableFiles();
    const made = await pack("0,999,us\n", folder, "--table", "routing-table.json", "--name", "shards");
    const { packs } = folder.json("routing-table.json");
    expect(JSON.parse(made.stdout)).toEqual(packs.shards);
    const route = '{"when":{"layout":"hotguid"},"pack":"shards"}';
    expect(made.stderr).toContain(`\nnote: no route of routing-table.json names it yet; add one, such as ${route}\n`);
    const check = (...more: string[]) => waybill(["table", "check", "routing-table.json", ...more], { files: folder });
    expect((await check()).stdout).toContain("\nnote: pack shards is unused: no route names it");
    expect(objectsOf((await check("--json")).stdout)).toMatchObject([{ unusedPacks: ["shards"] }]);
    const table = folder.json("routing-table.json");
    table.routes.unshift(JSON.parse(route));
    folder.write("routing-table.json", JSON.stringify(table));
    expect((await check()).stdout).not.toContain("pack shards");
    const again = await pack("0,998,us\n", folder, "--table", "routing-table.json", "--name", "shards");
    expect(again.stderr).not.toContain("note:");
  });

  it("says that there are at least as many faults as it lists", async () => {
    const { stdout, stderr } = await pack("x\n".repeat(5_000), tableFiles());
    expect(stdout.trimEnd().split("\n").length).toBe(1_000);
    expect(stderr).toBe("stdin: at least 1,000 faults; the check stopped there; nothing was written\n");
  });

  it("puts the file beside the table, wherever that is, and elsewhere only where --out says so", async () => {
    const path = "/other/routing-table.json";
    const folder = tableFiles(DECLARED_TABLE, { [path]: JSON.stringify(DECLARED_TABLE) });
    const made = await pack("0,999,us\n", folder, "--table", path, "--name", "shards");
    expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining("/other/packs") });
    expect(folder.names()).toEqual(["routing-table.json"]);
    expect((await waybill(["table", "check", path], { files: folder })).code).toBe(0);
    await pack("0,999,us\n", folder, "--table", path, "--name", "shards", "--out", "here");
    expect(folder.names()).toEqual(["here", "routing-table.json"]);
  });

  it("writes nothing where the table could not be served with the pack, and names no line of a text that is nowhere", async () => {
    const folder = tableFiles();
    const made = await pack("0,999,mars\n", folder, "--table", "routing-table.json", "--name", "shards");
    expect(made.code).toBe(1);
    expect(made.stderr).toMatch(
      /^\/packs\/shards\/regions\/0: .*"mars".*\nerror: with this pack .*; nothing was written\n$/,
    );
    expect(folder.names()).toEqual(["routing-table.json"]);
  });

  it("fills in the pack that a route names already, and takes the place of an older one", async () => {
    const routes = [{ when: { layout: "hotguid" }, pack: "shards" }, ...DECLARED_TABLE.routes];
    const folder = tableFiles({ ...DECLARED_TABLE, routes });
    for (const line of ["0,999,us\n", "0,999,eu\n"]) {
      const made = await pack(line, folder, "--table", "routing-table.json", "--name", "shards");
      expect(made.code, made.stderr).toBe(0);
    }
    const checked = await waybill(["table", "check", "routing-table.json"], { files: folder });
    expect(checked.code, checked.stdout).toBe(0);
    const other = await pack("0,999,us\n", folder, "--table", "routing-table.json", "--name", "others");
    expect(other.code, other.stderr).toBe(0);
  });

  it("makes a pack of a slice that the table declares, and routes by it", async () => {
    const layouts = { ...DECLARED_TABLE.layouts, hotguid: { slices: { partition: [10, 22] } } };
    const routes = [{ when: { layout: "hotguid" }, pack: "parts" }, ...DECLARED_TABLE.routes];
    const folder = tableFiles({ ...DECLARED_TABLE, layouts, routes });
    const into = ["--table", "routing-table.json", "--name", "parts"];
    const made = await pack("0,41,us\n42,4194303,eu\n", folder, "--slice", "partition", ...into);
    expect(made.code, made.stderr).toBe(0);
    expect(JSON.parse(made.stdout)).toMatchObject({ slice: "partition", bits: 22, ranges: 2, regions: ["eu", "us"] });
    const checked = await waybill(["table", "check", "routing-table.json"], { files: folder });
    expect(checked.code, checked.stdout).toBe(0);
    const minted = await waybill(["mint", "--entity", "parcel", "--field", "shardKey=42", "--count", "1"], {
      files: folder,
    });
    expect(minted.code, minted.stderr).toBe(0);
    const explained = await waybill(["explain", "--json", minted.stdout.trim()], { files: folder });
    expect(JSON.parse(explained.stdout).decision).toMatchObject({ region: "eu", rule: { pack: "parts" } });
    const beyond = await pack("4194304,eu\n", folder, "--slice", "partition", ...into);
    expect(beyond.stdout).toBe('stdin:1: "4194304" is not a key: a whole number from 0 to 4194303.\n');
    const other = await pack("1,eu\n", folder, "--slice", "shelf", ...into);
    expect(other.stderr).toBe(
      "error: in routing-table.json layout hotguid has no slice shelf: it has partition (--slice)\n",
    );
    const both = await pack("1,eu\n", folder, "--slice", "partition", "--field", "shardKey", ...into);
    expect(both.stderr).toBe("error: pass at most one of --field, --slice\n");
    expect((await pack("1,eu\n", folder, "--slice", "partition")).stderr).toBe(
      "error: --slice requires the table that declares the slice; pass it with --table\n",
    );
  });

  it("refuses a table whose pack is not there, and usage that makes no sense", async () => {
    const entry = { sha256: "0".repeat(64), bytes: 9, ranges: 1, bits: 32, regions: ["eu"] };
    const folder = tableFiles({ ...DECLARED_TABLE, packs: { shards: entry } });
    const checked = await waybill(["table", "check", "routing-table.json"], { files: folder });
    expect([checked.code, checked.stdout]).toEqual([1, expect.stringContaining("no such file")]);
    expect((await pack("1,eu\n", folder, "--name", "shards")).stderr).toBe(
      "error: --table and --name require each other\n",
    );
    expect((await pack("1,eu\n", folder, "--field", "counter")).stderr).toContain("no field counter");
    expect((await pack("", folder)).stderr).toBe("error: the pack cannot be created: it has no range\n");
  });
});
