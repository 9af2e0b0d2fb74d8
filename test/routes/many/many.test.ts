import { describe, expect, it } from "vitest";
import { hasShare, Load, takeShare } from "../../../src/gateway/fan-out.ts";
import { ModuleUnavailable } from "../../../src/problems/loadable.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, problemOf, publicKeysOf, setUp, slug } from "../harness.ts";
import { orderId } from "../lists/regions.ts";

interface Entry {
  readonly index: number;
  readonly id: string;
  readonly region?: string;
  readonly status?: number;
  readonly body?: unknown;
  readonly text?: string;
  readonly base64?: string;
  readonly problem?: { readonly type: string };
}

interface Many {
  readonly results: readonly Entry[];
  readonly summary: { count: number; regions: Record<string, number>; problems: Record<string, number> };
}

const post = (ids: unknown, headers: HeadersInit = {}): RequestInit => ({
  method: "POST",
  body: typeof ids === "string" ? ids : JSON.stringify(ids),
  headers: { "content-type": "application/json", ...headers },
});

const lines = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

const echo = (request: Request) => Response.json({ path: new URL(request.url).pathname });

/** An origin that takes a moment, and counts how many requests it has at a time. */
const counting = (load: { running: number; most: number }) => async (request: Request) => {
  load.most = Math.max(load.most, ++load.running);
  await new Promise((resolve) => setTimeout(resolve, 2));
  load.running--;
  return echo(request);
};

// RFC 9110 §8.4: `identity` is no coding of a message; §8.4.1: names know no case.
it.each(["identity", "Identity", "identity, identity", " ,identity"])(
  "a body of the coding %s has none",
  async (coding) => {
    const headers = { "content-type": "application/json", "content-encoding": coding };
    const { request } = setUp({ origin: () => new Response('{"a":1}', { headers, encodeBody: "manual" }) });
    const { results } = await (await request("/any", post([IDS.orderKz]))).json<Many>();
    expect(results[0]).toMatchObject({ status: 200, body: { a: 1 } });
    expect(results[0]).not.toHaveProperty("contentEncoding");
  },
);

describe("an ID on which the gateway itself fails", () => {
  const KEY = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  const declared = {
    ...DECLARED_TABLE,
    entities: { ...DECLARED_TABLE.entities, account: { path: "/accounts/:id", ids: [{ layout: "ulid" }] } },
    directory: { accounts: { key: { layout: "ulid" } } },
    routes: [{ when: { layout: "ulid" }, directory: "accounts" }, ...DECLARED_TABLE.routes],
  };
  const lost = new ModuleUnavailable("directory-lookup", new Error("No such module"));
  const broken = new TypeError("a defect");
  const failing = (thrown: Error) => ({ lookup: () => Promise.reject(thrown) }) as never;
  const rows = [
    ["a module that cannot be loaded", lost, 503, "module-unavailable"],
    ["a defect", broken, 500, "internal-error"],
  ] as const;
  const ways = ["", "?locate=true"].flatMap((query) =>
    ["application/json", "application/x-ndjson"].map((accept) => [query, accept] as const),
  );

  it.each(rows.flatMap(([what, ...row]) => ways.map((way) => [what, ...way, ...row] as const)))(
    "%s%s, %s: has a problem of its own, and the others their answers",
    async (_, query, accept, thrown, status, type) => {
      const { request, defects } = setUp({ declared, origin: echo, gateway: { directory: failing(thrown) } });
      const response = await request(`/any${query}`, post([IDS.orderKz, KEY, IDS.orderBr], { accept }));
      const text = await response.text();
      const entries: Entry[] =
        accept.endsWith("json") && !accept.includes("nd") ? JSON.parse(text).results : lines(text);
      const byId = new Map(entries.map((entry) => [entry.id, entry]));
      expect([byId.get(IDS.orderKz)?.region, byId.get(IDS.orderBr)?.region]).toEqual(["ap", "us"]);
      expect(byId.get(KEY)?.problem).toMatchObject({ type: `/-/problems/${type}`, status });
      expect(text).toContain(`"problems":{"${type}":1}`);
      expect(defects).toEqual([thrown]);
    },
  );
});

