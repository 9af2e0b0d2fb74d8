import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { faultsOf, load, sampleTable } from "../tables.ts";

const onEntity = (idIn: unknown) => {
  const { entities, ...rest } = sampleTable();
  return { ...rest, entities: { ...entities, order: { ...entities["order"], idIn } } };
};
const onPath = (idIn: unknown, more: object = {}) => ({
  ...sampleTable(),
  withoutId: { checkout: { path: "/checkout", idIn, ...more } },
});
const pointers = (table: unknown) => faultsOf(table).map(({ pointer, kind }) => `${kind} ${pointer}`);

describe("places of IDs", () => {
  test.each([
    [[{ query: "id" }]],
    [[{ header: "x-id", list: true }, { cookie: "id" }, { form: "id", withinBytes: 65_536 }]],
    [[{ json: "" }, { json: "/a~1b/0", otherTypes: "pass" }, { jwtClaim: "order" }]],
    [[{ query: "ride", entity: "ride" }]],
  ])("%j", (idIn) => {
    expect(faultsOf(onEntity(idIn))).toEqual([]);
  });

  test.each([
    [[], "schema /entities/order/idIn"],
    [[{}], "schema /entities/order/idIn/0"],
    [[{ entity: "order" }], "schema /entities/order/idIn/0"],
    [[{ query: "a", header: "b" }], "schema /entities/order/idIn/0"],
    [[{ query: "a" }, { query: "a" }], "schema /entities/order/idIn/1"],
    [[{ header: "A" }, { header: "a", entity: "ride" }], "schema /entities/order/idIn/1"],
    [[{ query: "a", withinBytes: 5 }], "schema /entities/order/idIn/0/withinBytes"],
    [[{ cookie: "a", otherTypes: "pass" }], "schema /entities/order/idIn/0/otherTypes"],
    [[{ json: "a" }], "schema /entities/order/idIn/0/json"],
    [[{ json: "/a~2" }], "schema /entities/order/idIn/0/json"],
    [[{ json: "/a", withinBytes: 65_537 }], "schema /entities/order/idIn/0/withinBytes"],
    [[{ json: "/a", withinBytes: 0 }], "schema /entities/order/idIn/0/withinBytes"],
    [[{ query: "a", entity: "x" }], "unknown-name /entities/order/idIn/0/entity"],
    [Array.from({ length: 17 }, (_, at) => ({ query: `${at}` })), "size /entities/order/idIn"],
  ])("%j is a fault", (idIn, fault) => {
    expect(pointers(onEntity(idIn))).toEqual([fault]);
  });

  test("on a path without an ID need an entity, and may do without sources", () => {
    expect(pointers(onPath([{ query: "a" }]))).toEqual(["schema /withoutId/checkout/idIn/0"]);
    expect(pointers(onPath([{ query: "a", entity: "order" }]))).toEqual([]);
    expect(pointers(onPath([{ query: "a", entity: "order" }], { sources: [] }))).toEqual([]);
    const empty = { ...sampleTable(), withoutId: { checkout: { path: "/checkout", sources: [] } } };
    expect(pointers(empty)).toEqual(["schema /withoutId/checkout/sources"]);
  });

  test("cost nothing where there are none", () => {
    const table = load(sampleTable());
    expect([...table.entities.values()].map(({ idIn }) => idIn)).toEqual([undefined, undefined, undefined, undefined]);
  });
});

test("the examples of the guide are tables without fault", () => {
  const guide = readFileSync(new URL("../../../docs/guides/ids-anywhere.md", import.meta.url), "utf8");
  const examples = [...guide.matchAll(/```json\n(.*?)```/gs)].map(([, text]) => JSON.parse(`{${text}}`));
  expect(examples).toHaveLength(2);
  for (const { entities = {}, ...rest } of examples) {
    const table = sampleTable();
    expect(faultsOf({ ...table, ...rest, entities: { ...table.entities, ...entities } })).toEqual([]);
  }
});

describe("sources of a region", () => {
  const sources = (...list: object[]) => ({ ...sampleTable(), withoutId: { w: { path: "/w", sources: list } } });
  test.each([
    [{ hostLabel: "*.example.com" }, []],
    [{ host: { "eu.example.com": "eu", "*.us.example.com": "us", "[::1]": "ap" } }, []],
    [{ query: "region", values: { a: "eu" } }, []],
    [{ pathSegment: 2 }, []],
    [{ hostLabel: "example.com" }, ["schema /withoutId/w/sources/0/hostLabel"]],
    [{ hostLabel: "*.Example.com" }, ["schema /withoutId/w/sources/0/hostLabel"]],
    [{ host: { "eu.example.com:80": "eu" } }, ["schema /withoutId/w/sources/0/host/eu.example.com:80"]],
    [{ host: { "a.*.com": "eu" } }, ["schema /withoutId/w/sources/0/host/a.*.com"]],
    [{ host: { "eu.example.com": "mars" } }, ["unknown-name /withoutId/w/sources/0/host/eu.example.com"]],
    [{ host: { "eu.example.com": "eu" }, values: { a: "eu" } }, ["schema /withoutId/w/sources/0/values"]],
    [{ query: "a", pathSegment: 1 }, ["schema /withoutId/w/sources/0"]],
    [{ pathSegment: 0 }, ["schema /withoutId/w/sources/0/pathSegment"]],
  ])("%j", (source, faults) => {
    expect(pointers(sources(source))).toEqual(faults);
  });
});
