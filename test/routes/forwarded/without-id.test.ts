import { describe, expect, it } from "vitest";
import type { Signable } from "../../../src/ports/gateway.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, problemOf, publicKeysOf, setUp, slug } from "../harness.ts";

const STICKY = { cookie: "waybill-region", maxAgeSeconds: 86_400 };

const declared = {
  ...DECLARED_TABLE,
  sources: [{ header: "X-Home-Region" }, { jwtClaim: "region" }, { cookie: "home" }],
  withoutId: {
    lists: { path: ["/orders", "/orders/", "/v2/*/orders"] },
    login: {
      path: "/login",
      methods: ["POST", "OPTIONS"],
      sources: [
        { header: "x-market", values: { kz: "ap", br: "us" } },
        { clientCountry: { KZ: "ap", T1: "us" } },
        { clientContinent: { EU: "eu" } },
        { region: "us" },
      ],
      sticky: STICKY,
    },
    files: { path: ["/files/*", "/files/**"], methods: "GET", sources: [{ region: "eu" }], replayBytesMax: 100 },
    near: {
      path: "/near",
      sources: [{ clientCountry: { KZ: "ap" } }, { clientContinent: { EU: "eu" } }],
      sticky: STICKY,
    },
    spread: { path: "/spread", sources: [{ region: "ap" }] },
  },
};

const gateway = (origin?: (request: Request) => Response) =>
  setUp(origin === undefined ? { declared } : { declared, origin });

const at = (country?: string, continent?: string): RequestInit => ({ cf: { country, continent } as never });

const tokenOf = (claims: object): string => `x.${btoa(JSON.stringify(claims)).replace(/=+$/, "")}.y`;

describe("a request without an ID has no ID and no layout", () => {
  it.each(["minimal", "standard", "full"])(
    "in fields of the set %s, the signature, the log and the answer",
    async (fields) => {
      const signed: Signable[] = [];
      const sign = async (what: Signable) => {
        signed.push(what);
        return "signature";
      };
      const spread = { ...declared.withoutId.spread, fields };
      const { request, seen, lines } = setUp({ declared: { ...declared, withoutId: { spread } }, gateway: { sign } });
      const response = await request("/spread");
      const [up] = seen;
      expect([...(up?.headers.keys() ?? [])].filter((name) => /entity|layout/.test(name))).toEqual([]);
      expect(up?.headers.get("waybill-region")).toBe("ap");
      expect(signed).toMatchObject([{ id: "", region: "ap", epoch: 0 }]);
      expect(lines).toMatchObject([{ entity: "spread", layout: undefined, region: "ap" }]);
      expect(response.headers.has("waybill-layout")).toBe(false);
      expect(response.headers.has("waybill-table")).toBe(fields === "full");
    },
  );
});

