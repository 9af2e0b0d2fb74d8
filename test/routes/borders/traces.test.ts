import { describe, expect, it, vi } from "vitest";
import { pooledEntropy, spanMaker } from "../../../src/edge/platform.ts";
import { checkOrigin } from "../../../src/proxy/origin-response.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { graphqlOrigin, tableWith } from "../graphql/world.ts";
import { IDS, setUp } from "../harness.ts";
import { listTable } from "../lists/regions.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const TRACEPARENT = `00-${TRACE_ID}-00f067aa0ba902b7-01`;
const UNSAMPLED = `00-${TRACE_ID}-00f067aa0ba902b7-00`;
const FUTURE = `cc-${TRACE_ID}-00f067aa0ba902b7-01-what-comes`;

const shadowed = {
  ...DECLARED_TABLE,
  regions: { ...DECLARED_TABLE.regions, shade: { origins: [{ url: "http://shade.test" }] } },
  routes: DECLARED_TABLE.routes.map((route) => ({ ...route, shadow: { region: "shade", percent: 100 } })),
};

const QUERY = `{ a: order(id: "${IDS.orderKz}") { id } b: order(id: "${IDS.orderBr}") { id } }`;

/** One request each that reaches origins, and how many of them. */
const KINDS: Readonly<Record<string, { path: string; init?: RequestInit; options?: Parameters<typeof setUp>[0] }>> = {
  "an entity": { path: `/orders/${IDS.orderDe}` },
  "an entity by its ID": { path: `/any/${IDS.orderDe}` },
  "many IDs": {
    path: "/any",
    init: {
      method: "POST",
      body: JSON.stringify({ ids: [IDS.orderKz, IDS.orderDe] }),
      headers: { "content-type": "application/json" },
    },
  },
  "a list": { path: "/orders", options: { declared: listTable(), origin: () => Response.json({ items: [] }) } },
  "a GraphQL operation of two regions": {
    path: "/graphql",
    init: {
      method: "POST",
      body: JSON.stringify({ query: QUERY }),
      headers: { "content-type": "application/json" },
    },
    options: { declared: tableWith(), origin: graphqlOrigin },
  },
  "a shadow": { path: `/orders/${IDS.orderDe}`, options: { declared: shadowed } },
  failover: {
    path: `/orders/${IDS.orderDe}`,
    options: {
      origin: ({ url }) => {
        if (url.includes("//eu")) throw Object.assign(new Error("Network connection lost."), { retryable: true });
        return new Response("ok");
      },
    },
  },
};

