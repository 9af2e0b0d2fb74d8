import { describe, expect, it } from "vitest";
import { behindProxies, parseTrustedProxies } from "../../../src/edge/trusted-proxies.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, problemOf, setUp, slug } from "../harness.ts";
import { listTable, orderId } from "../lists/regions.ts";

const { orderKz, orderDe } = IDS;

/** Every kind of endpoint. */
const DECLARED = {
  ...listTable({ next: { link: true } }),
  withoutId: { rest: { path: "/**", sources: [{ region: "eu" }] } },
  graphql: {
    path: "/graphql",
    sources: [{ region: "eu" }],
    ids: [{ argument: "id", field: "order", entity: "order" }],
  },
};
DECLARED.entities.ride = { ...DECLARED.entities.ride, create: { key: { country: [{ value: "DE" }] } } } as never;

/** Trusts whoever asks. */
const behindProxy = (setting = "hops=1") => {
  const trusted = parseTrustedProxies(setting);
  if (!trusted.ok) throw new Error(trusted.error);
  return {
    clientOf: behindProxies(() => ({ address: "10.0.0.1", country: "DE", continent: "EU" }), trusted.value),
  };
};

const json = (body: unknown, headers: HeadersInit = {}): RequestInit => ({
  method: "POST",
  body: JSON.stringify(body),
  headers: { "content-type": "application/json", ...headers },
});

const ENDPOINTS: readonly (readonly [string, RequestInit])[] = [
  [`/orders/${orderDe}`, {}],
  [`/orders/${orderDe}/x?y`, { method: "DELETE" }],
  [`/any/${orderKz}`, {}],
  ["/any", json({ ids: [orderKz] })],
  ["/orders", {}],
  ["/rides", json({})],
  ["/rides", json({}, { "idempotency-key": '"k"' })],
  ["/mint", json({ entity: "order", country: "DE" })],
  ["/graphql", json({ query: `{ order(id: "${orderDe}") { id } }` })],
  ["/graphql", { headers: { upgrade: "websocket", connection: "upgrade" } }],
  ["/elsewhere", { headers: { upgrade: "websocket", connection: "upgrade" } }],
  ["/elsewhere", { method: "OPTIONS", headers: { origin: "https://a.test", "access-control-request-method": "PUT" } }],
  ["/", {}],
  ...["", "health", "ready", "metrics", "openapi.json", "table", "problems", "problems/not-found", "nothing"].map(
    (name) => [`/-/${name}`, {}] as const,
  ),
  [`/-/ids/${orderDe}`, {}],
  ["/-/explain", json({ url: "/" })],
];

const HOSTS = ["web.1", "1.2.3.999", "0x7f.1.1", "127.1", "a%41", "[::1", "a!b", "eu.test:65536", "a/b", "a?b", "a@b"];

describe("a host that no URL can have is 400 before an origin is asked (RFC 9112 §3.2, RFC 3986 §3.2.2)", () => {
  it.each(ENDPOINTS)("%s %j", async (path, init) => {
    const { request, seen, defects } = setUp({ declared: DECLARED, gateway: behindProxy() });
    for (const host of HOSTS) {
      const fields: Record<string, string>[] = [{ host }, { "x-forwarded-for": "192.0.2.1", "x-forwarded-host": host }];
      for (const more of fields) {
        const response = await request(path, { ...init, headers: { ...(init.headers as object), ...more } });
        expect([host, response.status, slug(await problemOf(response))]).toEqual([host, 400, "malformed-request"]);
      }
    }
    expect([seen.length, defects]).toEqual([0, []]);
  });

  it("is one in `forwarded` too, and none of a peer that is not trusted", async () => {
    const headers = { forwarded: 'for=192.0.2.1;host="web.1"', "x-forwarded-for": "192.0.2.1" };
    const statusOf = async (setting: string) =>
      (await setUp({ gateway: behindProxy(setting) }).request(`/orders/${orderDe}`, { headers })).status;
    expect([await statusOf("hops=1, field=forwarded"), await statusOf("hops=1")]).toEqual([400, 200]);
    expect(await statusOf("192.0.2.0/24, field=forwarded")).toBe(200);
  });

  it("a list of hosts says nothing, as an empty one does", async () => {
    for (const host of ["a.test, b.test", ""]) {
      const { request, seen } = setUp({ gateway: behindProxy() });
      const headers = { host: "gw.test", "x-forwarded-for": "192.0.2.1", "x-forwarded-host": host };
      expect((await request(`/orders/${orderDe}`, { headers })).status).toBe(200);
      expect(seen[0]?.headers.get("x-forwarded-host")).toBe("gw.test");
    }
  });
});

