import { describe, expect, it } from "vitest";
import { ok } from "../../../src/ids/result.ts";
import { problemOf, setUp, slug } from "../harness.ts";
import { type Listed, listTable, orderId, pagingOrigin } from "./regions.ts";

const MS = Date.UTC(2026, 0, 1);
const item = (region: string, at: number) => ({ id: orderId(region, MS + at, at), at });
const EU = [item("eu", 1), item("eu", 4)];
const regionOf = ({ url }: Request) => new URL(url).host.slice(0, 2);

/** Only `us` answers as given; the others have good lists. */
const withUs = (us: (request: Request, turn: number) => Response | Promise<Response>) => {
  let turn = 0;
  const good = pagingOrigin({ eu: EU, ap: [] }, 100);
  return (request: Request) => (regionOf(request) === "us" ? us(request, turn++) : good(request));
};

const deep = (depth: number) => `${"[".repeat(depth + 1)}${"]".repeat(depth + 1)}`;

const json = (body: unknown, headers: HeadersInit = {}) => Response.json(body, { headers });

describe("a region that gives what it should not", () => {
  it.each<[string, string, (request: Request, turn: number) => Response | Promise<Response>]>([
    ["no JSON", "malformed-page", () => new Response("<html>")],
    ["half a page", "malformed-page", () => new Response('{"items":[{"id":"')],
    ["a comment", "malformed-page", () => new Response('{"items":[/* */]}')],
    ["two arrays of items", "malformed-page", () => new Response('{"items":[],"items":[]}')],
    ["no UTF-8", "malformed-page", () => new Response(new Uint8Array([0x7b, 0xff, 0x7d]))],
    ["no array", "malformed-page", () => json({ items: {} })],
    ["an array elsewhere", "malformed-page", () => json({ a: { items: [] } })],
    ["an item that is no JSON", "malformed-page", () => new Response('{"items":[{"id":01}]}')],
    ["an item that is nested deep", "malformed-page", () => new Response(`{"items":[${deep(64)}]}`)],
    ["what is nested deep before its items", "malformed-page", () => new Response(`{"a":${deep(64)},"items":[]}`)],
    ["what is nested deep after its items", "malformed-page", () => new Response(`{"items":[],"a":${deep(64)}}`)],
    ["a huge page", "page-too-large", () => json({ items: [], pad: "x".repeat(70_000) })],
    ["a huge page in chunks", "page-too-large", () => new Response(endless())],
    ["more items than a page may have", "too-many-items", () => json({ items: Array(101).fill(item("us", 1)) })],
    ["an item without an ID", "item-without-id", () => json({ items: [{ at: 1 }] })],
    ["an ID that is none", "item-without-id", () => json({ items: [{ id: "x/../y", at: 1 }] })],
    ["an item without its key", "item-without-key", () => json({ items: [{ ...item("us", 1), at: null }] })],
    ["a key of another type", "item-without-key", () => json({ items: [{ ...item("us", 1), at: "abc" }] })],
    ["items out of order", "out-of-order", () => json({ items: [item("us", 5), item("us", 2)] })],
    [
      "pages out of order",
      "out-of-order",
      (_, turn) => json(turn === 0 ? { items: [item("us", 5)], next: "2" } : { items: [item("us", 3)] }),
    ],
    ["the same page for ever", "endless-pages", () => json({ items: [], next: "1" })],
    ["empty pages without end", "endless-pages", (_, turn) => json({ items: [], next: String(turn) })],
    ["a cursor that is too long", "malformed-next", () => json({ items: [], next: "x".repeat(5000) })],
    ["a cursor that is none", "malformed-next", () => json({ items: [], next: { a: 1 } })],
    ["a cursor with half a surrogate pair", "malformed-next", () => new Response('{"items":[],"next":"\\ud800"}')],
    ["a cursor with the other half", "malformed-next", () => new Response('{"items":[],"next":"a\\udc00b"}')],
    ["an ID with half a surrogate pair", "item-without-id", () => new Response('{"items":[{"id":"\\ud800","at":1}]}')],
    ["a cursor that is true", "malformed-next", () => json({ items: [], next: true })],
    ["another status", "status-302", () => new Response(null, { status: 302, headers: { location: "/x" } })],
    ["no answer", "timeout", () => new Promise(() => undefined)],
    ["an answer that stops", "timeout", () => new Response(stopping())],
    ["an unreachable origin", "origin-unreachable", () => Promise.reject(new Error("Network connection lost."))],
    [
      "another region",
      "origins-disagree",
      () => new Response(null, { status: 421, headers: { "waybill-region": "eu" } }),
    ],
  ])("%s: %s", async (_, fault, us) => {
    const { request, seen } = setUp({
      declared: listTable({ regionDeadlineMs: 300, pageBytesMax: 65_536 }),
      origin: withUs(us),
    });
    const response = await request("/orders");
    const { items, summary } = await response.json<Listed>();
    expect(summary.regions["us"]).toMatchObject({ state: "missing", fault });
    expect(summary.partial).toEqual(["us"]);
    expect(items.filter(({ id }) => EU.some((one) => one.id === id))).toEqual(EU);
    expect(seen.length).toBeLessThan(210);
  });

  it("items of other regions do not count, and doubled ones once", async () => {
    const own = item("us", 3);
    const us = () => json({ items: [item("eu", 1), own, own, item("ap", 9)] });
    const { request } = setUp({ declared: listTable(), origin: withUs(us) });
    const { items, summary } = await (await request("/orders")).json<Listed>();
    expect(items).toEqual([EU[0], own, EU[1]]);
    expect(summary.regions["us"]).toEqual({ state: "done", items: 1, elsewhere: 2 });
  });

  it.each([
    ["http://169.254.169.254/orders?after=1"],
    ["//evil.test/orders?after=1"],
    ["https://us.test/base/orders?after=1"],
    ["/orders/../admin?after=1"],
    ["/other?after=1"],
    ["/orders?after=1#x"],
    ["/orders"],
  ])("the next page %s is not followed", async (next) => {
    const us = () => json({ items: [], next });
    const { request, seen } = setUp({ declared: listTable({ next: { member: "/next" } }), origin: withUs(us) });
    const { summary } = await (await request("/orders")).json<Listed>();
    expect(summary.regions["us"]).toMatchObject({ fault: "malformed-next" });
    expect(seen).toHaveLength(3);
  });

  // RFC 8259 §6: a number is a text first, and 2^53 is where doubles cease to be exact.
  it.each([
    "0",
    "-0",
    "7",
    "2097152000000135168",
    "-9223372036854775808",
    "18446744073709551615",
    "1.0",
    "1.50",
    "1e3",
    "1E+400",
    "-1e-7",
  ])("the number %s is followed as it is written", async (next) => {
    const us = ({ url }: Request) =>
      url.includes("after=")
        ? json({ items: [item("us", 2)] })
        : new Response(`{"items":[],"page":[0,{"next": ${next} }]}`);
    const declared = listTable({ next: { cursor: "/page/1/next", query: "after" } });
    const { request, seen } = setUp({ declared, origin: withUs(us) });
    const { items, summary } = await (await request("/orders")).json<Listed>();
    expect(summary.regions["us"]).toEqual({ state: "done", items: 1 });
    expect(items).toContainEqual(item("us", 2));
    const after = seen.map(({ url }) => /[?&]after=([^&]*)/.exec(url)?.[1]).filter((each) => each !== undefined);
    expect(after).toEqual([encodeURIComponent(next)]);
  });

  it.each<[string, string | null | undefined]>([
    ['</orders?page=1>; title="; rel=next"; rel="prev"', undefined],
    ['</orders?page=0>; rel="prev", </orders?page=2>; rel="next"', "page=2"],
    ["</orders?page=0>; rel=prev; rel=next", undefined],
    ["garbage", null],
  ])("of the links %s the next is %s", async (link, query) => {
    const us = ({ url }: Request) =>
      url.endsWith("/orders") ? json({ items: [] }, { link }) : json({ items: [item("us", 2)] });
    const { request, seen } = setUp({ declared: listTable({ next: { link: true } }), origin: withUs(us) });
    const { summary } = await (await request("/orders")).json<Listed>();
    expect(summary.regions["us"]?.fault).toBe(query === null ? "malformed-next" : undefined);
    const asked = seen.map(({ url }) => new URL(url)).filter(({ host }) => host.startsWith("us"));
    expect(asked.map(({ search }) => search)).toEqual(["", ...(query ? [`?${query}`] : [])]);
  });

  // RFC 9110 §8.4.1: codings have no case.
  it.each<[string, string | null]>([
    ["GZIP", null],
    ["x-gzip", null],
    ["zstd", "zstd"],
  ])("what all regions refuse in the coding %s can be read by the client", async (coding, shown) => {
    const { body } = new Response("no");
    const bytes = await new Response(body?.pipeThrough(new CompressionStream("gzip"))).arrayBuffer();
    const headers = { "content-encoding": coding, "www-authenticate": "Bearer" };
    const origin = () => new Response(bytes, { status: 401, headers, encodeBody: "manual" });
    const { request } = setUp({ declared: listTable(), origin });
    const response = await request("/orders");
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(response.headers.get("content-encoding")).toBe(shown);
    const got = new Uint8Array(await response.arrayBuffer());
    expect(got).toEqual(shown === null ? new TextEncoder().encode("no") : new Uint8Array(bytes));
  });

  it("keeps every digit and every member as it is written", async () => {
    const text = `{"id":${JSON.stringify(EU[0]?.id)},"at":9007199254740993,\n"sum":1.10,"big":123456789012345678901234567890}`;
    const origin = (request: Request) =>
      new Response(regionOf(request) === "eu" ? `{"items":[ ${text} ]}` : '{"items":[]}');
    const { request } = setUp({ declared: listTable(), origin });
    expect(await (await request("/orders")).text()).toContain(text.replace("\n", " "));
  });

  it("asks a few at a time of all answers together, and each goes on", async () => {
    let running = 0;
    let most = 0;
    const good = pagingOrigin({ eu: EU, ap: [], us: [item("us", 2)] }, 1);
    const origin = async (request: Request) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running--;
      return good(request);
    };
    // Waiting for the others is no fault of a region.
    const { request } = setUp({ declared: listTable({ regionDeadlineMs: 1000 }), origin });
    const asked = Array.from({ length: 60 }, async () => (await request("/orders")).json<Listed>());
    for (const { items, summary } of await Promise.all(asked)) {
      expect(items).toEqual([EU[0], item("us", 2), EU[1]]);
      expect(summary.partial).toEqual([]);
    }
    expect(most).toBeLessThanOrEqual(64 + 60);
    expect(most).toBeGreaterThan(20);
  });

  const MIB = 1024 * 1024;
  const large = listTable({ pageBytesMax: 4 * MIB });
  const largePages = (request: Request) =>
    json({
      items: Array.from({ length: 7 }, (_, at) => ({ ...item(regionOf(request), at), pad: "x".repeat(MIB / 2) })),
    });

  /** A client that takes the first part and no more. */
  const stalled = async (answer: Response) => {
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    expect((await reader.read()).done).toBe(false);
    return reader;
  };

  it("has pages of all answers together up to 32 MiB, and frees them at every end", async () => {
    let isGood = true;
    const origin = (request: Request) => (isGood ? largePages(request) : new Response("", { status: 500 }));
    const { request } = setUp({ declared: large, origin, deadlines: { idleMs: 0 } });
    const isRefused = async () => {
      const answer = await request("/orders");
      const problem = await problemOf(answer);
      expect([answer.status, slug(problem)]).toEqual([503, "list-incomplete"]);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(Object.values(problem["regions"] as object)).toContain("overloaded");
    };
    const readers = [];
    for (let count = 0; count < 3; count++) readers.push(await stalled(await request("/orders")));
    await isRefused();
    // Room comes from a client that leaves, from an answer that ends, and from one that fails.
    await readers[0]?.cancel();
    const whole = await request("/orders");
    await isRefused();
    expect((await whole.json<Listed>()).items).toHaveLength(21);
    isGood = false;
    expect((await request("/orders")).status).toBe(503);
    isGood = true;
    readers.push(await stalled(await request("/orders")));
    await isRefused();
    for (const reader of readers) await reader.cancel();
    expect((await (await request("/orders")).json<Listed>()).items).toHaveLength(21);
  });

  it("cuts a client off that takes nothing, and frees its pages", async () => {
    const { request } = setUp({ declared: large, origin: largePages, deadlines: { idleMs: 200 } });
    const readers = [];
    for (let count = 0; count < 3; count++) readers.push(await stalled(await request("/orders")));
    await new Promise((resolve) => setTimeout(resolve, 600));
    for (const reader of readers) await expect(reader.read()).rejects.toThrow("takes nothing");
    expect((await (await request("/orders")).json<Listed>()).items).toHaveLength(21);
  });

  it("asks no other region for a region's list", async () => {
    const origin = (request: Request) => {
      if (regionOf(request) === "eu") throw new Error("Network connection lost.");
      return json({ items: [] });
    };
    const { request, seen } = setUp({ declared: listTable(), origin });
    const { summary } = await (await request("/orders")).json<Listed>();
    expect(summary.partial).toEqual(["eu"]);
    expect(seen.filter(({ url }) => url.startsWith("http://us.test"))).toHaveLength(1);
  });

  it("is cut off where all was wanted and a region fails late", async () => {
    const many = Array.from({ length: 3000 }, (_, at) => ({ ...item("us", at), pad: "x".repeat(1000) }));
    const page = pagingOrigin({ us: many, eu: [], ap: [] }, 100);
    const origin = (request: Request) =>
      request.url.includes("after=2500") ? new Response("", { status: 500 }) : page(request);
    const declared = listTable({ partial: "refuse", limit: { max: 5000, default: 5000 } });
    const { request, broken } = setUp({ declared, origin });
    const response = await request("/orders");
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
    expect(broken).toEqual(["order: list-incomplete"]);
    const short = await setUp({
      declared: listTable({ partial: "refuse" }),
      origin: (asked) =>
        regionOf(asked) === "us" && asked.url.includes("after")
          ? new Response("", { status: 500 })
          : pagingOrigin({ us: many.slice(0, 300), eu: [], ap: [] }, 100)(asked),
    }).request("/orders?limit=150");
    expect(slug(await problemOf(short))).toBe("list-incomplete");
  });
});

