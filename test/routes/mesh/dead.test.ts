import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, problemOf, setUp } from "../harness.ts";
import { MESH_TABLE, type MeshOptions, NAMES, setUpMesh } from "./mesh.ts";

/** A region whose gateway or whose origins fail is a dead region, and the same to clients. */

const PATH = `/orders/${IDS.orderBr}`;
const lost = (): never => {
  throw new Error("Network connection lost.");
};
const isUs = (request: Request) => request.url.includes("//us.");

const shown = async (response: Response) => {
  const { detail: _, ...problem } = await problemOf(response);
  return { status: response.status, proxyStatus: response.headers.get("proxy-status")?.replace(/^[^;]+/, ""), problem };
};

describe("a region that is dead", () => {
  it.each<readonly [what: string, options: MeshOptions]>([
    ["its gateway", { between: lost }],
    ["its origins", { origin: (request) => (isUs(request) ? lost() : new Response("here")) }],
  ])("by %s: as by its origins without a mesh", async (_, options) => {
    const alone = setUp({ declared: MESH_TABLE, origin: (request) => (isUs(request) ? lost() : new Response("here")) });
    for (const method of ["GET", "POST", "DELETE"]) {
      const expected = await shown(await alone.request(PATH, { method }));
      const { gateways } = setUpMesh(options);
      expect(await shown(await gateways.eu.request(PATH, { method }))).toEqual(expected);
    }
  });

  it.each<readonly [what: string, answer: () => Response]>([
    ["a page of another server", () => new Response("<h1>502</h1>", { status: 502 })],
    ["a page with 200", () => new Response("welcome")],
    ["the answer of a gateway of another version", () => Response.json({}, { status: 404 })],
  ])("behind %s: no client gets it", async (_, answer) => {
    const { gateways } = setUpMesh({ between: answer });
    const response = await gateways.eu.request(PATH);
    expect(response.headers.get("proxy-status")).toBe("eu-gw; error=http_protocol_error");
    expect(await problemOf(response)).toMatchObject({
      type: "/-/problems/origin-unreachable",
      status: 502,
      region: "us",
    });
  });

  it("fails over to the next region, whichever way it is dead", async () => {
    const us = { ...MESH_TABLE.regions.us, failover: ["ap"] };
    const declared = { ...MESH_TABLE, regions: { ...MESH_TABLE.regions, us } };
    const dead: readonly MeshOptions[] = [
      { declared, between: (request, _, to) => (to === "us" ? lost() : request) },
      { declared, origin: (request) => (isUs(request) ? lost() : new Response("here")) },
    ];
    for (const options of dead) {
      const { gateways } = setUpMesh(options);
      const read = await gateways.eu.request(PATH);
      expect([read.status, read.headers.get("waybill-region")]).toEqual([200, "ap"]);
      const write = await gateways.eu.request(PATH, { method: "POST" });
      expect(write.status).toBe(502);
    }
  });

  it("opens the breaker of its gateway; the origins' own are the other gateway's", async () => {
    const us = { ...MESH_TABLE.regions.us, breaker: { failures: 2, openMs: 60_000 } };
    const declared = { ...MESH_TABLE, regions: { ...MESH_TABLE.regions, us } };
    let isDead = true;
    const { gateways, hops } = setUpMesh({ declared, between: (request) => (isDead ? lost() : request) });
    for (let time = 0; time < 4; time++) await gateways.eu.request(PATH, { method: "POST" });
    const state = gateways.eu.gateway.originHealth;
    const server = gateways.eu.gateway.tables.peek(() => undefined)?.table.regions.get("us")?.servers[0];
    expect(server).toMatchObject({ url: "http://us-gw.internal", isPeer: true });
    expect(state.admit(server as never, us.breaker, Date.now()).state).toBe("open");
    isDead = false;
    expect(hops.length).toBeGreaterThan(1);
    expect((await gateways.us.request(PATH)).status).toBe(200);
  });
});

