import { describe, expect, it } from "vitest";
import type { ProxyPorts } from "../../../src/ports/gateway.ts";
import { deliver } from "../../../src/proxy/deliver.ts";
import { MissingBinding } from "../../../src/proxy/origin-response.ts";
import type { CompiledTable } from "../../../src/routing/table.ts";
import { deps, type FakeOrigin, kept, lost, ORDER, order, proxyRequest, tableWith } from "../passages.ts";

const EU_DOWN = (request: Request) => (request.url.startsWith("http://eu") ? lost() : new Response("there"));
const KEPT = kept("x");

const host = (request: Request): string => new URL(request.url).host;

const writes = tableWith({ failoverWrites: true });

const hang = () => new Promise<never>(() => undefined);

const stateOf = (table: CompiledTable, { originHealth }: ProxyPorts, nowMs = Date.now()) => {
  const eu = table.regions.get("eu");
  const origin = eu?.origins[0];
  if (origin === undefined) throw new Error("the fixtures lack an origin in eu");
  return originHealth.admit(origin, eu?.breaker, nowMs).state;
};

describe("what is sent again when an origin does not answer", () => {
  const table = tableWith();
  const key = { "idempotency-key": '"a1"' };
  const eu = "eu.test";
  const us = "us.test";

  it.each([
    { what: "a read", init: {}, asked: [`GET ${eu}`, `GET ${us}`], ok: true },
    { what: "HEAD", init: { method: "HEAD" }, asked: [`HEAD ${eu}`, `HEAD ${us}`], ok: true },
    { what: "OPTIONS", init: { method: "OPTIONS" }, asked: [`OPTIONS ${eu}`, `OPTIONS ${us}`], ok: true },
    {
      what: "DELETE: in the region only",
      init: { method: "DELETE" },
      asked: [`DELETE ${eu}`, `DELETE ${eu}`],
      ok: false,
    },
    { what: "POST: never", init: { method: "POST" }, asked: [`POST ${eu}`], ok: false },
    { what: "PATCH: never", init: { method: "PATCH" }, asked: [`PATCH ${eu}`], ok: false },
    {
      what: "POST with a key: in the region",
      init: { method: "POST", headers: key },
      asked: [`POST ${eu}`, `POST ${eu}`],
      ok: false,
    },
    { what: "a kept PUT", init: { method: "PUT" }, body: KEPT, asked: [`PUT ${eu}`, `PUT ${eu}`], ok: false },
    {
      what: "DELETE where the table lets writes fail over",
      on: writes,
      init: { method: "DELETE" },
      asked: [`DELETE ${eu}`, `DELETE ${us}`],
      ok: true,
    },
    {
      what: "POST without a key even there: never",
      on: writes,
      init: { method: "POST" },
      asked: [`POST ${eu}`],
      ok: false,
    },
    {
      what: "POST with a key there",
      on: writes,
      init: { method: "POST", headers: key },
      body: KEPT,
      asked: [`POST ${eu}`, `POST ${us}`],
      ok: true,
    },
  ])("$what", async ({ on = table, init, body, asked: expected, ok }) => {
    const { world: given, asked } = deps(on, EU_DOWN);
    const delivered = await deliver(proxyRequest(on, order(init), body), given);
    expect(asked).toEqual(expected);
    expect(delivered.ok).toBe(ok);
    if (!delivered.ok)
      expect(delivered.error).toMatchObject({ reason: "origin-unreachable", fault: "connection_terminated" });
  });

  it.each([
    { what: "an upgrade", init: { headers: { upgrade: "websocket" } } },
    { what: "a POST with an empty key", init: { method: "POST", headers: { "idempotency-key": " " } } },
  ])("is never $what", async ({ init }) => {
    const { world: given, asked } = deps(table, EU_DOWN);
    expect((await deliver(proxyRequest(table, order(init)), given)).ok).toBe(false);
    expect(asked).toHaveLength(1);
  });

  it("goes to another region, however many origins the first one has", async () => {
    const many = tableWith({ origins: [1, 2, 3, 4, 5, 6].map((at) => ({ url: `http://eu-${at}.test` })) });
    const { world: given, asked } = deps(many, EU_DOWN);
    expect(await deliver(proxyRequest(many, order()), given)).toMatchObject({ value: { region: { name: "us" } } });
    expect(asked).toHaveLength(4);
  });

  it("is no first try of a write: a healthy origin of the region takes what a failing one is spared", async () => {
    const two = tableWith({
      failover: [],
      breaker: { failures: 1 },
      origins: [1, 2].map((at) => ({ url: `http://eu-${at}.test` })),
    });
    const { world: given, asked } = deps(two, (request) =>
      request.url.startsWith("http://eu-1") ? lost() : new Response("2"),
    );
    const statuses: boolean[] = [];
    for (let count = 0; count < 6; count++) {
      const id = ORDER.replace(/0001$/, `000${count}`);
      const request = new Request(`https://gw.test/orders/${id}`, { method: "POST" });
      statuses.push((await deliver(proxyRequest(two, request), given)).ok);
    }
    expect(asked.filter((host) => host.includes("eu-1")).length).toBe(1);
    expect(statuses.filter((ok) => !ok)).toHaveLength(1);
  });

  it("is never a body that was streamed", async () => {
    const { world: given, asked } = deps(table, lost);
    const stream = new Response("x").body as ReadableStream<Uint8Array>;
    const put = proxyRequest(table, order({ method: "PUT" }), { kind: "stream", stream, length: null });
    expect((await deliver(put, given)).ok).toBe(false);
    expect(asked).toEqual([`PUT ${eu}`]);
  });

  it("waits a little longer each time, by chance", async () => {
    const many = tableWith({ origins: [1, 2, 3, 4].map((at) => ({ url: `http://eu-${at}.test` })), failover: [] });
    const { world: given, paused } = deps(many, lost);
    await deliver(proxyRequest(many, order()), given);
    expect(paused).toEqual([10, 20, 40]);
  });

  it("is paid for: without a budget there is one attempt", async () => {
    const { world: given, asked } = deps(table, EU_DOWN, {
      retryBudget: { isFull: false, earn: () => undefined, spend: () => false },
    });
    expect((await deliver(proxyRequest(table, order()), given)).ok).toBe(false);
    expect(asked).toEqual([`GET ${eu}`]);
  });

  it("that is not paid for gives back the probe of an origin whose breaker waits for one", async () => {
    const held: string[] = [];
    const { world: given } = deps(table, EU_DOWN);
    const originHealth = {
      ...given.originHealth,
      admit: ({ url }: { url: string }) => {
        held.push(url);
        return { state: "probe" } as const;
      },
      report: (_: unknown, { url }: { url: string }) => void held.splice(held.indexOf(url), 1),
      release: ({ url }: { url: string }) => void held.splice(held.indexOf(url), 1),
    };
    const budget = { isFull: false, earn: () => undefined, spend: () => false };
    await deliver(proxyRequest(table, order()), { ...given, retryBudget: budget, originHealth });
    expect(held).toEqual([]);
  });

  it("is no answer of an origin's own, whatever its status", async () => {
    const { world: given, asked } = deps(table, () => new Response(null, { status: 503 }));
    expect(await deliver(proxyRequest(table, order()), given)).toMatchObject({
      ok: true,
      value: { response: { status: 503 } },
    });
    expect(asked).toHaveLength(1);
  });
});

