import { describe, expect, it } from "vitest";
import { ok } from "../../../src/ids/result.ts";
import { SESSION_COOKIE } from "../../../src/proxy/headers.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, setUp } from "../harness.ts";
import { HOST, OWN, setUpConsole, tokenOf } from "./world.ts";

const COOKIE = `${SESSION_COOKIE}=operator.1.c2VjcmV0`;

describe("the console's host", () => {
  it("proxies nothing", async () => {
    const { ask, seen } = setUpConsole();
    const paths = [
      `/orders/${IDS.orderKz}`,
      `/any/${IDS.orderKz}`,
      "/x",
      "/any",
      "/orders",
      "/-",
      "/%2d/console",
      "//x",
    ];
    for (const method of ["GET", "POST", "PUT", "OPTIONS", "DELETE"]) {
      for (const path of paths) expect([path, (await ask(path, { method })).status]).not.toContain(200);
    }
    expect(seen).toEqual([]);
    expect((await ask(`/orders/${IDS.orderKz}`, {}, "http://gw.test")).status).toBe(200);
  });

  it("says where IDs go, and fetches none of them", async () => {
    const { ask, seen } = setUpConsole();
    const headers = { "content-type": "application/json" };
    const many = (path: string) => ask(path, { method: "POST", headers, body: JSON.stringify({ ids: [IDS.orderKz] }) });
    for (const query of ["", "?locate=false", "?locate=true&x", "?Locate=true"]) {
      expect([query, (await many(`/any${query}`)).status]).toEqual([query, 404]);
    }
    const located = await many("/any?locate=true");
    expect([located.status, await located.text()]).toEqual([200, expect.stringContaining('"ap"')]);
    expect(seen).toEqual([]);
  });

  it("leads to the page, which other hosts lead to as well", async () => {
    const { ask } = setUpConsole();
    const [root, elsewhere] = [await ask("/"), await ask("/-/console", {}, "http://gw.test:8787")];
    expect([root.status, root.headers.get("location")]).toEqual([307, "/-/console"]);
    expect([elsewhere.status, elsewhere.headers.get("location")]).toEqual([307, `http://${HOST}:8787/-/console`]);
    expect((await ask("/", {}, "http://gw.test")).headers.get("location")).toBeNull();
  });

  it("is no host where the deployment has no console", async () => {
    const { request } = setUp();
    for (const path of [
      "/-/console",
      "/-/console/session",
      "/-/console/assets/main.ABCDEFG2.js",
      "/-/console/entity/1",
    ]) {
      expect([path, (await request(path)).status]).toEqual([path, 404]);
    }
  });

  it("guards every answer, problems too", async () => {
    const { ask } = setUpConsole();
    for (const path of ["/", "/-/console", "/-/console/assets/main.ABCDEFG2.js", "/x", "/-/table", "/-/health"]) {
      const { headers } = await ask(path);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
      expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'.*frame-ancestors 'none'/);
      expect(headers.get("access-control-allow-origin")).toBeNull();
    }
    const page = (await ask("/-/console")).headers.get("content-security-policy") ?? "";
    expect(page).not.toContain("unsafe");
    expect(page).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
  });

  it("lets no other site read it, though the table allows the site", async () => {
    const { ask } = setUpConsole({ declared: { ...DECLARED_TABLE, cors: { origins: ["https://app.test"] } } });
    const headers = { origin: "https://app.test", "access-control-request-method": "GET" };
    const preflight = await ask("/-/problems", { method: "OPTIONS", headers });
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
    const elsewhere = await ask("/-/problems", { method: "OPTIONS", headers }, "http://gw.test");
    expect(elsewhere.headers.get("access-control-allow-origin")).toBe("https://app.test");
  });
});

describe("the console behind a trusted proxy, which has hosts of its own", () => {
  const behind = (host: string) => ({
    clientOf: () =>
      ({ address: "192.0.2.1", country: undefined, continent: undefined, scheme: "https", host }) as const,
  });

  it("is at the host that the browser knows, and takes changes from there", async () => {
    const { ask, seen } = setUpConsole({ gateway: behind(HOST) });
    const at = "http://10.0.0.1:8080";
    const body = JSON.stringify({ token: tokenOf("operator") });
    const post = (origin: string) =>
      ask("/-/console/session", { method: "POST", headers: { ...OWN, origin }, body }, at);
    const begun = await post(`https://${HOST}`);
    expect(begun.status).toBe(204);
    const cookie = begun.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
    expect((await ask("/-/table", { headers: { cookie } }, at)).status).toBe(200);
    expect((await post("http://10.0.0.1:8080")).status).toBe(403);
    expect((await ask(`/orders/${IDS.orderKz}`, {}, at)).status).toBe(404);
    expect(seen).toEqual([]);
  });

  it("is not where only the proxy's request names it", async () => {
    const { ask } = setUpConsole({ gateway: behind("api.test") });
    expect((await ask("/-/console/session")).status).toBe(403);
    expect((await ask(`/orders/${IDS.orderKz}`)).status).toBe(200);
  });
});

