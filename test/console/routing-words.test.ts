import { describe, expect, it } from "vitest";
import { readText } from "../../src/console/routing/check-text.ts";
import { fixesOf } from "../../src/console/routing/editor/fixes.ts";
import { found, outlineOf } from "../../src/console/routing/editor/outline-parts.ts";
import { faultInWords, placeInWords } from "../../src/console/routing/fault-words.ts";
import {
  alsoOf,
  ENTITY_MEMBERS,
  pathsOf,
  SOURCE_MEMBERS,
  sourcesOf,
} from "../../src/console/routing/lists/entity-words.ts";
import { filtered, rowsOf, sharesOf } from "../../src/console/routing/lists/rows.ts";
import { positionsOf } from "../../src/formats/console/positions.ts";
import type { MetricsHistory } from "../../src/formats/console-api.ts";
import type { DeclaredTable } from "../../src/routing/schema/table.ts";
import { readDemoTable } from "../system/demo/demo.ts";
import { ENTITY_SCHEMA_MEMBERS, SOURCE_SCHEMA_MEMBERS } from "./table-schema.ts";

const table = readDemoTable() as unknown as DeclaredTable;
const text = JSON.stringify(table, null, 2);

const faultsIn = (faulty: string) => {
  const checked = readText(faulty);
  return checked.ok ? [] : checked.error;
};

describe("a fault", () => {
  it.each([
    ['"region": "ap"', '"region": "app"', ['Put "ap" there']],
    ['"region": "ap"', '"region": "mars"', ['Put "ap" there', 'Put "eu" there', 'Put "us" there']],
    ['"origins": [', '"origns": [', ['Write "origins"', "Remove it"]],
    ['"0-1023"', '"1023-0"', ['Put "0-1023" there']],
    ['"shardKey": "0-1023"', '"shardKey": "1024-2047"', ["Remove this route"]],
  ])("%s → %s has remedies that mend it", (right, wrong, names) => {
    const faulty = text.replace(right, wrong);
    const fault = faultsIn(faulty).find((each) => fixesOf(each).length > 0);
    if (fault === undefined) throw new Error("no remedy");
    const fixes = fixesOf(fault);
    expect(fixes.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
    const [first] = fixes;
    const mended = first?.apply(faulty) ?? "";
    expect(faultsIn(mended).length).toBeLessThan(faultsIn(faulty).length);
  });

  it("leaves a text alone that has the place no more, or is no JSON", () => {
    const [fault] = faultsIn(text.replace('"region": "ap"', '"region": "app"'));
    const [fix] = fault === undefined ? [] : fixesOf(fault);
    expect([fix?.apply("{}"), fix?.apply("{ x")]).toEqual(["{}", "{ x"]);
  });

  it("names routes and places in words", () => {
    expect(faultInWords({ message: "/routes/1, /routes/10 and 2 more come earlier." })).toBe(
      "route 2, route 11 and 2 more come earlier.",
    );
    expect(faultInWords({ message: "Paths /orders/:id and /entities/order clash." })).toBe(
      "Paths /orders/:id and entity order clash.",
    );
    expect(["/routes/2/when/country/1", "/regions/eu/origins/0/url", "/default", ""].map(placeInWords)).toEqual([
      "Route 3: when country 2",
      "Region eu: origins 1 url",
      "Default",
      "",
    ]);
  });
});

describe("the outline", () => {
  const parts = outlineOf(positionsOf(text));

  it("has every part with its entries", () => {
    const counts = Object.fromEntries(parts.map(({ name, entries }) => [name, entries.length]));
    expect(counts).toMatchObject({ regions: 3, countries: 7, entities: 5, routes: table.routes.length, cors: 1 });
  });

  it("finds names, and routes by their words", () => {
    expect(found(parts, "kazakhstan", table).hits.map(({ pointer }) => pointer)).toEqual([
      "/routes/0",
      "/routes/1",
      "/routes/9",
    ]);
    expect(found(parts, "entities order", table)).toMatchObject({ all: 1, hits: [{ pointer: "/entities/order" }] });
    expect(found(outlineOf(positionsOf('{ "regions": { "eu": ')), "eu", undefined).all).toBe(1);
  });
});

describe("words of entities", () => {
  it("has them for all members of the schema", () => {
    const own = ["path", "ids", "directory"];
    expect([...ENTITY_MEMBERS, ...own].toSorted()).toEqual(ENTITY_SCHEMA_MEMBERS);
    expect([...SOURCE_MEMBERS, "values", "prefixes", "unlisted"].toSorted()).toEqual(SOURCE_SCHEMA_MEMBERS);
  });

  it("says paths, sources and features", () => {
    const path = [{ path: "/a/:id", layout: "iuid" }, { path: "/:id", below: false }, "/b/:id"];
    expect(pathsOf({ path, ids: [] })).toEqual(["/a/:id (iuid)", "/:id, nothing below", "/b/:id"]);
    expect(alsoOf({ path, ids: [], any: "redirect", public: true, methods: ["GET", "HEAD"] })).toEqual([
      "GET or HEAD alone",
      "found at /any by redirect",
      "clients see public IDs",
    ]);
    const sources = [{ header: "x-region" }, { clientCountry: { KZ: "ap" } }, { region: "eu" }];
    expect(sourcesOf({ path: "/x", sources }, table)).toBe("the header x-region, then the client's country, then eu");
    expect(sourcesOf({ path: "/x", sources: [] }, table)).toBe("IDs in the request alone");
  });
});

describe("rows of routes", () => {
  const rows = rowsOf(table);
  const pointers = (filter: Partial<Parameters<typeof filtered>[1]>) =>
    filtered(rows, { region: "", entity: "", search: "", ...filter }).map(({ words }) => words.pointer);

  it("end with all other IDs, and are found by region, entity and words", () => {
    expect(rows.at(-1)?.words.pointer).toBe("/default");
    expect(pointers({ region: "us" })).toEqual(["/routes/2", "/routes/5", "/routes/8"]);
    expect(pointers({ entity: "shop" })).toEqual(["/directory/slug"]);
    expect(pointers({ search: "all of person" })).toEqual(["/routes/10"]);
    expect(pointers({ search: "india uzbek" })).toEqual(["/routes/1", "/routes/9"]);
    expect(pointers({ search: "nothing" })).toEqual([]);
  });

  it("have shares of the revision in force alone, and none that was not counted", () => {
    const routes = [
      { revision: 2, pointer: "/routes/0", requests: 6 },
      { revision: 2, pointer: "/routes/0/canary", requests: 2 },
      { revision: 2, pointer: "/moved", requests: 1 },
      { revision: 2, pointer: "(none)", requests: 1 },
      { revision: 1, pointer: "/routes/1", requests: 90 },
      { revision: null, pointer: "(other)", requests: 5 },
    ];
    const history = { source: "all", routes } as unknown as MetricsHistory;
    const shares = sharesOf(history, 2);
    const of = (at: number) => shares?.of(rows[at]?.words as (typeof rows)[number]["words"]);
    expect([shares?.total, shares?.single, of(0), of(1), of(rows.length - 1)]).toEqual([10, 1, 8, 0, undefined]);
    expect(sharesOf({ ...history, source: "none" } as MetricsHistory, 2)).toBeUndefined();
    expect(sharesOf({ source: "all" } as unknown as MetricsHistory, 2)).toBeUndefined();
  });
});
