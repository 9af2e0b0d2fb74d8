import { describe, expect, it } from "vitest";
import { originHealth } from "../../../src/edge/origins/health.ts";
import { isolateShadows, type LoggedDifference } from "../../../src/features/shadow/edge.ts";
import type { ShadowOutcome } from "../../../src/features/shadow/port.ts";
import { differingFields, mirrorToShadow, shapeOf } from "../../../src/features/shadow/serve.ts";
import type { Fetch } from "../../../src/ports/gateway.ts";
import { clientResponse } from "../../../src/proxy/client-response.ts";
import { fieldRules, readResponseFields } from "../../../src/proxy/headers.ts";
import { type ProxyRequest, pseudonymOf } from "../../../src/proxy/origin-request.ts";
import { retryBudget } from "../../../src/proxy/origins.ts";
import { loadTable, resolvePath } from "../../../src/routing/index.ts";

const ID = "0192f0c1-7a30-8005-8040-8f3b2a1c9d77";
const NOW_MS = Date.UTC(2026, 10, 21);

interface Setup {
  readonly percent?: number;
  readonly isPublic?: boolean;
  readonly shadowOf?: string;
  readonly deadlineMs?: number;
  readonly request?: Request;
  readonly body?: ProxyRequest["body"];
  readonly answer?: Response;
  /** The shadow. */
  readonly fetch?: Fetch;
  readonly randomWord?: () => number;
}

const tableOf = ({ percent = 100, isPublic = false, shadowOf = "us" }: Setup) => {
  const loaded = loadTable(
    {
      regions: {
        eu: { origins: [{ url: "https://eu.test" }] },
        us: { origins: [{ url: "https://us.test/base" }] },
        ap: { origins: [{ url: "https://ap.test" }] },
      },
      entities: {
        order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }], ...(isPublic ? { public: true } : {}) },
      },
      routes: [{ when: {}, region: "eu", shadow: { region: shadowOf, percent } }],
    },
    7,
  );
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  return loaded.value;
};

/** A shadow is asked once, without a retry. */
const UNUSED = {
  deadlines: { firstByteMs: 0, idleMs: 0, totalMs: 0 },
  originHealth: originHealth({ attempts: { attempt: () => undefined }, onStateChange: () => undefined }),
  fieldRules: fieldRules(),
  retryBudget: retryBudget(),
  movedMemory: undefined,
  pause: async () => undefined,
};

const setUp = (deps: Setup = {}) => {
  const table = tableOf(deps);
  const path = `/orders/${ID}`;
  const match = table.paths.match(path);
  const resolved = match && resolvePath(table, match, path, NOW_MS);
  if (!resolved?.ok) throw new Error("the table routes it");
  const request = deps.request ?? new Request(`https://gw.test${path}?a=1`, { headers: { accept: "text/plain" } });
  const works: Promise<unknown>[] = [];
  const proxyRequest: ProxyRequest = {
    request,
    method: request.method,
    arrivedAtMs: Date.now(),
    watchClient: () => undefined,
    body: deps.body ?? { kind: "none" },
    target: `${path}?a=1`,
    decision: resolved.value,
    revision: 7,
    client: { address: "192.0.2.1", country: undefined, continent: undefined },
    host: "gw.test",
    scheme: "https",
    trustsForwarded: false,
    asksReadable: false,
    hidesAuthorization: false,
    regions: table.regions,
    waitUntil: (work) => void works.push(work),
    attempts: 1,
    traceparent: undefined,
  };
  const sent: Request[] = [];
  const counted: string[] = [];
  const logged: LoggedDifference[] = [];
  let nowMs = NOW_MS;
  const shadows = isolateShadows({
    clock: { nowMs: () => nowMs },
    count: (region: string, outcome: ShadowOutcome) => counted.push(`${region} ${outcome}`),
    log: (difference) => logged.push(difference),
  });
  const fetch: Fetch = async (target, init, binding) => {
    sent.push(new Request(target, init));
    return (deps.fetch ?? (async () => new Response("shadow")))(target, init, binding);
  };
  const run = (answer = deps.answer ?? new Response("primary"), region = "eu"): void =>
    mirrorToShadow(
      proxyRequest,
      { response: answer, region: table.regions.get(region) as never },
      {
        clock: { nowMs: () => nowMs },
        fetch,
        sign: undefined,
        isOnEdge: true,
        shadows,
        pseudonym: pseudonymOf("waybill"),
        entropy: { word: deps.randomWord ?? (() => 0) },
        ...UNUSED,
      },
      deps.deadlineMs ?? 1000,
    );
  return {
    run,
    sent,
    counted,
    logged,
    works,
    pass: (ms: number) => {
      nowMs += ms;
    },
    ended: () => Promise.all(works),
  };
};

