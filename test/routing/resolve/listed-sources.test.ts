import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { prefixesOf, prefixOf } from "../../../src/routing/resolve/listed.ts";
import { chooseRegion, type RequestSays, stepsOf } from "../../../src/routing/resolve/region-sources.ts";
import type { DeclaredSource } from "../../../src/routing/schema/table.ts";
import { runs } from "../../setup/property-runs.ts";
import { load, sampleTable } from "../tables.ts";

/** A request that says one text in every place that a source can read. */
const saying = (text: string): RequestSays => ({
  host: `${text}.example.com`,
  path: `/t/${text}/x`,
  query: `?q=${text}`,
  header: (name) => {
    if (name === "cookie") return `c=${text}`;
    if (name === "authorization") return `Bearer x.${Buffer.from(JSON.stringify({ r: text })).toString("base64url")}.y`;
    return name === "x-h" || name === "x-g" ? text : undefined;
  },
  country: () => undefined,
  continent: () => undefined,
});

const SILENT: RequestSays = { ...saying(""), header: () => undefined, host: "", path: "/t", query: "" };

const sourcesOf = (...sources: readonly DeclaredSource[]) =>
  load({ ...sampleTable(), withoutId: { w: { path: "/w", sources: [...sources] } } }).withoutId.entries[0]?.sources ??
  [];

/** `ap`, or the reason of the error. */
const choose = (sources: readonly DeclaredSource[], says: RequestSays): string => {
  const choice = chooseRegion(sourcesOf(...sources), says);
  return choice.ok ? choice.value.region : choice.error.reason;
};

const READERS: readonly [string, DeclaredSource][] = [
  ["header", { header: "X-H" }],
  ["claim", { jwtClaim: "r" }],
  ["cookie", { cookie: "c" }],
  ["query", { query: "q" }],
  ["segment", { pathSegment: 2 }],
  ["host label", { hostLabel: "*.example.com" }],
];

describe.each(READERS)("of each %s", (kind, reader) => {
  const last: DeclaredSource = { region: "us" };
  const values = { values: { kz: "ap" } };
  const prefixes = { prefixes: { eu0_: "eu", eu: "ap", ap: ["a9", "a1_"] } };
  const both = { values: { eu0_x: "us" }, prefixes: { eu0_: "eu" } };
  const byDefault = kind === "cookie" ? "us" : "unknown-name";
  test.each<[string, object, string, string]>([
    ["a listed value", values, "kz", "ap"],
    ["another", values, "mars", byDefault],
    ["another, which goes on", { ...values, unlisted: "next" }, "mars", "us"],
    ["another, which is refused", { ...values, unlisted: "refuse" }, "mars", "unknown-name"],
    ["a region", {}, "ap", "ap"],
    ["a region that there is not", {}, "mars", byDefault],
    ["a region that there is not, which goes on", { unlisted: "next" }, "mars", "us"],
    ["a region beside a list", { ...values, unlisted: "next" }, "ap", "us"],
    ["a property of objects", { unlisted: "next" }, "constructor", "us"],
    ["a prefix", prefixes, "eu0_77", "eu"],
    ["a shorter prefix", prefixes, "eu1_77", "ap"],
    ["a prefix of the list of a region", prefixes, "a1_", "ap"],
    ["the prefix alone", prefixes, "eu0_", "eu"],
    ["less than a prefix", { ...prefixes, unlisted: "next" }, "e", "us"],
    ["a region beside prefixes", { ...prefixes, unlisted: "refuse" }, "us", "unknown-name"],
    ["a whole value before a prefix", both, "eu0_x", "us"],
    ["the prefix beside it", both, "eu0_y", "eu"],
    ["no prefix at all", { ...both, unlisted: "refuse" }, "xeu0_", "unknown-name"],
  ])("%s", (_, parts, text, expected) => {
    expect(choose([{ ...reader, ...parts }, last], saying(text))).toBe(expected);
  });

  test("silence goes on, whatever is said of other values", () => {
    for (const unlisted of ["next", "refuse"] as const) {
      expect(choose([{ ...reader, unlisted }, last], SILENT)).toBe("us");
      expect(choose([{ ...reader, unlisted }], SILENT)).toBe("region-unknown");
    }
  });

  test("the last one that goes on leads nowhere, and the problem says why", () => {
    const choice = chooseRegion(sourcesOf({ ...reader, ...values, unlisted: "next" }), saying("mars"));
    const source = expect.any(String);
    const unlisted = [kind === "cookie" ? { source } : { source, value: "mars" }];
    expect(choice).toEqual({ ok: false, error: { reason: "region-unknown", sources: [source], unlisted } });
  });

  test("credentials are not repeated", () => {
    for (const unlisted of ["next", "refuse"] as const) {
      const choice = chooseRegion(sourcesOf({ ...reader, prefixes: { eu: "eu" }, unlisted }), saying("s3cret"));
      expect(choice.ok).toBe(false);
      expect(JSON.stringify(choice)).not.toContain("s3cret");
    }
  });
});