describe("deadlines", () => {
  it.each([
    { of: "the deployment", eu: {}, entity: {}, firstByteMs: 20, expected: 20 },
    { of: "the region", eu: { deadlines: { firstByteMs: 30 } }, entity: {}, firstByteMs: 9_000, expected: 30 },
    {
      of: "the entity",
      eu: { deadlines: { firstByteMs: 9_000 } },
      entity: { deadlines: { firstByteMs: 40 } },
      firstByteMs: 9_000,
      expected: 40,
    },
  ])("for the first octet: of $of", async ({ eu, entity, firstByteMs, expected }) => {
    const table = tableWith({ ...eu, failover: [] }, entity);
    const { world: given } = deps(table, hang, { deadlines: { firstByteMs, idleMs: 0, totalMs: 0 } });
    expect(await deliver(proxyRequest(table, order({ method: "POST" })), given)).toEqual({
      ok: false,
      error: { reason: "origin-timeout", region: "eu", which: "first-byte", deadlineMs: expected },
    });
  });

  it("0 is no limit, where it is said nearer", async () => {
    const table = tableWith({ deadlines: { firstByteMs: 0 } });
    const slow = () => new Promise<Response>((resolve) => setTimeout(() => resolve(new Response("late")), 60));
    const { world: given } = deps(table, slow, { deadlines: { firstByteMs: 20, idleMs: 0, totalMs: 0 } });
    expect((await deliver(proxyRequest(table, order()), given)).ok).toBe(true);
  });

  it("for the whole: no attempt begins after it", async () => {
    const table = tableWith({
      deadlines: { totalMs: 50 },
      origins: [1, 2, 3].map((at) => ({ url: `http://eu-${at}.test` })),
    });
    const { world: given, asked } = deps(table, hang);
    expect(await deliver(proxyRequest(table, order()), given)).toMatchObject({
      error: { reason: "origin-timeout", which: "total", deadlineMs: 50 },
    });
    expect(asked).toHaveLength(1);
  });

  it("for the whole: an origin that got what others left of it is not blamed", async () => {
    const table = tableWith({ deadlines: { totalMs: 200 } }, { deadlines: { totalMs: 200 } });
    const origin = async (request: Request) => {
      if (!request.url.startsWith("http://eu")) return hang();
      await new Promise((resolve) => setTimeout(resolve, 150));
      return lost();
    };
    const { world: given } = deps(table, origin);
    const reported: string[] = [];
    const health: typeof given.originHealth = {
      ...given.originHealth,
      report: ({ name }, _, fault) => void reported.push(`${name} ${fault}`),
    };
    expect(await deliver(proxyRequest(table, order()), { ...given, originHealth: health })).toMatchObject({
      error: { reason: "origin-timeout", which: "total", region: "us" },
    });
    expect(reported).toEqual(["eu connection_terminated"]);
  });

  it("for the whole: an upload that takes longer is cut", async () => {
    const table = tableWith({ deadlines: { totalMs: 120 } });
    const drip = new ReadableStream({
      type: "bytes",
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 30));
        controller.enqueue(new Uint8Array(1));
      },
    });
    const { world: given } = deps(table, async (request) => new Response(await request.text()));
    const post = proxyRequest(table, order({ method: "POST" }), { kind: "stream", stream: drip, length: null });
    expect(await deliver(post, given)).toMatchObject({
      error: { reason: "origin-timeout", which: "total", deadlineMs: 120 },
    });
  });

  it("a slow origin is not asked again, its region's failover is", async () => {
    const table = tableWith({ deadlines: { firstByteMs: 20 } });
    const { world: given, asked } = deps(table, (request) =>
      request.url.startsWith("http://eu") ? hang() : new Response("us"),
    );
    expect(await deliver(proxyRequest(table, order()), given)).toMatchObject({ value: { region: { name: "us" } } });
    expect(asked).toEqual(["GET eu.test", "GET us.test"]);
  });

  it("for the first octet count from the end of an upload", async () => {
    const table = tableWith({ deadlines: { firstByteMs: 80 } });
    const slow = new ReadableStream({
      type: "bytes",
      async start(controller) {
        for (let at = 0; at < 4; at++) {
          await new Promise((resolve) => setTimeout(resolve, 50));
          controller.enqueue(new TextEncoder().encode("x"));
        }
        controller.close();
      },
    });
    const { world: given } = deps(table, async (request) => new Response(await request.text()));
    const post = proxyRequest(table, order({ method: "POST" }), { kind: "stream", stream: slow, length: null });
    const delivered = await deliver(post, given);
    expect(delivered.ok && (await delivered.value.response.text())).toBe("xxxx");
  });
});