describe("a request without an ID goes where a declared source says", () => {
  it.each<[string, RequestInit, string]>([
    ["/orders", { headers: { "x-home-region": "eu" } }, "http://eu.test/orders"],
    ["/orders/?page=2", { headers: { "X-HOME-REGION": "us" } }, "http://us.test/base/orders/?page=2"],
    ["/v2/tenant/orders", { headers: { cookie: "a=b; home=us" } }, "http://us.test/base/v2/tenant/orders"],
    ["/orders", { headers: { authorization: `Bearer ${tokenOf({ region: "us" })}` } }, "http://us.test/base/orders"],
    ["/orders", { headers: { authorization: "Bearer opaque", cookie: "home=mars; home=eu" } }, "http://eu.test/orders"],
    ["/login", { method: "POST", body: "x", headers: { "x-market": "br" } }, "http://us.test/base/login"],
    ["/login", { method: "POST", body: "x", ...at("DE", "EU") }, "http://eu.test/login"],
    ["/login", { method: "POST", ...at("T1") }, "http://us.test/base/login"],
    ["/login", { method: "OPTIONS", ...at() }, "http://us.test/base/login"],
    ["/files/a//b/?q=%20", {}, "http://eu.test/files/a//b/?q=%20"],
    ["/files/a", { method: "HEAD" }, "http://eu.test/files/a"],
    ["/near", { method: "PURGE", ...at("DE", "EU") }, "http://eu.test/near"],
  ])("%# %s", async (path, init, url) => {
    const { request, seen, lines, defects } = gateway();
    const response = await request(path, init);
    expect(response.status).toBe(200);
    expect(seen.map((one) => one.url)).toEqual([url]);
    const region = new URL(url).host.slice(0, 2);
    expect(response.headers.get("waybill-region")).toBe(region);
    expect(response.headers.has("waybill-table")).toBe(false);
    expect(response.headers.has("waybill-layout")).toBe(false);
    expect(seen[0]?.headers.get("waybill-region")).toBe(region);
    expect(seen[0]?.headers.has("waybill-entity-id")).toBe(false);
    expect(seen[0]?.headers.has("waybill-layout")).toBe(false);
    expect(lines).toMatchObject([{ entity: expect.stringMatching(/^(lists|login|files|near)$/), region, status: 200 }]);
    expect(JSON.stringify(lines)).not.toContain("layout");
    expect(defects).toEqual([]);
  });

  it.each(["/%6frders/", "/Orders/", "/orders;a=1/", "/orders%2F", "/%2forders/", "/orders%5c", "/x%2f..%2forders/"])(
    "nor one in which an origin may read an entity's: %s",
    async (start) => {
      const rest = { path: ["/**", "/Orders/about"], sources: [{ region: "eu" }] };
      const { request, seen } = setUp({ declared: { ...DECLARED_TABLE, withoutId: { rest } } });
      const answer = await request(start + IDS.orderBr, { method: "PUT" });
      expect(slug(await problemOf(answer))).toMatch(/^(?:unrouted-path|malformed-request)$/);
      expect(seen).toEqual([]);
      // Paths that the table writes out win, and a path that leads to no entity goes on.
      for (const path of ["/Orders/about", "/%6frders", "/shop;a=1/x"]) expect((await request(path)).status).toBe(200);
    },
  );

  it("nor one that an origin may read below another pattern, with the reason", async () => {
    const withoutId = {
      one: { path: "/one/**", sources: [{ region: "eu" }] },
      rest: { path: "/**", sources: [{ region: "us" }] },
    };
    const { request, seen } = setUp({ declared: { ...DECLARED_TABLE, withoutId } });
    for (const path of ["//one/y", "/ONE/y", "/one%2Fy", "/one;a/y"]) {
      const problem = await problemOf(await request(path));
      expect([slug(problem), problem["detail"]]).toEqual(["unrouted-path", expect.stringMatching(/read this path as/)]);
    }
    expect(seen).toEqual([]);
    for (const [path, region] of [
      ["/one/", "eu"],
      ["/one//y", "eu"],
      ["//x", "us"],
      ["/one", "us"],
    ] as const) {
      expect((await request(path)).headers.get("waybill-region")).toBe(region);
    }
  });

  it("an entity's path is never taken for one without an ID", async () => {
    const { request, seen } = gateway();
    const home = { headers: { "x-home-region": "ap" } };
    expect((await request(`/orders/${IDS.orderDe}`, home)).headers.get("waybill-region")).toBe("eu");
    expect(slug(await problemOf(await request("/orders/17", home)))).toBe("malformed-id");
    expect(seen).toHaveLength(1);
  });
});

describe("what says no region is refused, and asks no origin", () => {
  it.each<[string, RequestInit, string, number, object]>([
    [
      "/orders",
      {},
      "region-unknown",
      400,
      {
        path: "/orders",
        sources: ["header x-home-region", "claim region of the token in authorization", "cookie home"],
      },
    ],
    ["/near", at("BR", "SA"), "region-unknown", 400, { path: "/near" }],
    [
      "/orders",
      { headers: { "x-home-region": "mars" } },
      "unknown-name",
      422,
      { name: "mars", known: ["eu", "us", "ap"] },
    ],
    [
      "/login",
      { method: "POST", headers: { "x-market": "eu" } },
      "unknown-name",
      422,
      { name: "eu", known: ["kz", "br"] },
    ],
    [
      "/orders",
      { headers: { authorization: `Bearer ${tokenOf({ region: 7 })}`, cookie: "home=eu" } },
      "unknown-name",
      422,
      { name: "7" },
    ],
    ["/orders", { headers: { authorization: `Bearer ${"a".repeat(16_385)}` } }, "malformed-request", 400, {}],
    ["/login", {}, "method-not-allowed", 405, { allow: ["POST", "OPTIONS"] }],
    ["/files/a", { method: "POST" }, "method-not-allowed", 405, { allow: ["GET", "HEAD"] }],
    ["/login/", { method: "POST" }, "unrouted-path", 404, {}],
    ["/files", {}, "unrouted-path", 404, {}],
    ["/%6cogin", { method: "POST" }, "unrouted-path", 404, {}],
  ])("%# %s is %s", async (path, init, expected, status, evidence) => {
    const { request, seen, lines, defects } = gateway();
    const response = await request(path, init);
    const problem = await problemOf(response);
    expect([slug(problem), response.status]).toEqual([expected, status]);
    expect(problem).toMatchObject(evidence);
    if (status === 405) expect(response.headers.get("allow")).toBe((evidence as { allow: string[] }).allow.join(", "));
    expect(response.headers.has("set-cookie")).toBe(false);
    expect([seen, defects]).toEqual([[], []]);
    expect(lines).toMatchObject([{ outcome: expected }]);
  });

  it("without the part in the table such a path is unrouted", async () => {
    const response = await setUp().request("/orders", { headers: { "x-home-region": "eu" } });
    expect(slug(await problemOf(response))).toBe("unrouted-path");
  });
});

