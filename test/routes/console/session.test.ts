import { describe, expect, it } from "vitest";
import { SESSION_COOKIE } from "../../../src/proxy/headers.ts";
import { IDS, problemOf, slug } from "../harness.ts";
import { ENTRIES, HOST, OWN, setUpConsole, tokenOf } from "./world.ts";

const SESSION = "/-/console/session";
const MINUTE = 60_000;

const post = (token: string, headers: Record<string, string> = OWN) => ({
  method: "POST",
  headers,
  body: JSON.stringify({ token }),
});

describe("a session of the console", () => {
  it("begins with a token, says who is signed in, and ends", async () => {
    const { ask } = setUpConsole();
    const begun = await ask(SESSION, post(tokenOf("operator")));
    expect(begun.status).toBe(204);
    const set = begun.headers.get("set-cookie") ?? "";
    expect(set.replace(/=[^;]+/, "=…")).toBe(
      `${SESSION_COOKIE}=…; Max-Age=1800; Path=/; HttpOnly; Secure; SameSite=Strict`,
    );
    const cookie = set.split(";", 1)[0] ?? "";
    expect(cookie).not.toContain(tokenOf("operator"));
    const view = await ask(SESSION, { headers: { cookie } });
    expect(await view.json()).toMatchObject({
      name: "operator.1",
      scope: "operator",
      by: "session",
      deployment: HOST,
      environment: null,
      expiresAt: "2026-11-23T00:30:00.000Z",
      endsBy: "2026-11-23T08:00:00.000Z",
    });
    const ended = await ask(SESSION, { method: "DELETE", headers: { ...OWN, cookie } });
    expect([ended.status, ended.headers.get("set-cookie")]).toEqual([204, expect.stringContaining("Max-Age=0")]);
  });

  it("says which environment this is", async () => {
    const { ask, signIn } = setUpConsole({ environment: "EU production" });
    const view = await ask(SESSION, { headers: { cookie: await signIn("support") } });
    expect(await view.json()).toMatchObject({ deployment: HOST, environment: "EU production" });
  });

  it.each([
    ["no token of the deployment", "w".repeat(40), 401],
    ["a token for programs", tokenOf("mint"), 403],
    ["no token at all", "", 400],
    ["a text that is too long", "w".repeat(601), 400],
  ])("does not begin with %s", async (_, token, status) => {
    const { ask } = setUpConsole();
    const response = await ask(SESSION, post(token));
    expect([response.status, response.headers.get("set-cookie")]).toEqual([status, null]);
  });

  it("limits wrong tokens as those in a header", async () => {
    const { ask } = setUpConsole();
    const statuses: number[] = [];
    for (let at = 0; at < 22; at++) statuses.push((await ask(SESSION, post("w".repeat(40)))).status);
    expect(statuses.slice(-2)).toEqual([429, 429]);
    expect((await ask(SESSION, post(tokenOf("viewer")))).status).toBe(204);
  });

  it.each([
    ["another site", { origin: "http://evil.test", "sec-fetch-site": "cross-site" }],
    ["another port of the same host", { origin: `http://${HOST}:9999`, "sec-fetch-site": "same-site" }],
    ["its own site without saying so", { origin: `http://${HOST}` }],
    ["its own site without an origin", { "sec-fetch-site": "same-origin" }],
    ["an opaque origin", { origin: "null", "sec-fetch-site": "same-origin" }],
    ["another origin that claims to be its own", { origin: "http://evil.test", "sec-fetch-site": "same-origin" }],
    ["nowhere", {}],
  ])("is neither begun, used for a change nor ended from %s", async (_, headers) => {
    const { ask, signIn } = setUpConsole();
    const cookie = await signIn("operator");
    const change = { method: "POST", headers: { ...headers, cookie, "if-match": '"0"' }, body: '{"to": 0}' };
    for (const answer of [
      await ask(SESSION, post(tokenOf("operator"), headers as Record<string, string>)),
      await ask("/-/table/rollback", change),
      await ask(SESSION, { method: "DELETE", headers: { ...headers, cookie } }),
    ]) {
      expect(answer.status).toBe(403);
      expect(answer.headers.get("set-cookie")).toBeNull();
    }
    // The same from its own page reaches the control plane.
    expect((await ask("/-/table/rollback", { ...change, headers: { ...change.headers, ...OWN } })).status).not.toBe(
      403,
    );
  });

  it.each(["cross-site", "same-site"])("is not read with from a page that is %s", async (site) => {
    const { ask, signIn } = setUpConsole();
    const headers = { cookie: await signIn("viewer"), "sec-fetch-site": site };
    for (const path of [SESSION, "/-/table", "/-/metrics", "/-/events", "/-/metrics/history"]) {
      expect((await ask(path, { headers })).status).toBe(403);
    }
  });

  it("is none where entities share the host", async () => {
    const { ask, signIn } = setUpConsole();
    const cookie = await signIn("operator");
    for (const at of ["http://gw.test", `http://x.${HOST}`, `http://${HOST}.`, `http://${HOST}.evil.test`]) {
      expect((await ask("/-/table", { headers: { cookie } }, at)).status).toBe(401);
    }
    expect((await ask("/-/table", { headers: { cookie } }, `http://${HOST}:1234`)).status).toBe(200);
    const answer = await ask(SESSION, post(tokenOf("operator")), "http://gw.test");
    expect(slug(await problemOf(answer))).toBe("forbidden");
    expect(answer.headers.get("set-cookie")).toBeNull();
  });

  it("ends when it is not used, and at the latest after eight hours", async () => {
    const { ask, signIn, time } = setUpConsole();
    let cookie = await signIn("viewer");
    time.nowMs += 30 * MINUTE;
    expect((await ask(SESSION, { headers: { cookie } })).status).toBe(401);
    cookie = await signIn("viewer");
    const startMs = time.nowMs;
    let status = 200;
    while (status === 200) {
      time.nowMs += 20 * MINUTE;
      const answer = await ask("/-/regions", { headers: { cookie } });
      status = answer.status;
      cookie = answer.headers.get("set-cookie")?.split(";", 1)[0] ?? cookie;
    }
    expect((time.nowMs - startMs) / MINUTE).toBe(480);
  });

  it("is renewed by what a person does, not by a live view, and not at each request", async () => {
    const { ask, signIn, time } = setUpConsole();
    const headers = { cookie: await signIn("viewer") };
    time.nowMs += 4 * MINUTE;
    expect((await ask("/-/regions", { headers })).headers.get("set-cookie")).toBeNull();
    time.nowMs += 2 * MINUTE;
    const events = await ask("/-/events", { headers });
    expect([events.status, events.headers.get("set-cookie")]).toEqual([200, null]);
    await events.body?.cancel();
    const polled = await ask("/-/regions", { headers: { ...headers, "waybill-unattended": "1" } });
    expect([polled.status, polled.headers.get("set-cookie")]).toEqual([200, null]);
    expect((await ask("/-/regions", { headers })).headers.get("set-cookie")).toContain("Max-Age=1800");
  });

  it("is not what another sign-in left: each has a cookie of its own (fixation)", async () => {
    const { ask, signIn } = setUpConsole();
    const planted = await signIn("viewer");
    const begun = await ask(SESSION, { ...post(tokenOf("operator")), headers: { ...OWN, cookie: planted } });
    const cookie = begun.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
    expect(cookie).not.toBe(planted);
    expect(await (await ask(SESSION, { headers: { cookie: planted } })).json()).toMatchObject({ scope: "viewer" });
    expect(await (await ask(SESSION, { headers: { cookie } })).json()).toMatchObject({ scope: "operator" });
    // Two are none: it is not for the gateway to choose.
    expect((await ask(SESSION, { headers: { cookie: `${planted}; ${cookie}` } })).status).toBe(401);
  });

  it.each(["\v", "\f", "=", "x"])("is not what begins with %j, which any host of the domain can set", async (first) => {
    const { ask, signIn } = setUpConsole();
    const own = await signIn("viewer");
    const planted = `${first}${await signIn("operator")}`;
    expect((await ask(SESSION, { headers: { cookie: planted } })).status).toBe(401);
    const view = await (await ask(SESSION, { headers: { cookie: `${planted}; ${own} ;\ta=1` } })).json();
    expect(view).toMatchObject({ scope: "viewer" });
  });

  it("is none when any part of it is changed", async () => {
    const { ask, signIn } = setUpConsole();
    const cookie = await signIn("viewer");
    const [name = "", value = ""] = cookie.split("=", 2);
    const sealedAt = value.lastIndexOf(".") + 1;
    const changed = Array.from({ length: value.length - sealedAt }, (_, at) => {
      const place = sealedAt + at;
      return value.slice(0, place) + (value[place] === "A" ? "B" : "A") + value.slice(place + 1);
    });
    const others = [
      value.replace("viewer.1", "operator.1"),
      value.replace("viewer.1", ""),
      value.slice(0, -4),
      `${value}AAAA`,
      value.slice(sealedAt),
      "",
      ".",
      "viewer.1.",
      "viewer.1.!!!",
      "x".repeat(100_000),
    ];
    // The last character has bits that no byte has: a change of these alone changes nothing.
    for (const text of [...changed.slice(0, -1), ...others]) {
      const answer = await ask(SESSION, { headers: { cookie: `${name}=${text}` } });
      expect([text, answer.status]).toEqual([text, 401]);
    }
  });

  it.each([
    ["its token is gone", ENTRIES.filter(({ scope }) => scope !== "viewer")],
    [
      "its token is another one",
      ENTRIES.map((one) => (one.scope === "viewer" ? { ...one, sha256: "ab".repeat(32) } : one)),
    ],
    ["its scope is another one", ENTRIES.map((one) => (one.scope === "viewer" ? { ...one, scope: "operator" } : one))],
  ])("ends when %s, and others go on", async (_, entries) => {
    const before = setUpConsole();
    const viewer = await before.signIn("viewer");
    const support = await before.signIn("support");
    const after = setUpConsole({ entries });
    expect((await after.ask(SESSION, { headers: { cookie: viewer } })).status).toBe(401);
    expect((await after.ask(SESSION, { headers: { cookie: support } })).status).toBe(200);
  });

  it("is of one console: another deployment with the same token does not know it", async () => {
    const cookie = await setUpConsole().signIn("viewer");
    const other = setUpConsole({ host: "console.other.test" });
    expect((await other.ask(SESSION, { headers: { cookie } }, "http://console.other.test")).status).toBe(401);
  });
});

