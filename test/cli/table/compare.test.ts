import { describe, expect, it } from "vitest";
import { countChanges, formatChanges } from "../../../src/cli/lib/diff.ts";
import type { PackRange } from "../../../src/features/packs/table/format.ts";
import { encodePack } from "../../../src/features/packs/table/format.ts";
import type { DeclaredTable } from "../../../src/routing/schema/table.ts";
import { sha256 } from "../../routing/packs/pack-cases.ts";
import { NOW_MS, sampleTable } from "../../routing/tables.ts";

/** Files by their paths, as a machine would have them. */
const files = new Map<string, Uint8Array<ArrayBuffer>>();
const disk = {
  nowMs: () => NOW_MS,
  fileExists: (path: string) => files.has(path),
  readFile: (path: string) => {
    const value = files.get(path);
    return value === undefined
      ? { ok: false as const, error: "no such file or directory" }
      : { ok: true as const, value };
  },
};

const tableWith = async (name: string, folder: string | undefined, ...ranges: PackRange[]) => {
  const encoded = await encodePack(ranges, { fieldBits: 32, sha256 });
  if (!encoded.ok) throw new Error(encoded.error.reason);
  const { header, pages, sha256: digest, bytes, ranges: count, regions } = encoded.value;
  if (folder !== undefined) files.set(`${folder}/${digest}.pack`, new Uint8Array(Buffer.concat([header, ...pages])));
  const shards = { sha256: digest, bytes, ranges: count, bits: 32, regions: [...regions] };
  const routes: DeclaredTable["routes"] = [
    { when: { layout: "hotguid" }, pack: "shards" },
    { when: { layout: "hotguid" }, region: "ap" },
  ];
  return { name, digest, table: { ...sampleTable(), packs: { shards }, routes } };
};

const eu = { from: 0, to: 2 ** 31 - 1, region: "eu" };
const us = { from: 0, to: 2 ** 30 - 1, region: "us" };

describe("what publishing changes", () => {
  it("is told by the packs beside the table: keys, and how much of the key space they are", async () => {
    const before = await tableWith("revision 7", "shop/packs", eu);
    const after = await tableWith("table.json", "shop/packs", us);
    const changes = await countChanges(before, after, "shop/table.json", disk);
    expect(changes).toMatchObject({
      notes: "",
      counts: {
        keys: [
          { entity: "parcel", from: "eu", to: "ap", keys: String(2 ** 30), percentOfSpace: 25 },
          { entity: "parcel", from: "eu", to: "us", keys: String(2 ** 30), percentOfSpace: 25 },
        ],
      },
    });
  });

  it("names the pack that is nowhere, and where it was looked for", async () => {
    const before = await tableWith("revision 7", undefined, { ...eu, to: 5 });
    const after = await tableWith("revision 8", "packs", us);
    const changes = await countChanges(before, after, undefined, disk);
    const note = `note: pack shards of revision 7 is missing (packs/${before.digest}.pack): IDs that depend on it stay undetermined\n`;
    expect(changes).toMatchObject({ notes: note });
    expect(formatChanges(changes)).toMatch(/4,294,967,296 keys, 100 % of the key space\nnote: /);
  });

  it("says nothing of a pack that makes no difference, and that there is none", async () => {
    const before = await tableWith("revision 7", undefined, { ...eu, to: 9 });
    const changes = await countChanges(before, { ...before, name: "table.json" }, "table.json", disk);
    expect(formatChanges(changes)).toBe("no differences except in the text\n");
  });

  it("is named exactly; of very many changes the first, below the sums of all", async () => {
    const table = sampleTable();
    const changed = (...routes: DeclaredTable["routes"]) => {
      const after = { ...table, routes: [...routes, ...table.routes] };
      return countChanges({ name: "before", table }, { name: "after", table: after }, undefined, disk);
    };
    const shard = await changed({ when: { layout: "hotguid", shardKey: "0" }, region: "us" });
    expect(formatChanges(shard)).toContain("\n  parcel (hotguid)  shardKey 0  eu → us  1 key");

    const shards = Array.from({ length: 200 }, (_, at) => String(at * 2));
    const long = await changed({ when: { layout: "hotguid", shardKey: shards }, region: "us" });
    expect(formatChanges(long)).toMatch(/ {2}shardKey 0, 2, 4, [\d, ]+ 100, … {2}eu → us {2}200 keys/);

    const days = Array.from({ length: 28 }, (_, at) => ({
      when: { layout: "iuid", country: "BR", mintedBefore: `2026-02-${String(at + 1).padStart(2, "0")}T00:00:00Z` },
      region: at % 2 === 0 ? "us" : "ap",
    }));
    const many = await changed(...days);
    expect(many.counts?.keyChanges).toMatchObject({ changed: 56, listed: { length: 50 } });
    const lines = formatChanges(many).split("\n");
    expect(lines).toContain("  … and 6 more, which `waybill table diff BEFORE AFTER` lists");
    expect(lines.filter((line) => line.includes("country BR"))).toHaveLength(50);
  });

  it("does not go on with a file that is another one", async () => {
    const before = await tableWith("revision 7", "packs", { ...eu, to: 77 });
    files.set(`packs/${before.digest}.pack`, new Uint8Array(100));
    await expect(countChanges(before, before, "table.json", disk)).rejects.toThrow(
      /^error: packs\/\w+\.pack is not pack shards of revision 7: .+\n$/,
    );
  });
});