describe("a client stays in the region that was chosen for it", () => {
  const COOKIE = "waybill-region=ap; Path=/; Max-Age=86400; HttpOnly; SameSite=Lax";
  const login = (init: RequestInit) => ["/login", { method: "POST", ...init }] as const;

  it("by a cookie, which is read on the next request wherever the client is then", async () => {
    const { request } = gateway();
    const first = await request(...login(at("KZ", "AS")));
    expect(first.headers.getSetCookie()).toEqual([COOKIE]);
    const second = await request(...login({ ...at("DE", "EU"), headers: { cookie: COOKIE.split(";", 1)[0] ?? "" } }));
    expect(second.headers.get("waybill-region")).toBe("ap");
    expect(second.headers.has("set-cookie")).toBe(false);
  });

  it("beside the cookies of the origin", async () => {
    const { request } = gateway(() => {
      const headers = new Headers({ "set-cookie": "session=1; HttpOnly" });
      headers.append("set-cookie", "theme=dark");
      return new Response("in", { status: 201, headers });
    });
    const response = await request(...login(at("KZ")));
    expect(response.headers.getSetCookie()).toEqual(["session=1; HttpOnly", "theme=dark", COOKIE]);
  });

  it.each<[string, RequestInit, string]>([
    ["the continent", at("DE", "EU"), "eu"],
    ["the last resort", at(), "us"],
    ["what is left when the cookie names no region", { ...at("KZ"), headers: { cookie: "waybill-region=gone" } }, "ap"],
  ])("also when %s decided", async (_, init, region) => {
    const response = await gateway().request(...login(init));
    expect(response.headers.getSetCookie()[0]).toContain(`waybill-region=${region};`);
  });

  it("but not on the answer that opens a WebSocket, which is passed on as it is", async () => {
    const { 0: client, 1: server } = new WebSocketPair();
    server.accept();
    const { request } = gateway(() => new Response(null, { status: 101, webSocket: client }));
    const response = await request("/near", { ...at("KZ"), headers: { upgrade: "websocket", connection: "upgrade" } });
    expect([response.status, response.headers.has("set-cookie")]).toEqual([101, false]);
    response.webSocket?.accept();
    response.webSocket?.close();
    server.close();
  });

  it("but not when the request itself said it, or no origin answered", async () => {
    const said = await gateway().request(...login({ ...at("KZ"), headers: { "x-market": "br" } }));
    expect([said.headers.get("waybill-region"), said.headers.has("set-cookie")]).toEqual(["us", false]);
    const broken = gateway(() => {
      throw new Error("connection refused");
    });
    const failed = await broken.request(...login(at("KZ")));
    expect([failed.status, failed.headers.has("set-cookie")]).toEqual([502, false]);
  });
});