it.each(["eu.example.com:", "eu.example.com.:", "EU.Example.com:00080", "eu.example.com.", "eu.example.com:65535"])(
  "the host %s is served, and names its region (RFC 3986 §3.2.3)",
  async (host) => {
    const sources = [{ host: { "eu.example.com": "us" } }];
    const declared = { ...DECLARED_TABLE, withoutId: { home: { path: "/byhost", sources } } };
    const { request, seen } = setUp({ declared });
    const response = await request("/byhost", { headers: { host } });
    expect([response.status, response.headers.get("waybill-region")]).toEqual([200, "us"]);
    expect(seen[0]?.headers.get("x-forwarded-host")).toBe(host);
  },
);

describe("the next page of a list is where the origin was told that it is (RFC 3986 §6.2)", () => {
  const stateOf = async (next: string, fields: Record<string, string>, trustsForwarded = false) => {
    const { request } = setUp({
      declared: DECLARED,
      gateway: trustsForwarded ? { trustsForwarded } : behindProxy(),
      origin: (asked) => {
        const { host, search } = new URL(asked.url);
        if (!host.startsWith("eu")) return Response.json({ items: [] });
        const isFirst = !search.includes("page=2");
        const items = [{ id: orderId("eu", Date.UTC(2026, 0, 1), isFirst ? 1 : 2), at: isFirst ? 1 : 2 }];
        return Response.json({ items }, isFirst ? { headers: { link: `<${next}>; rel="next"` } } : {});
      },
    });
    const response = await request("/orders", { headers: fields });
    return (await response.json<{ items: unknown[]; summary: { regions: Record<string, { fault?: string }> } }>())
      .summary.regions["eu"]?.fault;
  };

  const PROXIED = { host: "inner.test:8787", "x-forwarded-for": "192.0.2.1", "x-forwarded-host": "api.example.com" };
  it.each([
    "https://api.example.com/orders?page=2",
    "http://API.example.com/orders?page=2",
    "https://api.example.com:443/orders?page=2",
    "https://api.example.com:/orders?page=2",
    "https://api.example.com./orders?page=2",
    "https://%61pi.example.com/orders?page=2",
    "http://inner.test:8787/orders?page=2",
    "http://EU.test:80/orders?page=2",
    "/orders?page=2",
    "?page=2",
  ])("%s", async (next) => {
    expect(await stateOf(next, PROXIED)).toBeUndefined();
  });

  it.each(["https://api.example.com:8443", "https://evil.test", "https://api.example.com@evil.test", "https://web.1"])(
    "not %s",
    async (origin) => {
      expect(await stateOf(`${origin}/orders?page=2`, PROXIED)).toBe("malformed-next");
    },
  );

  it("also what a proxy before it told, where its fields are passed on", async () => {
    const fields = { "x-forwarded-host": "a.test, api.example.com" };
    for (const host of ["a.test", "api.example.com", "gw.test"]) {
      expect(await stateOf(`https://${host}/orders?page=2`, fields, true)).toBeUndefined();
    }
    expect(await stateOf("https://b.test/orders?page=2", fields, true)).toBe("malformed-next");
  });
});

it("the gateway's own pages name the same host", async () => {
  const sources = [{ host: { "api.example.com": "us" } }, { region: "eu" }];
  const declared = { ...DECLARED_TABLE, withoutId: { home: { path: "/byhost", sources } } };
  const { request } = setUp({ declared, gateway: behindProxy() });
  const headers = {
    "x-forwarded-for": "192.0.2.1",
    "x-forwarded-host": "api.example.com",
    "x-forwarded-proto": "https",
  };
  const document = await (await request("/-/openapi.json", { headers })).json();
  expect(document).toMatchObject({ servers: [{ url: "https://api.example.com" }] });
  const explained = await (await request("/-/explain", json({ url: "/byhost" }, headers))).json();
  expect(explained).toMatchObject({ region: "us", source: "the host" });
  expect((await request("/byhost", { headers })).headers.get("waybill-region")).toBe("us");
});
