import { describe, expect, it } from "vitest";
import type { MovedKey, MovedMemory } from "../../../src/ports/gateway.ts";
import { deliver } from "../../../src/proxy/deliver.ts";
import { deps, kept, lost, ORDER, order, proxyRequest, tableWith } from "../passages.ts";

const disown = (region?: string) =>
  new Response("not mine", { status: 421, headers: region === undefined ? {} : { "waybill-region": region } });

const host = (request: Request) => new URL(request.url).host;

/** `eu` says that the order is in `us`, which has it. */
const MOVED_TO_US = (request: Request) => (host(request) === "eu.test" ? disown("us") : new Response("here"));

const MOVE_FROM_AP = { from: "ap", to: "eu", state: "started", epoch: 4 };

function memory(): MovedMemory & { readonly known: Map<string, string> } {
  const known = new Map<string, string>();
  const textOf = ({ entity, id, decided }: MovedKey) => `${entity} ${id} ${decided}`;
  return {
    known,
    isEmpty: false,
    recall: (key) => known.get(textOf(key)),
    remember: (key, region) => void known.set(textOf(key), region),
    forget: (key) => void known.delete(textOf(key)),
  };
}

describe("an origin's 421 that names a region", () => {
  const table = tableWith();

  it("is followed once, and the client sees the answer of the other region", async () => {
    const { world: given, asked } = deps(table, MOVED_TO_US, { movedMemory: memory() });
    const delivered = await deliver(proxyRequest(table, order()), given);
    expect(delivered).toMatchObject({ value: { region: { name: "us" }, response: { status: 200 } } });
    expect(asked).toEqual(["GET eu.test", "GET us.test"]);
  });

  it("is remembered: the next request goes straight there", async () => {
    const { world: given, asked } = deps(table, MOVED_TO_US, { movedMemory: memory() });
    await deliver(proxyRequest(table, order()), given);
    asked.length = 0;
    expect((await deliver(proxyRequest(table, order({ method: "POST" })), given)).ok).toBe(true);
    expect(asked).toEqual(["POST us.test"]);
  });

  it("is forgotten when the region that it named says that the table's region has it", async () => {
    const known = memory();
    await deliver(proxyRequest(table, order()), deps(table, MOVED_TO_US, { movedMemory: known }).world);
    const back = (request: Request) => (host(request) === "us.test" ? disown("eu") : new Response("home"));
    const { world: given, asked } = deps(table, back, { movedMemory: known });
    expect(await deliver(proxyRequest(table, order()), given)).toMatchObject({ value: { region: { name: "eu" } } });
    expect(asked).toEqual(["GET us.test", "GET eu.test"]);
    expect(known.known.size).toBe(0);
  });

  it("gives way to what the region that it named says of a third one", async () => {
    const known = memory();
    await deliver(proxyRequest(table, order()), deps(table, MOVED_TO_US, { movedMemory: known }).world);
    const on = (request: Request) => (host(request) === "us.test" ? disown("ap") : new Response("there"));
    const { world: given, asked } = deps(table, on, { movedMemory: known });
    expect(await deliver(proxyRequest(table, order()), given)).toMatchObject({ value: { region: { name: "ap" } } });
    expect([...known.known.values()]).toEqual(["ap"]);
    expect((await deliver(proxyRequest(table, order()), given)).ok).toBe(true);
    expect(asked).toEqual(["GET us.test", expect.stringContaining("GET ap-"), expect.stringContaining("GET ap-")]);
  });

  const routed = (routes: readonly object[]) => tableWith({}, {}, { routes });
  it.each([
    ["a newer table", routed([{ when: {}, region: "ap" }])],
    ["a canary of the route", routed([{ when: {}, region: "eu", canary: { region: "ap", percent: 100 } }])],
    ["a move that has begun elsewhere", tableWith({}, {}, { moves: { [ORDER]: MOVE_FROM_AP } })],
  ])("is nothing to %s that decides on another region", async (_, other) => {
    const known = memory();
    await deliver(proxyRequest(table, order()), deps(table, MOVED_TO_US, { movedMemory: known }).world);
    const { world: given, asked } = deps(other, () => new Response("here"), { movedMemory: known });
    for (const method of ["GET", "PUT", "POST"]) {
      const delivered = await deliver(proxyRequest(other, order({ method })), given);
      expect(delivered).toMatchObject({ value: { region: { name: "ap" } } });
    }
    expect(asked).toEqual(["GET", "PUT", "POST"].map((method) => expect.stringContaining(`${method} ap-`)));
  });

  it.each([500, 503])("is not remembered when the other region answers %i", async (status) => {
    const known = memory();
    const origin = (request: Request) => (host(request) === "eu.test" ? disown("us") : new Response(null, { status }));
    const { world: given } = deps(table, origin, { movedMemory: known });
    expect(await deliver(proxyRequest(table, order()), given)).toMatchObject({ value: { response: { status } } });
    expect(known.known.size).toBe(0);
  });

  it("is remembered when the other region answers 404: the entity would be there", async () => {
    const known = memory();
    const origin = (request: Request) =>
      host(request) === "eu.test" ? disown("us") : new Response(null, { status: 404 });
    const { world: given, asked } = deps(table, origin, { movedMemory: known });
    for (let count = 0; count < 2; count++) await deliver(proxyRequest(table, order()), given);
    expect(asked).toEqual(["GET eu.test", "GET us.test", "GET us.test"]);
  });

  it("is believed for one request only when it is a failover region's", async () => {
    const known = memory();
    const origin = (request: Request) =>
      host(request) === "eu.test" ? lost() : host(request) === "us.test" ? disown("ap") : new Response("copy");
    const { world: given } = deps(table, origin, { movedMemory: known });
    expect(await deliver(proxyRequest(table, order()), given)).toMatchObject({ value: { region: { name: "ap" } } });
    expect(known.known.size).toBe(0);
  });

  it("is not remembered where the entity says 0 seconds", async () => {
    const never = tableWith({}, { rememberMovedSeconds: 0 });
    const known = memory();
    const { world: given } = deps(never, MOVED_TO_US, { movedMemory: known });
    expect((await deliver(proxyRequest(never, order()), given)).ok).toBe(true);
    expect(known.known.size).toBe(0);
  });

  it("is followed with a body that was kept", async () => {
    const { world: given } = deps(table, async (request) =>
      host(request) === "eu.test" ? disown("us") : new Response(`got ${await request.text()}`),
    );
    const delivered = await deliver(proxyRequest(table, order({ method: "POST" }), kept("the body")), given);
    expect(delivered.ok && (await delivered.value.response.text())).toBe("got the body");
  });

  it("cannot be followed with a body that was streamed, but the next try goes to the right place", async () => {
    const { world: given, asked } = deps(table, MOVED_TO_US, { movedMemory: memory() });
    const stream = () => ({
      kind: "stream" as const,
      stream: new Response("x").body as ReadableStream<Uint8Array>,
      length: null,
    });
    expect(await deliver(proxyRequest(table, order({ method: "POST" }), stream()), given)).toEqual({
      ok: false,
      error: { reason: "body-too-large-to-replay", region: "eu", bytesMax: 0 },
    });
    expect((await deliver(proxyRequest(table, order({ method: "POST" }), stream()), given)).ok).toBe(true);
    expect(asked).toEqual(["POST eu.test", "POST us.test"]);
  });

  it.each([
    {
      what: "both name each other",
      origin: (request: Request) => disown(host(request) === "eu.test" ? "us" : "eu"),
      asked: 2,
    },
    { what: "it names itself", origin: () => disown("eu"), asked: 1 },
    { what: "it names a region that is not in the table", origin: () => disown("mars"), asked: 1 },
  ])("is never followed twice, nor forwarded: $what", async ({ origin, asked: times }) => {
    const { world: given, asked } = deps(table, origin, { movedMemory: memory() });
    expect(await deliver(proxyRequest(table, order()), given)).toMatchObject({ error: { reason: "origins-disagree" } });
    expect(asked).toHaveLength(times);
  });

  it("says nothing against the table: a moved entity is where the table says", async () => {
    const moved = tableWith({}, {}, { moved: { [ORDER]: "ap" } });
    const known = memory();
    const { world: given, asked } = deps(moved, () => disown("us"), { movedMemory: known });
    expect(await deliver(proxyRequest(moved, order()), given)).toMatchObject({
      error: { reason: "origins-disagree", region: "ap" },
    });
    expect(asked).toHaveLength(1);
    expect(known.known.size).toBe(0);
  });

  it("leads to a region that cannot be reached: that is the error, and the old one is not asked again", async () => {
    const { world: given, asked } = deps(table, (request) => (host(request) === "eu.test" ? disown("us") : lost()));
    expect(await deliver(proxyRequest(table, order({ method: "POST" })), given)).toMatchObject({
      error: { reason: "origin-unreachable", region: "us" },
    });
    expect(asked).toEqual(["POST eu.test", "POST us.test"]);
  });
});

it("a 421 that names no region is the origin's own answer", async () => {
  const table = tableWith();
  const { world: given } = deps(table, () => disown());
  expect(await deliver(proxyRequest(table, order()), given)).toMatchObject({ value: { response: { status: 421 } } });
});