describe("whose fault it was", () => {
  const table = tableWith({ failover: [], origins: [{ url: "https://eu.test" }], breaker: { failures: 1 } });

  it.each([
    {
      what: "a lost connection",
      thrown: Object.assign(new Error("Network connection lost."), { retryable: true }),
      fault: "connection_terminated",
    },
    {
      what: "a name or certificate",
      thrown: new Error("internal error; reference = x"),
      fault: "destination_unavailable",
    },
    { what: "a binding that is not there", thrown: new MissingBinding("EU"), fault: "proxy_configuration_error" },
  ])("$what is $fault", async ({ thrown, fault }) => {
    const { world: given } = deps(table, () => Promise.reject(thrown));
    expect(await deliver(proxyRequest(table, order({ method: "POST" })), given)).toMatchObject({
      error: { reason: "origin-unreachable", fault },
    });
  });

  it.each([
    [521, "connection_refused"],
    [522, "connection_timeout"],
    [525, "tls_protocol_error"],
    [526, "tls_certificate_error"],
    [530, "dns_error"],
  ])("%i is the edge's word for %s on the edge, and an origin's own elsewhere", async (status, fault) => {
    const origin = () => new Response("page", { status });
    const onEdge = deps(table, origin, { isOnEdge: true });
    expect(await deliver(proxyRequest(table, order({ method: "POST" })), onEdge.world)).toMatchObject({
      error: { fault },
    });
    const elsewhere = deps(table, origin);
    expect(await deliver(proxyRequest(table, order({ method: "POST" })), elsewhere.world)).toMatchObject({ ok: true });
  });

  const upload = (stream: ReadableStream<Uint8Array>) =>
    proxyRequest(table, order({ method: "POST" }), { kind: "stream", stream, length: null });
  const readAll = async (request: Request) => new Response(await request.text());

  it("a body that its client breaks off is the client's, and opens no breaker", async () => {
    const { world: given } = deps(table, readAll);
    const broken = new ReadableStream({
      type: "bytes",
      start(controller) {
        controller.enqueue(new TextEncoder().encode("half"));
        setTimeout(() => controller.error(new Error("gone")), 20);
      },
    });
    expect(await deliver(upload(broken), given)).toMatchObject({ error: { reason: "malformed-request" } });
    expect((await deliver(proxyRequest(table, order()), given)).ok).toBe(true);
  });

  it("a body that its client stops sending is a request-timeout", async () => {
    const { world: given } = deps(table, readAll, { deadlines: { firstByteMs: 0, idleMs: 40, totalMs: 0 } });
    const silent = new ReadableStream({ type: "bytes", start: (controller) => controller.enqueue(new Uint8Array(3)) });
    expect(await deliver(upload(silent), given)).toEqual({
      ok: false,
      error: { reason: "request-timeout", idleMs: 40 },
    });
  });

  it("a body that its client breaks off does not close a breaker either", async () => {
    let nowMs = 0;
    const two = tableWith({ failover: [], breaker: { failures: 2, openMs: 1000 } });
    const { world: given, asked } = deps(two, lost, { clock: { nowMs: () => nowMs } });
    const post = () => proxyRequest(two, order({ method: "POST" }));
    for (let count = 0; count < 2; count++) await deliver(post(), given);
    nowMs = 1500;
    const broken = new ReadableStream({ type: "bytes", pull: (controller) => controller.error(new Error("gone")) });
    await deliver(
      proxyRequest(two, order({ method: "POST" }), { kind: "stream", stream: broken, length: null }),
      given,
    );
    await deliver(post(), given);
    expect(stateOf(two, given, nowMs)).toBe("open");
    expect(asked).toHaveLength(4);
  });

  const endless = () =>
    new ReadableStream({ type: "bytes", start: (controller) => controller.enqueue(new Uint8Array(3)) });

  it("an origin that breaks off an upload and is there may have had its reasons: its breaker stays", async () => {
    const breakOff = async (request: Request) => {
      if (request.method === "GET") return new Response("here");
      await request.body?.getReader().read();
      return lost();
    };
    const { world: given, asked, checked, settle } = deps(table, breakOff);
    expect(await deliver(upload(endless()), given)).toMatchObject({ error: { reason: "origin-unreachable" } });
    await settle();
    expect((await deliver(proxyRequest(table, order()), given)).ok).toBe(true);
    expect([asked, checked]).toEqual([["POST eu.test", "GET eu.test"], ["GET eu.test"]]);
  });

  it("an origin that breaks off an upload and is not there is found out", async () => {
    const { world: given, settle } = deps(table, lost);
    expect(await deliver(upload(endless()), given)).toMatchObject({ error: { reason: "origin-unreachable" } });
    await settle();
    expect(stateOf(table, given)).toBe("open");
  });

  it("so is one that ends a conversation it does not want", async () => {
    const upgrade = () => proxyRequest(table, order({ headers: { upgrade: "websocket" } }));
    const unwilling = (request: Request) => (request.headers.has("upgrade") ? lost() : new Response("here"));
    const { world: given, settle } = deps(table, unwilling);
    expect((await deliver(upgrade(), given)).ok).toBe(false);
    await settle();
    expect((await deliver(proxyRequest(table, order()), given)).ok).toBe(true);
  });

  it("an origin that takes no more of an upload is a timeout, and not waited for", async () => {
    const hold = async (request: Request) => {
      await request.body?.getReader().read();
      return hang();
    };
    const { world: given } = deps(table, hold, { deadlines: { firstByteMs: 0, idleMs: 60, totalMs: 0 } });
    const flood = new ReadableStream({
      type: "bytes",
      pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
    });
    expect(await deliver(upload(flood), given)).toMatchObject({
      error: { reason: "origin-timeout", which: "upload", deadlineMs: 60 },
    });
  });
});

