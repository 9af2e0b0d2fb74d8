import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { durableDirectory } from "../../../src/features/directory/edge/keys.ts";
import { err } from "../../../src/ids/result.ts";
import { IDS, problemOf, setUp, slug } from "../harness.ts";

/** Prefixes, alternatives, slashes in keys, and an entity at the root: the origin sees the right path. */

const truth = durableDirectory((env as Env).DIRECTORY);

const put = (directory: string, key: string, region: string) =>
  truth.register({ directory, key, owner: "1", operation: "test", region });

const sources = [{ region: "us" }];

/** The cells of a code host. */
const declared = {
  regions: {
    eu: { origins: [{ url: "http://eu.test" }] },
    us: { origins: [{ url: "http://us.test/base" }] },
    ap: { origins: [{ url: "http://ap.test" }] },
  },
  entities: {
    namespace: { path: { path: "/:id", below: false }, directory: "namespaces" },
    project: { path: "/api/v4/projects/:id", directory: "projects" },
    upload: {
      path: "/api/v4/projects/:id",
      hosts: ["uploads.test"],
      directory: "projects",
      regionsInstead: { eu: "ap" },
    },
    order: { path: "/tenant/europe/orders/:id", removePrefix: "/tenant/europe", ids: [{ layout: "iuid", service: 1 }] },
    room: { path: "/m/{api/v1,r0,v3}/rooms/:id/{members,joined}", directory: "namespaces" },
  },
  directory: {
    namespaces: { key: { text: "lower" }, unknown: "us" },
    projects: { key: { text: "lower", slash: true }, unknown: "us" },
  },
  routes: [{ when: {}, region: "eu" }],
  withoutId: {
    user: { path: ["/login", "/api/v4/user", "/api/v4/projects"], sources },
    europe: { path: ["/tenant/europe", "/tenant/europe/**"], removePrefix: "/tenant/europe", sources },
    sync: { path: "/m/{api/v1,v3}/sync", sources: [{ region: "eu" }] },
    state: { path: "/m/v3/rooms/*/state/**", sources: [{ region: "eu" }] },
    rest: { path: ["/", "/**"], sources: [{ cookie: "cell" }, { region: "us" }] },
  },
};

beforeEach(() => reset());

describe("a code host with names at the root", () => {
  it.each<[string, RequestInit, string, string | null]>([
    ["/my-company", {}, "http://eu.test/my-company", null],
    ["/My-Company?tab=1", {}, "http://eu.test/My-Company?tab=1", null],
    ["/nobody", {}, "http://us.test/base/nobody", "unknown"],
    ["/my-company/my-project", { headers: { cookie: "cell=eu" } }, "http://eu.test/my-company/my-project", null],
    ["/my-company/my-project", {}, "http://us.test/base/my-company/my-project", null],
    ["/login", {}, "http://us.test/base/login", null],
    ["/", {}, "http://us.test/base/", null],
    ["/api/v4/user", {}, "http://us.test/base/api/v4/user", null],
    ["/api/v4/projects", {}, "http://us.test/base/api/v4/projects", null],
    ["/api/v4/projects/1000/issues", {}, "http://eu.test/api/v4/projects/1000/issues", null],
    ["/api/v4/projects/77", {}, "http://us.test/base/api/v4/projects/77", "unknown"],
    ...["gitlab-org%2Fgitlab", "GitLab-Org%2fgitlab", "gitlab%2Dorg%2Fgitlab"].map(
      (key): [string, RequestInit, string, null] => [
        `/api/v4/projects/${key}/issues?a=%2F`,
        {},
        `http://eu.test/api/v4/projects/${key}/issues?a=%2F`,
        null,
      ],
    ),
  ])("%# %s", async (path, init, url, label) => {
    await Promise.all([
      put("namespaces", "my-company", "eu"),
      put("projects", "1000", "eu"),
      put("projects", "gitlab-org/gitlab", "eu"),
    ]);
    const { request, seen, lines, defects } = setUp({ declared });
    const response = await request(path, init);
    expect([response.status, seen.map((one) => one.url)]).toEqual([200, [url]]);
    expect(response.headers.get("waybill-directory")).toBe(label);
    expect(lines.at(-1)?.directory ?? null).toBe(label);
    expect(defects).toEqual([]);
  });

  it("refuses what an origin could read as another path", async () => {
    const { request, seen } = setUp({ declared });
    const paths = [
      "//my-company",
      "/my-company/",
      "/LOGIN",
      "/login/",
      "/%61ny/x",
      "/mint/x",
      "/%2D/health",
      "/api%2Fv4%2Fuser",
    ];
    for (const path of paths) expect((await request(path)).status, path).toBeGreaterThanOrEqual(400);
    expect(seen).toEqual([]);
  });

  it("answers its own paths itself", async () => {
    const { request, seen } = setUp({ declared });
    expect((await request("/-/health")).status).toBe(200);
    expect((await request("/mint")).status).toBe(405);
    expect((await request("/any")).status).toBeGreaterThanOrEqual(400);
    expect(seen).toEqual([]);
  });
});