describe.each(Object.entries(KINDS))("%s (W3C Trace Context §3.2, §4.3)", (_, { path, init = {}, options = {} }) => {
  const told = async (fields: Record<string, string>, given = options) => {
    const { request, seen, lines, mirrored } = setUp(given);
    const response = await request(path, { ...init, headers: { ...(init.headers as object), ...fields } });
    await response.text();
    if (options.declared === shadowed) await vi.waitUntil(() => mirrored.length > 0, 5_000);
    const names = ["traceparent", "tracestate", ...Object.keys(fields)];
    const of = (headers: Headers) => Object.fromEntries(names.map((name) => [name, headers.get(name)]));
    const all = [...new Set(seen.map(({ headers }) => JSON.stringify(of(headers))))];
    return { all: all.map((text) => JSON.parse(text)), trace: lines.at(-1)?.trace, lines };
  };

  it("begins no trace", async () => {
    expect(await told({})).toMatchObject({ all: [{ traceparent: null, tracestate: null }], trace: undefined });
  });

  it.each([TRACEPARENT, UNSAMPLED, FUTURE])("continues %s with its state", async (traceparent) => {
    const fields = { traceparent, tracestate: "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE" };
    expect(await told(fields)).toMatchObject({ all: [fields], trace: TRACE_ID });
    expect(await told({ traceparent, tracestate: "a=1,a=2" })).toMatchObject({
      all: [{ traceparent, tracestate: null }],
    });
  });

  it.each([
    "00-nonsense",
    TRACEPARENT.toUpperCase(),
    `${TRACEPARENT}, ${TRACEPARENT}`,
    TRACEPARENT.replace("00-", "ff-"),
  ])("removes %s with its state", async (traceparent) => {
    const { all, trace } = await told({ traceparent, tracestate: "a=1" });
    expect([all, trace]).toEqual([[{ traceparent: null, tracestate: null }], undefined]);
  });

  describe("where the gateway is a part of traces", () => {
    /** The share of requests that begin a trace. */
    const spans = (share: number, fields: Record<string, string>) => {
      const beginSpan = spanMaker(share, pooledEntropy());
      return told(fields, { ...options, gateway: { ...options.gateway, beginSpan } });
    };

    it("is a span between the client's and all origins'", async () => {
      const { all, lines } = await spans(0, { traceparent: TRACEPARENT, tracestate: "a=1" });
      expect(all.map(({ tracestate }) => tracestate)).toEqual(all.map(() => "a=1"));
      const parents = all.map(({ traceparent }) => traceparent);
      expect(lines.map(({ span }) => `00-${TRACE_ID}-${span}-01`)).toEqual(expect.arrayContaining(parents));
      expect(parents).not.toContain(TRACEPARENT);
      expect(new Set(lines.map(({ trace }) => trace))).toEqual(new Set([TRACE_ID]));
      // Each span's parent is the client's, or another one of the request.
      const known = [TRACEPARENT.slice(36, 52), ...lines.map(({ span }) => span)];
      expect(lines.filter(({ span, parentSpan }) => span === parentSpan || !known.includes(parentSpan))).toEqual([]);
      expect(lines.filter(({ parentSpan }) => parentSpan === TRACEPARENT.slice(36, 52))).toHaveLength(1);
    });

    it("begins one trace, without another's state", async () => {
      const { all, trace, lines } = await spans(1, { tracestate: "a=1" });
      expect(new Set(lines.map((line) => line.trace))).toEqual(new Set([trace]));
      expect(lines.filter(({ parentSpan }) => parentSpan === undefined)).toHaveLength(1);
      const own = lines.map(({ span }) => ({ traceparent: `00-${trace}-${span}-01`, tracestate: null }));
      expect(own).toEqual(expect.arrayContaining(all));
      expect(trace).toMatch(/^[0-9a-f]{32}$/);
    });

    it.each([{}, { traceparent: UNSAMPLED }])("is no span of what is not sampled: %j", async (fields) => {
      const { all, lines } = await spans(0, fields);
      expect(all).toEqual([{ traceparent: null, tracestate: null, ...fields }]);
      expect(lines.filter(({ span, parentSpan }) => (span ?? parentSpan) !== undefined)).toEqual([]);
    });

    it("speaks the version that it knows", async () => {
      const { all } = await spans(0, { traceparent: FUTURE.replace("-01-", "-ff-") });
      const form = new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-03$`);
      expect(all.filter(({ traceparent }) => !form.test(traceparent))).toEqual([]);
    });
  });

  it("passes the fields of other tracers", async () => {
    const fields = {
      b3: `${TRACE_ID}-00f067aa0ba902b7-1`,
      "x-b3-traceid": TRACE_ID,
      "x-b3-sampled": "1",
      "uber-trace-id": `${TRACE_ID}:00f067aa0ba902b7:0:1`,
      baggage: "user=1",
      "sentry-trace": `${TRACE_ID}-00f067aa0ba902b7-1`,
    };
    expect((await told(fields)).all).toEqual([{ traceparent: null, tracestate: null, ...fields }]);
  });
});

it("a health check belongs to no trace", async () => {
  let sent: Headers | undefined;
  const fetch = async (target: string | Request, init?: RequestInit) => {
    sent = new Request(target, init).headers;
    return new Response("ok");
  };
  const { gateway } = setUp();
  const origin = gateway.tables.peek(() => undefined)?.table.regions.get("eu")?.origins[0];
  await checkOrigin(origin ?? ({ url: "http://eu.test" } as never), { path: "/", timeoutMs: 1_000 } as never, {
    ...gateway,
    fetch,
  });
  expect([sent?.get("user-agent"), sent?.get("traceparent")]).toEqual(["waybill-health", null]);
});
