import { describe, expect, test } from "vitest";
import type { DeclaredSource } from "../../../src/routing/schema/table.ts";
import { faultsOf, load, sampleTable } from "../tables.ts";

const AT = "/withoutId/w/sources";

/** Kinds of faults and their places in the list of sources. */
const faultsIn = (sources: readonly object[], entry: object = {}, more: object = {}): readonly string[] =>
  faultsOf({ ...sampleTable(), ...more, withoutId: { w: { path: "/w", sources, ...entry } } }).map(
    ({ kind, pointer }) => `${kind} ${pointer.replace(AT, "")}`,
  );

const LAST: DeclaredSource = { region: "us" };
const next = { unlisted: "next" } as const;
const refuse = { unlisted: "refuse" } as const;

describe("parts of a source", () => {
  test.each<[string, readonly object[], readonly string[]]>([
    ["a word that is none", [{ header: "a", unlisted: "skip" }], ["schema /0/unlisted"]],
    ["a place may refuse", [{ clientCountry: { KZ: "ap" }, ...refuse }, LAST], []],
    ["a continent may", [{ clientContinent: { EU: "eu" }, ...refuse }, LAST], []],
    ["a cookie may", [{ cookie: "c", ...refuse }, LAST], []],
    ["a last resort lists nothing", [{ region: "us", ...next }], ["schema /0/unlisted"]],
    ["headers go on by themselves", [{ headers: { a: "b" }, region: "us", ...next }], ["schema /0/unlisted"]],
    ["headers without a region", [{ headers: { a: "b" } }], ["schema /0"]],
    ["no headers", [{ headers: {}, region: "us" }], ["schema /0/headers"]],
    ["a header without values", [{ headers: { a: [] }, region: "us" }], ["schema /0/headers/a"]],
    ["a header's name with a colon", [{ headers: { "a:": "b" }, region: "us" }], ["schema /0/headers/a:"]],
    ["one header in two spellings", [{ headers: { "X-A": "b", "x-a": "c" }, region: "us" }], ["schema /0/headers/x-a"]],
    ["one value twice", [{ headers: { a: ["b", "c", "b"] }, region: "us" }], ["schema /0/headers/a/2"]],
    ["headers beside a header", [{ headers: { a: "b" }, header: "c", region: "us" }], ["schema /0"]],
    ["values of headers", [{ headers: { a: "b" }, region: "us", values: { b: "us" } }], ["schema /0/values"]],
    ["an unknown region of headers", [{ headers: { a: "b" }, region: "mars" }], ["unknown-name /0/region"]],
    ["prefixes of a country", [{ clientCountry: { KZ: "ap" }, prefixes: { K: "ap" } }], ["schema /0/prefixes"]],
    ["prefixes of a host", [{ host: { "a.com": "ap" }, prefixes: { a: "ap" } }], ["schema /0/prefixes"]],
    ["prefixes beside values", [{ header: "a", values: { b: "eu" }, prefixes: { b: "us" } }], []],
    ["an empty prefix", [{ header: "a", prefixes: { "": "us" } }], ["schema /0/prefixes/"]],
    ["a list of prefixes", [{ header: "a", prefixes: ["us"] }], ["schema /0/prefixes"]],
    ["a list of headers", [{ headers: ["a"], region: "us" }], ["schema /0/headers"]],
    ["an empty prefix in a list", [{ header: "a", prefixes: { us: [""] } }], ["schema /0/prefixes/us/0"]],
    ["no prefixes", [{ header: "a", prefixes: {} }], ["schema /0/prefixes"]],
    ["overlapping prefixes", [{ header: "a", prefixes: { b: "eu", bc: "us", ap: ["bcd"] } }], []],
    ["an unknown region of a prefix", [{ header: "a", prefixes: { b: "mars" } }], ["unknown-name /0/prefixes/b"]],
    ["a table of nothing", [{ header: "a", values: { eu: [] } }], ["schema /0/values/eu"]],
    ["a number for a region", [{ header: "a", values: { b: 5 } }], ["schema /0/values/b"]],
    ["a number in a list", [{ header: "a", values: { eu: ["b", 5] } }], ["schema /0/values/eu/1"]],
  ])("%s", (_, sources, faults) => {
    expect(faultsIn(sources)).toEqual(faults);
  });
});

