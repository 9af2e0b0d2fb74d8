import { describe, expect, it } from "vitest";
import { loadTable } from "../../../src/routing/index.ts";
import { faultsOf, sampleTable } from "../tables.ts";

/** Faults of paths that several owners share, or that are written in one: each case changes the sample table. */

type Parts = { readonly [name: string]: object };

const tableOf = (entities: Parts, withoutId: Parts = {}, rest: object = {}) => {
  const table = sampleTable();
  return {
    ...table,
    entities: { ...table.entities, ...entities },
    sources: [{ header: "x-home" }],
    withoutId,
    ...rest,
  };
};

const IUID = { ids: [{ layout: "iuid", service: 9 }] };
const UUID = { ids: [{ layout: "uuid-v4" }] };
const GET = { methods: "GET" };
const POST = { methods: ["POST"] };
const US = { hosts: ["us.example.com"] };
const EU = { hosts: ["*.eu.example.com", "eu.example.com"] };
const SLUG = { directory: { slug: { key: { text: "lower" } } } };

const braces = (count: number): string => `{${Array.from({ length: count }, (_, at) => `w${at}`).join()}}`;

describe("faults of shared paths", () => {
  it.each<[string, object, readonly string[]]>([
    [
      "two entities with other methods",
      tableOf({ a: { path: "/a/:id", ...GET, ...IUID }, b: { path: "/a/:id", ...IUID } }),
      [],
    ],
    [
      "two entities with a common method",
      tableOf({ a: { path: "/a/:id", ...GET, ...IUID }, b: { path: "/a/:id", methods: ["HEAD", "PUT"], ...IUID } }),
      ["path-collision /entities/b/path", "number-clash /entities/b/ids/0/service"],
    ],
    [
      "two entities that both take the rest",
      tableOf({ a: { path: "/a/:id", ...UUID }, b: { path: "/a/:id", ...UUID } }),
      ["path-collision /entities/b/path"],
    ],
    [
      "two entities on other hosts, with one number",
      tableOf({
        a: { path: "/a/:id", ...US, ...IUID },
        b: { path: "/a/:id", ...EU, ...IUID },
        c: { path: "/a/:id", ...IUID },
      }),
      [],
    ],
    [
      "two entities on a common host",
      tableOf({ a: { path: "/a/:id", ...EU, ...UUID }, b: { path: "/a/:id", hosts: ["eu.example.com"], ...UUID } }),
      ["path-collision /entities/b/path"],
    ],
    [
      "one host by name and by a wildcard",
      tableOf({ a: { path: "/a/:id", ...EU, ...UUID }, b: { path: "/a/:id", hosts: ["x.eu.example.com"], ...UUID } }),
      [],
    ],
    [
      "one number on two paths",
      tableOf({ a: { path: "/a/:id", ...GET, ...IUID }, b: { path: "/b/:id", ...POST, ...IUID } }),
      ["number-clash /entities/b/ids/0/service"],
    ],
    [
      "one pattern below another",
      tableOf({ a: { path: "/a/:id", ...GET, ...UUID }, b: { path: "/a/:id/b", ...POST, ...UUID } }),
      ["path-collision /entities/b/path"],
    ],
    [
      "one pattern below one that takes nothing below",
      tableOf({ a: { path: { path: "/a/:id", below: false }, ...UUID }, b: { path: "/a/:id/b", ...UUID } }),
      [],
    ],
    ["three entries", tableOf({}, { a: { path: "/x", ...GET }, b: { path: "/x", ...POST }, c: { path: "/x" } }), []],
    [
      "two entries with a common method",
      tableOf({}, { a: { path: "/x", ...GET }, b: { path: "/x", methods: ["GET", "POST"] } }),
      ["path-collision /withoutId/b/path"],
    ],
    [
      "two entries for the rest",
      tableOf({}, { a: { path: "/x" }, b: { path: "/x" } }),
      ["path-collision /withoutId/b/path"],
    ],
    ["one entry twice", tableOf({}, { a: { path: ["/x", "/x"], ...GET } }), ["path-collision /withoutId/a/path/1"]],
    [
      "an entity and an entry",
      tableOf({ a: { path: "/a/:id", ...GET, ...IUID } }, { b: { path: ["/a/*", "/a/*/**"] } }),
      [],
    ],
    [
      "an entity for all, and an entry",
      tableOf({ a: { path: "/a/:id", ...IUID } }, { b: { path: "/a/*", ...GET } }),
      ["path-collision /withoutId/b/path"],
    ],
    [
      "an entity and an entry with a common method",
      tableOf({ a: { path: "/a/:id", ...GET, ...IUID } }, { b: { path: "/a/*", ...GET } }),
      ["path-collision /withoutId/b/path"],
    ],
    [
      "an entry on a host of the entity",
      tableOf({ a: { path: "/a/:id", ...EU, ...IUID } }, { b: { path: "/a/*", hosts: ["x.eu.example.com"] } }),
      ["path-collision /withoutId/b/path"],
    ],
    ["an entry on other hosts", tableOf({ a: { path: "/a/:id", ...EU, ...IUID } }, { b: { path: "/a/*" } }), []],
    [
      "an entry on a host, beside an entity of one method on all",
      tableOf({ a: { path: "/a/:id", ...GET, ...IUID } }, { b: { path: "/a/*", ...US } }),
      ["path-collision /withoutId/b/path"],
    ],
    [
      "an entry on one of the entity's open hosts, for other methods",
      tableOf(
        { a: { path: "/a/:id", ...EU, ...GET, ...IUID } },
        { b: { path: "/a/*", methods: "PUT", hosts: ["x.eu.example.com"] } },
      ),
      ["path-collision /withoutId/b/path"],
    ],
    [
      "an entry on the entity's own hosts, for other methods",
      tableOf({ a: { path: "/a/:id", ...EU, ...GET, ...IUID } }, { b: { path: "/a/*", ...EU } }),
      [],
    ],
    [
      "an entry for all below, where the entity has what is deeper",
      tableOf({ a: { path: ["/b/:id", "/a/*/:id"], ...IUID } }, { b: { path: "/a/**" } }),
      [],
    ],
    [
      "literal text in the ID's place",
      tableOf({}, { b: { path: "/orders/search" } }),
      ["path-collision /withoutId/b/path"],
    ],
    [
      "other methods without methods",
      tableOf({}, { a: { path: "/x", otherMethods: "next" } }),
      ["schema /withoutId/a/otherMethods"],
    ],
    ["a host with a port", tableOf({}, { a: { path: "/x", hosts: ["a.test:80"] } }), ["schema /withoutId/a/hosts/0"]],
    [
      "a method in small letters",
      tableOf({ a: { path: "/a/:id", methods: "get", ...UUID } }),
      ["schema /entities/a/methods"],
    ],
    [
      "a collection on one host",
      tableOf({
        a: {
          path: "/a/:id",
          ...US,
          ids: [{ layout: "hotguid" }],
          list: { items: "/items", order: "none", next: { link: true } },
        },
      }),
      ["schema /entities/a/hosts"],
    ],
  ])("%s", (_, table, expected) => {
    expect(
      faultsOf(table)
        .map(({ kind, pointer }) => `${kind} ${pointer}`)
        .sort(),
    ).toEqual([...expected].sort());
  });
});

