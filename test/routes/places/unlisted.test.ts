import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { problemOf, setUp, slug } from "../harness.ts";

const tokenOf = (claims: object): string => `Bearer x.${btoa(JSON.stringify(claims)).replace(/=+$/, "")}.y`;

const next = { unlisted: "next" } as const;

const declared = {
  ...DECLARED_TABLE,
  withoutId: {
    mesh: {
      path: ["/", "/**"],
      sources: [{ header: "datacenter", values: { aws: "us" }, ...next }, { region: "eu" }],
    },
    versions: {
      path: "/versions",
      sources: [
        { headers: { Version: "two", Color: ["orange"] }, region: "eu" },
        { header: "version", values: { one: "eu", two: "us" }, ...next },
        { header: "color", values: { eu: ["blue", "green"], us: ["red", "yellow"] }, ...next },
      ],
    },
    cells: {
      path: ["/cells", "/cells/*/x"],
      sources: [
        { cookie: "session", prefixes: { eu: ["eu0_", "eu1_"], us0_: "us" } },
        { header: "private-token", prefixes: { eu0_: "eu" }, ...next },
        { jwtClaim: "cell", values: { eu: ["c1", "c2"] }, ...next },
        { query: "cell", ...next },
        { pathSegment: 2, values: { europe: "eu", asia: "ap" }, ...next },
        { clientCountry: { ap: ["KZ", "UZ"], DE: "eu" } },
        { region: "us" },
      ],
    },
    strict: {
      path: "/strict",
      sources: [
        { cookie: "home", unlisted: "refuse" },
        { clientCountry: { KZ: "ap" }, unlisted: "refuse" },
      ],
    },
    hosts: { path: "/hosts", sources: [{ hostLabel: "*.gw.test", ...next }, { region: "ap" }] },
  },
};

const headers = (fields: Readonly<Record<string, string>>): RequestInit => ({ headers: fields });
const from = (country: string): RequestInit => ({ cf: { country } as never });

describe("a value that no source lists goes on where the table says so", () => {
  it.each<[string, RequestInit, string]>([
    ["/", headers({ datacenter: "aws" }), "us"],
    ["/", {}, "eu"],
    ["/", headers({ datacenter: "gcp" }), "eu"],
    ["//a", headers({ Datacenter: "gcp" }), "eu"],
    ["/a/b", headers({ DATACENTER: "AWS" }), "eu"],
    ["/versions", headers({ version: "one" }), "eu"],
    ["/versions", headers({ version: "two" }), "us"],
    ["/versions", headers({ VERSION: "two", color: "orange" }), "eu"],
    ["/versions", headers({ color: "green" }), "eu"],
    ["/versions", headers({ color: "yellow" }), "us"],
    ["/versions", headers({ version: "three", color: "red" }), "us"],
    ["/cells", headers({ cookie: "session=eu1_77" }), "eu"],
    ["/cells", headers({ cookie: "session=us0_77; session=eu0_1" }), "us"],
    ["/cells", headers({ cookie: "session=xx; session=eu0_1" }), "eu"],
    ["/cells", headers({ "private-token": "eu0_abc" }), "eu"],
    ["/cells", headers({ "private-token": "us0_abc" }), "us"],
    ["/cells", headers({ authorization: tokenOf({ cell: "c2" }) }), "eu"],
    ["/cells", headers({ authorization: tokenOf({ cell: "c3" }) }), "us"],
    ["/cells?cell=ap", {}, "ap"],
    ["/cells?cell=mars", {}, "us"],
    ["/cells/asia/x", {}, "ap"],
    ["/cells/africa/x", {}, "us"],
    ["/cells", from("UZ"), "ap"],
    ["/cells", from("DE"), "eu"],
    ["/cells", from("FR"), "us"],
    ["/strict", headers({ cookie: "home=eu" }), "eu"],
    ["/strict", from("KZ"), "ap"],
  ])("%# %s %j", async (path, init, region) => {
    const { request, seen, defects } = setUp({ declared });
    const answer = await request(path, init);
    expect([answer.status, answer.headers.get("waybill-region")]).toEqual([200, region]);
    expect(seen).toHaveLength(1);
    expect(defects).toEqual([]);
  });
});

