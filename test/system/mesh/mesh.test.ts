import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { WebSocket } from "ws";
import { type MeshStack, NAMES, type Name, startMesh } from "./mesh.ts";

/** Three gateways of one mesh as processes: any of them is the entrance. */

let mesh: MeshStack;
beforeAll(async () => {
  mesh = await startMesh();
});
afterAll(() => mesh.stop());

const json = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  body: JSON.stringify(body),
  headers: { "content-type": "application/json", ...headers },
});

/** Fields of an answer that do not name the gateway, the moment or the revision. */
const VARYING = /^(?:date|connection|keep-alive|server-timing|via|waybill-table|content-length|transfer-encoding)$/;

async function shown(response: Response) {
  const headers = [...response.headers].filter(([name]) => !VARYING.test(name));
  return { status: response.status, headers, text: await response.text() };
}

const askAt = async (url: string, path: string, init?: RequestInit) => shown(await fetch(url + path, init));
const entrances = () => NAMES.map((name) => mesh.gateways[name].url);

async function create(at: Name, country: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${mesh.gateways[at].url}/orders`, json({ at }, { "x-country": country, ...headers }));
  expect(response.status).toBe(201);
  return { id: response.headers.get("waybill-entity-id") ?? "", region: response.headers.get("waybill-region") };
}

const COUNTRIES: Readonly<Record<Name, string>> = { eu: "DE", us: "BR", ap: "KZ" };

it("creates anywhere, and reads it everywhere", async () => {
  for (const at of NAMES) {
    for (const region of NAMES) {
      const made = await create(at, COUNTRIES[region]);
      expect(made.region).toBe(region);
      const path = `/orders/${made.id}/lines?a=1&b=%2F`;
      const expected = await askAt(mesh.alone.url, path, { headers: { "x-a": "b" } });
      expect(expected.status).toBe(200);
      for (const url of entrances()) {
        const found = await askAt(url, path, { headers: { "x-a": "b" } });
        const revision = (text: string) =>
          text.replace(/\["waybill-revision","\d+"\]/, "").replaceAll(/127\.0\.0\.1:\d+/g, "host");
        expect({ ...found, text: revision(found.text) }).toEqual({ ...expected, text: revision(expected.text) });
      }
    }
  }
});

it("a keyed create is made once, and its answer repeated", async () => {
  const key = { "idempotency-key": "mesh-1" };
  const first = await create("eu", "KZ", key);
  expect(await create("eu", "KZ", key)).toEqual(first);
});

it("lists, many IDs and GraphQL are the same at each entrance", async () => {
  const ids = await Promise.all(NAMES.map(async (region) => (await create("us", COUNTRIES[region])).id));
  const [a, b, c] = ids;
  const requests: readonly (readonly [string, RequestInit?])[] = [
    ["/orders?limit=50"],
    ["/any", json([...ids, "nothing"])],
    [
      "/graphql",
      json({
        query: `{ a: order(id: "${a}") { region } b: order(id: "${b}") { region } c: order(id: "${c}") { id region } }`,
      }),
    ],
    ["/graphql", json({ query: "{ viewer }" })],
    ["/login", { headers: { "x-home": "ap" } }],
    ["/login", { headers: { "x-home": "mars" } }],
  ];
  for (const [path, init] of requests) {
    const [first, ...others] = await Promise.all(entrances().map((url) => askAt(url, path, init)));
    const neutral = (text = "") =>
      text.replaceAll(/"(?:next|gap)":"[^"]+"/g, "").replaceAll(/127\.0\.0\.1:\d+/g, "host");
    for (const other of others)
      expect([path, other.status, neutral(other.text)]).toEqual([path, first?.status, neutral(first?.text)]);
  }
});

it("public IDs are opened and hidden by the entrance alone", async () => {
  const { graphql: _, ...open } = mesh.table;
  const parcel = { ...open.entities.parcel, public: true, publicFields: ["/id"], otherBodies: "pass" };
  await mesh.publish({ ...open, entities: { ...open.entities, parcel } }, ...NAMES);
  const minted = await fetch(`${mesh.gateways.ap.url}/mint`, json({ entity: "parcel", country: "BR" }));
  const { ids } = (await minted.json()) as { ids: [string] };
  const [id] = ids;
  for (const url of entrances()) {
    const { status, text, headers } = await askAt(url, `/parcels/${id}`);
    expect([status, JSON.parse(text).id]).toEqual([200, id]);
    expect(JSON.stringify(headers)).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
  }
  await mesh.origins.us.stop();
  try {
    for (const url of entrances()) {
      const { status, text } = await askAt(url, `/parcels/${id}`);
      expect([status, text]).toEqual([502, expect.stringContaining("origin-unreachable")]);
      expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
    }
  } finally {
    await mesh.origins.us.startAgain();
    await mesh.publish(mesh.table, ...NAMES);
  }
});

it("bodies stream through both gateways, and large ones come whole", async () => {
  const { id } = await create("eu", "BR");
  const body = randomBytes(3_000_000).toString("base64");
  for (const url of entrances()) {
    const response = await fetch(`${url}/orders/${id}`, { method: "PUT", body });
    const echoed = (await response.json()) as { body: string; region: string };
    const digest = (text: string) => createHash("sha256").update(text).digest("hex");
    expect([echoed.region, digest(echoed.body)]).toEqual(["us", digest(body)]);
  }
});

it("a WebSocket is one conversation through both gateways", async () => {
  const { id } = await create("eu", "KZ");
  for (const url of entrances()) {
    const socket = new WebSocket(`${url.replace("http", "ws")}/orders/${id}/events`);
    const said = await new Promise((resolve, reject) => {
      socket.on("open", () => socket.send("hello"));
      socket.on("message", (text) => resolve(String(text)));
      socket.on("error", reject);
    });
    expect(said).toBe("ap: hello");
    socket.close();
  }
});

it("moves are followed from each entrance, while the tables differ and after", async () => {
  const { id } = await create("us", "BR");
  const regionAt = async (url: string) => {
    const response = await fetch(`${url}/orders/${id}`);
    await response.text();
    return [response.status, response.headers.get("waybill-region")];
  };
  // The origins moved it, and no table says so.
  mesh.moved.set(id, "ap");
  for (const url of entrances()) expect(await regionAt(url)).toEqual([200, "ap"]);
  // The table of the new region's gateway is the first to say so.
  const moved = { ...mesh.table, moved: { [id]: { region: "eu", epoch: 2 } } };
  mesh.moved.set(id, "eu");
  await mesh.publish(moved, "us", "ap");
  for (const url of entrances()) expect(await regionAt(url)).toEqual([200, "eu"]);
  await mesh.publish(moved, "eu");
  for (const url of entrances()) expect(await regionAt(url)).toEqual([200, "eu"]);
  // Fenced by one gateway alone: no write passes anywhere that it serves.
  const fenced = { ...mesh.table, moves: { [id]: { from: "eu", to: "us", state: "fenced", epoch: 3 } } };
  await mesh.publish(fenced, "eu");
  for (const url of entrances()) {
    const response = await fetch(`${url}/orders/${id}`, { method: "DELETE" });
    expect([response.status, await response.text()]).toEqual([503, expect.stringContaining("entity-moving")]);
  }
  await mesh.publish(mesh.table, ...NAMES);
  mesh.moved.delete(id);
});

it("hops that are forged or changed reach no origin", async () => {
  const { id } = await create("eu", "BR");
  const before = mesh.seen.length;
  const { us } = mesh.gateways;
  for (const hop of ["", "v1", "v1;k=2026a;t=1;h=e30;s=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]) {
    for (const path of [`/orders/${id}`, "/orders", "/mint", "/-/table"]) {
      const response = await fetch(us.url + path, { headers: { "waybill-hop": hop } });
      expect([path, response.status, await response.text()]).toEqual([
        path,
        403,
        expect.stringContaining("hop-refused"),
      ]);
    }
  }
  expect(mesh.seen.length).toBe(before);
});

it("a region whose gateway is gone is a dead region, and the others go on", async () => {
  const made = await create("eu", "BR");
  const elsewhere = await create("eu", "KZ");
  await mesh.origins.us.stop();
  const expected = await askAt(mesh.alone.url, `/orders/${made.id}`);
  await mesh.origins.us.startAgain();
  await mesh.gateways.us.gateway.stop(0);
  for (const at of ["eu", "ap"] as const) {
    const { url } = mesh.gateways[at];
    const found = await askAt(url, `/orders/${made.id}`);
    expect([found.status, found.text]).toEqual([expected.status, expected.text]);
    expect((await askAt(url, `/orders/${elsewhere.id}`)).status).toBe(200);
    const list = await fetch(`${url}/orders?limit=5`);
    expect([list.status, list.headers.get("waybill-partial")]).toEqual([200, "us"]);
  }
});