describe("faults of the root", () => {
  const at = (path: unknown, withoutId: Parts = {}) => tableOf({ name: { path, directory: "slug" } }, withoutId, SLUG);

  it.each<[string, object, readonly string[]]>([
    ["an ID alone", at("/:id"), ["reserved-path /entities/name/path"]],
    ["an ID with what is below", at("/:id/**"), []],
    ["an ID without", at({ path: "/:id", below: false }), []],
    ["an ID with, as an object", at({ path: "/:id", below: true }), []],
    ["a path below it", at("/:id/x"), ["reserved-path /entities/name/path"]],
    ["both ways", at({ path: "/:id/**", below: false }), ["schema /entities/name/path/below"]],
    ["an object that says nothing", at({ path: "/a/:id" }), ["schema /entities/name/path/layout"]],
    ["literal paths beside it", at("/:id/**", { b: { path: ["/", "/login", "/assets/**"] } }), []],
    ["an open path beside it", at("/:id/**", { b: { path: "/**" } }), ["path-collision /withoutId/b/path"]],
    ["an open path below it", at({ path: "/:id", below: false }, { b: { path: ["/**", "/*/**"] } }), []],
    [
      "literal text that is an ID",
      tableOf(
        { name: { path: "/:id/**", ids: [{ layout: "snowflake" }] } },
        { b: { path: "/1234567890123456789" } },
        { routes: [{ when: {}, region: "eu" }], moved: {} },
      ),
      ["path-collision /withoutId/b/path"],
    ],
    ["the gateway's own", at({ path: "/any/:id", below: false }), ["reserved-path /entities/name/path"]],
  ])("%s", (_, table, expected) => {
    expect(faultsOf(table).map(({ kind, pointer }) => `${kind} ${pointer}`)).toEqual(expected);
  });

  it("names what may be written", () => {
    const [fault] = faultsOf(at("/:id"));
    expect(fault?.message).toContain('{ "path": "/:id", "below": false }');
    expect(fault?.message).toContain('"/:id/**"');
  });
});

