import { createExecutionContext } from "cloudflare:test";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { callerOf, requireScope } from "../../routes/lib/auth.ts";
import type { AuthenticateOptions } from "../../src/edge/auth/authenticate.ts";
import { parseAdminTokens } from "../../src/edge/auth/settings.ts";
import { RequestContext } from "../../src/gateway/request.ts";
import type { Gateway } from "../../src/ports/gateway.ts";
import { ACCESS, accessWorld, goodClaims, makeKey, NO_AUTH, signWith } from "../edge/auth/access-world.ts";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";
import { IDS, problemOf, setUp, slug } from "./harness.ts";

const key = await makeKey("k1");
const unknown = await makeKey("k1");

const VIEWER = "a-viewers-token-of-enough-characters";
const OPERATOR = "an-operators-token-of-enough-characters";

const hexOf = async (text: string): Promise<string> => {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
};

const tokens =
  parseAdminTokens(
    JSON.stringify([
      { name: "grafana", scope: "viewer", sha256: await hexOf(VIEWER) },
      { name: "ci", scope: "operator", sha256: await hexOf(OPERATOR) },
    ]),
  ) ?? [];

/** The gateway as it is deployed, behind Access and with two tokens; requests without an ID go to eu, whatever their path. */
function guarded(options: Partial<AuthenticateOptions> = {}, gateway: Partial<Gateway> = {}) {
  const { check, world } = accessWorld([key], { settings: { ...ACCESS, tokens }, ...options });
  const declared = { ...DECLARED_TABLE, withoutId: { rest: { path: "/**", sources: [{ region: "eu" }] } } };
  return { ...setUp({ declared, gateway: { authenticate: check, ...gateway } }), world };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Every pattern that the gateway answers on under `/-/`, with something in place of its parameters. */
const OWN_PATHS = [
  ...new Set(
    guarded()
      .app.routes.map(({ path }) => path)
      // Those of the console answer at its host alone: test/routes/console.
      .filter((path) => path.startsWith("/-/") && path !== "/-/*" && !path.startsWith("/-/console"))
      .map((path) => path.replace(/\/:\w+\?$/, "").replace(/:\w+|\*/g, IDS.orderKz)),
  ),
];

const OPEN_PATHS = ["/-/", "/-/health", "/-/ready", "/-/problems", `/-/problems/${IDS.orderKz}`];
const CLOSED_PATHS = OWN_PATHS.filter((path) => !OPEN_PATHS.includes(path));

/** Requests that nobody must let in, and under what reason they are counted. */
const FAULTS: Readonly<Record<string, readonly [() => Promise<HeadersInit> | HeadersInit, counted: string]>> = {
  nothing: [() => ({}), "missing"],
  "the address that Access would add": [() => ({ "cf-access-authenticated-user-email": "jane@acme.com" }), "missing"],
  "a cookie": [async () => ({ cookie: `CF_Authorization=${await signWith(key)}` }), "missing"],
  "a token in another field": [() => ({ "x-authorization": `Bearer ${OPERATOR}` }), "missing"],
  "an empty field": [() => ({ authorization: "" }), "wrong"],
  "the scheme alone": [() => ({ authorization: "Bearer" }), "wrong"],
  Basic: [() => ({ authorization: `Basic ${btoa(`ci:${OPERATOR}`)}` }), "wrong"],
  "two fields": [
    () => [
      ["authorization", `Bearer ${OPERATOR}`],
      ["authorization", `Bearer ${VIEWER}`],
    ],
    "wrong",
  ],
  "a wrong token": [() => bearer("w".repeat(40)), "wrong"],
  "a digest": [() => bearer(`${"0".repeat(64)}`), "wrong"],
  "a forged assertion": [async () => ({ "cf-access-jwt-assertion": await signWith(unknown) }), "wrong"],
  "an old assertion": [
    async () => ({ "cf-access-jwt-assertion": await signWith(key, { ...goodClaims(), exp: 1 }) }),
    "wrong",
  ],
  "an assertion for others": [
    async () => ({ "cf-access-jwt-assertion": await signWith(key, { ...goodClaims(), aud: "x" }) }),
    "wrong",
  ],
};

const REFUSAL_FIELDS = {
  "cache-control": "no-store",
  "content-type": "application/problem+json",
  "www-authenticate": 'Bearer realm="waybill"',
  // RFC 9110 §6.6.1.
  date: expect.any(String),
};

const REFUSAL = {
  type: "/-/problems/unauthenticated",
  title: "Authentication required",
  status: 401,
  detail: "This endpoint requires a valid credential.",
};

describe("every page of the gateway's own", () => {
  it("is found here", () => {
    expect(CLOSED_PATHS).toEqual(
      expect.arrayContaining([`/-/ids/${IDS.orderKz}`, "/-/metrics", "/-/regions", "/-/openapi.json"]),
    );
    expect(OWN_PATHS).toEqual(expect.arrayContaining(OPEN_PATHS));
  });

  describe.each(Object.entries(FAULTS))("with %s", (_, [headersOf, counted]) => {
    it.each(CLOSED_PATHS)("%s answers the same 401", async (path) => {
      const counts: string[][] = [];
      const counters = { count: (...event: string[]) => counts.push(event) };
      const { request, seen, lines } = guarded({}, { counters });
      for (const method of ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]) {
        const response = await request(path, { method, headers: await headersOf() });
        const text = await response.text();
        // A page may say first which methods it has: docs/reference/http.md says so to everybody.
        if (response.status === 405) continue;
        expect([response.status, Object.fromEntries(response.headers)]).toEqual([401, REFUSAL_FIELDS]);
        if (method !== "HEAD") expect(JSON.parse(text)).toEqual(REFUSAL);
      }
      const refused = lines.filter(({ status }) => status === 401);
      expect(refused.length).toBeGreaterThan(0);
      expect(refused.every(({ outcome }) => outcome === "unauthenticated")).toBe(true);
      expect(counts).toEqual(refused.map(() => ["refused_callers", counted]));
      expect(seen).toEqual([]);
    });
  });

  it.each(OPEN_PATHS)("%s is there for strangers", async (path) => {
    const { request } = guarded();
    expect((await request(path)).status).toBe(path.endsWith(IDS.orderKz) ? 404 : 200);
    expect((await request(path, { headers: bearer("w".repeat(40)) })).status).not.toBe(401);
  });

  it.each(["/-/nothing", "/-", "/-/metrics/", "/-/metrics/x", "/-/ready/x"])(
    "%s is nothing, and that is no secret",
    async (path) => {
      expect(slug(await problemOf(await guarded().request(path)))).toBe("not-found");
    },
  );

  it.each([
    ["a viewer's token", () => bearer(VIEWER)],
    ["an operator's token", () => bearer(OPERATOR)],
    ["a scheme in other letters", () => ({ authorization: `bEARER ${VIEWER}` })],
    ["an assertion", async () => ({ "cf-access-jwt-assertion": await signWith(key) })],
  ])("can be seen with %s", async (_, headersOf) => {
    const { request } = guarded();
    for (const path of ["/-/metrics", "/-/regions", "/-/openapi.json", `/-/ids/${IDS.orderKz}`]) {
      expect((await request(path, { headers: await headersOf() })).status).toBe(200);
    }
  });

  it("is for nobody where nothing is set", async () => {
    const { request } = guarded({ settings: NO_AUTH });
    expect((await request("/-/metrics", { headers: bearer(OPERATOR) })).status).toBe(401);
    expect((await request("/-/metrics", { headers: { "cf-access-jwt-assertion": await signWith(key) } })).status).toBe(
      401,
    );
  });

  it("is 503 for people of Access whose keys cannot be had, and open to tokens", async () => {
    const { request, world } = guarded();
    world.answer = async () => new Response(null, { status: 500 });
    const response = await request("/-/metrics", { headers: { "cf-access-jwt-assertion": await signWith(key) } });
    expect(slug(await problemOf(response))).toBe("authentication-unavailable");
    expect(response.headers.get("retry-after")).toBe("2");
    expect((await request("/-/metrics", { headers: bearer(VIEWER) })).status).toBe(200);
  });

  it("is 429 for a 21st wrong credential of a network, and open to a right one all the same", async () => {
    const { request } = guarded();
    for (let at = 0; at < 20; at++) await request("/-/metrics", { headers: bearer(`${at}`.padStart(40, "0")) });
    const response = await request("/-/metrics", { headers: bearer("20".padStart(40, "0")) });
    expect([response.headers.get("retry-after"), await problemOf(response)]).toEqual([
      "60",
      expect.objectContaining({ type: "/-/problems/rate-limited", limit: "failed-attempts" }),
    ]);
    expect((await request("/-/health")).status).toBe(200);
    expect((await request("/-/metrics", { headers: bearer(OPERATOR) })).status).toBe(200);
  });
});

