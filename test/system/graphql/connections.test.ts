import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { type Stack, startStack } from "../stack.ts";

/** GraphQL over real connections: framing of parts, events, WebSockets, slow and coded answers. */

const EU = "6347eb00-bbaa-01cc-0201-0203d0000000";
const US = "6347eb00-bbaa-01cc-0201-0203e8030000";
const PROTOCOL = "graphql-transport-ws";

interface Seen {
  readonly region: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}
const seen: Seen[] = [];
let answer: (region: string, response: ServerResponse, body: string) => void;

const data = (text: string) => `{"data":${text}}`;
const plain = (response: ServerResponse, text: string) =>
  response.setHeader("content-type", "application/json").end(text);

async function startOrigin(region: string) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      seen.push({ region, headers: request.headers, body });
      answer(region, response, body);
    });
  });
  const sockets = new WebSocketServer({
    server,
    // As servers that speak the legacy protocol too: the client's first choice counts.
    handleProtocols: (offered) => [...offered][0] ?? false,
  });
  sockets.on("connection", (socket) => {
    socket.on("message", (text) => socket.send(`${region}: ${text}`));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      for (const each of sockets.clients) each.terminate();
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

let stack: Stack;
let origins: Awaited<ReturnType<typeof startOrigin>>[];
beforeAll(async () => {
  origins = await Promise.all(["eu", "us"].map(startOrigin));
  const [eu, us] = origins.map(({ url }) => ({ origins: [{ url }] }));
  stack = await startStack({
    regions: { eu, us },
    entities: { parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] } },
    routes: [
      { when: { layout: "hotguid", shardKey: "0-999" }, region: "eu" },
      { when: { layout: "hotguid", shardKey: "1000-1999" }, region: "us" },
    ],
    graphql: {
      path: "/graphql",
      ids: [{ argument: "id", field: ["parcel", "watch"], entity: "parcel" }],
      sources: [{ header: "x-home" }, { region: "eu" }],
      deadlines: { firstByteMs: 700 },
    },
  } as never);
});
afterAll(async () => {
  await stack?.stop();
  await Promise.all((origins ?? []).map((origin) => origin.stop()));
});

const TWO = `{ a: parcel(id: "${EU}") { id } b: parcel(id: "${US}") { id } }`;
const post = (query: string, headers: Record<string, string> = {}) =>
  fetch(`${stack.url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ query }),
  });

describe("a split query", () => {
  it("sends whole bodies of a known length, and reads chunked and coded ones", async () => {
    const long = "x".repeat(200_000);
    answer = (region, response) => {
      if (region === "eu") {
        response.setHeader("content-type", "application/graphql-response+json");
        response.setHeader("content-encoding", "gzip");
        response.end(gzipSync(data(`{"a":{"id":"${long}"}}`)));
        return;
      }
      response.setHeader("content-type", "application/json; charset=utf-8");
      response.write('{"data":{"b":');
      setTimeout(() => response.end('{"id":12345678901234567890}}}'), 50);
    };
    const response = await post(TWO, { "accept-encoding": "gzip, br" });
    expect(await response.text()).toBe(`{"data":{"a":{"id":"${long}"},"b":{"id":12345678901234567890}}}`);
    for (const region of ["eu", "us"]) {
      const { headers, body } = seen.findLast((each) => each.region === region) as Seen;
      expect([headers["content-length"], headers["transfer-encoding"]]).toEqual([
        String(Buffer.byteLength(body)),
        undefined,
      ]);
      expect(headers["accept-encoding"]).toBe("identity");
      expect(JSON.parse(body).query).toContain(region === "eu" ? EU : US);
      expect(JSON.parse(body).query).not.toContain(region === "eu" ? US : EU);
    }
  });

  it("waits for a slow region until its deadline, and answers the rest", async () => {
    answer = (region, response) => {
      if (region === "eu") plain(response, data('{"a":{"id":1}}'));
    };
    const response = await post(TWO);
    expect(await response.json()).toMatchObject({
      data: { a: { id: 1 }, b: null },
      errors: [{ path: ["b"], extensions: { code: "origin-timeout", region: "us" } }],
    });
  });

  it("of a body that breaks off is null there", async () => {
    answer = (region, response) => {
      if (region === "us") {
        plain(response, data('{"b":{"id":1}}'));
        return;
      }
      response.setHeader("content-type", "application/json");
      response.write('{"data":{"a":');
      setTimeout(() => response.destroy(), 30);
    };
    const { data: found, errors } = (await (await post(TWO)).json()) as { data: object; errors: object[] };
    expect(found).toEqual({ a: null, b: { id: 1 } });
    expect(errors).toHaveLength(1);
  });
});

it("events of a subscription come as they are sent", async () => {
  // The origin sends the second one when the first has come.
  let complete = (): void => undefined;
  answer = (_, response) => {
    response.setHeader("content-type", "text/event-stream");
    response.write("event: next\ndata: {}\n\n");
    complete = () => response.end("event: complete\n\n");
  };
  const response = await post(`subscription { watch(id: "${US}") { id } }`, { accept: "text/event-stream" });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const { value } = await reader.read();
  expect(new TextDecoder().decode(value)).toBe("event: next\ndata: {}\n\n");
  expect(seen.at(-1)?.region).toBe("us");
  complete();
  while (!(await reader.read()).done);
});

it("a WebSocket keeps to its region", async () => {
  const socket = new WebSocket(`${stack.url.replace("http", "ws")}/graphql`, PROTOCOL, { headers: { "x-home": "us" } });
  const messages: string[] = [];
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  expect(socket.protocol).toBe(PROTOCOL);
  const done = new Promise<void>((resolve) =>
    socket.on("message", (text) => {
      messages.push(String(text));
      if (messages.length === 3) resolve();
    }),
  );
  const message = (id: string, query: string) => JSON.stringify({ id, type: "subscribe", payload: { query } });
  const own = message("1", `subscription { watch(id: "${US}") { id } }`);
  socket.send('{"type":"connection_init"}');
  socket.send(own);
  socket.send(message("2", `subscription { watch(id: "${EU}") { id } }`));
  await done;
  expect(messages.filter((text) => text.startsWith("us: "))).toEqual(['us: {"type":"connection_init"}', `us: ${own}`]);
  expect(messages.find((text) => !text.startsWith("us"))).toContain("ids-disagree");
  const closed = new Promise<number>((resolve) => socket.once("close", resolve));
  socket.close(1000);
  expect(await closed).toBe(1000);
});

const connect = async (protocols: readonly string[]) => {
  const socket = new WebSocket(`${stack.url.replace("http", "ws")}/graphql`, [...protocols], {
    headers: { "x-home": "us" },
  });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  return socket;
};

it.each([[["graphql-ws", PROTOCOL]], [[PROTOCOL, "graphql-ws"]]])(
  "of the protocols %j the gateway's own is chosen",
  async (offered) => {
    const socket = await connect(offered);
    expect(socket.protocol).toBe(PROTOCOL);
    const answered = new Promise((resolve) => socket.once("message", (text) => resolve(String(text))));
    socket.send('{"type":"ping"}');
    expect(await answered).toBe('us: {"type":"ping"}');
    socket.close(1000);
  },
);

// RFC 6455 §7.4.1.
it.each([0, 100, 300_000, 1024 * 1024 + 1, 3 * 1024 * 1024])(
  "a binary frame of %i bytes is not text",
  async (bytes) => {
    const socket = await connect([PROTOCOL]);
    const closed = new Promise<number>((resolve) => socket.once("close", resolve));
    socket.send(new Uint8Array(bytes));
    expect(await closed).toBe(1003);
  },
);
