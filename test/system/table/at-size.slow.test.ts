import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kindPath } from "../../../bench/lib/tables.ts";
import { packFile, randomRanges } from "../../../bench/packs/pack-files.ts";
import { movedId, PROMISED, promisedRegion, promisedTable } from "../../../bench/routes/promised-table.ts";
import type { PackRange } from "../../../src/features/packs/table/format.ts";
import { hotguid, iuid, type Layout, luuid } from "../../../src/ids/index.ts";
import { TABLE_BYTES_MAX } from "../../../src/routing/index.ts";
import { objectsOf } from "../../cli/fake-runtime.ts";
import { tableFolder, waybill } from "../command.ts";
import { type Stack, startStack } from "../stack.ts";

/**
 * The largest table that is promised, published by the command, delivered by KV and looked up at a gateway that runs: 249
 * countries (ISO 3166-1 has no more) by 250 services, 4,096 groups, 100,000 moved entities; then the same with a pack of a
 * million ranges.
 */

const MINTED_MS = Date.UTC(2026, 5, 1);
const SAMPLES = 40;

const ranges: readonly PackRange[] = [...randomRanges()];
const origin = createServer((_, response) => response.end());
let stack: Stack;

/** A path, and the region that the table names for it. */
type Expected = readonly [path: string, region: string];

beforeAll(async () => {
  await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
  const region = regionsAt(["eu"]);
  const small = { regions: region, entities: { parcel: PARCEL }, routes: [] };
  stack = await startStack(small as never, { TABLE_REFRESH_SECONDS: "1" });
});

afterAll(async () => {
  await stack.stop();
  origin.close();
});

const PARCEL = { path: "/parcels/:id", ids: [{ layout: "hotguid" }] };

const regionsAt = (names: readonly string[]) => {
  const url = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
  return Object.fromEntries(names.map((name) => [name, { origins: [{ url }] }]));
};

function declared() {
  const { regions, entities, routes, ...rest } = promisedTable();
  return {
    ...rest,
    regions: regionsAt(Object.keys(regions)),
    entities: { ...entities, parcel: PARCEL },
    routes: [...routes, { when: { layout: "hotguid" }, region: "eu" }],
  };
}

async function declaredWithPack() {
  const { regions, routes, ...rest } = declared();
  const { file, tableText } = await packFile(ranges);
  const { packs } = JSON.parse(tableText) as { readonly packs: { readonly shards: { readonly sha256: string } } };
  const names = new Set(ranges.map((range) => range.region));
  const pack = { when: { layout: "hotguid" }, pack: "shards" };
  const table = { ...rest, regions: { ...regions, ...regionsAt([...names]) }, packs, routes: [pack, ...routes] };
  return { table, file, sha256: packs.shards.sha256 };
}

const idOf = (layout: Layout, values: Readonly<Record<string, number | bigint>>): string => {
  const words = layout.encode(values);
  if (!words.ok) throw new Error(JSON.stringify(words.error));
  return layout.format(words.value);
};

const parcelOf = (shardKey: number): string =>
  `/parcels/${idOf(hotguid, { mintedAt: MINTED_MS / 1000, machine: 1, process: 3, counter: 1, shardKey })}`;

/** `SAMPLES` of every kind of thing, from the first to the last. */
function samples(): Expected[] {
  return Array.from({ length: SAMPLES }, (_, at) => {
    const place = (count: number): number => Math.floor((at * (count - 1)) / (SAMPLES - 1));
    const [country, service, group, moved] = [
      place(PROMISED.countries),
      (at * 77) % PROMISED.services,
      place(PROMISED.groups),
      place(PROMISED.moved),
    ];
    const ofCountry = idOf(iuid, { mintedAt: MINTED_MS, country, service, random: 1n });
    const ofGroup = idOf(luuid, { primaryKey: 5, group, random: 9n });
    return [
      [kindPath(service).replace(":id", ofCountry), promisedRegion(country + service)],
      [`/people/${ofGroup}`, promisedRegion(group)],
      [`/any/${movedId(moved)}`, promisedRegion(moved)],
    ] satisfies Expected[];
  }).flat();
}

/** The ends of ranges of the pack, and the keys beside them, which it does not hold. */
function packSamples(): Expected[] {
  return Array.from({ length: SAMPLES }, (_, at) => {
    const { from, to, region } = ranges[Math.floor((at * (ranges.length - 2)) / (SAMPLES - 1))] as PackRange;
    return [
      [parcelOf(from), region],
      [parcelOf(to), region],
      [parcelOf(to + 1), "eu"],
    ] satisfies Expected[];
  }).flat();
}

const regionOf = async (path: string): Promise<string | null> => {
  const response = await fetch(stack.url + path);
  await response.arrayBuffer();
  return response.headers.get("waybill-region");
};

const expectAll = async (expected: readonly Expected[]): Promise<void> => {
  const found: [string, string | null][] = [];
  for (const [path] of expected) found.push([path, await regionOf(path)]);
  expect(found).toEqual(expected);
};

const command = (cwd: string, ...args: readonly string[]) =>
  waybill(["table", ...args], { cwd, env: { WAYBILL_GATEWAY: stack.url } });

describe("the largest table, at a gateway that runs", () => {
  it("is published, delivered and looked up", async () => {
    const table = declared();
    expect(table.routes).toHaveLength(249 * 250 + 4_096 + 1);
    const cwd = tableFolder(JSON.parse(JSON.stringify(table)));
    writeFileSync(join(cwd, "routing-table.json"), JSON.stringify(table));
    expect(JSON.stringify(table).length).toBeLessThan(TABLE_BYTES_MAX);
    const published = await command(cwd, "publish", "routing-table.json", "--yes", "--json", "--wait=60");
    expect({ code: published.code, told: objectsOf(published.stdout)[0] }).toMatchObject({
      code: 0,
      told: { kind: "publish", bytes: JSON.stringify(table).length },
    });
    await expectAll(samples());
  }, 180_000);

  it("is published, delivered and looked up with a pack of a million ranges", async () => {
    const { table, file, sha256 } = await declaredWithPack();
    const cwd = tableFolder();
    mkdirSync(join(cwd, "packs"));
    writeFileSync(join(cwd, "routing-table.json"), JSON.stringify(table));
    writeFileSync(join(cwd, "packs", `${sha256}.pack`), file);
    const published = await command(cwd, "publish", "routing-table.json", "--yes", "--json", "--wait=60");
    expect(published.code).toBe(0);
    await expectAll([...samples(), ...packSamples()]);
  }, 180_000);
});