describe("a request is sent", () => {
  it("once to a gateway that answered, though the region's origins failed", async () => {
    const { gateways, hops, seen } = setUpMesh({
      origin: (request) => (isUs(request) ? lost() : new Response("here")),
    });
    await gateways.eu.request(PATH);
    expect([hops.length, seen.length]).toEqual([1, 2]);
  });

  it("twice to a gateway whose connection was lost, if it may be repeated", async () => {
    for (const [method, times] of [
      ["GET", 2],
      ["DELETE", 2],
      ["POST", 1],
    ] as const) {
      const { gateways, hops } = setUpMesh({ between: lost });
      await gateways.eu.request(PATH, { method });
      expect([method, hops.length]).toEqual([method, times]);
    }
  });

  it("to the origins of its region in turn, by their gateway", async () => {
    const { gateways, seen, hops } = setUpMesh({
      origin: (request) => (request.url.includes("ap-1") ? lost() : new Response("second")),
    });
    const found = new Set<string>();
    for (let at = 0; at < 8; at++) {
      const id = `01990f04-d900-8005-8040-00000000000${at}`;
      found.add(await (await gateways.eu.request(`/orders/${id}`)).text());
    }
    expect([[...found], hops.length]).toEqual([["second"], 8]);
    expect(seen.some(({ url }) => url.includes("ap-1"))).toBe(true);
  });

  it("in time: a gateway may take as long as its origins, and no longer", async () => {
    const { gateways } = setUpMesh({
      deadlines: { firstByteMs: 100 },
      between: () => new Promise<Response>(() => undefined),
    });
    const response = await gateways.eu.request(PATH, { method: "POST" });
    expect(await problemOf(response)).toMatchObject({ type: "/-/problems/origin-timeout", status: 504 });
  });
});

describe("on the way", () => {
  it("a WebSocket is one conversation", async () => {
    const { gateways } = setUpMesh({
      origin: () => {
        const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
        server.accept();
        server.addEventListener("message", ({ data }) => server.send(`us says ${data}`));
        return new Response(null, { status: 101, webSocket: client });
      },
    });
    const response = await gateways.eu.request(PATH, { headers: { upgrade: "websocket", connection: "upgrade" } });
    expect(response.status).toBe(101);
    const { webSocket } = response;
    const said = new Promise((resolve) => webSocket?.addEventListener("message", ({ data }) => resolve(data)));
    webSocket?.accept();
    webSocket?.send("hello");
    expect(await said).toBe("us says hello");
    webSocket?.close();
  });

  it("a WebSocket that the origin refuses is refused", async () => {
    const { gateways } = setUpMesh({ origin: () => new Response("no", { status: 403 }) });
    const response = await gateways.eu.request(PATH, { headers: { upgrade: "websocket", connection: "upgrade" } });
    expect([response.status, await response.text()]).toEqual([403, "no"]);
  });

  it("a coded answer stays coded, and a part of it a part", async () => {
    const coded = new Uint8Array([1, 2, 3, 4]);
    const { gateways } = setUpMesh({
      origin: () =>
        new Response(coded, {
          status: 206,
          headers: { "content-encoding": "x-own", "content-range": "bytes 0-3/9" },
          encodeBody: "manual",
        }),
    });
    const response = await gateways.eu.request(PATH, { headers: { range: "bytes=0-3" } });
    expect([response.status, response.headers.get("content-encoding"), response.headers.get("content-range")]).toEqual([
      206,
      "x-own",
      "bytes 0-3/9",
    ]);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(coded);
  });

  it("a shadow behind a gateway gets its reads there", async () => {
    const routes = DECLARED_TABLE.routes.map((route) =>
      route.region === "eu" ? { ...route, shadow: { region: "us", percent: 100 } } : route,
    );
    const { gateways, seen } = setUpMesh({ declared: { ...MESH_TABLE, routes } });
    await gateways.eu.request(`/orders/${IDS.orderDe}`);
    for (let turn = 0; turn < 200 && seen.length < 2; turn++) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(seen.map(({ by, headers }) => [by, headers.get("waybill-shadow"), headers.get("waybill-region")])).toEqual([
      ["eu", null, "eu"],
      ["us", "1", "us"],
    ]);
    expect(gateways.eu.mirrored).toEqual(["us match"]);
  });

  it("a trace goes on: the hop is a child of the first gateway's span", async () => {
    const { gateways, seen } = setUpMesh();
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for (const name of NAMES) await gateways[name].request(PATH, { headers: { traceparent, tracestate: "a=b" } });
    expect(seen.map(({ headers }) => [headers.get("traceparent"), headers.get("tracestate")])).toEqual(
      NAMES.map(() => [traceparent, "a=b"]),
    );
  });
});
