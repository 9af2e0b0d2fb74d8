import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";
import { IDS, setUp } from "./harness.ts";

const PATH = `/orders/${IDS.orderDe}`;
const FORGED = {
  "waybill-entity-id": "forged",
  "waybill-region": "forged",
  "waybill-revision": "9",
  "x-forwarded-for": "6.6.6.6",
  "x-forwarded-host": "evil.test",
  "x-forwarded-proto": "gopher",
  forwarded: "for=6.6.6.6",
  "true-client-ip": "6.6.6.6",
  "proxy-authorization": "Basic x",
};

const tableWith = (fields: string | undefined, more: object = {}) => ({
  ...DECLARED_TABLE,
  ...(fields !== undefined && { fields }),
  ...more,
});

/** Names and values that the origin got beside those of the client, and the client beside those of the origin. */
async function added(declared: unknown, gateway: Parameters<typeof setUp>[0] = {}, headers: HeadersInit = {}) {
  const origin = () => new Response("ok", { headers: { "content-type": "text/plain", "waybill-own": "x" } });
  const { request, seen } = setUp({ declared, origin, ...gateway });
  const sent = new Headers({ ...FORGED, "x-own": "kept", host: "gw.test", "cf-connecting-ip": "203.0.113.7" });
  for (const [name, value] of new Headers(headers)) sent.set(name, value);
  const response = await request(PATH, { headers: sent });
  expect(await response.text()).toBe("ok");
  expect(seen[0]?.headers.get("x-own")).toBe("kept");
  const up = Object.fromEntries(seen[0]?.headers ?? []);
  const down = Object.fromEntries(response.headers);
  expect([...Object.values(up), ...Object.values(down)].join()).not.toMatch(/forged|6\.6\.6\.6|evil|gopher|Basic/);
  expect(down["waybill-own"]).toBeUndefined();
  return { up, down };
}

const STANDARD_UP = "cdn-loop via waybill-entity-id waybill-region x-forwarded-for x-forwarded-host".split(" ");
const names = (fields: object) => Object.keys(fields).filter((name) => name !== "host" && name !== "x-own");

describe("the fields that the gateway adds", () => {
  it.each([undefined, "standard"])("by %s: each thing said once", async (fields) => {
    const { up, down } = await added(tableWith(fields));
    expect(names(up)).toEqual([...STANDARD_UP, "x-forwarded-proto"]);
    expect(up["waybill-entity-id"]).toBe(IDS.orderDe);
    expect([up["x-forwarded-for"], up["x-forwarded-host"], up["x-forwarded-proto"]]).toEqual([
      "203.0.113.7",
      "gw.test",
      "http",
    ]);
    expect(names(down)).toEqual(["content-type", "waybill-region"]);
  });

  it("by full: all", async () => {
    const { up, down } = await added(tableWith("full"));
    const more = ["forwarded", "waybill-layout", "waybill-revision", "x-forwarded-proto"];
    expect(names(up)).toEqual([...STANDARD_UP, ...more].toSorted());
    const all = ["content-type", "server-timing", "via", "waybill-layout", "waybill-region", "waybill-table"];
    expect(names(down)).toEqual(all);
  });

  it("by minimal: address and ID, and what finds out loops", async () => {
    const { up, down } = await added(tableWith("minimal"));
    expect(names(up)).toEqual(["cdn-loop", "waybill-entity-id", "x-forwarded-for"]);
    expect([up["cdn-loop"], up["waybill-entity-id"], up["x-forwarded-for"]]).toEqual([
      "waybill",
      IDS.orderDe,
      "203.0.113.7",
    ]);
    expect(names(down)).toEqual(["content-type"]);
  });

  it("by minimal: an answer passes as it came, half of one too, unless the table has a deadline", async () => {
    const origin = () => {
      const { readable, writable } = new FixedLengthStream(4);
      void writable.getWriter().write(new TextEncoder().encode("ok"));
      return new Response(readable, { headers: { "content-length": "4" } });
    };
    const asked = (more: object) => setUp({ declared: tableWith("minimal", more), origin }).request(PATH);
    const passed = await asked({});
    const read = await passed.body?.getReader().read();
    expect(new TextDecoder().decode(read?.value)).toBe("ok");
    const order = { ...DECLARED_TABLE.entities.order, deadlines: { firstByteMs: 50, idleMs: 50 } };
    expect((await asked({ entities: { ...DECLARED_TABLE.entities, order } })).status).toBe(504);
  });

  it("by an entity's word before the table's", async () => {
    const order = { ...DECLARED_TABLE.entities.order, fields: "minimal" };
    const { up } = await added(tableWith("full", { entities: { ...DECLARED_TABLE.entities, order } }));
    expect(names(up)).toEqual(["cdn-loop", "waybill-entity-id", "x-forwarded-for"]);
  });

  it.each(["standard", "minimal"])("by %s, with all that a signature covers", async (fields) => {
    const { up } = await added(tableWith(fields), { gateway: { sign: async () => "v1;signed" } });
    expect(up).toMatchObject({ "waybill-region": "eu", "waybill-revision": "0", "waybill-signature": "v1;signed" });
  });

  it.each(["standard", "full", "minimal"])("by %s, after those of a trusted proxy", async (fields) => {
    const { up } = await added(
      tableWith(fields),
      { gateway: { trustsForwarded: true } },
      {
        "x-forwarded-for": "198.51.100.1",
        "x-forwarded-host": "shop.test",
        "x-forwarded-proto": "https",
        forwarded: "for=a",
      },
    );
    expect(up["x-forwarded-for"]).toBe("198.51.100.1, 203.0.113.7");
    expect(up["forwarded"]).toBe('for=a, for=203.0.113.7;host="gw.test";proto=http');
    expect([up["x-forwarded-host"], up["x-forwarded-proto"]]).toEqual(["shop.test", "https"]);
  });

  it.each(["standard", "full", "minimal"])("by %s: a request that passed before is refused", async (fields) => {
    const { request, seen } = setUp({ declared: tableWith(fields) });
    expect((await request(PATH, { headers: { "cdn-loop": "waybill" } })).status).toBe(508);
    expect(seen).toEqual([]);
  });

  it.each(["standard", "full", "minimal"])(
    "by %s: a client's trace goes on, one that is none does not",
    async (fields) => {
      const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
      const good = await added(tableWith(fields), {}, { traceparent, tracestate: "a=1", via: "1.0 before" });
      expect([good.up["traceparent"], good.up["tracestate"]]).toEqual([traceparent, "a=1"]);
      expect(good.up["via"]).toBe(fields === "minimal" ? "1.0 before" : "1.0 before, 1.1 waybill");
      const bad = await added(tableWith(fields), {}, { traceparent: "00-nonsense", tracestate: "a=1" });
      expect(bad.up["traceparent"]).toBeUndefined();
      expect(bad.up["tracestate"]).toBeUndefined();
    },
  );

  it("by minimal, and a cookie that the gateway sets all the same", async () => {
    const { request } = setUp({
      declared: tableWith("minimal", {
        withoutId: {
          login: { path: "/login", sources: [{ region: "eu" }], sticky: { cookie: "r", maxAgeSeconds: 9 } },
        },
      }),
    });
    const response = await request("/login");
    expect(response.headers.get("set-cookie")).toContain("r=eu");
    expect(response.headers.has("waybill-region")).toBe(false);
  });
});
