import { describe, expect, it } from "vitest";
import { readConfig } from "../../../src/edge/config.ts";
import { pseudonymOf } from "../../../src/proxy/origin-request.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, problemOf, setUp, slug } from "../harness.ts";

const PATH = `/orders/${IDS.orderDe}`;

/** A gateway with the full field set and this name, whose origins are as given. */
const named = (name: string, origin?: (request: Request) => Response | Promise<Response>) =>
  setUp({
    declared: { ...DECLARED_TABLE, fields: "full" },
    gateway: { pseudonym: pseudonymOf(name) },
    ...(origin && { origin }),
  });

describe("GATEWAY_NAME", () => {
  it.each(["eu-edge", "EU", "a", "0", "edge.eu.example.com", "!#$%&'*+.^_`|~-", "x".repeat(63)])(
    "%s is a pseudonym (RFC 9110 §7.6.3, RFC 8586 §2)",
    (name) => {
      const { gatewayName, faults } = readConfig({ GATEWAY_NAME: name });
      expect([gatewayName, faults]).toEqual([name, []]);
    },
  );

  it.each(["", " ", "a b", "a,b", "a;b", "a:80", "[::1]", "a/b", 'a"b', "é", "a\n", "x".repeat(64), 7])(
    "%j is none: a fault, and the default",
    (name) => {
      const { gatewayName, faults } = readConfig({ GATEWAY_NAME: name });
      expect([gatewayName, faults.map(({ setting }) => setting)]).toEqual(["waybill", ["GATEWAY_NAME"]]);
    },
  );

  it("is `waybill` where it is not set", () => {
    expect(readConfig({})).toMatchObject({ gatewayName: "waybill", faults: [] });
  });
});

describe("the name of a deployment", () => {
  it("stands in cdn-loop and via, both ways", async () => {
    const { request, seen } = named("eu-edge");
    const response = await request(PATH, { headers: { "cdn-loop": "waybill, other", via: "1.0 before" } });
    expect(response.headers.get("via")).toBe("1.1 eu-edge");
    expect(seen[0]?.headers.get("cdn-loop")).toBe("waybill, other, eu-edge");
    expect(seen[0]?.headers.get("via")).toBe("1.0 before, 1.1 eu-edge");
  });

  it.each(["eu-edge", "a, eu-edge", "eu-edge;v=1, b", 'x;q="a,b", eu-edge', "a,eu-edge ; p=1"])(
    "in %s is a loop",
    async (cdnLoop) => {
      const { request, seen } = named("eu-edge");
      const problem = await problemOf(await request(PATH, { headers: { "cdn-loop": cdnLoop } }));
      expect([problem["status"], slug(problem)]).toEqual([508, "loop-detected"]);
      expect(problem["detail"]).toContain("GATEWAY_NAME");
      expect(seen).toEqual([]);
    },
  );

  it.each(["waybill", "eu-edge-2", "x-eu-edge", 'a;q="b, eu-edge"', "a;eu-edge"])("in %s is none", async (cdnLoop) => {
    const { request } = named("eu-edge");
    expect((await request(PATH, { headers: { "cdn-loop": cdnLoop } })).status).toBe(200);
  });

  /** A gateway whose origins are another one. */
  const chain = (outer: string, inner: string, innermost?: (request: Request) => Response | Promise<Response>) => {
    const second = named(inner, innermost);
    const ask = (request: Request) => second.request(new URL(request.url).pathname, { headers: request.headers });
    return { first: named(outer, ask), second };
  };

  it("lets one gateway be the origin of another", async () => {
    const { first, second } = chain("outer", "inner");
    expect((await first.request(PATH)).status).toBe(200);
    expect(second.seen[0]?.headers.get("cdn-loop")).toBe("outer, inner");
    expect(second.seen[0]?.headers.get("via")).toBe("1.1 outer, 1.1 inner");
  });

  it("shared by two gateways is a loop, as a real one is", async () => {
    const unnamed = chain("waybill", "waybill");
    expect((await unnamed.first.request(PATH)).status).toBe(508);
    const real: ReturnType<typeof chain> = chain("outer", "inner", (request) =>
      real.first.request(new URL(request.url).pathname, { headers: request.headers }),
    );
    expect((await real.first.request(PATH)).status).toBe(508);
    expect([real.first.seen.length, real.second.seen.length]).toEqual([1, 1]);
  });
});