it("the description says of each page whom it is for", async () => {
  const response = await guarded().request("/-/openapi.json", { headers: bearer(VIEWER) });
  const { paths, components } = await response.json<{
    paths: Record<string, Record<string, { security: Record<string, unknown>[] }>>;
    components: { securitySchemes: object };
  }>();
  const schemes = Object.keys(components.securitySchemes);
  expect(schemes).toEqual(["token", "access", "session"]);
  const own = Object.entries(paths).filter(([path]) => path.startsWith("/-/"));
  expect(own.length).toBeGreaterThanOrEqual(6);
  for (const [path, operations] of own) {
    const isOpen = ["/-/health", "/-/problems", "/-/problems/{slug}"].includes(path);
    // The page, and where a session begins and ends.
    if (path.startsWith("/-/console")) continue;
    for (const { security } of Object.values(operations)) {
      expect(security.flatMap((one) => Object.keys(one))).toEqual(isOpen ? [] : schemes);
      // Without credentials too: `{}` (OpenAPI 3.1 §4.8.10).
      expect(security.some((one) => Object.keys(one).length === 0)).toBe(path === "/-/ready");
    }
  }
});

describe("/-/ready", () => {
  it("says to strangers that it is ready, and to viewers which table it has", async () => {
    const { request } = guarded();
    for (const headers of [{}, bearer("w".repeat(40))]) {
      const response = await request("/-/ready", { headers });
      expect([response.status, response.headers.get("waybill-table"), await response.json()]).toEqual([
        200,
        // As on each answer of the gateway's own.
        "rev=0; source=bundled; age=0",
        { status: "ready" },
      ]);
    }
    const shown = await (await request("/-/ready", { headers: bearer(VIEWER) })).json();
    expect(shown).toMatchObject({ status: "ready", revision: 0, regions: ["eu", "us", "ap"] });
  });

  it("is 503 for everybody without a table", async () => {
    const { check } = accessWorld([], { settings: { ...NO_AUTH, tokens } });
    const { request } = setUp({ declared: {}, gateway: { authenticate: check } });
    for (const headers of [{}, bearer(OPERATOR)]) expect((await request("/-/ready", { headers })).status).toBe(503);
  });
});