describe("alternatives", () => {
  const paths = (path: unknown) => {
    const loaded = loadTable(tableOf({ a: { path, ...IUID } }), 1);
    return loaded.ok
      ? loaded.value.entities.get("a")?.paths
      : loaded.error.map(({ kind, pointer }) => `${kind} ${pointer}`);
  };

  it.each<[unknown, readonly string[]]>([
    ["/{a,b}/:id", ["/a/:id", "/b/:id"]],
    ["/{a,b/c}/:id/{d,e}", ["/a/:id/d", "/a/:id/e", "/b/c/:id/d", "/b/c/:id/e"]],
    [
      ["/x/:id", "/{a,b}/*/:id"],
      ["/x/:id", "/a/*/:id", "/b/*/:id"],
    ],
    [`/${braces(64)}/:id`, Array.from({ length: 64 }, (_, at) => `/w${at}/:id`)],
    [`/${braces(8)}/${braces(9)}/:id`, ["size /entities/a/path"]],
    [`/${Array.from({ length: 20 }, () => "{a,b,c}").join("/")}/:id`, ["size /entities/a/path"]],
    ["/{a,a}/:id", ["path-collision /entities/a/path"]],
    ["/{any,b}/:id", ["reserved-path /entities/a/path"]],
    ["/{a,..}/:id", ["schema /entities/a/path"]],
    ["/{a}/:id", ["schema /entities/a/path"]],
    ["/{a,{b,c}}/:id", ["schema /entities/a/path"]],
    ["/x{a,b}/:id", ["schema /entities/a/path"]],
    ["/{a,*}/:id", ["schema /entities/a/path"]],
    ["/{a,:id}/:id", ["schema /entities/a/path"]],
    ["/{a,}/:id", ["schema /entities/a/path"]],
  ])("%j", (path, expected) => {
    expect(paths(path)).toEqual(expected);
  });

  it.each<[string, readonly string[]]>([
    ["/{a,b}/x/**", []],
    ["/{a,orders/1}", ["path-collision /withoutId/w/path"]],
    [`/${braces(65)}`, ["size /withoutId/w/path"]],
  ])("without an ID: %s", (path, expected) => {
    expect(faultsOf(tableOf({}, { w: { path } })).map(({ kind, pointer }) => `${kind} ${pointer}`)).toEqual(expected);
  });
});

describe("a prefix that origins do not get", () => {
  it.each<[unknown, string, readonly string[]]>([
    ["/t/eu/:id", "/t/eu", []],
    [["/t/:id", "/t/x/:id"], "/t", []],
    ["/{t,u}/:id", "/t", ["schema /entities/a/removePrefix"]],
    ["/tx/:id", "/t", ["schema /entities/a/removePrefix"]],
    [["/t/eu/:id", "/t/*/:id"], "/t/eu", ["schema /entities/a/removePrefix"]],
    ["/t/:id", "/t/", ["schema /entities/a/removePrefix"]],
    ["/t/:id", "t", ["schema /entities/a/removePrefix"]],
  ])("%j %s", (path, removePrefix, expected) => {
    const table = tableOf({ a: { path, removePrefix, ...IUID } });
    expect(faultsOf(table).map(({ kind, pointer }) => `${kind} ${pointer}`)).toEqual(expected);
  });

  it("begins paths without an ID too", () => {
    const table = tableOf(
      {},
      { a: { path: ["/t", "/t/**"], removePrefix: "/t" }, b: { path: "/u/**", removePrefix: "/t" } },
    );
    expect(faultsOf(table).map(({ pointer }) => pointer)).toEqual(["/withoutId/b/removePrefix"]);
  });
});

describe("regions in place of those of a directory", () => {
  it.each<[object, readonly string[]]>([
    [{ eu: "ap" }, []],
    [{ eu: "ap", us: "ap" }, ["schema /entities/a/regionsInstead/us"]],
    [{ eu: "us", us: "ap" }, ["schema /entities/a/regionsInstead/eu"]],
    [{ eu: "mars" }, ["unknown-name /entities/a/regionsInstead/eu"]],
    [{ mars: "eu" }, ["unknown-name /entities/a/regionsInstead/mars"]],
    [{}, ["schema /entities/a/regionsInstead"]],
  ])("%j", (regionsInstead, expected) => {
    const table = tableOf({ a: { path: "/a/:id", directory: "slug", regionsInstead } }, {}, SLUG);
    expect(faultsOf(table).map(({ kind, pointer }) => `${kind} ${pointer}`)).toEqual(expected);
  });

  it("are not for IDs", () => {
    const table = tableOf({ a: { path: "/a/:id", regionsInstead: { eu: "ap" }, ...IUID } });
    expect(faultsOf(table).map(({ pointer }) => pointer)).toEqual(["/entities/a/regionsInstead"]);
  });
});

describe("a region for unknown keys", () => {
  it("must be one of the table", () => {
    const directory = { slug: { key: { text: "lower" }, unknown: "mars" } };
    const table = tableOf({ a: { path: "/a/:id", directory: "slug" } }, {}, { directory });
    expect(faultsOf(table).map(({ kind, pointer }) => `${kind} ${pointer}`)).toEqual([
      "unknown-name /directory/slug/unknown",
    ]);
  });
});
