import { describe, expect, it } from "vitest";
import { ok } from "../../../src/ids/result.ts";
import type { Gateway } from "../../../src/ports/gateway.ts";
import { TABLE } from "../directory/table.ts";
import { problemOf, setUp, slug } from "../harness.ts";
import { type Listed, listTable, type Order, orderId, pagingOrigin } from "./regions.ts";

const MS = Date.UTC(2026, 0, 1);

const order = (region: string, at: number, random = at): Order => ({ id: orderId(region, MS + at, random), at });

const DATA = {
  eu: [1, 4, 7, 10].map((at) => order("eu", at)),
  us: [2, 5, 8].map((at) => order("us", at)),
  ap: [3, 6, 9, 12, 15].map((at) => order("ap", at)),
};

const ALL = Object.values(DATA)
  .flat()
  .sort((a, b) => a.at - b.at);

describe("GET on a collection", () => {
  it("merges the pages of all regions in order", async () => {
    const { request, seen } = setUp({
      declared: listTable({ pageSizeQuery: "size", pageSize: 2 }),
      origin: pagingOrigin(DATA, 2),
    });
    const response = await request("/orders?status=open&limit=1000", {
      headers: { authorization: "Bearer x", "if-none-match": "*", range: "bytes=0-1" },
    });
    expect(response.status).toBe(200);
    const listed = await response.json<Listed>();
    expect(listed.items).toEqual(ALL);
    expect(listed.next).toBe(null);
    expect(listed.summary.partial).toEqual([]);
    expect(listed.summary.regions).toEqual({
      eu: { state: "done", items: 4 },
      us: { state: "done", items: 3 },
      ap: { state: "done", items: 5 },
    });
    expect(seen.map(({ url }) => url).sort()[0]).toMatch(/^http:\/\/ap-[12]\.test\/orders\?status=open&size=2$/);
    for (const { headers } of seen) {
      expect(headers.get("authorization")).toBe("Bearer x");
      expect(headers.get("if-none-match")).toBe(null);
      expect(headers.get("range")).toBe(null);
      expect(headers.get("accept-encoding")).toBe("identity");
    }
  });

  it("goes on with a cursor where it was left", async () => {
    const { request } = setUp({ declared: listTable({ pageSize: 2 }), origin: pagingOrigin(DATA, 2) });
    const items: Order[] = [];
    let cursor: string | null = null;
    let answers = 0;
    do {
      const listed: Listed = await (
        await request(`/orders?limit=5${cursor === null ? "" : `&cursor=${cursor}`}`)
      ).json();
      items.push(...listed.items);
      cursor = listed.next;
      answers++;
    } while (cursor !== null && answers < 10);
    expect(items).toEqual(ALL);
    expect(answers).toBe(3);
  });

  it("answers lines by accept", async () => {
    const { request } = setUp({ declared: listTable(), origin: pagingOrigin(DATA, 100) });
    const response = await request("/orders", { headers: { accept: "application/x-ndjson" } });
    const lines = (await response.text())
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.slice(0, -1)).toEqual(ALL);
    expect(lines.at(-1)).toMatchObject({ summary: { next: null, partial: [] } });
  });

  it("is partial without a region that fails, on every later page, and offers the gap", async () => {
    const page = pagingOrigin(DATA, 2);
    let isDown = true;
    const origin = (request: Request) =>
      isDown && new URL(request.url).host === "us.test" ? new Response("", { status: 500 }) : page(request);
    const { request } = setUp({ declared: listTable({ pageSize: 2 }), origin });
    const response = await request("/orders?limit=5");
    expect(response.headers.get("waybill-partial")).toBe("us");
    const first = await response.json<Listed>();
    expect(first.summary.regions["us"]).toEqual({ state: "missing", items: 0, fault: "status-500" });
    isDown = false;
    const second = await request(`/orders?limit=5&cursor=${first.next}`);
    expect(second.headers.get("waybill-partial")).toBe("us");
    const rest = await second.json<Listed>();
    expect([...first.items, ...rest.items]).toEqual(ALL.filter(({ id }) => !DATA.us.some((one) => one.id === id)));
    const gap = await (await request(`/orders?limit=5&cursor=${rest.summary.gap}`)).json<Listed>();
    expect(gap.items).toEqual(DATA.us);
    expect(gap.next).toBe(null);
    expect(gap.summary.partial).toEqual([]);
  });

  it("is a problem where the table wants all or nothing, or no region answers", async () => {
    const page = pagingOrigin(DATA, 2);
    const origin = (request: Request) =>
      new URL(request.url).host === "us.test" ? new Response("", { status: 503 }) : page(request);
    const { request } = setUp({ declared: listTable({ partial: "refuse" }), origin });
    const problem = await problemOf(await request("/orders"));
    expect([slug(problem), problem["regions"]]).toEqual(["list-incomplete", { us: "status-503" }]);
    const down = setUp({ declared: listTable(), origin: () => new Response("", { status: 500 }) });
    expect(slug(await problemOf(await down.request("/orders")))).toBe("list-incomplete");
    const refusing = setUp({
      declared: listTable(),
      origin: () =>
        new Response("who?", {
          status: 401,
          headers: { "www-authenticate": "Bearer", "waybill-region": "mars", "proxy-connection": "x" },
        }),
    });
    const refused = await refusing.request("/orders");
    expect([refused.status, await refused.text(), refused.headers.get("www-authenticate")]).toEqual([
      401,
      "who?",
      "Bearer",
    ]);
    expect([refused.headers.get("waybill-region"), refused.headers.get("proxy-connection")]).toEqual(["eu", null]);
  });
});