describe("the scope of a session", () => {
  const LOOK_UPS = [`/-/ids/${IDS.orderKz}`, "/-/regions", SESSION];
  const VIEWS = [
    "/-/table",
    "/-/table/audit",
    "/-/table/revisions",
    "/-/metrics",
    "/-/metrics/history",
    "/-/events",
    "/-/events/log",
    "/-/console/routes",
  ];

  it("support looks up, and sees neither table, audit, metrics nor hosts of origins", async () => {
    const { ask, signIn } = setUpConsole();
    const headers = { cookie: await signIn("support") };
    for (const path of LOOK_UPS) expect([path, (await ask(path, { headers })).status]).toEqual([path, 200]);
    for (const path of [...VIEWS, "/-/openapi.json", "/-/table/status", "/-/idempotency/x"]) {
      expect([path, (await ask(path, { headers })).status]).toEqual([path, 403]);
    }
    const regions = await (await ask("/-/regions", { headers })).text();
    expect(regions).not.toContain("eu.test");
    expect(regions).toContain('"breaker"');
  });

  it.each(["support", "viewer"] as const)("%s changes nothing", async (scope) => {
    const { ask, signIn } = setUpConsole();
    const headers = { ...OWN, cookie: await signIn(scope), "if-match": '"0"' };
    for (const [method, path] of [
      ["PUT", "/-/table"] as const,
      ["PUT", `/-/table/packs/${"0".repeat(64)}`] as const,
      ...["rollback", "canary", "promote", "abort"].map((change) => ["POST", `/-/table/${change}`] as const),
    ]) {
      expect([path, (await ask(path, { method, headers, body: "{}" })).status]).toEqual([path, 403]);
    }
  });
});
