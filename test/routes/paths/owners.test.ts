import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, problemOf, setUp, slug } from "../harness.ts";

/** Several owners of one path: which of them takes a request, and what the origin gets. */

const region = (name: string) => ({ sources: [{ region: name }] });

const declared = {
  ...DECLARED_TABLE,
  entities: {
    reads: { path: "/orders/:id", methods: "GET", ids: [{ layout: "iuid", service: 1 }] },
    writes: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }] },
    ride: { path: "/rides/:id", methods: ["GET", "PUT"], ids: [{ layout: "iuid", service: 2 }], any: "redirect" },
    parcel: { path: "/parcels/:id", hosts: ["us.example.com", "*.eu.example.com"], ids: [{ layout: "hotguid" }] },
  },
  routes: [
    { when: { entity: "reads" }, region: "eu" },
    { when: { entity: ["writes", "ride"] }, region: "us" },
    { when: { entity: "parcel" }, region: "eu" },
  ],
  withoutId: {
    rides: { path: "/rides/*", methods: "POST", ...region("eu") },
    rooms: { path: "/rooms/*/members", methods: ["GET"], ...region("eu") },
    roomWrites: { path: "/rooms/*/members", ...region("us") },
    publicRooms: { path: "/publicRooms", methods: "GET", otherMethods: "next", ...region("eu") },
    admin: { path: "/admin/**", methods: "GET", otherMethods: "next", ...region("eu") },
    closed: { path: "/closed", methods: "GET", ...region("eu") },
    usSite: { path: "/site", hosts: ["us.example.com"], ...region("us") },
    euSites: { path: "/site", hosts: ["*.eu.example.com"], ...region("eu") },
    euPosts: { path: "/site", hosts: ["one.eu.example.com"], methods: "POST", ...region("us") },
    tools: { path: "/tools", hosts: ["us.example.com"], ...region("us") },
    rest: { path: "/**", hosts: ["us.example.com", "gw.test", "*.eu.example.com"], ...region("us") },
  },
};

const on = (host: string, init: RequestInit = {}): RequestInit => ({ ...init, headers: { ...init.headers, host } });
const by = (method: string, headers: Record<string, string> = {}): RequestInit => ({ method, headers });
const preflight = (method: string) =>
  by("OPTIONS", { "access-control-request-method": method, origin: "http://a.test" });