describe("within the region", () => {
  const originsOf = async (init: (at: number) => RequestInit) => {
    const { request, seen } = gateway();
    for (let count = 0; count < 40; count++) await request("/spread", init(count));
    return new Set(seen.map(({ url }) => new URL(url).host));
  };

  it("one client keeps one origin, by its credentials or its address", async () => {
    const authorization = "Basic YTpi";
    const here = (count: number) => ({ headers: { authorization, "cf-connecting-ip": `192.0.2.${count}` } });
    expect(await originsOf(here)).toHaveLength(1);
    expect(await originsOf(() => ({ headers: { "cf-connecting-ip": "192.0.2.1" } }))).toHaveLength(1);
  });

  it("many clients have them all, those without an address too", async () => {
    expect(await originsOf((count) => ({ headers: { "cf-connecting-ip": `192.0.2.${count}` } }))).toHaveLength(2);
    expect(await originsOf((count) => ({ headers: { authorization: `Bearer ${count}` } }))).toHaveLength(2);
    expect(await originsOf(() => ({}))).toHaveLength(2);
  });
});

describe("an origin that names another region", () => {
  it("is followed once, and nothing of it is remembered", async () => {
    const { request, seen } = gateway(({ url }) =>
      url.startsWith("http://eu.test/")
        ? new Response(null, { status: 421, headers: { "waybill-region": "us" } })
        : new Response("here"),
    );
    for (const _ of [1, 2]) expect((await request("/files/a")).headers.get("waybill-region")).toBe("us");
    expect(seen.map(({ url }) => new URL(url).host)).toEqual(["eu.test", "us.test", "eu.test", "us.test"]);
  });
});

describe("a list of public entities", () => {
  const table = {
    ...declared,
    entities: { ...declared.entities, order: { ...declared.entities.order, public: true } },
    withoutId: {
      lists: {
        path: "/orders",
        sources: [{ region: "eu" }],
        publicFields: [{ path: "/*/id", entity: "order" }],
        otherBodies: "refuse",
      },
    },
  };
  const publicKeys = publicKeysOf(JSON.stringify({ sealed: [{ id: "2026", key: btoa("k".repeat(32)) }] }));
  const list = (body: string, headers: Record<string, string>) =>
    setUp({ declared: table, publicKeys, origin: () => new Response(body, { headers }) }).request("/orders");

  it("shows their public IDs alone", async () => {
    const body = JSON.stringify([{ id: IDS.orderDe }, { id: IDS.orderBr }]);
    const response = await list(body, { "content-type": "application/json", location: `/orders/${IDS.orderDe}` });
    const text = await response.text();
    expect(JSON.parse(text)).toHaveLength(2);
    for (const internal of [IDS.orderDe, IDS.orderBr]) expect(text).not.toContain(internal);
    expect(response.headers.get("location")).toMatch(/^\/orders\/.{22,}$/);
    expect(response.headers.get("location")).not.toContain(IDS.orderDe);
  });

  it("is withheld where IDs cannot be sought", async () => {
    const response = await list(IDS.orderDe, { "content-type": "text/plain" });
    expect(slug(await problemOf(response))).toBe("answer-withheld");
  });
});

describe("/-/openapi.json", () => {
  interface Operation {
    readonly operationId: string;
  }
  interface Item extends Readonly<Record<string, unknown>> {
    readonly parameters: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  }
  const pathsOf = async () => {
    const response = await gateway().request("/-/openapi.json");
    return (await response.json<{ paths: Record<string, Item> }>()).paths;
  };
  const namesOf = (item: Item | undefined) => item?.parameters.map((each) => `${each.in} ${each.name}`);

  it("lists these paths with their methods and what says the region", async () => {
    const paths = await pathsOf();
    expect(Object.keys(paths["/login"] ?? {})).toEqual(["parameters", "post", "options"]);
    expect(paths["/files/{rest}"]).toBeUndefined();
    expect(Object.keys(paths["/files/{segment1}"] ?? {})).toEqual(["parameters", "get", "head"]);
    expect(namesOf(paths["/login"])).toEqual(["header x-market", "cookie waybill-region"]);
    expect(namesOf(paths["/v2/{segment1}/orders"])).toEqual(["path segment1", "header x-home-region", "cookie home"]);
  });

  it("names the field that says an ID's layout, on entity paths and on /any", async () => {
    const paths = await pathsOf();
    for (const path of ["/any/{id}", "/orders/{id}"]) {
      expect(namesOf(paths[path])).toEqual(["path id", "header id-layout"]);
    }
  });

  it("gives each operation a name of its own", async () => {
    const paths = await pathsOf();
    const names = Object.values(paths).flatMap((item) =>
      Object.entries(item).flatMap(([key, value]) => (key === "parameters" ? [] : [(value as Operation).operationId])),
    );
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain("get_lists.3");
  });
});