describe("a region with the list of its values", () => {
  test.each<[object, readonly string[]]>([
    [{ clientCountry: { eu: ["DE", "FR"], US: "us", KZ: "ap" } }, []],
    [{ clientCountry: { eu: ["UK", "DE"] } }, ["unknown-name /0/clientCountry/eu/0"]],
    [{ clientCountry: { eu: ["de"] } }, ["unknown-name /0/clientCountry/eu/0"]],
    [{ clientCountry: { eu: ["DE"], DE: "us" } }, ["schema /0/clientCountry/DE"]],
    [{ clientCountry: { DE: "us", eu: ["FR", "DE"] } }, ["schema /0/clientCountry/eu/1"]],
    [{ clientCountry: { eu: ["DE"], us: ["DE"] } }, ["schema /0/clientCountry/us/0"]],
    [{ clientCountry: { eu: ["DE", "DE"] } }, ["schema /0/clientCountry/eu/1"]],
    [{ clientCountry: { mars: ["DE"] } }, ["unknown-name /0/clientCountry/mars"]],
    [{ clientCountry: { DE: ["eu"] } }, ["unknown-name /0/clientCountry/DE", "unknown-name /0/clientCountry/DE/0"]],
    [{ clientCountry: { eu: "DE" } }, ["unknown-name /0/clientCountry/eu", "unknown-name /0/clientCountry/eu"]],
    [{ clientCountry: { eu: [] } }, ["schema /0/clientCountry/eu"]],
    [{ clientContinent: { eu: ["EU", "AF"], AS: "ap" } }, []],
    [{ clientContinent: { eu: ["XX"] } }, ["schema /0/clientContinent/eu/0"]],
    [{ clientContinent: { eu: ["EU"], EU: "us" } }, ["schema /0/clientContinent/eu/0"]],
    [{ clientContinent: { XX: "eu" } }, ["schema /0/clientContinent/XX"]],
    [{ clientContinent: {} }, ["schema /0/clientContinent"]],
    [{ host: { eu: ["eu.example.com", "*.eu.example.com"], "us.example.com": "us" } }, []],
    [{ host: { eu: ["EU.example.com"] } }, ["schema /0/host/eu/0"]],
    [{ host: { eu: ["a.com"], "a.com": "us" } }, ["schema /0/host/a.com"]],
    [{ header: "a", values: { eu: ["x", "y"], z: "us" } }, []],
    [{ header: "a", values: { eu: ["x"], us: ["x"] } }, ["schema /0/values/us/0"]],
    [{ header: "a", prefixes: { eu: ["x"], x: "us" } }, ["schema /0/prefixes/x"]],
    // A value that is called as a region is.
    [{ header: "a", values: { eu: "us", us: ["eu2"] } }, []],
  ])("%j", (source, faults) => {
    expect(faultsIn([source])).toEqual(faults);
  });

  test("the United Kingdom has the same words in both forms", () => {
    const messages = [{ UK: "eu" }, { eu: ["UK"] }].map((clientCountry) => {
      const table = { ...sampleTable(), withoutId: { w: { path: "/w", sources: [{ clientCountry }] } } };
      return faultsOf(table)[0]?.message;
    });
    expect(messages[0]).toContain('"GB"');
    expect(messages[1]).toBe(messages[0]);
  });
});

