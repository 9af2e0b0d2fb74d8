import { describe, expect, it } from "vitest";
import { fieldRules } from "../../../src/proxy/headers.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, problemOf, setUp, slug } from "../harness.ts";

const PATH = `/orders/${IDS.orderDe}`;
const FULL = { ...DECLARED_TABLE, fields: "full" };

describe("the request at the origin", () => {
  it("says what the gateway found out, whatever the client claimed", async () => {
    const { request, seen } = setUp({ declared: FULL });
    const forged = [
      "waybill-client-country",
      "waybill-entity-id",
      "waybill-layout",
      "waybill-region",
      "waybill-revision",
      "waybill-signature",
    ];
    const headers = new Headers(forged.map((name) => [name, "forged"]));
    headers.set("x-forwarded-for", "6.6.6.6");
    headers.set("x-forwarded-host", "evil.test");
    headers.set("x-forwarded-proto", "gopher");
    headers.set("forwarded", "for=6.6.6.6");
    headers.set("cf-connecting-ip", "2001:db8::7");
    headers.set("host", "api.example.com:8443");
    await request(PATH, { headers });
    const got = seen[0]?.headers;
    expect(got?.get("waybill-entity-id")).toBe(IDS.orderDe);
    expect(got?.get("waybill-layout")).toBe("iuid");
    expect(got?.get("waybill-region")).toBe("eu");
    expect(got?.get("waybill-revision")).toBe("0");
    for (const name of ["waybill-signature", "waybill-client-country"]) expect(got?.has(name), name).toBe(false);
    expect(got?.get("x-forwarded-for")).toBe("2001:db8::7");
    expect(got?.get("x-forwarded-host")).toBe("api.example.com:8443");
    expect(got?.get("x-forwarded-proto")).toBe("http");
    expect(got?.get("forwarded")).toBe('for="[2001:db8::7]";host="api.example.com:8443";proto=http');
    expect(got?.get("via")).toBe("1.1 waybill");
    expect(got?.get("cdn-loop")).toBe("waybill");
  });

  it("names the client's country where the platform knows it", async () => {
    const { request, seen } = setUp();
    await request(PATH, { cf: { country: "KZ" } } as RequestInit);
    expect(seen[0]?.headers.get("waybill-client-country")).toBe("KZ");
  });

  it("keeps end-to-end fields and drops those of one connection", async () => {
    const { request, seen } = setUp();
    const headers = {
      authorization: "Bearer t",
      cookie: "a=1; b=2",
      "x-own": "kept",
      "x-hop": "dropped",
      connection: "keep-alive, X-Hop, authorization",
      "proxy-authorization": "Basic x",
      "proxy-connection": "keep-alive",
      "http2-settings": "AAMAAABkAAQ",
      te: "trailers",
      via: "1.0 before",
      "cdn-loop": "other",
    };
    await request(PATH, { headers });
    const got = seen[0]?.headers;
    expect(got?.get("authorization")).toBe("Bearer t");
    expect(got?.get("cookie")).toBe("a=1; b=2");
    expect(got?.get("x-own")).toBe("kept");
    for (const name of ["x-hop", "proxy-authorization", "proxy-connection", "http2-settings", "te"]) {
      expect(got?.has(name), name).toBe(false);
    }
    expect(got?.get("via")).toBe("1.0 before, 1.1 waybill");
    expect(got?.get("cdn-loop")).toBe("other, waybill");
  });
});

describe("the origin's answer at the client", () => {
  it("keeps status, repeated fields and body, and says where it comes from", async () => {
    const headers = new Headers({
      "content-type": "text/x",
      connection: "x-hop",
      "x-hop": "1",
      "proxy-authenticate": "B",
    });
    headers.append("set-cookie", "a=1");
    headers.append("set-cookie", "b=2; Path=/");
    headers.append("via", "1.1 inner");
    const { request } = setUp({ declared: FULL, origin: () => new Response("made", { status: 418, headers }) });
    const response = await request(PATH);
    expect(response.status).toBe(418);
    expect(await response.text()).toBe("made");
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2; Path=/"]);
    expect(response.headers.get("waybill-region")).toBe("eu");
    expect(response.headers.get("waybill-layout")).toBe("iuid");
    expect(response.headers.get("waybill-table")).toMatch(/^rev=0; source=bundled; age=\d+$/);
    expect(response.headers.get("server-timing")).toMatch(/^origin;dur=\d+$/);
    expect(response.headers.get("via")).toBe("1.1 inner, 1.1 waybill");
    expect(response.headers.has("x-hop")).toBe(false);
    expect(response.headers.has("proxy-authenticate")).toBe(false);
  });

  it.each([200, 201, 204, 206, 301, 302, 304, 307, 400, 401, 404, 409, 421, 429, 500, 502, 503, 599])(
    "a status of %i is the origin's own and is not rewritten",
    async (status) => {
      const body = [204, 304].includes(status) ? null : "own";
      const location = "http://elsewhere.test/";
      const { request, seen } = setUp({ origin: () => new Response(body, { status, headers: { location } }) });
      const response = await request(PATH, { redirect: "manual" });
      expect(response.status).toBe(status);
      expect(response.headers.get("location")).toBe(location);
      expect(seen).toHaveLength(1);
    },
  );
});

