import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { readDemoTable } from "../demo/demo.ts";
import { type Stack, sendRaw, startStack } from "../stack.ts";

/** IDs in bodies, as they come over real connections. */

interface Received {
  readonly region: string | undefined;
  readonly framing: string;
  readonly sha256: string;
}

let stack: Stack;
let orders: Readonly<Record<"KZ" | "DE", string>>;
const received: Received[] = [];
/** Requests that began, whether they ended or not. */
let begun = 0;

const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

/** Answers `early` requests before their body has come. */
const origin = createServer((request, response) => {
  begun += 1;
  const { headers } = request;
  if (request.url?.includes("early") === true) response.end("early");
  buffer(request).then(
    (body) => {
      const framing = headers["content-length"] ?? headers["transfer-encoding"] ?? "none";
      received.push({ region: String(headers["waybill-region"]), framing, sha256: sha256(body) });
      response.end("late");
    },
    () => response.destroy(),
  );
});

beforeAll(async () => {
  origin.listen(0, "127.0.0.1");
  await once(origin, "listening");
  const address = origin.address();
  const port = address === null || typeof address === "string" ? 0 : address.port;
  const {
    withoutId: _,
    lists: __,
    ...demo
  } = readDemoTable() as ReturnType<typeof readDemoTable> & { lists?: unknown };
  const region = { origins: [{ url: `http://127.0.0.1:${port}` }] };
  const regions = Object.fromEntries(Object.keys(demo.regions).map((name) => [name, region]));
  const withoutId = {
    checkout: { path: "/checkout", idIn: [{ entity: "order", json: "/order/id", withinBytes: 2_000 }], sources: [] },
  };
  stack = await startStack({ ...demo, regions, withoutId } as ReturnType<typeof readDemoTable>);
  const mint = async (country: string) => {
    const response = await fetch(`${stack.url}/mint`, {
      method: "POST",
      body: JSON.stringify({ entity: "order", country }),
    });
    return ((await response.json()) as { readonly ids: readonly [string] }).ids[0];
  };
  orders = { KZ: await mint("KZ"), DE: await mint("DE") };
});

afterAll(async () => {
  await stack?.stop();
  origin.closeAllConnections();
  origin.close();
});

beforeEach(() => {
  received.length = 0;
  begun = 0;
});

/** Sends pieces one after the other, each as a chunk or, with a length, as it is. */
async function post(path: string, pieces: readonly Uint8Array[], length?: number, pauseMs = 0) {
  const framing = length === undefined ? {} : { "content-length": length };
  const sent = httpRequest(`${stack.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...framing },
  });
  const answered = once(sent, "response") as Promise<[IncomingMessage]>;
  sent.setNoDelay(true);
  for (const piece of pieces) {
    sent.write(piece);
    if (pauseMs > 0) await delay(pauseMs);
  }
  sent.end();
  const [response] = await answered;
  return { status: response.statusCode, region: response.headers["waybill-region"], body: await text(response) };
}

const bodyOf = (id: string, more: string) =>
  Buffer.from(`{"é":"\\u00e9","ord\\u0065r":{"id":"${id}"},"more":"${more}"}`);

const inPieces = (bytes: Uint8Array, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));

it.each([1, 3, 1_999, 2_000, 2_001])("chunks of %d bytes make no difference", async (size) => {
  const body = bodyOf(orders.KZ, "x".repeat(size < 10 ? 100 : 50_000));
  expect(await post("/checkout", inPieces(body, size))).toMatchObject({ status: 200, region: "ap" });
  expect(received).toEqual([{ region: "ap", framing: "chunked", sha256: sha256(body) }]);
});

it("keeps the length that the client chose, and every byte behind the ID", async () => {
  const body = Buffer.concat([bodyOf(orders.DE, ""), Buffer.from(" ".repeat(10)), Buffer.alloc(1_500_000, " ")]);
  expect(await post("/checkout", [body], body.length)).toMatchObject({ status: 200, region: "eu" });
  expect(received).toEqual([{ region: "eu", framing: String(body.length), sha256: sha256(body) }]);
});

it("sends the body on while it comes", async () => {
  const sent = httpRequest(`${stack.url}/checkout?early`, {
    method: "POST",
    headers: { "content-type": "application/json" },
  });
  sent.on("error", () => undefined);
  const answered = once(sent, "response") as Promise<[IncomingMessage]>;
  sent.write(bodyOf(orders.KZ, "x".repeat(3_000)).subarray(0, 2_500));
  // The client has not ended its body when the answer comes.
  const [response] = await answered;
  expect(response.headers["waybill-region"]).toBe("ap");
  response.destroy();
  sent.destroy();
});

it("asks no origin for an ID that is late, cut off, or wrong", async () => {
  const late = Buffer.concat([Buffer.from(`{"a":"${"x".repeat(2_000)}",`), bodyOf(orders.KZ, "").subarray(1)]);
  expect((await post("/checkout", inPieces(late, 500), undefined, 5)).status).toBe(422);
  expect((await post("/checkout", [late], late.length)).body).toContain("id-not-in-time");
  expect((await post("/checkout", [randomBytes(3_000)])).status).toBe(400);
  const socket = connect(stack.gateway.port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(
    'POST /checkout HTTP/1.1\r\nhost: gw.test\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"order":',
  );
  await delay(100);
  socket.destroy();
  await delay(100);
  expect(begun).toBe(0);
});

it("takes nothing of a refused body for a request", async () => {
  const hidden = `GET /checkout?hidden HTTP/1.1\r\nhost: gw.test\r\n\r\n`;
  const body = `{"order":{"id":1.5}}${" ".repeat(5_000)}${hidden}`;
  const { status, body: rest } = await sendRaw(
    stack.gateway.port,
    `POST /checkout HTTP/1.1\r\nhost: gw.test\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  expect(status).toBe(422);
  expect(rest).not.toContain("HTTP/1.1");
  expect(begun).toBe(0);
});