/** Ways to write a page's path that are not its path. */
const DISGUISES = [
  "/%2d/metrics",
  "/%2D/metrics",
  "/-%2fmetrics",
  "/-%2Fmetrics",
  "/%2f-/metrics",
  "/%2d%2fmetrics",
  "//-/metrics",
  "///-/metrics",
  "//%2d/metrics",
  "/%5c-/metrics",
  "/-%5cmetrics",
  "/-//metrics",
  "/-/metrics/",
  "/-/metrics//",
  "/-/METRICS",
  "/-/Metrics",
  "/-/%6detrics",
  "/-/metric%73",
  "/-/metrics%00",
  "/-/metrics%20",
  "/-/metrics;x=1",
  "/-/metrics.json",
  "/-/%69ds/17",
  "/-/ids%2f17",
  "/-/IDS/17",
  "/-",
  "/%2d",
  "/%61ny/17",
  "//any/17",
  "/%6dint",
  "//mint",
];

describe("a path that is not a page's own", () => {
  it.each(DISGUISES)("%s is no page, and reaches no origin", async (path) => {
    const { request, seen, defects } = guarded();
    for (const headers of [{}, bearer(OPERATOR)]) {
      const response = await request(path, { headers });
      expect([400, 404]).toContain(response.status);
      expect(await problemOf(response)).toMatchObject({ status: response.status });
    }
    expect([...seen, ...defects]).toEqual([]);
  });

  it.each(["/-x/metrics", "/x/-/metrics", "/~/metrics", "/--/metrics", "/x%2f-/metrics"])(
    "%s is somebody else's",
    async (path) => {
      const { request, seen } = guarded();
      expect((await request(path)).status).toBe(200);
      expect(seen.map(({ url }) => new URL(url).pathname)).toEqual([path]);
    },
  );
});

/** A page that only operators may change, as those of the table are. */
function changingPage(settings: Partial<AuthenticateOptions> = {}) {
  const { check } = accessWorld([key], { settings: { ...ACCESS, tokens }, ...settings });
  const refused: string[] = [];
  const gateway = { authenticate: check, counters: { count: (...event: string[]) => refused.push(...event.slice(1)) } };
  const app = new Hono().all("/-/change", requireScope(gateway, "operator"), (c) => c.json(callerOf(c)));
  const send = (init: RequestInit) => {
    const request = new Request("http://gw.test/-/change", init);
    const context = new RequestContext({ ...setUp().gateway, ...gateway }, request, createExecutionContext());
    return Promise.resolve(app.request(request, undefined, { context }));
  };
  return { send, refused };
}