describe("an origin that gives no answer", () => {
  const dead = () => Promise.reject(new Error("Network connection lost."));

  it("is a 502 that names the region and no address", async () => {
    const { request } = setUp({ origin: dead });
    const response = await request(PATH, { method: "POST", body: "x" });
    const problem = await problemOf(response);
    expect(slug(problem)).toBe("origin-unreachable");
    expect(problem["region"]).toBe("eu");
    expect(JSON.stringify(problem)).not.toContain("eu.test");
  });

  it("is replaced for a read by the next origin and then by the failover region", async () => {
    const counted: string[] = [];
    const { request, seen } = setUp({
      origin: (request) => (request.url.startsWith("http://eu.test") ? dead() : new Response("from us")),
      gateway: { counters: { count: (name, ...labels) => void counted.push([name, ...labels].join(" ")) } },
    });
    const response = await request(PATH);
    expect(counted).toEqual(["answers_elsewhere eu us"]);
    expect(response.status).toBe(200);
    expect(response.headers.get("waybill-region")).toBe("us");
    expect(seen.map((one) => one.headers.get("waybill-region"))).toEqual(["eu", "us"]);
  });

  it.each(["POST", "PUT", "PATCH", "DELETE"])("is never replaced for %s: the origin may have acted", async (method) => {
    const { request, seen } = setUp({ origin: dead });
    expect((await request(PATH, { method, body: "x" })).status).toBe(502);
    expect(seen).toHaveLength(1);
  });

  it("is a 504 when it does not begin in time", async () => {
    const { request } = setUp({ origin: () => new Promise(() => undefined), deadlines: { firstByteMs: 50 } });
    const response = await request(PATH, { method: "POST", body: "x" });
    const problem = await problemOf(response);
    expect(slug(problem)).toBe("origin-timeout");
    expect(problem["deadlineMs"]).toBe(50);
  });

  it("may be slow in its body: the deadline is for the first octet", async () => {
    const slowBody = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode("first "));
        await new Promise((resolve) => setTimeout(resolve, 150));
        controller.enqueue(new TextEncoder().encode("last"));
        controller.close();
      },
    });
    const { request } = setUp({ origin: () => new Response(slowBody), deadlines: { firstByteMs: 50 } });
    expect(await (await request(PATH)).text()).toBe("first last");
  });
});

