import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buildSchema, execute, parse } from "graphql";
import { WebSocketServer } from "ws";
import { type Stack, startStack } from "../stack.ts";

/** Three real gateways with one table and real origins. Ports are the system's choice: the table follows them by a publication. */

export const NAMES = ["eu", "us", "ap"] as const;
export type Name = (typeof NAMES)[number];

export const PEER_KEYS = JSON.stringify([{ id: "2026a", key: Buffer.alloc(32, 5).toString("base64") }]);
const PUBLIC_ID_KEYS = JSON.stringify({ sealed: [{ id: "a", key: Buffer.alloc(32, 9).toString("base64") }] });

const SCHEMA = buildSchema(
  "type Order { id: ID!, region: String } type Query { order(id: ID!): Order, viewer: String }",
);

interface Seen {
  readonly region: Name;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
}

/** Origins that share nothing, each with what was created in its region. */
export async function startOrigin(region: Name, seen: Seen[], moved: ReadonlyMap<string, Name>) {
  const stored = new Map<string, string>();
  const send = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  const answer = async (request: IncomingMessage, response: ServerResponse, body: string) => {
    const { method = "", url = "" } = request;
    const { pathname, searchParams } = new URL(url, "http://origin");
    const [, collection, id] = pathname.split("/");
    const own = moved.get(id ?? "");
    if (own !== undefined && own !== region) return send(response, 421, {}, { "waybill-region": own });
    if (collection === "graphql") {
      const { query } = JSON.parse(body) as { query: string };
      const rootValue = { order: ({ id: of }: { id: string }) => ({ id: of, region }), viewer: region };
      return send(response, 200, await execute({ schema: SCHEMA, document: parse(query), rootValue }));
    }
    if (method === "POST" && id === undefined) {
      const of = String(request.headers["waybill-entity-id"]);
      stored.set(of, body);
      return send(response, 201, { id: of, region });
    }
    if (id === undefined && collection === "orders") {
      const items = [...stored.keys()]
        .toSorted()
        .reverse()
        .map((of) => ({ id: of }));
      const from = Number(searchParams.get("cursor") ?? 0);
      const next = from + 2 < items.length ? String(from + 2) : null;
      return send(response, 200, { items: items.slice(from, from + 2), cursor: next });
    }
    const { host: _, ...headers } = request.headers;
    const shown = Object.entries(headers).filter(([name]) =>
      /^(?:waybill-|x-forwarded-|forwarded|x-a$|cookie)/.test(name),
    );
    return send(
      response,
      200,
      { id, region, method, url, body, headers: shown.toSorted() },
      { location: `/orders/${id}` },
    );
  };
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    const chunks: Buffer[] = [];
    seen.push({ region, method: request.method ?? "", url: request.url ?? "", headers: request.headers });
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", () => undefined);
    request.on("end", () => void answer(request, response, Buffer.concat(chunks).toString()));
  });
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => socket.on("message", (text) => socket.send(`${region}: ${text}`)));
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const stop = () =>
    new Promise<void>((resolve) => {
      for (const each of sockets.clients) each.terminate();
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, stop, startAgain: () => listen(port) };
}

const tableOf = (regions: object) => ({
  regions,
  countries: { KZ: 5, BR: 7, DE: 9 },
  entities: {
    order: {
      path: "/orders/:id",
      ids: [{ layout: "iuid", service: 1 }],
      create: { key: { country: [{ header: "x-country" }] }, idempotency: {} },
      list: {
        items: "/items",
        next: { cursor: "/cursor", query: "cursor" },
        order: { by: "id-time", direction: "desc" },
      },
      fields: "full",
    },
    parcel: { path: "/parcels/:id", ids: [{ layout: "iuid", service: 2 }] },
  },
  graphql: {
    path: "/graphql",
    ids: [{ argument: "id", field: "order", entity: "order" }],
    sources: [{ region: "us" }],
    introspection: "eu",
  },
  withoutId: { login: { path: "/login", sources: [{ header: "x-home" }] } },
  routes: [
    { when: { layout: "iuid", country: "KZ" }, region: "ap" },
    { when: { layout: "iuid", country: "BR" }, region: "us" },
    { when: { layout: "iuid", country: "DE" }, region: "eu" },
  ],
});

export type Table = ReturnType<typeof tableOf> & Readonly<Record<string, unknown>>;

export interface MeshStack {
  readonly gateways: Readonly<Record<Name, Stack>>;
  /** In no mesh: it asks all origins itself. */
  readonly alone: Stack;
  readonly origins: Readonly<Record<Name, Awaited<ReturnType<typeof startOrigin>>>>;
  readonly seen: Seen[];
  readonly moved: Map<string, Name>;
  readonly table: Table;
  publish(table: object, ...at: readonly Name[]): Promise<void>;
  stop(): Promise<void>;
}

export async function startMesh(): Promise<MeshStack> {
  const seen: Seen[] = [];
  const moved = new Map<string, Name>();
  const origins = Object.fromEntries(
    await Promise.all(NAMES.map(async (name) => [name, await startOrigin(name, seen, moved)])),
  ) as MeshStack["origins"];
  const plain = tableOf(Object.fromEntries(NAMES.map((name) => [name, { origins: [{ url: origins[name].url }] }])));
  const vars = { PUBLIC_ID_KEYS, TABLE_REFRESH_SECONDS: "0.1" };
  const start = (more: Record<string, string>) => startStack(plain as never, { ...vars, ...more });
  const [alone, ...stacks] = await Promise.all([
    start({}),
    ...NAMES.map((name) => start({ SELF_REGIONS: name, PEER_KEYS, GATEWAY_NAME: `${name}-gw` })),
  ]);
  const gateways = Object.fromEntries(NAMES.map((name, at) => [name, stacks[at]])) as MeshStack["gateways"];
  const regions = Object.fromEntries(
    NAMES.map((name) => [name, { origins: [{ url: origins[name].url }], gateway: gateways[name].url }]),
  );
  const table = { ...plain, regions };
  const publish = async (next: object, ...at: readonly Name[]) => {
    for (const { url } of at.map((name) => gateways[name])) {
      const etag = (await fetch(`${url}/-/table`)).headers.get("etag") ?? "";
      const headers = { "content-type": "application/json", "if-match": etag };
      const response = await fetch(`${url}/-/table`, { method: "PUT", headers, body: JSON.stringify(next) });
      if (!response.ok) throw new Error(await response.text());
    }
  };
  await publish(table, ...NAMES);
  const stop = async () => {
    await Promise.all([...stacks, alone].map((each) => each.stop()));
    await Promise.all(NAMES.map((name) => origins[name].stop()));
  };
  return { gateways, alone, origins, seen, moved, table, publish, stop };
}