describe("a value that no request can have", () => {
  const words = (kind: object, ...values: readonly string[]) =>
    values.flatMap((value) => [
      { ...kind, values: { [value]: "eu" } },
      { ...kind, values: { eu: [value] } },
    ]);
  const header = { header: "a" };
  const segment = { pathSegment: 1 };
  const label = { hostLabel: "*.example.com" };
  test.each([
    ...words(header, " eu", "eu ", "\teu", "e\nu", "e\u0000u", "\ud800"),
    ...words({ cookie: "a" }, " eu", "e;u", "eu\t"),
    ...words(segment, "e/u", "e u", "é", "e?u", "e#u", "e{u", ".", "..", "%2E", "e\\u"),
    ...words(label, "a.b", "EU", "é", "e u", "a".repeat(64)),
    { jwtClaim: "a", values: { "\ud800": "eu" } },
    { header: "a", prefixes: { " eu": "eu" } },
    { pathSegment: 1, prefixes: { "eu/": "eu" } },
    { hostLabel: "*.example.com", prefixes: { "eu.": "eu" } },
    { headers: { a: " eu" }, region: "eu" },
    { headers: { a: ["b", "eu "] }, region: "eu" },
  ])("%j", (source) => {
    expect(faultsIn([source])).toEqual([expect.stringMatching(/^unreachable-source \/0\/(values|prefixes|headers)\//)]);
  });

  test.each([
    ...words(header, "e u", "eu;q=1", "é", "a,b", '"eu"', "e\tu"),
    ...words({ cookie: "a" }, "e u", '"eu"', "a=b"),
    ...words({ query: "a" }, " eu ", "é", "a/b", "a&b", "."),
    ...words({ jwtClaim: "a" }, " eu ", "é", "a/b", "\n"),
    ...words(segment, "e-u", "%C3%A9", "a;b", "a@b:c", "...", ".e"),
    ...words(label, "a-b", "xn--bcher-kva", "1"),
    { header: "a", prefixes: { "eu ": "eu", "eu:": "us" } },
    { pathSegment: 1, prefixes: { ".": "eu" } },
    { headers: { a: ["b", "c d"] }, region: "eu" },
  ])("%j is none", (source) => {
    expect(faultsIn([source])).toEqual([]);
  });
});

describe("a source that earlier ones leave nothing", () => {
  const a = { header: "a" };
  test.each<[string, readonly object[], readonly string[]]>([
    [
      "what goes on reaches the next of the header",
      [
        { ...a, values: { x: "eu" }, ...next },
        { header: "A", values: { y: "us" } },
      ],
      [],
    ],
    [
      "what is refused does not",
      [
        { ...a, values: { x: "eu" } },
        { ...a, values: { y: "us" }, ...next },
      ],
      ["unreachable-source /1"],
    ],
    [
      "nor after both",
      [{ ...a, values: { x: "eu" }, ...next }, a, { ...a, values: { y: "us" } }],
      ["unreachable-source /2"],
    ],
    [
      "one value of two",
      [
        { ...a, values: { x: "eu" }, ...next },
        { ...a, values: { x: "us", y: "us" }, ...next },
      ],
      ["unreachable-source /1/values/x"],
    ],
    [
      "in a list",
      [
        { ...a, values: { x: "eu" }, ...next },
        { ...a, values: { us: ["y", "x"] }, ...next },
      ],
      ["unreachable-source /1/values/us/1"],
    ],
    [
      "all its values",
      [
        { ...a, values: { x: "eu" }, ...next },
        { ...a, values: { x: "us" }, ...next },
      ],
      ["unreachable-source /1"],
    ],
    [
      "all its values, but it refuses the others",
      [
        { ...a, values: { x: "eu" }, ...next },
        { ...a, values: { x: "us" } },
      ],
      ["unreachable-source /1/values/x"],
    ],
    [
      "by a prefix",
      [
        { ...a, prefixes: { x: "eu" }, ...next },
        { ...a, values: { xy: "us", y: "us" } },
      ],
      ["unreachable-source /1/values/xy"],
    ],
    [
      "a prefix by a shorter one",
      [
        { ...a, prefixes: { x: "eu" }, ...next },
        { ...a, prefixes: { xy: "us", y: "us" } },
      ],
      ["unreachable-source /1/prefixes/xy"],
    ],
    [
      "a prefix by a longer one, in part",
      [
        { ...a, prefixes: { xy: "eu" }, ...next },
        { ...a, prefixes: { x: "us" } },
      ],
      [],
    ],
    [
      "names of regions twice",
      [
        { ...a, ...next },
        { ...a, ...next },
      ],
      ["unreachable-source /1"],
    ],
    [
      "two claims",
      [
        { jwtClaim: "r", ...next },
        { jwtClaim: "r", values: { x: "eu" } },
      ],
      [],
    ],
    ["two segments", [{ pathSegment: 1, ...next }, { pathSegment: 2 }], []],
    [
      "one segment",
      [
        { pathSegment: 1, values: { x: "eu" } },
        { pathSegment: 1, ...next },
      ],
      ["unreachable-source /1"],
    ],
    [
      "one label",
      [{ hostLabel: "*.a.com", prefixes: { x: "eu" } }, { hostLabel: "*.a.com" }],
      ["unreachable-source /1"],
    ],
    ["two labels", [{ hostLabel: "*.a.com", prefixes: { x: "eu" } }, { hostLabel: "*.b.com" }], []],
    [
      "one cookie",
      [
        { cookie: "c", values: { x: "eu" } },
        { cookie: "c", prefixes: { x: "us", y: "us" } },
      ],
      [],
    ],
    [
      "one cookie that refuses",
      [
        { cookie: "c", ...refuse },
        { cookie: "c", values: { x: "us" } },
      ],
      ["unreachable-source /1"],
    ],
    ["all hosts refused", [{ host: { "a.com": "eu" }, ...refuse }, { cookie: "c" }], ["unreachable-source /1"]],
    ["all countries refused", [{ clientCountry: { KZ: "ap" }, ...refuse }, { clientContinent: { EU: "eu" } }], []],
    [
      "one country twice",
      [{ clientCountry: { ap: ["KZ"] } }, { clientCountry: { KZ: "us", UZ: "us" } }],
      ["unreachable-source /1/clientCountry/KZ"],
    ],
    [
      "a host of a pattern",
      [{ host: { eu: ["*.a.com"] } }, { host: { "x.a.com": "us", "*.b.com": "us" } }],
      ["unreachable-source /1/host/x.a.com"],
    ],
    ["a pattern of a host", [{ host: { eu: ["x.a.com"] } }, { host: { "*.a.com": "us" } }], []],
    [
      "headers twice",
      [
        { headers: { a: ["x", "y"], b: "z" }, region: "eu" },
        { headers: { B: "z", A: "x" }, region: "us" },
      ],
      ["unreachable-source /1"],
    ],
    [
      "more headers than an earlier one",
      [
        { headers: { a: "x" }, region: "eu" },
        { headers: { a: "x", b: "z" }, region: "us" },
      ],
      ["unreachable-source /1"],
    ],
    [
      "fewer headers",
      [
        { headers: { a: "x", b: "z" }, region: "eu" },
        { headers: { a: "x" }, region: "us" },
      ],
      [],
    ],
    [
      "two that cover a third together",
      [
        { headers: { a: "x", b: "y" }, region: "eu" },
        { headers: { a: "x", b: "z" }, region: "us" },
        { headers: { a: "x", b: ["y", "z"] }, region: "ap" },
      ],
      ["unreachable-source /2"],
    ],
    [
      "headers behind a header that refuses",
      [a, { headers: { a: "x", b: "y" }, region: "us" }],
      ["unreachable-source /1"],
    ],
    [
      "headers behind one that takes the value",
      [
        { ...a, prefixes: { x: "eu" }, ...next },
        { headers: { a: ["xy", "xz"], b: "y" }, region: "us" },
      ],
      ["unreachable-source /1"],
    ],
    [
      "a header behind headers of one name",
      [
        { headers: { A: "x" }, region: "eu" },
        { ...a, values: { x: "us", y: "us" } },
      ],
      ["unreachable-source /1/values/x"],
    ],
    ["headers behind the last resort", [LAST, { headers: { a: "x" }, region: "us" }], ["unreachable-source /1"]],
    ["the region of headers is no last resort", [{ headers: { a: "x" }, region: "us" }, { cookie: "c" }], []],
  ])("%s", (_, sources, faults) => {
    expect(faultsIn(sources)).toEqual(faults);
  });

  test("tables from before stay valid, although some values never decide", () => {
    expect(
      faultsIn([
        { cookie: "c", values: { x: "eu" } },
        { cookie: "c", values: { x: "us" } },
        { host: { "a.com": "eu" } },
        { host: { "a.com": "us" } },
        { query: "q" },
        { query: "q", values: { x: "eu" } },
        { clientCountry: { KZ: "ap" } },
        { clientCountry: { KZ: "us" } },
      ]),
    ).toEqual([]);
  });
});

describe("a sticky cookie", () => {
  const sticky = { sticky: { cookie: "stay", maxAgeSeconds: 60 } };
  test.each<[string, readonly object[], readonly string[]]>([
    [
      "the region of headers never sets it",
      [{ headers: { a: "b" }, region: "us" }],
      ["unreachable-source /withoutId/w/sticky"],
    ],
    ["a region behind headers does", [{ headers: { a: "b" }, region: "us" }, LAST], []],
    [
      "one that is read by other values",
      [{ cookie: "stay", values: { x: "eu" }, ...refuse }, LAST],
      ["name-clash /withoutId/w/sticky/cookie"],
    ],
    [
      "one that is read by prefixes",
      [{ cookie: "stay", prefixes: { x: "eu" }, ...refuse }, LAST],
      ["name-clash /withoutId/w/sticky/cookie"],
    ],
    ["one that is read as a region", [{ cookie: "stay", ...refuse }, LAST], []],
  ])("%s", (_, sources, faults) => {
    expect(faultsIn(sources, sticky)).toEqual(faults);
  });
});

describe("many values", () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => `v${at}`);
  const entries = (count: number) => Object.fromEntries(many(count).map((value) => [value, "eu"]));
  test.each<[string, object, readonly string[]]>([
    ["10,000", { header: "a", values: entries(10_000) }, []],
    ["10,000 in lists", { header: "a", values: { eu: many(10_000) } }, []],
    ["10,001", { header: "a", values: entries(10_001) }, ["size /0/values"]],
    ["10,001 in a list", { header: "a", values: { eu: many(10_001) } }, ["size /0/values/eu"]],
    ["10,001 in two maps", { header: "a", values: entries(5_000), prefixes: { us: many(5_001) } }, ["size /0"]],
  ])("%s", (_, source, faults) => {
    expect(faultsIn([source])).toEqual(faults);
  });
});

describe("a table without entities", () => {
  const { regions } = sampleTable();
  const app = { path: "/**", sources: [LAST] };
  test.each<[string, object, readonly string[]]>([
    ["of requests without an ID", { withoutId: { app } }, []],
    ["with an empty object", { withoutId: { app }, entities: {} }, []],
    ["of GraphQL", { graphql: { path: "/graphql", sources: [LAST] } }, []],
    ["of nothing", {}, ["schema /entities"]],
    ["of nothing, in empty objects", { withoutId: {}, entities: {} }, ["schema /entities"]],
    ["of sources alone", { sources: [LAST] }, ["schema /entities"]],
    ["of a list", { entities: [] }, ["schema /entities"]],
    ["of a text", { entities: "a" }, ["schema /entities"]],
    ["of an entry with a fault", { withoutId: { app: { ...app, path: "x" } } }, ["schema /withoutId/app/path"]],
    ["of an entity with a fault", { entities: { order: {} } }, ["schema /entities/order/path"]],
  ])("%s", (_, parts, faults) => {
    expect(faultsOf({ regions, routes: [], ...parts }).map(({ kind, pointer }) => `${kind} ${pointer}`)).toEqual(
      faults,
    );
  });

  test("loads, and has no reader of IDs", () => {
    const table = load({ regions, routes: [], withoutId: { app } });
    expect([table.entities.size, table.layouts.size, table.paths.match("/orders/1")]).toEqual([0, 0, undefined]);
    expect(table.withoutId.match("/orders/1")?.entity.entity.name).toBe("app");
  });

  test("a route or an override in it has nothing to take", () => {
    const route = { when: { layout: "iuid" }, region: "eu" };
    const more = { moved: { "0192f0c1-7a30-8005-8040-8f3b2a1c9d77": "us" } };
    expect(faultsOf({ regions, routes: [route], withoutId: { app } }).length).toBeGreaterThan(0);
    expect(faultsOf({ regions, routes: [], withoutId: { app }, ...more }).length).toBeGreaterThan(0);
  });
});

test("read copies take countries by region, too", () => {
  const readCopies = { clientCountry: { us: ["US", "CA"], KZ: "ap" }, clientContinent: { us: ["NA"] }, lagSeconds: 5 };
  const table = sampleTable();
  const { order } = table.entities;
  expect(faultsOf({ ...table, entities: { ...table.entities, order: { ...order, readCopies } } })).toEqual([]);
  const wrong = { ...readCopies, clientCountry: { us: ["UK"] } };
  expect(
    faultsOf({ ...table, entities: { ...table.entities, order: { ...order, readCopies: wrong } } }).map(
      ({ pointer }) => pointer,
    ),
  ).toEqual(["/entities/order/readCopies/clientCountry/us/0"]);
});
