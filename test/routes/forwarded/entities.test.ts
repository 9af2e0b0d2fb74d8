import { describe, expect, it } from "vitest";
import { IDS, problemOf, setUp, slug } from "../harness.ts";

describe("an entity path goes to the region that owns the ID", () => {
  it.each([
    [`/orders/${IDS.orderBr}`, "us", `http://us.test/base/orders/${IDS.orderBr}`],
    [`/orders/${IDS.orderDe}`, "eu", `http://eu.test/orders/${IDS.orderDe}`],
    [`/orders/${IDS.orderDe.toUpperCase()}`, "eu", `http://eu.test/orders/${IDS.orderDe.toUpperCase()}`],
    [`/parcels/${IDS.parcelEu}`, "eu", `http://eu.test/parcels/${IDS.parcelEu}`],
    [`/parcels/${IDS.parcelUs}/a/b`, "us", `http://us.test/base/parcels/${IDS.parcelUs}/a/b`],
    [
      "/person/00000023-122e-6d0b-a789-28ef27ab7c62",
      "eu",
      "http://eu.test/person/00000023-122e-6d0b-a789-28ef27ab7c62",
    ],
    ["/person/23122e", "eu", "http://eu.test/person/23122e"],
  ])("%s", async (path, region, url) => {
    const { request, seen } = setUp();
    const response = await request(path);
    expect(response.status).toBe(200);
    expect(response.headers.get("waybill-region")).toBe(region);
    expect(seen.map((one) => one.url)).toEqual([url]);
  });

  it("a second path pattern of the same entity works too", async () => {
    const { request, seen } = setUp();
    expect((await request(`/v2/rides/${IDS.rideKz}/stops`)).headers.get("waybill-region")).toBe("ap");
    expect(seen[0]?.url).toMatch(new RegExp(`^http://ap-[12].test/v2/rides/${IDS.rideKz}/stops$`));
  });

  it.each(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"])("with %s", async (method) => {
    const { request, seen } = setUp();
    const body = ["POST", "PUT", "PATCH", "DELETE"].includes(method) ? "hello" : null;
    const response = await request(`/orders/${IDS.orderDe}`, { method, body });
    expect(response.status).toBe(200);
    expect(seen[0]?.method).toBe(method);
    expect(seen[0]?.body).toBe(body ?? "");
  });

  it.each(["", "/", "/events?limit=20", "//x", "/%2F%2ea%zz", "/a;b=c/é?q=%20+a&q=&", "?", "/?x=/any/y", "/..%2f"])(
    "with everything below it unchanged: %j",
    async (below) => {
      const { request, seen } = setUp();
      const sent = new URL(`http://gw.test/orders/${IDS.orderDe}${below}`).href.slice("http://gw.test".length);
      await request(`/orders/${IDS.orderDe}${below}`);
      expect(seen[0]?.url.slice("http://eu.test".length)).toBe(sent);
    },
  );
});

describe("what does not go anywhere", () => {
  it.each([
    ["/orders", "unrouted-path", 404],
    ["/orders/", "unrouted-path", 404],
    [`/Orders/${IDS.orderDe}`, "unrouted-path", 404],
    [`//orders/${IDS.orderDe}`, "unrouted-path", 404],
    [`/x/orders/${IDS.orderDe}`, "unrouted-path", 404],
    ["/orders/17", "malformed-id", 400],
    [`/orders/%30${IDS.orderDe.slice(1)}`, "malformed-id", 400],
    [`/orders/${IDS.orderDe}%2F`, "malformed-id", 400],
    [`/orders/${IDS.orderDe};v=1`, "malformed-id", 400],
    [`/orders/{${IDS.orderDe}}`, "malformed-id", 400],
    [`/orders/urn:uuid:${IDS.orderDe}`, "malformed-id", 400],
    [`/orders/${IDS.orderDe.replaceAll("-", "")}`, "malformed-id", 400],
    [`/orders/${"0".repeat(5000)}`, "malformed-id", 400],
    [`/orders/${IDS.rideKz}`, "wrong-entity", 422],
    [`/orders/${IDS.parcelEu}`, "wrong-entity", 422],
    ["/orders/919108f7-52d1-4320-9bac-f847db4148a8", "unknown-id", 404],
    [`/orders/${IDS.orderAq}`, "unassigned-key", 404],
    [`/orders/${IDS.orderUnknownCountry}`, "unassigned-key", 404],
    [`/parcels/${IDS.parcelUnassigned}`, "unassigned-key", 404],
    ["/person/00000023-122e-6aa1-a789-28ef27ab7c62", "wrong-entity", 422],
    ["/person/23122E", "malformed-id", 400],
    ["/person/023122e", "malformed-id", 400],
    ["/-/nothing", "not-found", 404],
  ])("%s is %s", async (path, expected, status) => {
    const { request, seen, defects } = setUp();
    const response = await request(path);
    expect(slug(await problemOf(response))).toBe(expected);
    expect(response.status).toBe(status);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(seen).toEqual([]);
    expect(defects).toEqual([]);
  });

  it("a problem on HEAD has no body and the same status", async () => {
    const response = await setUp().request("/orders/17", { method: "HEAD" });
    expect(response.status).toBe(400);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
  });

  it.each(["gw.test/x", "gw.test?x", "user@gw.test", "gw.test#x", "gw\\x", "", "a b"])(
    "a host field of %j is refused",
    async (host) => {
      const { request, seen } = setUp();
      const response = await request(`/orders/${IDS.orderDe}`, { headers: { host } });
      expect(slug(await problemOf(response))).toBe("malformed-request");
      expect(seen).toEqual([]);
    },
  );

  it("a request that passed this gateway before is a loop", async () => {
    const { request, seen } = setUp();
    const headers = { "cdn-loop": "other, waybill; id=1" };
    const response = await request(`/orders/${IDS.orderDe}`, { headers });
    expect(slug(await problemOf(response))).toBe("loop-detected");
    expect(response.status).toBe(508);
    expect(seen).toEqual([]);
  });

  it.each([
    [250, 200],
    [257, 431],
  ])(
    "%i fields of a client are %i: an origin may drop some of too many, and the gateway's own among them",
    async (count, status) => {
      const { request, seen } = setUp();
      const headers = Object.fromEntries(Array.from({ length: count }, (_, at) => [`aaa-${at}`, "1"]));
      const response = await request(`/orders/${IDS.orderDe}`, { headers });
      expect(response.status).toBe(status);
      expect(seen).toHaveLength(status === 200 ? 1 : 0);
      if (status === 431) expect(slug(await problemOf(response))).toBe("too-many-fields");
    },
  );
});