describe("max-forwards", () => {
  it("of OPTIONS counts down, and ends here at 0 (RFC 9110 §7.6.2)", async () => {
    const { request, seen } = setUp();
    await request(PATH, { method: "OPTIONS", headers: { "max-forwards": "3" } });
    expect(seen[0]?.headers.get("max-forwards")).toBe("2");
    const ended = await request(PATH, { method: "OPTIONS", headers: { "max-forwards": "0" } });
    expect([ended.status, ended.headers.get("allow")]).toEqual([204, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"]);
    expect(seen).toHaveLength(1);
  });

  it.each([
    { method: "GET", value: "0" },
    { method: "OPTIONS", value: "many" },
  ])("$value of $method limits nothing", async ({ method, value }) => {
    const { request, seen } = setUp();
    await request(PATH, { method, headers: { "max-forwards": value } });
    expect(seen[0]?.headers.get("max-forwards")).toBe(value);
  });
});

describe("forwarding fields", () => {
  const inbound = {
    "cf-connecting-ip": "203.0.113.7",
    "x-forwarded-for": "198.51.100.1",
    forwarded: "for=198.51.100.1",
    "x-forwarded-host": "shop.example",
    "x-forwarded-proto": "https",
    "x-forwarded-port": "8443",
  };
  const forwarding = (headers: Headers | undefined) => [
    headers?.get("x-forwarded-for"),
    headers?.get("forwarded"),
    headers?.get("x-forwarded-host"),
    headers?.get("x-forwarded-proto"),
    headers?.get("x-forwarded-port"),
  ];
  const own = 'for=203.0.113.7;host="gw.test";proto=http';

  it("of clients are replaced", async () => {
    const { request, seen } = setUp({ declared: FULL });
    await request(PATH, { headers: inbound });
    expect(forwarding(seen[0]?.headers)).toEqual(["203.0.113.7", own, "gw.test", "http", null]);
  });

  it("of another proxy of the operator are kept and continued, where the deployment says that there is one", async () => {
    const { request, seen } = setUp({ gateway: { trustsForwarded: true } });
    await request(PATH, { headers: inbound });
    expect(forwarding(seen[0]?.headers)).toEqual([
      "198.51.100.1, 203.0.113.7",
      `for=198.51.100.1, ${own}`,
      "shop.example",
      "https",
      null,
    ]);
  });
});

it("what an origin says of its software reaches clients, unless the deployment hides it", async () => {
  const origin = () => new Response("x", { headers: { server: "nginx/1.2", "x-powered-by": "PHP/5", etag: '"1"' } });
  const shown = async (hidesServer: boolean) => {
    const { request } = setUp({ origin, gateway: { fieldRules: fieldRules({ hidesServer }) } });
    const { headers } = await request(PATH);
    return ["server", "x-powered-by", "etag"].map((name) => headers.get(name));
  };
  expect(await shown(false)).toEqual(["nginx/1.2", "PHP/5", '"1"']);
  expect(await shown(true)).toEqual([null, null, '"1"']);
});

describe("what a client is told of a failure", () => {
  const table = (eu: object) => ({
    ...DECLARED_TABLE,
    regions: { ...DECLARED_TABLE.regions, eu: { ...DECLARED_TABLE.regions.eu, ...eu } },
  });
  const dead = () => Promise.reject(Object.assign(new Error("Network connection lost."), { retryable: true }));

  it("is in proxy-status too (RFC 9209)", async () => {
    const { request } = setUp({ origin: dead });
    const response = await request(PATH, { method: "POST" });
    expect(response.headers.get("proxy-status")).toBe("waybill; error=connection_terminated");
  });

  it("is when to come back, once a breaker is open", async () => {
    let origin: () => Promise<Response> = dead;
    const declared = table({ breaker: { failures: 1, openMs: 7_000 } });
    const { request } = setUp({ origin: () => origin(), declared });
    await request(PATH, { method: "POST" });
    origin = () => new Promise(() => undefined);
    for (let waiting = 0; waiting < 100; waiting++) void request(PATH, { method: "POST" });
    const response = await request(PATH, { method: "POST" });
    expect(slug(await problemOf(response.clone()))).toBe("origin-open-circuit");
    expect(response.headers.get("proxy-status")).toBe("waybill; error=destination_unavailable");
    expect(response.headers.get("retry-after")).toBe("1");
  });
});

describe("a body with a coding", () => {
  it.each(["gzip", "br", "zstd"])("reaches the client in the octets of the origin: %s", async (coding) => {
    // No gzip at all: whoever reads it must fail, and nobody but the client is to read it.
    const bytes = Uint8Array.from({ length: 1000 }, (_, at) => (at * 7) & 0xff);
    const origin = () => new Response(bytes, { headers: { "content-encoding": coding }, encodeBody: "manual" });
    const { request } = setUp({ origin, deadlines: { idleMs: 5_000 } });
    const response = await request(PATH);
    expect(response.headers.get("content-encoding")).toBe(coding);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
  });
});

describe("the log", () => {
  it("has one line for each request, refused ones included", async () => {
    const { request, lines } = setUp();
    await request(`${PATH}?secret=1`);
    await request("/orders/17");
    expect(lines).toMatchObject([
      { method: "GET", path: PATH, entity: "order", layout: "iuid", region: "eu", status: 200, outcome: "answered" },
      { method: "GET", path: "/orders/17", layout: undefined, region: undefined, status: 400, outcome: "malformed-id" },
    ]);
  });
});

describe("/-/ids", () => {
  it("shows the region that an origin named with a 421", async () => {
    const { request } = setUp({
      origin: ({ url }) =>
        url.startsWith("http://eu.")
          ? new Response("gone", { status: 421, headers: { "waybill-region": "us" } })
          : new Response("here"),
    });
    const page = `/-/ids/${PATH.split("/")[2]}`;
    expect(await (await request(page)).json()).not.toHaveProperty("learned");
    expect((await request(PATH)).headers.get("waybill-region")).toBe("us");
    expect(await (await request(page)).json()).toMatchObject({ decision: { region: "eu" }, learned: { region: "us" } });
  });
});
