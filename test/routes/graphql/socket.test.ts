import { describe, expect, it } from "vitest";
import { IDS } from "../harness.ts";
import { setUpGraphql } from "./world.ts";

const { orderKz, orderBr } = IDS;
const PROTOCOL = "graphql-transport-ws";

/** An origin that says each message again, and counts. */
function echoOrigin(protocol = PROTOCOL) {
  const got: string[] = [];
  let socket: WebSocket | undefined;
  const origin = (): Response => {
    const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
    socket = server;
    server.accept();
    server.addEventListener("message", ({ data }) => {
      got.push(String(data));
      server.send(`echo ${data}`);
    });
    return new Response(null, {
      status: 101,
      webSocket: client,
      headers: { "sec-websocket-protocol": protocol },
    });
  };
  return { got, origin, send: (text: string) => socket?.send(text) };
}

async function open(echo: ReturnType<typeof echoOrigin>, headers: Record<string, string> = {}, table: object = {}) {
  const world = setUpGraphql({ origin: echo.origin, table });
  const response = await world.request("/graphql", {
    headers: {
      upgrade: "websocket",
      connection: "upgrade",
      "sec-websocket-protocol": `other, ${PROTOCOL}`,
      "x-home": "us",
      ...headers,
    },
  });
  const { webSocket } = response;
  const messages: string[] = [];
  let closed: number | undefined;
  webSocket?.accept();
  webSocket?.addEventListener("message", ({ data }) => void messages.push(String(data)));
  webSocket?.addEventListener("close", ({ code }) => {
    closed = code;
  });
  const until = async (done: () => boolean) => {
    for (let turns = 0; !done() && turns < 200; turns++) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  return {
    ...world,
    response,
    messages,
    until,
    closed: () => closed,
    send: (data: string | Uint8Array) => webSocket?.send(data),
  };
}

const subscribe = (id: string, query: string) => JSON.stringify({ id, type: "subscribe", payload: { query } });

describe("a WebSocket", () => {
  it("carries no mutation of an entity whose move is fenced", async () => {
    const echo = echoOrigin();
    const moves = { [orderBr]: { from: "us", to: "eu", state: "fenced", epoch: 3 } };
    const { send, messages, until } = await open(echo, {}, { moves });
    send(subscribe("1", `mutation { cancel(id: "${orderBr}") { id } }`));
    send(subscribe("2", `{ order(id: "${orderBr}") { id } }`));
    await until(() => messages.length >= 2);
    expect(echo.got).toEqual([subscribe("2", `{ order(id: "${orderBr}") { id } }`)]);
    expect(messages.some((text) => text.includes("entity-moving"))).toBe(true);
  });

  it("goes to one region, and operations of others are refused on it", async () => {
    const echo = echoOrigin();
    const { response, send, messages, until, seen } = await open(echo);
    expect([response.status, response.headers.get("sec-websocket-protocol")]).toEqual([101, PROTOCOL]);
    expect(seen[0]?.url).toBe("http://us.test/base/graphql");
    const own = subscribe("2", `subscription { order(id: "${orderBr}") { id } }`);
    const without = subscribe("3", "subscription { viewer { name } }");
    send('{"type":"connection_init"}');
    send(subscribe("1", `mutation { cancel(id: "${orderKz}") { id } }`));
    send(own);
    send(without);
    send(subscribe("4", "{ order("));
    send(subscribe("5", 'mutation { cancel(id: "x") { id } }'));
    send('{"type":"complete","id":"2"}');
    await until(() => messages.length >= 7);
    expect(echo.got).toEqual(['{"type":"connection_init"}', own, without, '{"type":"complete","id":"2"}']);
    const refused = messages
      .filter((text) => !text.startsWith("echo"))
      .map((text) => JSON.parse(text) as { id: string; type: string; payload: { extensions: { code: string } }[] })
      .map(({ id, type, payload }) => [id, type, payload[0]?.extensions.code]);
    expect(refused).toEqual([
      ["1", "error", "ids-disagree"],
      ["4", "error", "GRAPHQL_PARSE_FAILED"],
      ["5", "error", "malformed-id"],
    ]);
  });

  it.each([
    ["what is no message", "hello", 4400],
    ["a key twice", '{"type":"ping","type":"subscribe"}', 4400],
    ["two byte order marks", '\ufeff\ufeff{"type":"ping"}', 4400],
    // RFC 6455 §7.4.1.
    ["bytes", new Uint8Array(100), 1003],
    ["no bytes", new Uint8Array(0), 1003],
    ["bytes of a message", new TextEncoder().encode('{"type":"ping"}'), 1003],
    ["more bytes than a message may have", new Uint8Array(300_000), 1003],
    ["a mebibyte", new Uint8Array(1024 * 1024), 1003],
    ["too much", `{"type":"${"x".repeat(300_000)}"}`, 1009],
  ])("ends at %s", async (_, text, code) => {
    const echo = echoOrigin();
    const { send, until, closed } = await open(echo);
    send(text);
    await until(() => closed() !== undefined);
    expect(closed()).toBe(code);
    expect(echo.got).toEqual([]);
  });

  it.each(["Type", "PAYLOAD"])("ends at a message with a second %s, which some servers would read", async (name) => {
    const echo = echoOrigin();
    const { send, until, closed } = await open(echo);
    send(`{"type":"ping","${name}":"subscribe"}`);
    await until(() => closed() !== undefined);
    expect([closed(), echo.got]).toEqual([4400, []]);
  });

  it("ends where a client does not say that it reads", async () => {
    const echo = echoOrigin();
    const { until, closed, messages } = await open(echo);
    for (let sent = 0; sent < 12; sent++) echo.send("x".repeat(512 * 1024));
    await until(() => closed() !== undefined);
    expect(closed()).toBe(1013);
    expect(messages.filter((text) => text === '{"type":"ping"}').length).toBe(4);
  });

  it("goes on where it does, and pongs of the client's own reach the origin", async () => {
    const echo = echoOrigin();
    const { until, closed, messages, send } = await open(echo);
    for (let sent = 0; sent < 10; sent++) {
      echo.send("x".repeat(1024 * 1024));
      await until(() => messages.filter((text) => text === '{"type":"ping"}').length > sent);
      send('{"type":"pong"}');
    }
    send('{"type":"pong","payload":{}}');
    await until(() => echo.got.length > 0);
    expect([closed(), echo.got]).toEqual([undefined, ['{"type":"pong","payload":{}}']]);
  });

  it.each([
    "graphql-transport-ws",
    "graphql-ws, graphql-transport-ws",
    "graphql-transport-ws, graphql-ws",
    "graphql-ws,graphql-transport-ws",
    " graphql-transport-ws\t,other",
  ])("of %j offers the origin the protocol that the gateway speaks", async (offered) => {
    const { response, seen } = await open(echoOrigin(), { "sec-websocket-protocol": offered });
    expect(response.status).toBe(101);
    expect(seen[0]?.headers.get("sec-websocket-protocol")).toBe(PROTOCOL);
    expect(response.headers.get("sec-websocket-protocol")).toBe(PROTOCOL);
  });

  it.each(["graphql-ws", "GRAPHQL-TRANSPORT-WS", "graphql-transport-ws2", "x"])(
    "of %j alone is told why",
    async (offered) => {
      const { response, seen } = await open(echoOrigin(), { "sec-websocket-protocol": offered });
      expect([response.status, seen.length]).toEqual([400, 0]);
      expect(await response.text()).toContain(`Open the WebSocket with the protocol ${PROTOCOL}`);
    },
  );

  it("needs the protocol whose messages are read", async () => {
    const other = await open(echoOrigin("graphql-ws"));
    expect(other.response.status).toBe(502);
    const nowhere = await open(echoOrigin(), { "x-home": "" });
    expect(nowhere.response.status).toBe(422);
  });
});