describe("a request goes to the owner of its path, method and host", () => {
  it.each<[string, RequestInit, string, string]>([
    [`/orders/${IDS.orderKz}`, {}, "reads", `http://eu.test/orders/${IDS.orderKz}`],
    [`/orders/${IDS.orderKz}/items`, by("HEAD"), "reads", `http://eu.test/orders/${IDS.orderKz}/items`],
    [`/orders/${IDS.orderKz}`, by("DELETE"), "writes", `http://us.test/base/orders/${IDS.orderKz}`],
    [`/orders/${IDS.orderKz}`, by("OPTIONS"), "writes", `http://us.test/base/orders/${IDS.orderKz}`],
    [`/orders/${IDS.orderKz}`, preflight("GET"), "reads", `http://eu.test/orders/${IDS.orderKz}`],
    [`/orders/${IDS.orderKz}`, preflight("PUT"), "writes", `http://us.test/base/orders/${IDS.orderKz}`],
    [`/any/${IDS.orderKz}`, {}, "reads", `http://eu.test/orders/${IDS.orderKz}`],
    [`/any/${IDS.orderKz}/x`, by("PATCH"), "writes", `http://us.test/base/orders/${IDS.orderKz}/x`],
    [`/rides/${IDS.rideKz}`, {}, "ride", `http://us.test/base/rides/${IDS.rideKz}`],
    [`/rides/${IDS.rideKz}`, by("POST"), "rides", `http://eu.test/rides/${IDS.rideKz}`],
    [`/rides/${IDS.rideKz}`, preflight("POST"), "rides", `http://eu.test/rides/${IDS.rideKz}`],
    ["/rooms/!a:b/members", {}, "rooms", "http://eu.test/rooms/!a:b/members"],
    ["/rooms/!a:b/members", by("PUT"), "roomWrites", "http://us.test/base/rooms/!a:b/members"],
    ["/rooms/!a:b/members", preflight("GET"), "rooms", "http://eu.test/rooms/!a:b/members"],
    ["/publicRooms", {}, "publicRooms", "http://eu.test/publicRooms"],
    ["/publicRooms", by("POST"), "rest", "http://us.test/base/publicRooms"],
    ["/admin/x", {}, "admin", "http://eu.test/admin/x"],
    ["/admin/x", by("PUT"), "rest", "http://us.test/base/admin/x"],
    ["/admin/x/", by("POST"), "rest", "http://us.test/base/admin/x/"],
    ["/site", on("US.example.com:8443"), "usSite", "http://us.test/base/site"],
    ["/site", on("a.eu.example.com"), "euSites", "http://eu.test/site"],
    ["/site", on("one.eu.example.com", by("POST")), "euPosts", "http://us.test/base/site"],
    ["/tools", on("us.example.com"), "tools", "http://us.test/base/tools"],
    ["/tools", on("x.eu.example.com"), "rest", "http://us.test/base/tools"],
    [`/parcels/${IDS.parcelEu}`, on("us.example.com"), "parcel", `http://eu.test/parcels/${IDS.parcelEu}`],
    [`/parcels/${IDS.parcelEu}`, on("b.eu.example.com"), "parcel", `http://eu.test/parcels/${IDS.parcelEu}`],
    [`/any/${IDS.parcelEu}`, on("b.eu.example.com"), "parcel", `http://eu.test/parcels/${IDS.parcelEu}`],
    [`/parcels/${IDS.parcelEu}`, on("gw.test"), "rest", `http://us.test/base/parcels/${IDS.parcelEu}`],
  ])("%# %s %j", async (path, init, entity, url) => {
    const { request, seen, lines, defects } = setUp({ declared });
    const response = await request(path, init);
    expect([response.status, seen.map((one) => one.url)]).toEqual([200, [url]]);
    expect(lines.at(-1)?.entity).toBe(entity);
    expect(defects).toEqual([]);
  });

  it.each<[string, RequestInit, string]>([
    [`/rides/${IDS.rideKz}`, by("DELETE"), "GET, HEAD, PUT, POST"],
    [`/rides/${IDS.rideKz}/below`, by("DELETE"), "GET, HEAD, PUT"],
    [`/any/${IDS.rideKz}`, by("DELETE"), "GET, HEAD, PUT"],
    ["/closed", by("PUT"), "GET, HEAD"],
    ["/closed", preflight("GET"), "GET, HEAD"],
    ["/site", on("one.eu.example.com"), "POST"],
  ])("%# %s %j is refused with what is allowed", async (path, init, allow) => {
    const { request, seen } = setUp({ declared });
    const response = await request(path, init);
    expect([response.status, response.headers.get("allow"), seen.length]).toEqual([405, allow, 0]);
    expect(slug(await problemOf(response))).toBe("method-not-allowed");
  });

  it.each(["/site", "/tools", `/parcels/${IDS.parcelEu}`, `/any/${IDS.parcelEu}`, "/anything"])(
    "%s is on no other host",
    async (path) => {
      const { request, seen } = setUp({ declared });
      const problem = await problemOf(await request(path, on("de.example.com")));
      expect([problem["status"], slug(problem), seen.length]).toEqual([404, "unrouted-path", 0]);
      expect(problem["detail"]).toContain("other hosts");
    },
  );

  it.each(["//admin/x", "/ADMIN/x", "/%61dmin/x"])("%s is read as another owner's path", async (path) => {
    const { request, seen } = setUp({ declared });
    for (const method of ["GET", "PUT"]) {
      const problem = await problemOf(await request(path, { method }));
      expect([problem["status"], slug(problem), seen.length]).toEqual([404, "unrouted-path", 0]);
    }
  });

  it.each<[string, RequestInit, string]>([
    [`/any/${IDS.orderKz}`, {}, "200 http://eu.test/orders/"],
    [`/any/${IDS.orderKz}/items`, {}, "404 "],
    [`/any/${IDS.orderKz}/`, {}, "404 "],
    [`/orders/${IDS.orderKz}/items`, {}, "200 http://us.test/base/orders/"],
    [`/any/${IDS.rideKz}`, {}, "200 http://us.test/base/rides/"],
    [`/any/${IDS.rideKz}`, on("a.test"), "404 "],
    [`/any/${IDS.parcelEu}`, on("a.test"), "200 http://eu.test/rides/"],
  ])("%s %j leads by /any where its own path would", async (path, init, expected) => {
    const { regions, countries } = DECLARED_TABLE;
    const entities = {
      order: { path: { path: "/orders/:id", below: false }, ids: [{ layout: "iuid", service: 1 }] },
      ride: { path: "/rides/:id", ids: [{ layout: "iuid", service: 2 }] },
      parcel: { path: "/rides/:id", hosts: ["a.test"], ids: [{ layout: "hotguid" }] },
    };
    const routes = [
      { when: { entity: ["order", "parcel"] }, region: "eu" },
      { when: { entity: "ride" }, region: "us" },
    ];
    const withoutId = { below: { path: "/orders/*/**", ...region("us") } };
    const { request, seen } = setUp({ declared: { regions, countries, entities, routes, withoutId } });
    const response = await request(path, init);
    const url = seen[0]?.url.replace(/[^/]*-.*/, "") ?? "";
    expect(`${response.status} ${url}`).toBe(expected);
  });

  it.each<[string, RequestInit, string]>([
    ["", on("us.example.com"), "us"],
    ["", on("us.example.com", by("PUT")), "order"],
    ["", on("us.example.com", preflight("GET")), "us"],
    ["/items", on("us.example.com"), "us"],
    ["", on("a.eu.example.com", by("DELETE")), "eu"],
    ["", on("a.eu.example.com", by("PUT")), "order"],
    ["", on("a.test"), "near"],
    ["", on("a.test", by("PUT")), "near"],
  ])(
    "%j %j leaves an entity to the entry of its host, though another host's pattern is nearer",
    async (below, init, owner) => {
      const { regions, countries } = DECLARED_TABLE;
      const hosts = ["us.example.com", "*.eu.example.com"];
      const order = { path: "/orders/:id", hosts, methods: "PUT", ids: [{ layout: "iuid", service: 1 }] };
      const withoutId = {
        near: { path: "/orders/*", ...region("eu") },
        us: { path: "/orders/**", hosts: ["us.example.com"], ...region("us") },
        eu: { path: "/orders/**", hosts: ["*.eu.example.com"], ...region("eu") },
      };
      const routes = [{ when: { entity: "order" }, region: "us" }];
      const { request, lines } = setUp({ declared: { regions, countries, entities: { order }, routes, withoutId } });
      const { status } = await request(`/orders/${IDS.orderKz}${below}`, init);
      expect([status, lines.at(-1)?.entity]).toEqual([200, owner]);
    },
  );

  it("redirects from /any only where the owner takes the request", async () => {
    const { request } = setUp({ declared });
    const response = await request(`/any/${IDS.rideKz}`, { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([307, `/rides/${IDS.rideKz}`]);
  });

  it("describes all owners in one path item", async () => {
    const { request } = setUp({ declared });
    const { paths } = await (await request("/-/openapi.json")).json<{
      paths: Record<string, Record<string, { operationId: string }>>;
    }>();
    const operations = (path: string) =>
      Object.entries(paths[path] ?? {}).flatMap(([method, { operationId }]) =>
        operationId ? [[method, operationId]] : [],
      );
    expect(Object.fromEntries(operations("/orders/{id}"))).toMatchObject({
      get: "get_reads",
      head: "head_reads",
      post: "post_writes",
      delete: "delete_writes",
    });
    expect(Object.fromEntries(operations("/rides/{id}"))).toEqual({
      get: "get_ride",
      head: "head_ride",
      put: "put_ride",
      post: "post_rides",
    });
  });
});