describe("what cannot be read does not go on", () => {
  const with_ = (part: Partial<RequestSays>): RequestSays => ({ ...SILENT, ...part });
  const token = (claims: object): string => `Bearer x.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.y`;
  const header = (name: string, value: string) => with_({ header: (asked) => (asked === name ? value : undefined) });
  const listed = { values: { eu: "eu", "a b": "ap" }, unlisted: "next" } as const;
  const both = { pathSegment: 2, values: { eu: "eu", ap: "ap", t: "us" }, unlisted: "next" } as const;
  const segment = { pathSegment: 2, values: { eu: "eu", "a%20b": "ap" }, unlisted: "next" } as const;
  test.each<[string, DeclaredSource, RequestSays, string]>([
    ["an empty header", { header: "x-h", ...listed }, header("x-h", ""), "us"],
    ["a header of two lines is one value", { header: "x-h", ...listed }, header("x-h", "eu, eu"), "us"],
    ["case of a value counts", { header: "x-h", ...listed }, header("x-h", "EU"), "us"],
    ["an empty parameter", { query: "q", ...listed }, with_({ query: "?q=" }), "us"],
    ["two parameters", { query: "q", ...listed }, with_({ query: "?q=eu&q=mars" }), "malformed-request"],
    ["two unlisted parameters", { query: "q", ...listed }, with_({ query: "?q=a&q=b" }), "malformed-request"],
    ["one parameter twice", { query: "q", ...listed }, with_({ query: "?q=mars&q=mars" }), "us"],
    ["a parameter with broken escapes", { query: "q", ...listed }, with_({ query: "?q=e%zzu" }), "unknown-name"],
    ["a parameter in Latin-1", { query: "q", ...listed }, with_({ query: "?q=%e9" }), "unknown-name"],
    ["an escaped parameter", { query: "q", ...listed }, with_({ query: "?q=%65u" }), "eu"],
    ["a parameter with a plus", { query: "q", ...listed }, with_({ query: "?q=a+b" }), "ap"],
    ["an escaped per cent", { query: "q", ...listed }, with_({ query: "?q=%25zz" }), "us"],
    ["a claim of several", { jwtClaim: "r", ...listed }, header("authorization", token({ r: ["eu"] })), "unknown-name"],
    [
      "a claim that is an object",
      { jwtClaim: "r", ...listed },
      header("authorization", token({ r: {} })),
      "unknown-name",
    ],
    ["an empty claim", { jwtClaim: "r", ...listed }, header("authorization", token({ r: "" })), "us"],
    ["a number", { jwtClaim: "r", ...listed }, header("authorization", token({ r: 7 })), "us"],
    ["no claim", { jwtClaim: "r", ...listed }, header("authorization", token({})), "us"],
    ["no token", { jwtClaim: "r", ...listed }, header("authorization", "Bearer x"), "us"],
    [
      "a token that is too long",
      { jwtClaim: "r", ...listed },
      header("authorization", `Bearer ${"a".repeat(20_000)}`),
      "malformed-request",
    ],
    ["an ambiguous cookie", { cookie: "c", ...listed }, header("cookie", "a=b, c=eu; c=us"), "malformed-request"],
    ["an escaped segment", segment, with_({ path: "/t/%65u/x" }), "unknown-name"],
    ["a segment with parameters", segment, with_({ path: "/t/eu;v=1/x" }), "unknown-name"],
    ["an escaped semicolon", segment, with_({ path: "/t/eu%3Bv/x" }), "unknown-name"],
    ["a segment with broken escapes", segment, with_({ path: "/t/%zz/x" }), "unknown-name"],
    ["a segment of parameters alone", segment, with_({ path: "/t/;v/x" }), "unknown-name"],
    ["a segment that is another in each reading", segment, with_({ path: "/t/%66u;v/x" }), "us"],
    ["a listed escape", segment, with_({ path: "/t/a%20b" }), "ap"],
    [
      "an escape before a prefix",
      { pathSegment: 2, prefixes: { eu0: "eu" }, unlisted: "next" },
      with_({ path: "/t/e%750x" }),
      "unknown-name",
    ],
    ["an empty segment before one that is not listed", segment, with_({ path: "/t//mars" }), "us"],
    ["slashes that servers merge", segment, with_({ path: "/t//eu" }), "unknown-name"],
    ["slashes at the beginning", segment, with_({ path: "//t/eu" }), "unknown-name"],
    ["an escaped slash before it", segment, with_({ path: "/t/%2Feu" }), "unknown-name"],
    ["an escaped slash behind it", segment, with_({ path: "/t/eu%2Fx" }), "unknown-name"],
    ["a listed segment that escapes lead out of", both, with_({ path: "/t/eu/..%2Fap" }), "unknown-name"],
    ["slashes that change a listed segment", both, with_({ path: "//t/ap/eu" }), "unknown-name"],
    ["the same value in both readings", both, with_({ path: "//eu/eu" }), "eu"],
    ["slashes behind it", both, with_({ path: "/t/eu//ap;x" }), "eu"],
    [
      "another host",
      { hostLabel: "*.example.com", ...listed, values: { eu: "eu" } },
      with_({ host: "a.eu.example.com" }),
      "us",
    ],
    [
      "a label in capitals",
      { hostLabel: "*.example.com", values: { eu: "eu" }, unlisted: "next" },
      with_({ host: "EU.example.com:8" }),
      "eu",
    ],
  ])("%s", (_, source, says, expected) => {
    expect(choose([source, { region: "us" }], says)).toBe(expected);
  });
});