describe("a read that is mirrored", () => {
  it("goes to the shadow's origin as it went to its own, and says what it is", async () => {
    const { run, sent, counted, ended } = setUp();
    run();
    // The client's answer goes first.
    expect(sent).toEqual([]);
    await ended();
    const [request] = sent;
    expect(request?.url).toBe(`https://us.test/base/orders/${ID}?a=1`);
    expect(request?.method).toBe("GET");
    expect(Object.fromEntries(request?.headers ?? [])).toMatchObject({
      "waybill-shadow": "1",
      "waybill-region": "us",
      "waybill-entity-id": ID,
      "x-forwarded-for": "192.0.2.1",
      accept: "text/plain",
    });
    expect(counted).toEqual(["us match"]);
  });

  it("cannot be had by asking for it: the field of a client stops here", async () => {
    const request = new Request(`https://gw.test/orders/${ID}`, { headers: { "waybill-shadow": "0" } });
    const { run, sent, ended } = setUp({ request });
    run();
    await ended();
    expect(sent[0]?.headers.get("waybill-shadow")).toBe("1");
  });

  it("is taken by chance, as many as the table says", async () => {
    let turn = 0;
    const { run, sent, ended } = setUp({ percent: 25, randomWord: () => turn * 2 ** 26 });
    for (; turn < 64; turn++) {
      run();
      await ended();
    }
    expect(sent.length).toBe(16);
  });

  it("is never more than eight at once; what is more is dropped and counted", async () => {
    const release: (() => void)[] = [];
    const { run, counted, ended } = setUp({
      fetch: () => new Promise((resolve) => release.push(() => resolve(new Response("shadow")))),
    });
    for (let turn = 0; turn < 10; turn++) run();
    expect(counted).toEqual(["us dropped", "us dropped"]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    for (const answer of release) answer();
    await ended();
    expect(counted.filter((each) => each === "us match")).toHaveLength(8);
    run();
    await new Promise((resolve) => setTimeout(resolve, 20));
    release.at(-1)?.();
    await ended();
    expect(counted.filter((each) => each === "us match")).toHaveLength(9);
  });
});

describe("nothing is mirrored", () => {
  it.each([
    ["a write", { request: new Request("https://gw.test/", { method: "POST", body: "x" }) }],
    ["OPTIONS", { request: new Request("https://gw.test/", { method: "OPTIONS" }) }],
    ["a read with a body", { body: { kind: "own" } as const }],
    ["a request for a WebSocket", { request: new Request("https://gw.test/", { headers: { upgrade: "websocket" } }) }],
    ["a share of nothing", { percent: 0 }],
    ["a chance beyond the share", { percent: 10, randomWord: () => 2 ** 31 }],
  ])("of %s", async (_, deps) => {
    const { run, sent, counted, works } = setUp(deps);
    run();
    await Promise.all(works);
    expect([works, sent, counted]).toEqual([[], [], []]);
  });

  it("where the shadow has answered the client itself, for lack of the region's own origins", () => {
    const { run, works } = setUp();
    run(new Response("failover"), "us");
    expect(works).toEqual([]);
  });

  it("of a client's request that passed this gateway before", async () => {
    const request = new Request("https://gw.test/", { headers: { "cdn-loop": "waybill" } });
    const { run, sent, counted, ended } = setUp({ request });
    run();
    await ended();
    expect([sent, counted]).toEqual([[], ["us failed"]]);
  });
});

describe("two answers", () => {
  const answer = (status: number, headers: Record<string, string>) => new Response(null, { status, headers });

  it.each<[string, Response, Response, readonly string[]]>([
    [
      "match whatever the server says of itself",
      answer(200, {
        date: "x",
        server: "a",
        "set-cookie": "a=1",
        etag: '"1"',
        "content-type": "Text/HTML; charset=utf-8",
      }),
      answer(200, { date: "y", server: "b", etag: 'W/"2"', "content-type": "text/html;charset=utf-8" }),
      [],
    ],
    ["differ in the media type", answer(200, { "content-type": "text/html" }), answer(200, {}), ["content-type"]],
    ["differ in the charset", withType("text/html;charset=utf-8"), withType("text/html"), ["content-type"]],
    ["differ in the coding", answer(200, { "content-encoding": "gzip" }), answer(200, {}), ["content-encoding"]],
    [
      "differ in length",
      answer(200, { "content-length": "5" }),
      answer(200, { "content-length": "6" }),
      ["content-length"],
    ],
    ["match where only one says its length", answer(200, { "content-length": "5" }), answer(200, {}), []],
    ["differ in whether they can be revalidated", answer(200, { etag: '"1"' }), answer(200, {}), ["etag"]],
    [
      "match in what caches may do, in any order",
      answer(200, { "cache-control": "private, max-age=60" }),
      answer(200, { "cache-control": "Max-Age=60,private" }),
      [],
    ],
    [
      "differ in what caches may do",
      answer(200, { "cache-control": "no-store" }),
      answer(200, { "cache-control": "max-age=60" }),
      ["cache-control"],
    ],
    [
      "match in where they lead to: another host, another ID",
      answer(302, { location: "https://eu.test/orders/1?next=2#top" }),
      answer(302, { location: "https://us.test/orders/27?next=9#end" }),
      [],
    ],
    ["differ in depth", answer(302, { location: "/orders/1" }), answer(302, { location: "/orders" }), ["location"]],
    ["differ in the query", answer(302, { location: "/a?b=1" }), answer(302, { location: "/a?c=1" }), ["location"]],
    ["differ in host or none", answer(302, { location: "//eu.test/a" }), answer(302, { location: "/a" }), ["location"]],
  ])("%s", (_, left, right, fields) => {
    expect(differingFields(shapeOf(left), shapeOf(right))).toEqual(fields);
    expect(differingFields(shapeOf(right), shapeOf(left))).toEqual(fields);
  });

  function withType(type: string): Response {
    return answer(200, { "content-type": type });
  }

  it("of other statuses are counted and logged without any value", async () => {
    const { run, counted, logged, ended } = setUp({
      fetch: async () => answer(404, { "content-type": "secret/value" }),
    });
    run(answer(200, { "content-type": "text/plain" }));
    await ended();
    expect(counted).toEqual(["us status-differs"]);
    expect(logged).toEqual([
      {
        entity: "order",
        id: ID,
        method: "GET",
        region: "eu",
        shadow: "us",
        status: 200,
        shadowStatus: 404,
        fields: ["content-type"],
        suppressed: 0,
      },
    ]);
  });

  it("of a public entity are logged without its ID", async () => {
    const { run, logged, ended } = setUp({ isPublic: true, fetch: async () => answer(500, {}) });
    run();
    await ended();
    expect(logged).toHaveLength(1);
    expect(JSON.stringify(logged)).not.toContain(ID.slice(0, 8));
  });

  it("that differ are logged once a second, with the number of those left out", async () => {
    const { run, logged, counted, pass, ended } = setUp({
      fetch: async () => answer(200, { "cache-control": "no-store" }),
    });
    for (const step of [0, 10, 500, 600]) {
      pass(step);
      run(answer(200, {}));
      await ended();
    }
    expect(logged.map(({ suppressed }) => suppressed)).toEqual([0, 2]);
    expect(counted).toEqual(new Array(4).fill("us headers-differ"));
  });

  it("are compared as they came, whatever the gateway then makes of the client's", async () => {
    const { run, counted, ended } = setUp({ fetch: async () => answer(200, { "cache-control": "no-cache" }) });
    const primary = answer(200, { "cache-control": "no-cache" });
    run(primary);
    primary.headers.set("cache-control", "no-store");
    await ended();
    expect(counted).toEqual(["us match"]);
  });
});

describe("the client is never affected", () => {
  const bodyOf = async (deps: Setup): Promise<string> => {
    const { run } = setUp(deps);
    const answer = new Response("for the client");
    run(answer);
    const label = {
      region: "eu",
      layout: "iuid",
      table: "rev=7",
      originMs: 1,
      fields: "full",
      via: "1.1 waybill",
      encodeBody: "own",
    } as const;
    return clientResponse(answer, answer.body, readResponseFields(answer.headers, fieldRules()), label).text();
  };

  it.each<[string, Fetch]>([
    ["hangs", () => new Promise<Response>(() => undefined)],
    ["breaks off", () => Promise.reject(new Error("Network connection lost."))],
    [
      "throws at once",
      () => {
        throw new Error("no such binding");
      },
    ],
    ["answers for the platform", async () => new Response(null, { status: 522 })],
  ])("by a shadow that %s", async (_, fetch) => {
    const { run, counted, ended } = setUp({ fetch, deadlineMs: 20 });
    run();
    await ended();
    expect(counted).toEqual(["us failed"]);
    expect(await bodyOf({ fetch, deadlineMs: 20 })).toBe("for the client");
  });

  it("by a shadow that answers too late: it is given up", async () => {
    const signals: (AbortSignal | null | undefined)[] = [];
    const { run, counted, ended } = setUp({
      deadlineMs: 20,
      fetch: (_, init) => {
        signals.push(init?.signal);
        return new Promise((resolve) => setTimeout(resolve, 200, new Response("late")));
      },
    });
    run();
    await ended();
    expect(counted).toEqual(["us failed"]);
    expect(signals[0]?.aborted).toBe(true);
  });

  it("by a shadow's body, which is not read", async () => {
    let cancelled = 0;
    const body = () =>
      new ReadableStream({
        pull: () => new Promise(() => undefined),
        cancel: () => {
          cancelled += 1;
        },
      });
    const { run, counted, ended } = setUp({ fetch: async () => new Response(body()) });
    run(new Response("primary", { headers: {} }));
    await ended();
    expect(cancelled).toBe(1);
    expect(counted).toHaveLength(1);
  });
});