describe("a small answer", () => {
  const table = tableWith({ deadlines: { idleMs: 5_000 } });
  const later = (ms: number) =>
    new ReadableStream({
      type: "bytes",
      start: (controller) => controller.enqueue(new Uint8Array(3)),
      pull: async (controller) => {
        if (ms === Infinity) return hang();
        await new Promise((resolve) => setTimeout(resolve, ms));
        controller.enqueue(new Uint8Array(3));
        controller.close();
      },
    });
  const small = (body: BodyInit, init: ResponseInit = {}) =>
    new Response(body, { ...init, headers: { "content-length": "6", ...init.headers } });

  it("may take longer than its first byte", async () => {
    const slow = tableWith({ deadlines: { firstByteMs: 40, idleMs: 5_000 } });
    const { world: given } = deps(slow, () => small(later(120)));
    const delivered = await deliver(proxyRequest(slow, order()), given);
    expect(delivered.ok && delivered.value.bytes?.byteLength).toBe(6);
  });

  it.each([0, 40, 3_600_000])(
    "that falls silent is cut off, with a first-byte deadline of %i ms",
    async (firstByteMs) => {
      const silent = tableWith({ deadlines: { firstByteMs, idleMs: 60 } });
      const { world: given } = deps(silent, () => small(later(Infinity)));
      expect(await deliver(proxyRequest(silent, order({ method: "POST" })), given)).toMatchObject({
        error: { reason: "origin-timeout", which: "body", deadlineMs: 60 },
      });
    },
  );

  it("is whole where its parts come in time, though all of them together take longer than the idle deadline", async () => {
    const trickling = tableWith({ deadlines: { firstByteMs: 3_600_000, idleMs: 2_000 } });
    let parts = 0;
    const body = new ReadableStream({
      type: "bytes",
      pull: async (controller) => {
        await new Promise((resolve) => setTimeout(resolve, 400));
        controller.enqueue(new Uint8Array(1));
        if (++parts === 6) controller.close();
      },
    });
    const { world: given } = deps(trickling, () => small(body));
    const delivered = await deliver(proxyRequest(trickling, order()), given);
    expect(delivered.ok && delivered.value.bytes?.byteLength).toBe(6);
  });

  it("is held to the deployment's idle deadline where the table has none", async () => {
    const plain = tableWith({});
    const { world: given } = deps(plain, () => small(later(Infinity)), {
      deadlines: { firstByteMs: 0, idleMs: 60, totalMs: 0 },
    });
    expect(await deliver(proxyRequest(plain, order()), given)).toMatchObject({
      error: { reason: "origin-timeout", which: "body", deadlineMs: 60 },
    });
    const events = () => small(later(Infinity), { headers: { "content-type": "text/event-stream" } });
    const { world: other } = deps(plain, events, { deadlines: { firstByteMs: 0, idleMs: 60, totalMs: 0 } });
    const streamed = await deliver(proxyRequest(plain, order()), other);
    expect(streamed.ok && streamed.value.bytes).toBe(undefined);
  });

  it("that breaks off is asked for again where that is safe", async () => {
    const broken = () => small(new ReadableStream({ pull: (controller) => controller.error(new Error("gone")) }));
    const { world: given, asked } = deps(table, (request) =>
      host(request) === "eu.test" ? broken() : small("abcdef"),
    );
    expect((await deliver(proxyRequest(table, order()), given)).ok).toBe(true);
    expect(asked).toEqual(["GET eu.test", "GET us.test"]);
    expect(await deliver(proxyRequest(table, order({ method: "POST" })), given)).toMatchObject({
      error: { reason: "origin-unreachable", fault: "http_response_incomplete" },
    });
  });

  it("of status 421 is followed though its body breaks off", async () => {
    const away = () =>
      small(new ReadableStream({ pull: (controller) => controller.error(new Error("gone")) }), {
        status: 421,
        headers: { "waybill-region": "us" },
      });
    const { world: given } = deps(table, (request) => (host(request) === "eu.test" ? away() : new Response("here")));
    const delivered = await deliver(proxyRequest(table, order()), given).catch((error: Error) => error.message);
    expect(delivered).toMatchObject({ value: { region: { name: "us" } } });
  });
});