test.each([
  ["c=mars; c=kz", "ap"],
  ["c=eu0_1; c=kz", "eu"],
  ["c=kz; c=eu0_1", "ap"],
  ["c=mars; c=venus", "unknown-name"],
  ["d=kz", "us"],
])("of several cookies the first known counts: %s", (cookie, expected) => {
  const source: DeclaredSource = { cookie: "c", values: { kz: "ap" }, prefixes: { eu0_: "eu" }, unlisted: "refuse" };
  const says = { ...SILENT, header: (name: string) => (name === "cookie" ? cookie : undefined) };
  expect(choose([source, { region: "us" }], says)).toBe(expected);
});

describe("regions with their values", () => {
  const country: DeclaredSource = { clientCountry: { eu: ["DE", "FR"], US: "us" } };
  const continent: DeclaredSource = { clientContinent: { EU: "eu", ap: ["AS", "OC"] } };
  const host: DeclaredSource = { host: { eu: ["eu.example.com", "*.de.example.com"], "us.example.com": "us" } };
  test.each<[DeclaredSource, Partial<RequestSays>, string]>([
    [country, { country: () => "DE" }, "eu"],
    [country, { country: () => "FR" }, "eu"],
    [country, { country: () => "US" }, "us"],
    [country, { country: () => "KZ" }, "region-unknown"],
    [{ ...country, unlisted: "refuse" }, { country: () => "KZ" }, "unknown-name"],
    [{ ...country, unlisted: "refuse" }, {}, "region-unknown"],
    [{ ...country, unlisted: "refuse" }, { country: () => "" }, "region-unknown"],
    [continent, { continent: () => "OC" }, "ap"],
    [continent, { continent: () => "EU" }, "eu"],
    [{ ...continent, unlisted: "refuse" }, { continent: () => "SA" }, "unknown-name"],
    [host, { host: "x.de.example.com" }, "eu"],
    [host, { host: "US.example.com." }, "us"],
    [host, { host: "fr.example.com" }, "region-unknown"],
    [{ ...host, unlisted: "refuse" }, { host: "fr.example.com" }, "unknown-name"],
  ])("%j", (source, says, expected) => {
    expect(choose([source], { ...SILENT, ...says })).toBe(expected);
  });
});

