import { describe, expect, it } from "vitest";
import { PROBLEM_SLUGS } from "../../src/problems/index.ts";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";
import { IDS, problemOf, setUp, slug } from "./harness.ts";

describe("the gateway's own pages", () => {
  it("/-/health says that the Worker runs, also without a table", async () => {
    const response = await setUp({ declared: {} }).request("/-/health");
    expect([response.status, await response.json()]).toEqual([200, { status: "ok" }]);
  });

  it.each(["/", "/-/"])("%s says what this is and where to look, and nothing of the table", async (path) => {
    const { request, seen } = setUp();
    const response = await request(path);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
    const { name, links } = await response.json<{ name: string; links: Record<string, string> }>();
    expect([name, Object.keys(links)]).toEqual(["Waybill", expect.arrayContaining(["/-/problems", "/-/openapi.json"])]);
    for (const closed of ["/-/ids/{id}", "/-/openapi.json"]) expect(links[closed]).toMatch(/credential|as \/-\/ids/);
    expect((await request(path, { method: "HEAD" })).status).toBe(200);
    expect(slug(await problemOf(await request(path, { method: "POST" })))).toBe("method-not-allowed");
    expect(seen).toEqual([]);
  });

  it("/ belongs to the table where it has the path", async () => {
    const home = { path: "/", methods: "GET", sources: [{ region: "eu" }] };
    const { request, seen } = setUp({ declared: { ...DECLARED_TABLE, withoutId: { home } } });
    expect((await request("/")).headers.get("waybill-region")).toBe("eu");
    expect(seen).toHaveLength(1);
  });

  it("/-/ready says which table is in force", async () => {
    const response = await setUp().request("/-/ready");
    expect(await response.json()).toMatchObject({
      status: "ready",
      revision: 0,
      source: "bundled",
      ageSeconds: 0,
      regions: ["eu", "us", "ap"],
      routes: 6,
    });
  });

  it.each(["/-/ready", "/mint", `/any/${IDS.orderDe}`, `/orders/${IDS.orderDe}`, "/-/openapi.json"])(
    "%s is table-unavailable when there is no table",
    async (path) => {
      const { request, seen } = setUp({ declared: {} });
      const response = await request(path, path === "/mint" ? { method: "POST", body: "{}" } : {});
      expect(slug(await problemOf(response))).toBe("table-unavailable");
      expect(response.headers.get("retry-after")).toBe("2");
      expect(seen).toEqual([]);
    },
  );

  it("/-/ids/:id explains where an ID goes and asks no origin", async () => {
    const { request, seen } = setUp();
    const response = await request(`/-/ids/${IDS.orderBr}`);
    expect(response.status).toBe(200);
    const explanation = JSON.stringify(await response.json());
    for (const part of ["iuid", "hotguid", "luuid", "order", "us"]) expect(explanation).toContain(`"${part}"`);
    expect(seen).toEqual([]);
  });

  it.each(["/-/ids/17", "/-/ids/%00", "/-/ids/", `/-/ids/${"9".repeat(3000)}`])("%s explains why not", async (path) => {
    const { request, defects } = setUp();
    const response = await request(path);
    expect(response.status).toBe(200);
    expect(JSON.stringify(await response.json())).toContain("malformed-id");
    expect(defects).toEqual([]);
  });

  it.each(PROBLEM_SLUGS)("/-/problems/%s says what it means, for people and as JSON", async (name) => {
    const { request } = setUp();
    const page = await request(`/-/problems/${name}`);
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(await page.text()).toContain(name);
    const data = await request(`/-/problems/${name}`, { headers: { accept: "application/json" } });
    expect(await data.json()).toMatchObject({ slug: name, type: `/-/problems/${name}` });
  });

  it.each(["/-/problems/nonsense", "/-/problems/constructor", "/-/problems/__proto__", "/-", "/-/ids/a/b"])(
    "%s is not found",
    async (path) => {
      expect(slug(await problemOf(await setUp().request(path)))).toBe("not-found");
    },
  );

  it.each(["/-/health", "/-/ready", "/-/openapi.json", "/-/problems/malformed-id", "/-/ids/17"])(
    "%s takes no POST",
    async (path) => {
      const response = await setUp().request(path, { method: "POST" });
      expect(slug(await problemOf(response))).toBe("method-not-allowed");
      expect(response.headers.get("allow")).toBe("GET, HEAD");
    },
  );

  it("/-/openapi.json describes the entity paths of the table in force", async () => {
    const response = await setUp().request("/-/openapi.json");
    const document = await response.json<{ openapi: string; paths: Record<string, Record<string, unknown>> }>();
    expect(document.openapi).toBe("3.1.0");
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining([
        "/any/{id}",
        "/mint",
        "/-/ids/{id}",
        "/-/table",
        "/-/table/revisions/{revision}",
        "/orders/{id}",
        "/v2/rides/{id}",
        "/person/{id}",
      ]),
    );
    expect(Object.keys(document.paths["/orders/{id}"] ?? {})).toContain("patch");
  });

  it("/-/openapi.json has every page that the gateway answers", async () => {
    const { app, request } = setUp();
    const { paths } = await (await request("/-/openapi.json")).json<{ paths: Record<string, object> }>();
    const described = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const answered = app.routes
      .filter(({ method, path }) => method !== "ALL" && path.startsWith("/-/"))
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)(\{[^}]*\})?/g, "{$1}").replace("/*", "/{id}")}`);
    expect(answered).toContain("GET /-/problems");
    // The document itself, and the start page: Redocly wants no path that ends in a slash.
    const isPage = (each: string) => each.includes(" /-/") && !/ \/-\/(openapi\.json)?$/.test(each);
    expect(new Set(answered.filter(isPage))).toEqual(new Set(described.filter(isPage)));
  });
});
