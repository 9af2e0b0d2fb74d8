import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { answer, type Exchange, respondWithError, wholeNumber } from "./exchange.ts";

type Handler = (exchange: Exchange) => Promise<void>;

const EVENT_INTERVAL_MS = 200;
const EVENTS_DEFAULT = 10;
const EVENTS_MAX = 100_000;
const SLOW_DEFAULT_MS = 2_000;
const SLOW_MAX_MS = 600_000;
const DOWNLOAD_DEFAULT_BYTES = 1024 * 1024;
const DOWNLOAD_MAX_BYTES = 1024 ** 4;

/** The bytes 0 to 255, over and over: what a download consists of, so that its reader can tell a lost byte. */
const CHUNK = Buffer.from(Uint8Array.from({ length: 64 * 1024 }, (_, index) => index & 0xff));

/** What a demo origin does below an entity, by the last segment of the path. */
export const STREAM_HANDLERS: ReadonlyMap<string, Handler> = new Map([
  ["events", sendEvents],
  ["slow", answerLate],
  ["download", sendBytes],
  ["upload", countBytes],
]);

/** `/events?count=`: server-sent events, one at a time. */
async function sendEvents(exchange: Exchange): Promise<void> {
  const { response, region, query } = exchange;
  const count = wholeNumber(query, "count", EVENTS_DEFAULT, EVENTS_MAX);
  if (count === undefined) return respondWithError(exchange, 400, `count is a whole number up to ${EVENTS_MAX}`);
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  response.flushHeaders();
  for (let number = 1; number <= count; number += 1) {
    await delay(EVENT_INTERVAL_MS);
    if (response.destroyed) return;
    response.write(`id: ${number}\ndata: ${JSON.stringify({ region, number })}\n\n`);
  }
  response.end();
}

/** `/slow?ms=`: answers after that time. */
async function answerLate(exchange: Exchange): Promise<void> {
  const waitMs = wholeNumber(exchange.query, "ms", SLOW_DEFAULT_MS, SLOW_MAX_MS);
  if (waitMs === undefined) return respondWithError(exchange, 400, `ms is a whole number up to ${SLOW_MAX_MS}`);
  const left = new AbortController();
  exchange.response.once("close", () => left.abort());
  await delay(waitMs, undefined, { signal: left.signal });
  answer(exchange, 200, { waitedMs: waitMs });
}

/** `/download?bytes=`: that many bytes, made as fast as they are taken. */
async function sendBytes(exchange: Exchange): Promise<void> {
  const { request, response, query } = exchange;
  const bytes = wholeNumber(query, "bytes", DOWNLOAD_DEFAULT_BYTES, DOWNLOAD_MAX_BYTES);
  if (bytes === undefined)
    return respondWithError(exchange, 400, `bytes is a whole number up to ${DOWNLOAD_MAX_BYTES}`);
  response.writeHead(200, { "content-type": "application/octet-stream", "content-length": bytes });
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  await pipeline(Readable.from(chunksOf(bytes)), response);
}

function* chunksOf(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= CHUNK.length) yield CHUNK.subarray(0, Math.min(left, CHUNK.length));
}

/** `/upload`: takes a body of any size and answers with its length and its SHA-256. */
async function countBytes(exchange: Exchange): Promise<void> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of exchange.request) {
    bytes += chunk.length;
    hash.update(chunk);
  }
  answer(exchange, 200, { bytes, sha256: hash.digest("hex") });
}