const jane = async () => ({ "cf-access-jwt-assertion": await signWith(key) });

describe("a page that changes something", () => {
  it("knows who asks", async () => {
    const { send, refused } = changingPage();
    const byToken = await send({ method: "PUT", headers: bearer(OPERATOR) });
    expect(await byToken.json()).toEqual({ name: "ci", scope: "operator", by: "token" });
    const byAccess = await send({ method: "PUT", headers: { ...(await jane()), "sec-fetch-site": "same-origin" } });
    expect(await byAccess.json()).toEqual({ name: "jane@acme.com", scope: "operator", by: "access" });
    expect(refused).toEqual([]);
  });

  it("is 403 for a smaller scope, whoever has it", async () => {
    const { send, refused } = changingPage();
    const joe = await signWith(key, { ...goodClaims(), email: "joe@acme.com" });
    for (const headers of [bearer(VIEWER), { "cf-access-jwt-assertion": joe, "sec-fetch-site": "same-origin" }]) {
      const response = await send({ method: "PUT", headers });
      expect(await problemOf(response)).toMatchObject({ type: "/-/problems/forbidden", needs: "operator" });
    }
    expect(refused).toEqual(["forbidden", "forbidden"]);
  });

  it.each([
    ["nothing said", {}],
    ["another origin", { origin: "https://evil.test" }],
    ["no origin", { origin: "null" }],
    ["another port", { origin: "https://gw.test:444" }],
    ["a host that begins alike", { origin: "https://gw.test.evil.test" }],
    ["another scheme", { origin: "ftp://gw.test" }],
    ["another site", { "sec-fetch-site": "cross-site" }],
    ["a sibling's site", { "sec-fetch-site": "same-site", origin: "https://gw.test" }],
    ["no site", { "sec-fetch-site": "none" }],
    ["its own site and another origin", { "sec-fetch-site": "same-origin", origin: "https://evil.test" }],
  ])("is 403 for a browser of Access with %s, and not for a token", async (_, headers) => {
    const { send } = changingPage();
    for (const method of ["PUT", "POST", "DELETE", "PATCH"]) {
      const response = await send({ method, headers: { ...headers, ...(await jane()) } });
      expect([response.status, slug(await problemOf(response))]).toEqual([403, "forbidden"]);
      expect((await send({ method, headers: { ...headers, ...bearer(OPERATOR) } })).status).toBe(200);
    }
    for (const method of ["GET", "HEAD"]) {
      expect((await send({ method, headers: { ...headers, ...(await jane()) } })).status).toBe(200);
    }
  });

  it.each([
    { origin: "http://gw.test" },
    // Behind a proxy that ends TLS.
    { origin: "https://gw.test" },
    { "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "same-origin", origin: "https://gw.test" },
  ])("may be changed from the gateway's own pages: %j", async (headers) => {
    const { send } = changingPage();
    expect((await send({ method: "POST", headers: { ...headers, ...(await jane()) } })).status).toBe(200);
  });

  it("is no other site's either where the pages are open", async () => {
    const { send } = changingPage({ settings: { ...NO_AUTH, openPages: true } });
    const post = (fields: Record<string, string>) =>
      send({ method: "POST", headers: { host: "localhost:8787", ...fields } });
    expect((await post({})).status).toBe(200);
    expect((await post({ origin: "http://localhost:8787" })).status).toBe(200);
    expect((await post({ origin: "https://evil.test" })).status).toBe(403);
    expect((await post({ "sec-fetch-site": "cross-site" })).status).toBe(403);
  });

  it("is nobody's who asks for open pages by a name that was rebound to this machine", async () => {
    const { send, refused } = changingPage({ settings: { ...NO_AUTH, openPages: true } });
    const headers = { host: "evil.test:8787", origin: "http://evil.test:8787", "sec-fetch-site": "same-origin" };
    for (const method of ["GET", "PUT"]) {
      expect(await problemOf(await send({ method, headers }))).toMatchObject({
        type: "/-/problems/forbidden",
        status: 403,
        detail: expect.stringContaining("localhost"),
        host: "evil.test:8787",
      });
    }
    expect(refused).toEqual(["forbidden", "forbidden"]);
  });

  it("that asks who it was without having looked is a defect", async () => {
    const app = new Hono().get("/", (c) => c.json(callerOf(c)));
    expect((await app.onError((error) => new Response(error.message, { status: 599 })).request("/")).status).toBe(599);
  });
});