describe("a key with slashes", () => {
  it.each(["a%2F", "%2Fa", "a%2F%2Fb", "a%2F..%2Fb", ".%2Fa", "a%2F%2e", "a%5Cb", "a%2Fb%00", "a%2Fb%zz"])(
    "%s is none",
    async (key) => {
      const { request, seen } = setUp({ declared });
      const problem = await problemOf(await request(`/api/v4/projects/${key}/x`));
      expect([problem["status"], slug(problem), seen.length]).toEqual([400, "malformed-key", 0]);
    },
  );

  it("is claimed, shown and removed by its path and by its text", async () => {
    const { request, gateway } = setUp({ declared });
    const body = JSON.stringify({ owner: "7", operation: "o", region: "eu" });
    const json = { "content-type": "application/json" };
    const page = "/-/directory/projects/Group%2fProject";
    expect((await request(page, { method: "PUT", headers: json, body })).status).toBe(200);
    // Somebody is claiming it: it goes nowhere yet.
    expect((await request("/api/v4/projects/group%2Fproject")).status).toBe(404);
    const confirm = JSON.stringify({ action: "confirm", owner: "7", operation: "o" });
    expect((await request(page, { method: "POST", headers: json, body: confirm })).status).toBe(200);
    const shown = await (await request("/-/directory/projects?key=group/project")).json<{ key: string }>();
    expect(shown.key).toBe("group/project");
    expect((await request("/api/v4/projects/group%2Fproject")).headers.get("waybill-region")).toBe("eu");
    const line = `${JSON.stringify({ key: "a/b", region: "us" })}\n${JSON.stringify({ key: "a//b", region: "us" })}\n`;
    const ndjson = { "content-type": "application/x-ndjson" };
    const sums = await (
      await request("/-/directory/projects/-/import", { method: "POST", headers: ndjson, body: line })
    ).text();
    expect(sums).toContain('"line":2');
    expect(await gateway.directoryTruth.get({ directory: "projects", key: "a/b" })).toMatchObject({
      value: { region: "us" },
    });
    const listed = await (await request("/-/directory")).json<{ directories: object[] }>();
    expect(listed.directories[1]).toMatchObject({
      name: "projects",
      key: { text: "lower", slash: true },
      unknown: "us",
    });
  });

  it("stays refused where the table does not say so", async () => {
    const { request } = setUp({ declared });
    expect(slug(await problemOf(await request("/m/r0/rooms/a%2Fb/members")))).toBe("malformed-key");
    expect((await request("/-/directory/namespaces/a%2Fb")).status).toBe(400);
  });
});

describe("the same keys on another host", () => {
  it.each([
    ["1000", "uploads.test", "http://ap.test/api/v4/projects/1000"],
    ["1000", "gw.test", "http://eu.test/api/v4/projects/1000"],
    ["77", "uploads.test", "http://us.test/base/api/v4/projects/77"],
  ])("%s at %s", async (key, host, url) => {
    await put("projects", "1000", "eu");
    const { request, seen } = setUp({ declared });
    expect((await request(`/api/v4/projects/${key}`, { headers: { host } })).status).toBe(200);
    expect(seen.map((one) => one.url)).toEqual([url]);
  });

  it("are registered by the region that the directory has for it", async () => {
    const origin = () => new Response("x", { status: 201, headers: { "waybill-register": "projects=new;owner=1" } });
    const sign = (async () => "sig") as never;
    const { request, gateway } = setUp({ declared, origin, gateway: { sign } });
    await put("projects", "1000", "eu");
    await request("/api/v4/projects/1000", { method: "POST", headers: { host: "uploads.test" } });
    const entry = await gateway.directoryTruth.get({ directory: "projects", key: "new" });
    expect(entry).toMatchObject({ value: { region: "eu" } });
  });
});

describe("a key that is not there", () => {
  it("is no answer of a directory that cannot be reached", async () => {
    const why = { reason: "directory-unavailable", directory: "namespaces", retryAfterSeconds: 2, why: "failed" };
    const down = { get: async () => err(why) };
    const base = setUp({ declared });
    const directoryTruth = { ...base.gateway.directoryTruth, ...down } as never;
    const { request, seen } = setUp({ declared, gateway: { directoryTruth } });
    const response = await request("/nobody");
    expect([response.status, seen.length]).toEqual([503, 0]);
  });

  it("is counted by itself, and explained", async () => {
    const counted: string[] = [];
    const count = (...words: readonly unknown[]) => void counted.push(words.join(" "));
    const { request } = setUp({ declared, gateway: { counters: { count } as never } });
    await request("/api/v4/projects/77");
    expect(counted).toContain("directory_lookups projects unknown");
  });
});