describe("several headers at once", () => {
  const sources: DeclaredSource[] = [
    { headers: { Version: "two", COLOR: ["orange", "red"] }, region: "eu" },
    { header: "version", values: { one: "eu", two: "us" }, unlisted: "next" },
    { header: "color", values: { us: ["blue", "green"] }, unlisted: "next" },
  ];
  test.each<[Readonly<Record<string, string>>, string]>([
    [{ version: "one" }, "eu"],
    [{ version: "two" }, "us"],
    [{ version: "two", color: "orange" }, "eu"],
    [{ version: "two", color: "red" }, "eu"],
    [{ version: "two", color: "purple" }, "us"],
    [{ version: "two", color: "red, red" }, "us"],
    [{ version: "three", color: "red" }, "region-unknown"],
    [{ version: "three", color: "blue" }, "us"],
    [{ color: "orange" }, "region-unknown"],
    [{ version: "" }, "region-unknown"],
    [{ version: "", color: "blue" }, "us"],
    [{}, "region-unknown"],
  ])("%j: %s", (headers, expected) => {
    expect(choose(sources, { ...SILENT, header: (name) => headers[name] })).toBe(expected);
  });

  test("what each source said", () => {
    const headers: Readonly<Record<string, string>> = { version: "three", color: "blue" };
    expect(stepsOf(sourcesOf(...sources), { ...SILENT, header: (name) => headers[name] })).toEqual([
      { source: "headers version and color", value: "version: three, color: blue", result: "unlisted" },
      { source: "header version", value: "three", result: "unlisted" },
      { source: "header color", value: "blue", result: "region" },
    ]);
    expect(stepsOf(sourcesOf(...sources), SILENT).map(({ result }) => result)).toEqual(["silent", "silent", "silent"]);
  });
});

describe("thousands of values", () => {
  const values = Object.fromEntries(
    Array.from({ length: 6_000 }, (_, at) => [`tenant-${at}`, at % 2 === 0 ? "eu" : "us"]),
  );
  const source = { header: "x-h", values, prefixes: { ap: Array.from({ length: 4_000 }, (_, at) => `p${at}_`) } };
  test.each([
    ["tenant-0", "eu"],
    ["tenant-5999", "us"],
    ["p0_", "ap"],
    ["p3999_x", "ap"],
    ["tenant-6000", "unknown-name"],
    ["p4000_x", "unknown-name"],
  ])("%s", (value, expected) => {
    expect(choose([source], saying(value))).toBe(expected);
  });

  test("a problem lists fifty of them", () => {
    const choice = chooseRegion(sourcesOf(source), saying("mars"));
    if (choice.ok || choice.error.reason !== "unknown-name") throw new Error("a region for mars");
    expect(choice.error.known).toEqual(Object.keys(values).slice(0, 50));
    expect(choice.error.more).toBe(9_950);
  });
});

test("a list for all entries is compiled once, whatever it holds", () => {
  const source = { header: "x-h", values: { eu: ["a", "b"] }, unlisted: "next" } as const;
  const withoutId = Object.fromEntries(["v", "w"].map((name) => [name, { path: `/${name}` }]));
  const [first, second] = load({ ...sampleTable(), sources: [source], withoutId }).withoutId.entries;
  expect(first?.sources).toHaveLength(1);
  expect(second?.sources).toBe(first?.sources);
});

test("a page may send each header that sources read", () => {
  const sources = [
    { headers: { "X-Version": "a", "x-color": "b" }, region: "eu" },
    { header: "X-H", unlisted: "next" },
  ];
  const table = {
    ...sampleTable(),
    cors: { origins: ["https://a.example"] },
    withoutId: { w: { path: "/w", sources } },
  };
  expect(load(table).cors?.headers.split(", ")).toEqual(expect.arrayContaining(["x-version", "x-color", "x-h"]));
});

test("the longest prefix is what a search through all finds", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "\ud800", "\uffff", "\u{1f600}"), maxLength: 5 });
  fc.assert(
    fc.property(fc.uniqueArray(text.filter((each) => each !== "")), text, (prefixes, value) => {
      const slow = prefixes.filter((each) => value.startsWith(each)).sort((a, b) => b.length - a.length)[0];
      expect(prefixOf(prefixesOf(new Map(prefixes.map((each) => [each, "eu"]))), value)?.text).toBe(slow);
    }),
    { numRuns: runs(500) },
  );
});