describe("an identity of Access", () => {
  const access = { authenticate: async () => ok({ name: "jane@acme.com", scope: "operator", by: "access" } as const) };
  const change = (headers: Record<string, string>) => ({
    method: "POST",
    headers: { ...headers, "if-match": '"0"' },
    body: '{"to": 0}',
  });

  it("is signed in, and a browser changes nothing where entities share the host", async () => {
    const { ask } = setUpConsole({ gateway: access });
    const view = await (await ask("/-/console/session")).json();
    expect(view).toMatchObject({ name: "jane@acme.com", by: "access", expiresAt: null });
    expect((await ask("/-/table/rollback", change(OWN))).status).not.toBe(403);
    const own = { ...OWN, origin: "http://gw.test" };
    expect((await ask("/-/table/rollback", change(own), "http://gw.test")).status).toBe(403);
    expect((await ask("/-/table/rollback", change({}), "http://gw.test")).status).toBe(403);
  });
});

describe("files of the page", () => {
  const ASSET = "/-/console/assets/main.ABCDEFG2.js";

  it("never change, and are sent coded where that is understood", async () => {
    const { ask } = setUpConsole();
    const plain = await ask(ASSET);
    expect(await plain.text()).toBe("plain");
    expect(Object.fromEntries(plain.headers)).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      etag: '"ABCDEFG2"',
      vary: "accept-encoding",
    });
    const coded = await ask(ASSET, { headers: { "accept-encoding": "br, gzip;q=0.5" } });
    expect(coded.headers.get("content-encoding")).toBe("gzip");
    const again = await ask(ASSET, { headers: { "if-none-match": 'W/"x", "ABCDEFG2"' } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });

  it.each([
    "",
    "secret.txt",
    "shell.html",
    "main.ABCDEFG2.js.gz",
    "main.abcdefg2.js",
    "main.js",
    "other.ABCDEFG2.js",
    "../shell.html",
    "..%2fshell.html",
    "%2e%2e/x.ABCDEFG2.js",
    "main.ABCDEFG2.js/",
    "a/main.ABCDEFG2.js",
  ])("do not include %j", async (name) => {
    const { ask, asked } = setUpConsole();
    expect((await ask(`/-/console/assets/${name}`)).status).toBeGreaterThanOrEqual(400);
    expect(asked).not.toContain("secret.txt");
  });

  it("are said to be absent where nothing was built", async () => {
    const { ask } = setUpConsole({ isBuilt: false });
    for (const path of [ASSET, "/-/console"]) expect((await ask(path)).status).toBe(503);
  });

  it("are not asked for by what is proxied", async () => {
    const { ask, asked } = setUpConsole();
    await ask(`/orders/${IDS.orderKz}`, {}, "http://gw.test");
    await ask("/-/health");
    expect(asked).toEqual([]);
  });
});

describe("the session's cookie", () => {
  it.each([
    [`a=1; ${COOKIE}; b=2`, "a=1; b=2"],
    [COOKIE, null],
    [`${COOKIE};${COOKIE}`, null],
    [`=${COOKIE}; a=1`, "a=1"],
    ["a=1; b=2", "a=1; b=2"],
    [`a=1;\t${COOKIE}`, "a=1"],
  ])("never reaches an origin: %j", async (cookie, sent) => {
    const { ask, seen } = setUpConsole();
    const path = `/orders/${IDS.orderKz}`;
    for (const method of ["GET", "POST"]) await ask(path, { method, headers: { cookie } }, "http://gw.test");
    await ask("/without-id", { headers: { cookie } }, "http://gw.test");
    expect(seen.map(({ headers }) => headers.get("cookie"))).toEqual([sent, sent, sent]);
  });

  it("reaches none where the deployment has no console either", async () => {
    const { request, seen } = setUp();
    await request(`/orders/${IDS.orderKz}`, { headers: { cookie: `a=1; ${COOKIE}` } });
    expect(seen[0]?.headers.get("cookie")).toBe("a=1");
  });

  it("is never set by an origin, and its other cookies are", async () => {
    const origin = () => {
      const response = new Response("x");
      for (const cookie of ["a=1; Path=/", `${COOKIE}; Path=/; Secure`, `=${COOKIE}`, `\t${COOKIE}`, "b=2"]) {
        response.headers.append("set-cookie", cookie);
      }
      return response;
    };
    const { ask } = setUpConsole({ origin });
    for (const path of [`/orders/${IDS.orderKz}`, "/without-id"]) {
      const { headers } = await ask(path, {}, "http://gw.test");
      expect(headers.getSetCookie()).toEqual(["a=1; Path=/", "b=2"]);
    }
  });
});

describe("open pages beside a console", () => {
  const open = { settings: { openPages: true, tokens: [], access: undefined, isFaulty: false } };
  const change = (headers: Record<string, string>) => ({
    method: "POST",
    headers: { ...headers, "if-match": '"0"' },
    body: '{"to": 0}',
  });

  it("are changed by programs anywhere, and by a browser at the console's host alone", async () => {
    const { ask } = setUpConsole({ host: "console.localhost", auth: open });
    const path = "/-/table/rollback";
    const [gateway, home] = ["http://127.0.0.1", "http://console.localhost"];
    const at = (origin: string) => ({ ...OWN, origin });
    expect((await ask(path, change({}), gateway)).status).not.toBe(403);
    expect((await ask(path, change(at(home)), home)).status).not.toBe(403);
    expect((await ask(path, change(at(gateway)), gateway)).status).toBe(403);
  });

  it("need no session", async () => {
    const { ask } = setUpConsole({ host: "console.localhost", auth: open });
    const view = await ask("/-/console/session", {}, "http://console.localhost");
    expect(await view.json()).toMatchObject({ name: "anybody", scope: "operator", by: "open-pages", expiresAt: null });
  });
});
