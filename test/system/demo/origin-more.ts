import { createHash } from "node:crypto";
import type { Server } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { type WebSocket, WebSocketServer } from "ws";
import { type MoreOfOrigin, REGION_HEADER, wholeNumber } from "../../../src/demo/origin.ts";
import { type Exchange, fail, respond } from "../../../src/host/project/documents.ts";

/** Below documents of the demo's origins: `slow`, `download`, `upload`, `status/<code>`, and the WebSocket `echo`. */
export const moreOfOrigin: MoreOfOrigin = {
  handle: (exchange, last, previous) => {
    if (previous === "status") return sendStatus(exchange, last);
    if (last === "slow") return respondLate(exchange);
    if (last === "download") return sendBytes(exchange);
    return last === "upload" ? countBytes(exchange) : undefined;
  },
  prepare: (server: Server, region: string) => {
    const sockets = new WebSocketServer({ noServer: true });
    sockets.on("headers", (headers) => headers.push(`${REGION_HEADER}: ${region}`));
    server.on("upgrade", (request, stream, head) => {
      const lines = ["HTTP/1.1 404 Not Found", `${REGION_HEADER}: ${region}`, "content-length: 0", "connection: close"];
      if (request.url?.split("?")[0]?.endsWith("/echo")) sockets.handleUpgrade(request, stream, head, echo);
      else stream.end([...lines, "", ""].join("\r\n"));
    });
    const close = server.close.bind(server);
    server.close = (ended) => {
      for (const socket of sockets.clients) socket.terminate();
      return close(ended);
    };
  },
};

/** Close codes that must not be sent, RFC 6455 section 7.4.1. */
const RESERVED_CLOSE_CODES = new Set([1004, 1005, 1006, 1015]);

/** Sends back text, bytes and the close code. */
function echo(socket: WebSocket): void {
  socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
  socket.on("close", (code, reason) => {
    if (!RESERVED_CLOSE_CODES.has(code)) socket.close(code, reason);
  });
  socket.on("error", () => socket.terminate());
}

/** `/status/<code>?location=` */
async function sendStatus(exchange: Exchange, code: string): Promise<void> {
  const location = exchange.query.get("location");
  if (location !== null) exchange.response.setHeader("location", location);
  if (!/^[2-5]\d\d$/.test(code)) fail(400, "a status is a number from 200 to 599");
  if (code === "204" || code === "304") exchange.response.writeHead(Number(code)).end();
  else respond(exchange, Number(code));
}

/** `/slow?ms=`: responds after that time. */
async function respondLate(exchange: Exchange): Promise<void> {
  const waitedMs = wholeNumber(exchange, "ms", 2_000, 600_000);
  const disconnected = new AbortController();
  exchange.response.once("close", () => disconnected.abort());
  await delay(waitedMs, undefined, { signal: disconnected.signal });
  respond(exchange, 200, { waitedMs });
}

/** The bytes 0 to 255, repeated: a reader can detect a lost byte. */
const CHUNK = Buffer.from(Uint8Array.from({ length: 64 * 1024 }, (_, index) => index & 0xff));

/** `/download?bytes=`: that many bytes, as fast as the client reads. */
async function sendBytes(exchange: Exchange): Promise<void> {
  const bytes = wholeNumber(exchange, "bytes", 1024 ** 2, 1024 ** 4);
  const { request, response } = exchange;
  response.writeHead(200, { "content-type": "application/octet-stream", "content-length": bytes });
  await pipeline(Readable.from(request.method === "HEAD" ? [] : chunks(bytes)), response);
}

function* chunks(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= CHUNK.length) yield CHUNK.subarray(0, Math.min(left, CHUNK.length));
}

/** `/upload`: responds with the body's length and SHA-256. */
async function countBytes(exchange: Exchange): Promise<void> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of exchange.request) {
    bytes += chunk.length;
    hash.update(chunk);
  }
  respond(exchange, 200, { bytes, sha256: hash.digest("hex") });
}