function endless(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(10_000).fill(32)) });
}

function stopping(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{"items":[')) });
}

describe("a cursor", () => {
  const origin = pagingOrigin({ eu: EU, us: [item("us", 2)], ap: [item("ap", 3)] }, 100);
  const start = async (options: Parameters<typeof setUp>[0] = {}) => {
    const gateway = setUp({ declared: listTable({ filters: { region: "region" } }), origin, ...options });
    const { next } = await (await gateway.request("/orders?limit=1&a=1")).json<Listed>();
    return { ...gateway, cursor: next as string };
  };
  const why = async (response: Promise<Response>) => {
    const problem = await problemOf(await response);
    return [slug(problem), problem["why"]];
  };

  it("is for one list with its parameters, one caller, and a time", async () => {
    const { request, cursor } = await start();
    expect((await request(`/orders?limit=5&a=1&cursor=${cursor}`)).status).toBe(200);
    expect(await why(request(`/orders?a=2&cursor=${cursor}`))).toEqual(["list-cursor-invalid", "other-list"]);
    expect(await why(request(`/orders?cursor=${cursor}`))).toEqual(["list-cursor-invalid", "other-list"]);
    const other = request(`/orders?a=1&cursor=${cursor}`, { headers: { authorization: "Bearer other" } });
    expect(await why(other)).toEqual(["list-cursor-invalid", "other-caller"]);
    const late = setUp({ declared: listTable(), origin, nowMs: Date.now() + 86_402_000 });
    expect(await why(late.request(`/orders?a=1&cursor=${cursor}`))).toEqual(["list-cursor-invalid", "expired"]);
    const gateway = { cursorKeys: [new TextEncoder().encode("another secret")] };
    const stranger = setUp({ declared: listTable(), origin, gateway });
    expect(await why(stranger.request(`/orders?a=1&cursor=${cursor}`))).toEqual(["list-cursor-invalid", "malformed"]);
    const keys = { cursorKeys: [...gateway.cursorKeys, new TextEncoder().encode("a secret of this test, 32 bytes.")] };
    const rotated = setUp({ declared: listTable(), origin, gateway: keys });
    expect((await rotated.request(`/orders?a=1&cursor=${cursor}`)).status).toBe(200);
  });

  it("may belong to the session of a cookie, or to who a verified claim says", async () => {
    const byCookie = setUp({ declared: listTable({ scope: { cookie: "sid" } }), origin });
    const cookies = (cookie: string) => ({ headers: { cookie } });
    const { next } = await (await byCookie.request("/orders?limit=1", cookies("a=1; sid=x"))).json<Listed>();
    expect((await byCookie.request(`/orders?cursor=${next}`, cookies("sid=x; b=2"))).status).toBe(200);
    const twoLines: HeadersInit = [
      ["cookie", "a=1"],
      ["cookie", "sid=x"],
    ];
    expect((await byCookie.request(`/orders?cursor=${next}`, { headers: twoLines })).status).toBe(200);
    const either = await problemOf(await byCookie.request(`/orders?cursor=${next}`, cookies("a=1, sid=x; sid=y")));
    expect(slug(either)).toBe("malformed-request");
    for (const other of ["sid=y", "a=1"]) {
      const why = await problemOf(await byCookie.request(`/orders?cursor=${next}`, cookies(other)));
      expect(why["why"]).toBe("other-caller");
    }
    let sub: string | undefined = "ann";
    const declared = listTable({ scope: { jwtClaim: "sub" } });
    const gateway = { clientClaims: async () => ok(sub === undefined ? undefined : { sub }) };
    const byClaim = setUp({ declared, origin, gateway });
    const first = await (await byClaim.request("/orders?limit=1")).json<Listed>();
    expect((await byClaim.request(`/orders?cursor=${first.next}`)).status).toBe(200);
    sub = "bob";
    expect((await problemOf(await byClaim.request(`/orders?cursor=${first.next}`)))["why"]).toBe("other-caller");
    sub = undefined;
    expect((await byClaim.request("/orders")).status).toBe(401);
  });

  it("is refused with any character changed, and says nothing of what is in it", async () => {
    const { request, cursor, seen } = await start();
    const asked = seen.length;
    for (let at = 0; at < cursor.length; at += 3) {
      const other = cursor[at] === "A" ? "B" : "A";
      const changed = cursor.slice(0, at) + other + cursor.slice(at + 1);
      expect(await why(request(`/orders?a=1&cursor=${changed}`))).toEqual(["list-cursor-invalid", "malformed"]);
    }
    for (const changed of ["", "x", `${cursor}A`, cursor.slice(0, -1), `${cursor}=`, "A".repeat(9000), "%00"]) {
      expect((await why(request(`/orders?a=1&cursor=${changed}`)))[0]).toBe("list-cursor-invalid");
    }
    expect(seen.length).toBe(asked);
    // The sealed content is JSON. Two letters alone stand in one of 130 texts of random bytes.
    expect(atob(cursor.replaceAll("-", "+").replaceAll("_", "/"))).not.toContain('"eu"');
    expect(cursor.length).toBeLessThan(700);
  });

  it("cannot be made where the instances of a deployment share no key", async () => {
    const { request } = setUp({ declared: listTable(), origin, gateway: { cursorKeys: [], isOnEdge: true } });
    expect(slug(await problemOf(await request("/orders")))).toBe("cursors-unavailable");
    const alone = await start({ gateway: { cursorKeys: [] } });
    expect((await alone.request(`/orders?a=1&cursor=${alone.cursor}`)).status).toBe(200);
  });

  it.each([
    ["limit=0"],
    ["limit=1001"],
    ["limit=1e3"],
    ["limit=5&limit=5"],
    ["after=3"],
    ["cursor=%zz"],
    ["cursor=a&cursor=b"],
  ])("the query %s is refused", async (query) => {
    const { request, seen } = setUp({ declared: listTable(), origin });
    expect(slug(await problemOf(await request(`/orders?${query}`)))).toBe("malformed-request");
    expect(seen).toEqual([]);
  });
});