describe("POST /any", () => {
  it("answers each ID in order, from its region", async () => {
    const { request, seen, lines: logged } = setUp({ origin: echo });
    const ids = [IDS.orderKz, "nonsense", IDS.parcelEu, IDS.orderUnknownCountry, IDS.orderBr, IDS.orderKz];
    const response = await request("/any", post(ids, { authorization: "Bearer x", range: "bytes=0-1" }));
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
    const { results, summary } = await response.json<Many>();
    expect(results.map(({ id }) => id)).toEqual(ids);
    expect(results.map(({ region, status }) => [region, status])).toEqual([
      ["ap", 200],
      [undefined, 400],
      ["eu", 200],
      [undefined, 404],
      ["us", 200],
      ["ap", 200],
    ]);
    expect(results[0]?.body).toEqual({ path: `/orders/${IDS.orderKz}` });
    expect(slug(results[3]?.problem as { type: string })).toBe("unassigned-key");
    expect(summary).toEqual({
      count: 6,
      regions: { ap: 2, eu: 1, us: 1 },
      problems: { "malformed-id": 1, "unassigned-key": 1 },
    });
    expect(seen).toHaveLength(4);
    for (const { headers, method } of seen) {
      expect([method, headers.get("authorization"), headers.get("range")]).toEqual(["GET", "Bearer x", null]);
      expect(headers.get("content-type")).toBe(null);
    }
    expect(logged.filter(({ outcome }) => outcome === "answered")).toHaveLength(4);
  });

  it("gives lines as they come, and in order what an array is", async () => {
    let arrive: () => void = () => undefined;
    const late = new Promise<void>((resolve) => (arrive = resolve));
    const origin = async (asked: Request) => {
      if (new URL(asked.url).host.startsWith("ap")) await late;
      else setTimeout(arrive, 20);
      return echo(asked);
    };
    const { request } = setUp({ origin });
    const body = `${IDS.orderKz}\n\n"${IDS.orderBr}"\r\n${IDS.parcelEu}\n`;
    const accept = { "content-type": "text/plain", accept: "application/x-ndjson" };
    const answer = await request("/any", { method: "POST", body, headers: accept });
    const entries = lines(new TextDecoder().decode(await answer.arrayBuffer()));
    expect(entries.slice(0, 3).map(({ index }) => index)).toEqual([1, 2, 0]);
    expect(entries.at(-1).summary.count).toBe(3);
  });

  it("locates without asking an origin", async () => {
    const { request, seen } = setUp();
    for (const [path, body] of [
      ["/any", { ids: [IDS.orderKz, IDS.rideKz, "x"], locate: true }],
      ["/any?locate=true", [IDS.orderKz, IDS.rideKz, "x"]],
    ] as const) {
      const { results } = await (await request(path, post(body))).json<Many>();
      expect(results.slice(0, 2)).toEqual([
        { index: 0, id: IDS.orderKz, region: "ap", entity: "order", layout: "iuid" },
        { index: 1, id: IDS.rideKz, region: "ap", entity: "ride", layout: "iuid" },
      ]);
      expect(results[2]).toMatchObject({ status: 400, problem: { type: "/-/problems/malformed-id" } });
    }
    expect(seen).toEqual([]);
  });

  it.each([
    ['["a"', "The body is not JSON."],
    ['"a"', "The body has no array of IDs."],
    ["[1]", "An ID is no JSON string."],
    ['{"ids":["a"],"x":1}', 'The member "x" is unknown.'],
    ['{"ids":["a"],"locate":1}', "The member `locate` is true or false."],
  ])("says what is wrong with %s", async (body, detail) => {
    const { request } = setUp();
    const answer = await request("/any", { method: "POST", headers: { "content-type": "application/json" }, body });
    expect((await answer.json<{ detail: string }>()).detail).toContain(detail);
  });

  it("asks a few at a time, and of each region fewer", async () => {
    const load = { running: 0, most: 0 };
    const { request } = setUp({ origin: counting(load) });
    const ids = Array.from({ length: 100 }, (_, at) => orderId("ap", Date.UTC(2026, 0, 1), at));
    const { results } = await (await request("/any", post(ids))).json<Many>();
    expect(results.map(({ id }) => id)).toEqual(ids);
    expect(load.most).toBe(6);
  });

  it("asks a few at a time of all answers together, and each goes on", async () => {
    const load = { running: 0, most: 0 };
    const { request } = setUp({ origin: counting(load) });
    const regions = ["ap", "us", "eu"];
    const ids = Array.from({ length: 30 }, (_, at) => orderId(regions[at % 3] as string, Date.UTC(2026, 0, 1), at));
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => (await request("/any", post(ids))).json<Many>()),
    );
    for (const { results } of answers)
      expect(results.map(({ id, status }) => [id, status])).toEqual(ids.map((id) => [id, 200]));
    expect(load.most).toBeLessThanOrEqual(64 + 20);
    expect(load.most).toBeGreaterThan(20);
  });

  it("counts no request for ever: its answer may have been stopped with its client", () => {
    const given = Array.from({ length: 64 }, () => takeShare(1000));
    expect(hasShare(60_999)).toBe(false);
    expect(hasShare(61_000)).toBe(true);
    for (const giveBack of given) giveBack();
    expect(hasShare(1000)).toBe(true);
  });

  it("counts what an answer has in memory until its end, and never for ever", () => {
    let nowMs = 1000;
    const gateway = { clock: { nowMs: () => nowMs }, deadlines: { firstByteMs: 0, idleMs: 60_000, totalMs: 0 } };
    const left = new Load(gateway);
    const ended = new Load(gateway);
    // Other files of tests may have left answers unread.
    const others = left.add(0);
    expect([left.add(9 << 20) - others, ended.add(8 << 20) - others]).toEqual([9 << 20, 17 << 20]);
    expect(hasShare(nowMs)).toBe(false);
    ended.end();
    expect([hasShare(nowMs), ended.add(1), left.add(8 << 20) - others]).toEqual([true, Infinity, 17 << 20]);
    nowMs += 419_999;
    expect(hasShare(nowMs)).toBe(false);
    expect([hasShare(nowMs + 1), left.isOver]).toEqual([true, true]);
  });

  it("keeps little for clients that take nothing, and not for long", async () => {
    let asked = 0;
    const origin = () => {
      asked++;
      return new Response("x".repeat(250_000), { headers: { "content-type": "text/plain" } });
    };
    const { request } = setUp({ origin, deadlines: { idleMs: 300 } });
    const ids = Array.from({ length: 60 }, (_, at) => orderId(at % 2 ? "ap" : "us", Date.UTC(2026, 0, 1), at));
    const readers = await Promise.all(
      Array.from({ length: 10 }, async () => (await request("/any", post(ids))).body?.getReader()),
    );
    for (const reader of readers) expect((await reader?.read())?.done).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, 200));
    // 16 MiB are 67 of these bodies; what runs meanwhile and the first ones come on top.
    expect(asked).toBeLessThan(67 + 64 + 2 * 10);
    await new Promise((resolve) => setTimeout(resolve, 300));
    for (const reader of readers) await expect(reader?.read()).rejects.toThrow();
    const { summary } = await (await request("/any", post(ids))).json<Many>();
    expect(summary.count).toBe(60);
  });

  it("waits for a body only as long as it comes", async () => {
    const { request } = setUp({ deadlines: { idleMs: 50 } });
    const { readable, writable } = new IdentityTransformStream();
    const writer = writable.getWriter();
    void writer.write(new TextEncoder().encode("[")).catch(() => undefined);
    const answer = await request("/any", { ...post(""), body: readable });
    expect([answer.status, slug(await problemOf(answer))]).toEqual([408, "request-timeout"]);
  });

  it("gives bodies as they are, and bounded", async () => {
    const bodies: Record<string, () => Response> = {
      [IDS.orderKz]: () =>
        new Response('{"n":12345678901234567890,\n"m":1.0}', { headers: { "content-type": "application/json" } }),
      [IDS.orderBr]: () => new Response("<b>é</b>", { headers: { "content-type": "text/html" } }),
      [IDS.orderDe]: () => new Response(new Uint8Array([0xff, 0])),
      [IDS.parcelEu]: () => new Response("{broken", { headers: { "content-type": "application/json" } }),
      [IDS.parcelUs]: () => new Response("x".repeat(300_000)),
      [IDS.rideKz]: () => new Response(null, { status: 404 }),
    };
    const origin = (asked: Request) => (bodies[asked.url.slice(asked.url.lastIndexOf("/") + 1)] as () => Response)();
    const { request } = setUp({ origin });
    const text = await (await request("/any", post(Object.keys(bodies)))).text();
    expect(text).toContain('"body":{"n":12345678901234567890, "m":1.0}}');
    const { results } = JSON.parse(text) as Many;
    expect(results[1]).toMatchObject({ text: "<b>é</b>", status: 200 });
    expect(results[2]?.base64).toBe("/wA=");
    expect(results[3]?.text).toBe("{broken");
    expect(slug(results[4]?.problem as { type: string })).toBe("answer-too-large");
    expect(results[5]).toEqual({ index: 5, id: IDS.rideKz, region: "ap", status: 404 });
  });

  it("follows a redirect, and shows public IDs only", async () => {
    const person = "00000023-122e-6d0b-a789-28ef27ab7c62";
    const declared = {
      ...DECLARED_TABLE,
      entities: {
        ...DECLARED_TABLE.entities,
        order: {
          ...DECLARED_TABLE.entities.order,
          public: true,
          any: "redirect",
          publicFields: ["/id"],
          create: { key: { country: { header: "x-country" } } },
        },
      },
    };
    const publicKeys = publicKeysOf(JSON.stringify({ sealed: [{ id: "s", key: btoa("s".repeat(32)) }] }));
    const origin = (asked: Request) => Response.json({ id: asked.url.slice(asked.url.lastIndexOf("/") + 1) });
    const { request, gateway } = setUp({ declared, origin, publicKeys });
    await request("/orders/x");
    const order = gateway.tables.peek(() => undefined)?.table.entities.get("order");
    const shown = order && gateway.publicIds.show(order, IDS.orderKz);
    if (shown?.ok !== true || shown.value === undefined) throw new Error("no public ID");
    const { results } = await (await request("/any", post([shown.value, IDS.orderKz, person]))).json<Many>();
    expect(results[0]).toMatchObject({ region: "ap", status: 200, body: { id: shown.value } });
    expect(results[1]).toMatchObject({ status: 404 });
    expect(results[2]).toMatchObject({ status: 200, region: "eu" });
    const located = await (await request("/any?locate=true", post([shown.value]))).json<Many>();
    expect(located.results).toEqual([{ index: 0, id: shown.value, region: "ap" }]);
  });

  it("counts each ID against the limit of look-ups", async () => {
    const counts: number[] = [];
    const lookup = {
      max: 10,
      waitSeconds: async (_: string, count = 1) => (counts.push(count) > 0 && count > 5 ? 7 : 0),
    };
    const gateway = { rateLimits: { client: undefined, entity: undefined, lookup } };
    const { request } = setUp({ origin: echo, gateway });
    expect((await request("/any", post(Array(5).fill(IDS.orderKz)))).status).toBe(200);
    expect((await request("/any", post(Array(6).fill(IDS.orderKz)))).headers.get("retry-after")).toBe("7");
    expect(slug(await problemOf(await request("/any", post(Array(11).fill(IDS.orderKz)))))).toBe("key-out-of-range");
    expect(counts).toEqual([5, 6]);
  });

  it("counts each ID against the limit of the client, as a request of its own", async () => {
    const counts: number[] = [];
    const client = {
      max: 10,
      waitSeconds: async (_: string, count = 1) => (counts.push(count) > 0 && count > 5 ? 7 : 0),
    };
    const { request } = setUp({
      origin: echo,
      gateway: { rateLimits: { client, entity: undefined, lookup: undefined } },
    });
    expect((await request("/any", post([IDS.orderKz]))).status).toBe(200);
    expect((await request("/any", post(Array(5).fill(IDS.orderKz)))).status).toBe(200);
    expect((await request("/any", post(Array(8).fill(IDS.orderKz)))).status).toBe(429);
    expect(counts).toEqual([1, 1, 4, 1, 7]);
  });

  it.each<[string, unknown, HeadersInit, number]>([
    ["no ID", [], {}, 400],
    ["too many", Array(1001).fill("x"), {}, 400],
    ["numbers", [1], {}, 400],
    ["another shape", { ids: ["x"], more: 1 }, {}, 400],
    ["a name that stands twice", '{"ids":["x"],"ids":["y"]}', {}, 400],
    ["null", null, {}, 400],
    ["no JSON", "[", {}, 400],
    ["a form", "a=1", { "content-type": "application/x-www-form-urlencoded" }, 400],
    ["too many bytes", "x".repeat(300_000), { "content-type": "text/plain" }, 413],
  ])("refuses %s", async (_, body, headers, status) => {
    const { request, seen } = setUp({ origin: echo });
    expect((await request("/any", post(body, headers))).status).toBe(status);
    expect(seen).toEqual([]);
  });

  it("has no other method or parameter, and no other path changes", async () => {
    const { request } = setUp({ origin: echo });
    const get = await request("/any");
    expect([get.status, get.headers.get("allow")]).toEqual([405, "POST"]);
    expect((await request("/any?x=1", post([IDS.orderKz]))).status).toBe(400);
    expect((await request("/any/", post([IDS.orderKz]))).status).not.toBe(200);
    expect((await request(`/any/${IDS.orderKz}`)).status).toBe(200);
    for (const id of ["../orders", "a/b", "%2e%2e", "a?b", "", ".."]) {
      const { results } = await (await request("/any", post([id]))).json<Many>();
      expect(results[0]?.problem?.type).toBe("/-/problems/malformed-id");
    }
  });
});

it.each(["/any", "/mint", "/-/explain"])("a coded body to %s is a problem that names the coding", async (path) => {
  const { body } = new Response(JSON.stringify([IDS.orderBr]));
  const bytes = await new Response(body?.pipeThrough(new CompressionStream("gzip"))).arrayBuffer();
  const headers = { "content-type": "application/json", "content-encoding": "GZIP" };
  const problem = await problemOf(await setUp().request(path, { method: "POST", body: bytes, headers }));
  expect([slug(problem), problem["detail"]]).toEqual([
    "malformed-request",
    "Send the body without the content-encoding gzip.",
  ]);
});