describe("and is refused elsewhere, with what was read", () => {
  it.each<[string, RequestInit, string, number, object]>([
    [
      "/versions",
      headers({ color: "purple" }),
      "region-unknown",
      400,
      { unlisted: [{ source: "header color", value: "purple" }] },
    ],
    [
      "/versions",
      headers({ version: "three", color: "purple" }),
      "region-unknown",
      400,
      {
        unlisted: [
          { source: "headers version and color", value: "version: three, color: purple" },
          { source: "header version", value: "three" },
          { source: "header color", value: "purple" },
        ],
      },
    ],
    [
      "/versions",
      {},
      "region-unknown",
      400,
      { sources: ["headers version and color", "header version", "header color"] },
    ],
    [
      "/versions",
      headers({ version: "" }),
      "region-unknown",
      400,
      { unlisted: [{ source: "header version", value: "" }] },
    ],
    ["/cells?cell=ap&cell=eu", {}, "malformed-request", 400, {}],
    ["/cells/%61sia/x", {}, "unknown-name", 422, { name: "%61sia", known: ["europe", "asia"] }],
    ["/cells/asia;a=1/x", {}, "unknown-name", 422, { name: "asia;a=1" }],
    ["/strict", from("DE"), "unknown-name", 422, { name: "DE", known: ["KZ"] }],
    ["/strict", headers({ cookie: "home=mars" }), "unknown-name", 422, { known: expect.arrayContaining(["eu", "us"]) }],
  ])("%# %s %j", async (path, init, type, status, members) => {
    const { request, seen } = setUp({ declared });
    const answer = await request(path, init);
    expect(answer.status).toBe(status);
    const problem = await problemOf(answer);
    expect(slug(problem)).toBe(type);
    expect(problem).toMatchObject(members);
    expect(seen).toEqual([]);
  });

  it("without what may be a credential", async () => {
    const { request, lines } = setUp({ declared });
    const answer = await request("/strict", headers({ cookie: "home=s3cret" }));
    const text = await answer.text();
    expect(text).toContain("does not list the value of the cookie home");
    expect(text + JSON.stringify(lines)).not.toContain("s3cret");
  });

  it("with fifty of ten thousand values", async () => {
    const values = { eu: Array.from({ length: 10_000 }, (_, at) => `tenant-${at}`) };
    const many = { path: "/many", sources: [{ header: "tenant", values }] };
    const { request } = setUp({ declared: { ...DECLARED_TABLE, withoutId: { many } } });
    const found = await request("/many", headers({ tenant: "tenant-9999" }));
    expect(found.headers.get("waybill-region")).toBe("eu");
    const problem = await problemOf(await request("/many", headers({ tenant: "tenant-10000" })));
    expect(problem).toMatchObject({ name: "tenant-10000", more: 9_950 });
    expect(problem["known"]).toHaveLength(50);
    expect(JSON.stringify(problem).length).toBeLessThan(2_000);
  });
});

describe("a fall-through is seen", () => {
  const ask = async (path: string, init: RequestInit) => {
    const counted: string[][] = [];
    const counters = { count: (...event: string[]) => void counted.push(event) };
    const { request, lines } = setUp({ declared, gateway: { counters: counters as never } });
    await (await request(path, init)).text();
    return { line: lines[0], counted };
  };

  it("in the log and in metrics", async () => {
    const { line, counted } = await ask("/versions", headers({ version: "three", color: "red" }));
    expect(line).toMatchObject({ source: "header color", unlisted: ["header version"], region: "us" });
    expect(counted).toEqual([["unlisted_values", "versions", "header version"]]);
  });

  it("but not where the kind of the source lets all values go on", async () => {
    const { line, counted } = await ask("/cells", { ...headers({ cookie: "session=xx" }), ...from("FR") });
    expect(line).toMatchObject({ source: "region us", region: "us" });
    expect(line?.unlisted).toBeUndefined();
    expect(counted).toEqual([]);
  });
});

it("the explanation of a whole request says what each source read", async () => {
  const { request } = setUp({ declared });
  const body = JSON.stringify({ url: "/versions", headers: { version: "three", color: "red" } });
  const answer = await request("/-/explain", {
    method: "POST",
    body,
    ...headers({ "content-type": "application/json" }),
  });
  expect(await answer.json()).toMatchObject({
    owner: "versions",
    region: "us",
    source: "header color",
    sources: [
      { source: "headers version and color", value: "version: three, color: red", result: "unlisted" },
      { source: "header version", value: "three", result: "unlisted" },
      { source: "header color", value: "red", result: "region" },
    ],
  });
});

it("OpenAPI lists the values where others are refused, and all headers", async () => {
  const few = { path: "/few", sources: [{ header: "tenant", values: { a: "eu", us: ["b", "c"] } }] };
  const { request } = setUp({ declared: { ...declared, withoutId: { ...declared.withoutId, few } } });
  const { paths } = await (await request("/-/openapi.json")).json<{
    paths: Record<string, { parameters: object[] }>;
  }>();
  expect(paths["/few"]?.parameters).toMatchObject([
    { in: "header", name: "tenant", schema: { type: "string", enum: ["a", "b", "c"] } },
  ]);
  expect(paths["/versions"]?.parameters).toEqual([
    expect.objectContaining({ name: "version", schema: { type: "string" } }),
    expect.objectContaining({ name: "color", schema: { type: "string" } }),
  ]);
});

it("fields of GraphQL without an ID go on, too", async () => {
  const sources = [{ header: "cell", values: { a: "us" }, unlisted: "next" }, { region: "eu" }];
  const graphql = { path: "/graphql", sources, bySource: ["news"] };
  const { request, seen } = setUp({
    declared: { ...DECLARED_TABLE, graphql } as never,
    origin: () => Response.json({ data: { news: "x" } }),
  });
  for (const [cell, region] of [
    ["a", "us"],
    ["b", "eu"],
  ] as const) {
    const answer = await request("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json", cell },
      body: JSON.stringify({ query: "{ news }" }),
    });
    expect(answer.status).toBe(200);
    expect(new URL(seen.at(-1)?.url ?? "").host).toBe(`${region}.test`);
  }
});

it("a list of headers is refused, and not read as headers named 0, 1, …", async () => {
  const { request } = setUp({ declared });
  const body = JSON.stringify({ url: "/versions", headers: [["version", "one"]] });
  const problem = await problemOf(await request("/-/explain", { method: "POST", body }));
  expect(problem).toMatchObject({ status: 400, detail: "headers is no part of a request." });
});