it("an answer that cannot be passed on is asked for once, and is no reason to leave its origin alone", async () => {
  const table = tableWith({ breaker: { failures: 1 } });
  const { world: given, asked } = deps(
    table,
    () => new Response("x", { headers: { "transfer-encoding": "gzip, chunked" } }),
  );
  expect(await deliver(proxyRequest(table, order()), given)).toMatchObject({
    error: { reason: "invalid-response", region: "eu", what: "a transfer coding other than chunked" },
  });
  expect(asked).toEqual(["GET eu.test"]);
  expect(stateOf(table, given)).toBe("closed");
});

describe("a breaker", () => {
  const table = tableWith({ failover: [], breaker: { failures: 3, openMs: 60_000 } });

  it("never closes a region's last origin: a hundred requests at a time ask it, the rest are answered at once", async () => {
    let origin: FakeOrigin = lost;
    const { world: given, asked } = deps(table, (request) => origin(request));
    const post = () => deliver(proxyRequest(table, order({ method: "POST" })), given);
    for (let count = 0; count < 3; count++) await post();
    expect(stateOf(table, given)).toBe("open");
    expect(await post()).toMatchObject({ error: { reason: "origin-unreachable" } });
    expect(asked).toHaveLength(4);
    origin = hang;
    for (let count = 0; count < 100; count++) void post();
    expect(await post()).toMatchObject({
      error: { reason: "origin-open-circuit", region: "eu", retryAfterMs: 1_000 },
    });
    expect(asked).toHaveLength(104);
  });

  it("closes again with the first answer of a last origin", async () => {
    let origin: FakeOrigin = lost;
    const { world: given } = deps(table, (request) => origin(request));
    const post = () => deliver(proxyRequest(table, order({ method: "POST" })), given);
    for (let count = 0; count < 3; count++) await post();
    origin = () => new Response("back");
    expect((await post()).ok).toBe(true);
    expect(stateOf(table, given)).toBe("closed");
  });

  it("is not opened for all by a path whose handler ends the connection", async () => {
    const five = tableWith({ failover: [] });
    const { world: given } = deps(five, (request) =>
      new URL(request.url).search === "?bad" ? lost() : new Response("good"),
    );
    for (let count = 0; count < 3; count++) await deliver(proxyRequest(five, order({}, "?bad")), given);
    expect(stateOf(five, given)).toBe("closed");
    expect((await deliver(proxyRequest(five, order()), given)).ok).toBe(true);
  });

  it("sends reads straight to the failover region, which costs no retry", async () => {
    const failing = tableWith({ breaker: { failures: 2 } });
    const { world: given, asked } = deps(failing, EU_DOWN);
    for (let count = 0; count < 2; count++) await deliver(proxyRequest(failing, order()), given);
    asked.length = 0;
    const spent: string[] = [];
    const budget = { isFull: false, earn: () => undefined, spend: (region: string) => spent.push(region) > 0 };
    expect((await deliver(proxyRequest(failing, order()), { ...given, retryBudget: budget })).ok).toBe(true);
    expect(asked).toEqual(["GET us.test"]);
    expect(spent).toEqual([]);
  });

  it("sends an upload that may fail over straight to the other region: nothing of it was sent yet", async () => {
    const failing = tableWith({ failoverWrites: true, breaker: { failures: 1 } });
    const { world: given, asked } = deps(failing, EU_DOWN);
    await deliver(proxyRequest(failing, order({ method: "POST" })), given);
    asked.length = 0;
    const stream = new Response("x").body as ReadableStream<Uint8Array>;
    const put = proxyRequest(failing, order({ method: "PUT" }), { kind: "stream", stream, length: null });
    expect((await deliver(put, given)).ok).toBe(true);
    expect(asked).toEqual(["PUT us.test"]);
  });

  it("sends an upload that may fail over to its own region while that answers", async () => {
    const { world: given, asked } = deps(writes, () => new Response("here"));
    const stream = new Response("x").body as ReadableStream<Uint8Array>;
    await deliver(proxyRequest(writes, order({ method: "PUT" }), { kind: "stream", stream, length: null }), given);
    expect(asked).toEqual(["PUT eu.test"]);
  });

  it("may be switched off", async () => {
    const never = tableWith({ failover: [], breaker: false });
    const { world: given, asked } = deps(never, lost);
    for (let count = 0; count < 20; count++) await deliver(proxyRequest(never, order({ method: "POST" })), given);
    expect(asked).toHaveLength(20);
  });
});