describe("a prefix that origins do not get", () => {
  it.each<[string, string]>([
    ["/tenant/europe", "http://us.test/base/"],
    ["/tenant/europe?a=1", "http://us.test/base/?a=1"],
    ["/tenant/europe/", "http://us.test/base/"],
    ["/tenant/europe/x/y?z=%2F", "http://us.test/base/x/y?z=%2F"],
    ["/tenant/europe//y", "http://us.test/base//y"],
    [`/tenant/europe/orders/${IDS.orderKz}/items`, `http://eu.test/orders/${IDS.orderKz}/items`],
    [`/any/${IDS.orderKz}`, `http://eu.test/orders/${IDS.orderKz}`],
  ])("%s", async (path, url) => {
    const { request, seen } = setUp({ declared });
    expect((await request(path)).status).toBe(200);
    expect(seen.map((one) => one.url)).toEqual([url]);
  });

  it.each([
    ["/x", "/tenant/europe/x"],
    ["/", "/tenant/europe/"],
    ["/?a", "/tenant/europe/?a"],
    ["http://gw.test/x?y#z", "http://gw.test/tenant/europe/x?y#z"],
    ["//GW.test/x", "//GW.test/tenant/europe/x"],
    ["https://gw.test", "https://gw.test/tenant/europe/"],
    ["x/y", "x/y"],
    ["?page=2", "?page=2"],
    ["https://other.test/x", "https://other.test/x"],
    ["//other.test/x", "//other.test/x"],
  ])("comes back in references: %s", async (location, shown) => {
    const origin = () => new Response("x", { status: 201, headers: { location, "content-location": location } });
    const { request } = setUp({ declared, origin });
    for (const path of ["/tenant/europe/a", `/tenant/europe/orders/${IDS.orderKz}`]) {
      const { headers } = await request(path, { method: "POST", redirect: "manual" });
      expect([headers.get("location"), headers.get("content-location")]).toEqual([shown, shown]);
    }
    const { headers } = await request("/login");
    expect(headers.get("location")).toBe(location);
  });

  const gzipped = async (text: string) =>
    new Response(new Response(text).body?.pipeThrough(new CompressionStream("gzip"))).arrayBuffer();

  // Small bodies with a length are read whole before they are passed on; others are streams.
  it.each([
    ["with a length", async () => ({ body: "abc", headers: { "content-length": "3" } })],
    ["empty, with a length", async () => ({ body: "", headers: { "content-length": "0" } })],
    ["of unknown length", async () => ({ body: new Response("abc").body, headers: {} })],
    ["large", async () => ({ body: "x".repeat(100_000), headers: { "content-length": "100000" } })],
    [
      "coded",
      async () => {
        const body = await gzipped("abc");
        return { body, headers: { "content-encoding": "gzip", "content-length": `${body.byteLength}` } };
      },
    ],
  ])("passes the body of an answer with references on: %s", async (_, make) => {
    const { body, headers } = await make();
    const sent = await new Response(
      typeof body === "string" ? body : body instanceof ArrayBuffer ? body.slice() : "abc",
    ).bytes();
    const origin = () =>
      new Response(body as BodyInit, { status: 302, headers: { location: "/x", ...headers }, encodeBody: "manual" });
    const { request } = setUp({ declared: { ...declared, fields: "standard" }, origin, deadlines: { idleMs: 60_000 } });
    const answer = await request("/tenant/europe/a", { redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "/tenant/europe/x"]);
    expect(answer.headers.get("content-encoding")).toBe("content-encoding" in headers ? "gzip" : null);
    expect([...(await answer.bytes())]).toEqual([...sent]);
  });

  it("is explained", async () => {
    const { request } = setUp({ declared });
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ method: "GET", url: "/tenant/europe/x?y=1" });
    const answer = await request("/-/explain", { method: "POST", headers, body });
    expect(await answer.json()).toMatchObject({ region: "us", sent: "http://us.test/base/x?y=1" });
  });
});

describe("alternatives and empty segments", () => {
  it.each<[string, string]>([
    ["/m/api/v1/sync", "http://eu.test/m/api/v1/sync"],
    ["/m/v3/sync", "http://eu.test/m/v3/sync"],
    ["/m/r0/sync", "http://us.test/base/m/r0/sync"],
    ["/m/api/v1/rooms/Room/members", "http://eu.test/m/api/v1/rooms/Room/members"],
    ["/m/v3/rooms/room/joined/x", "http://eu.test/m/v3/rooms/room/joined/x"],
    ["/m/v3/rooms/!a:b/state/m.room.name/", "http://eu.test/m/v3/rooms/!a:b/state/m.room.name/"],
    ["/m/v3/rooms/!a:b/state/", "http://eu.test/m/v3/rooms/!a:b/state/"],
  ])("%s", async (path, url) => {
    await put("namespaces", "room", "eu");
    const { request, seen } = setUp({ declared });
    expect((await request(path)).status).toBe(200);
    expect(seen.map((one) => one.url)).toEqual([url]);
  });
});