describe("a list without an order, or with filters", () => {
  const slow = (late: Promise<void>) => async (request: Request) => {
    if (new URL(request.url).host === "us.test") await late;
    return pagingOrigin(DATA, 2)(request);
  };

  async function firstLine(response: Response): Promise<{ line: string; rest: () => Promise<string> }> {
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    let text = "";
    while (!text.includes("\n")) text += decoder.decode((await reader.read()).value, { stream: true });
    const rest = async () => {
      for (let piece = await reader.read(); !piece.done; piece = await reader.read())
        text += decoder.decode(piece.value);
      return text;
    };
    return { line: text.slice(0, text.indexOf("\n")), rest };
  }

  it("gives its first item before the slowest region's first page", async () => {
    let arrive: () => void = () => undefined;
    const origin = slow(new Promise((resolve) => (arrive = resolve)));
    const { request } = setUp({ declared: listTable({ order: "none" }), origin });
    const response = await request("/orders", { headers: { accept: "application/x-ndjson" } });
    const { line, rest } = await firstLine(response);
    expect(ALL).toContainEqual(JSON.parse(line));
    arrive();
    const lines = (await rest())
      .trimEnd()
      .split("\n")
      .map((one) => JSON.parse(one));
    expect(lines.slice(0, -1)).toHaveLength(ALL.length);
    expect(lines.at(-1)).toMatchObject({ summary: { next: null, partial: [] } });
  });

  it("leaves out a region by country, and answers in order without it", async () => {
    const { request, seen } = setUp({
      declared: listTable({ filters: { country: "country", region: "region" } }),
      origin: slow(new Promise(() => undefined)),
    });
    const listed = await (await request("/orders?country=KZ,DE")).json<Listed>();
    expect(listed.items).toEqual(ALL.filter((one) => !DATA.us.includes(one)));
    expect(seen.some(({ url }) => url.includes("us.test"))).toBe(false);
    const one = await (await request("/orders?region=ap")).json<Listed>();
    expect(one.items).toEqual(DATA.ap);
    for (const query of ["country=XX", "region=mars"]) {
      expect(slug(await problemOf(await request(`/orders?${query}`)))).toBe("unknown-name");
    }
  });

  it("goes to one region where the client names it", async () => {
    const entry = { path: "/orders", methods: ["GET"], sources: [{ header: "x-region" }, { region: "us" }] };
    const declared = listTable({}, { withoutId: { orders: entry } });
    const { request, seen } = setUp({ declared, origin: pagingOrigin(DATA, 2) });
    const own = await request("/orders", { headers: { "x-region": "eu" } });
    expect(await own.json<Listed>()).toEqual({ items: DATA.eu.slice(0, 2), next: "2" });
    expect(seen).toHaveLength(1);
    expect((await (await request("/orders")).json<Listed>()).items).toEqual(ALL);
    expect((await request("/orders", { headers: { "x-region": "mars" } })).status).toBe(422);
  });

  it("answers HEAD without asking anybody, and leaves other methods alone", async () => {
    const { request, seen } = setUp({ declared: listTable(), origin: pagingOrigin(DATA, 2) });
    const head = await request("/orders", { method: "HEAD" });
    expect([head.status, head.headers.get("content-type"), await head.text()]).toEqual([200, "application/json", ""]);
    expect((await request("/orders?limit=0", { method: "HEAD" })).status).toBe(400);
    for (const method of ["POST", "DELETE"]) expect((await request("/orders", { method })).status).toBe(405);
    expect((await request("/orders/", {})).status).toBe(404);
    expect(seen).toEqual([]);
  });

  it("ends early with a cursor when it has asked for enough pages", async () => {
    const { request, seen } = setUp({
      declared: listTable({ pagesMax: 4, pageSize: 1 }),
      origin: pagingOrigin(DATA, 1),
    });
    const listed = await (await request("/orders?limit=1000")).json<Listed>();
    expect(seen).toHaveLength(4);
    expect(listed.items.length).toBeGreaterThan(0);
    expect(listed.items).toEqual(ALL.slice(0, listed.items.length));
    expect(listed.next).not.toBe(null);
  });

  it("counts each page against the limit of the entity, and ends early there", async () => {
    let left = 5;
    const counted: [string, number][] = [];
    const entity = {
      max: 100,
      waitSeconds: async (key: string, count = 1) => {
        counted.push([key, count]);
        left -= count;
        return left < 0 ? 3 : 0;
      },
    };
    const { request, seen, lines } = setUp({
      declared: listTable({ pageSize: 1 }),
      origin: pagingOrigin(DATA, 1),
      gateway: { rateLimits: { client: undefined, entity, lookup: undefined } },
    });
    const listed = await (await request("/orders?limit=1000")).json<Listed>();
    expect(seen).toHaveLength(5);
    expect(listed.items).toEqual(ALL.slice(0, listed.items.length));
    expect([listed.summary.partial, listed.next === null]).toEqual([[], false]);
    expect(counted[0]).toEqual([expect.stringMatching(/^order /), 3]);
    expect(lines[0]).toMatchObject({ entity: "order", outcome: "own", status: 200, attempts: 3, asked: 3 });
    const refused = await request(`/orders?limit=1000&cursor=${listed.next}`);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "3"]);
  });

  it("can be read by web pages that the table allows", async () => {
    const declared = listTable({}, { cors: { origins: ["https://app.example.com"] } });
    const { request } = setUp({ declared, origin: pagingOrigin(DATA, 100) });
    const response = await request("/orders", { headers: { origin: "https://app.example.com" } });
    expect(response.headers.get("access-control-allow-origin")).toBe("https://app.example.com");
    expect(response.headers.get("access-control-expose-headers")).toContain("waybill-partial");
  });
});

