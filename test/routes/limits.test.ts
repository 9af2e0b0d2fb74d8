import { describe, expect, it } from "vitest";
import { countedRateLimit } from "../../src/edge/rate-limits.ts";
import type { RateLimits } from "../../src/ports/gateway.ts";
import { IDS, problemOf, setUp } from "./harness.ts";

const OFF: RateLimits = { client: undefined, entity: undefined, lookup: undefined };
const PATH = `/orders/${IDS.orderDe}`;

const setUpWith = (which: keyof RateLimits, requests = 2) => {
  const limit = countedRateLimit({ by: "counter", requests, periodSeconds: 60 }, { nowMs: () => 18_500 });
  return setUp({ gateway: { rateLimits: { ...OFF, [which]: limit } } });
};
const from = (address: string) => ({ headers: { "cf-connecting-ip": address } });

describe("the limit by client", () => {
  it("answers 429 with retry-after, asks no origin, and is counted", async () => {
    const { request, seen, lines } = setUpWith("client");
    for (const _ of [1, 2]) expect((await request(PATH, from("203.0.113.9"))).status).toBe(200);
    const refused = await request(PATH, from("203.0.113.9"));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "42"]);
    expect(await problemOf(refused)).toMatchObject({ type: "/-/problems/rate-limited", limit: "client" });
    expect(seen).toHaveLength(2);
    expect(lines.map(({ outcome }) => outcome)).toEqual(["answered", "answered", "rate-limited"]);
  });

  it("counts all that one client sends, wherever it leads", async () => {
    const { request } = setUpWith("client", 4);
    const mint = { method: "POST", body: JSON.stringify({ entity: "parcel" }), ...from("203.0.113.9") };
    await request("/nowhere", from("203.0.113.9"));
    await request("/orders/rubbish", from("203.0.113.9"));
    await request(`/any/${IDS.orderDe}`, from("203.0.113.9"));
    await request("/mint", mint);
    for (const path of ["/nowhere", PATH, `/any/${IDS.orderDe}`]) {
      expect((await request(path, from("203.0.113.9"))).status).toBe(429);
    }
    expect((await request("/mint", mint)).status).toBe(429);
  });

  it("never refuses those who watch over the gateway", async () => {
    const { request } = setUpWith("client", 1);
    for (const _ of [1, 2, 3]) expect((await request("/-/ready", from("203.0.113.9"))).status).toBe(200);
  });

  it("takes a /64 for one client, and other clients for others", async () => {
    const { request } = setUpWith("client", 1);
    const statuses: number[] = [];
    for (const address of ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1", "203.0.113.9", "203.0.113.10"]) {
      statuses.push((await request(PATH, from(address))).status);
    }
    expect(statuses).toEqual([200, 429, 200, 200, 200]);
  });

  it("takes all clients without an address for one", async () => {
    const { request } = setUpWith("client", 1);
    expect([(await request(PATH)).status, (await request(PATH)).status]).toEqual([200, 429]);
  });
});

describe("the limit by entity and client", () => {
  it("counts each entity by itself, once it is known which one a request is for", async () => {
    const { request, seen, lines } = setUpWith("entity", 1);
    const statuses: number[] = [];
    for (const path of [PATH, `/any/${IDS.orderBr}`, `/rides/${IDS.rideKz}`, "/orders/rubbish"]) {
      statuses.push((await request(path, from("203.0.113.9"))).status);
    }
    expect(statuses).toEqual([200, 429, 200, 400]);
    expect((await request(PATH, from("203.0.113.10"))).status).toBe(200);
    expect(seen).toHaveLength(3);
    expect(lines[1]).toMatchObject({ entity: "order", outcome: "rate-limited", path: `/any/${IDS.orderBr}` });
  });
});

describe("the limit of look-ups", () => {
  it("counts what is asked without a path, found or not", async () => {
    const { request } = setUpWith("lookup");
    expect((await request("/any/rubbish", from("203.0.113.9"))).status).toBe(400);
    expect((await request(`/-/ids/${IDS.orderDe}`, from("203.0.113.9"))).status).toBe(200);
    for (const path of [`/any/${IDS.orderDe}`, `/-/ids/${IDS.orderDe}`]) {
      const refused = await request(path, from("203.0.113.9"));
      expect(await problemOf(refused)).toMatchObject({ status: 429, limit: "lookup" });
    }
    expect((await request(PATH, from("203.0.113.9"))).status).toBe(200);
  });
});