describe("a list whose owners a directory says", () => {
  const list = { items: "/items", id: "/slug", order: { by: { member: "/slug", type: "string" }, direction: "asc" } };
  const declared = { ...TABLE, entities: { ...TABLE.entities, shop: { ...TABLE.entities.shop, list } } };
  const shops = (region: string) =>
    Array.from({ length: 50 }, (_, at) => ({ slug: `${region}-${String(at).padStart(2, "0")}` }));
  const origin = (request: Request) => {
    const region = new URL(request.url).host.slice(0, 2);
    // Each also has one of the other's, and one that no directory knows.
    const others = [{ slug: region === "eu" ? "us-00" : "eu-00" }, { slug: "zz" }];
    const items = [...shops(region), ...others].sort((a, b) => (a.slug < b.slug ? -1 : 1));
    return Response.json({ items });
  };

  it("takes each from the region that has it, and waits for look-ups together", async () => {
    let running = 0;
    let most = 0;
    const directory: Gateway["directory"] = {
      async lookup(_, key) {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 1));
        running--;
        const region = key.slice(0, 2);
        return ok(
          region === "zz" ? { state: "absent", source: "object" } : { state: "found", region, source: "object" },
        );
      },
      compared: () => undefined,
      forget: async () => undefined,
      forgetMany: () => undefined,
    };
    const { request } = setUp({ declared, origin, gateway: { directory } });
    const listed = await (await request("/shops?limit=1000")).json<Listed>();
    expect(listed.items).toEqual([...shops("eu"), ...shops("us")]);
    expect(listed.summary.regions["eu"]).toEqual({ state: "done", items: 50, elsewhere: 2 });
    expect(most).toBeGreaterThan(20);
  });

  it("has no items of a region whose owners nothing can say", async () => {
    const directory: Gateway["directory"] = {
      lookup: async () => ({
        ok: false,
        error: { reason: "directory-unavailable", directory: "slug", retryAfterSeconds: 1, why: "failed" },
      }),
      compared: () => undefined,
      forget: async () => undefined,
      forgetMany: () => undefined,
    };
    const { request } = setUp({ declared, origin, gateway: { directory } });
    const problem = await problemOf(await request("/shops"));
    expect(problem["regions"]).toEqual({ eu: "owner-unknown", us: "owner-unknown" });
  });
});
