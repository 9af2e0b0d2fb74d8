import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import {
  type Exchange,
  fail,
  handleDocument,
  listenOnLoopback,
  readJson,
  refuse,
  SERVER_OPTIONS,
  targetOf,
} from "../host/project/documents.ts";
import { answerReach } from "./reach.ts";

/** The demo's regions, in the order of their ports. */
export const REGIONS = ["eu", "us", "ap"] as const;

export const REGION_HEADER = "x-demo-region";

export type RunningOrigin = Awaited<ReturnType<typeof startOrigin>>;

/** One origin per region, on `firstPort` and the following ports. The system chooses all ports for 0. */
export async function startOrigins(firstPort: number, more?: MoreOfOrigin): Promise<readonly RunningOrigin[]> {
  const origins: RunningOrigin[] = [];
  try {
    for (const region of REGIONS) {
      origins.push(await startOrigin(region, firstPort && firstPort + origins.length, more));
    }
  } catch (error) {
    await Promise.all(origins.map((origin) => origin.stop()));
    throw error;
  }
  return origins;
}

/** A region's origin: an HTTP server on loopback with its own documents. Rejects with Node's error if the port is taken. */
export async function startOrigin(region: string, port: number, more?: MoreOfOrigin) {
  const documents = new Map<string, unknown>();
  const server = createServer(SERVER_OPTIONS, (request, response) => {
    const exchange = { region, documents, request, response, ...targetOf(request) };
    response.setHeader(REGION_HEADER, region);
    if (allowPage(request, response)) return;
    handle(exchange, more).catch((error: Error) => refuse(exchange, error));
  });
  more?.prepare(server, region);
  const { url, stop } = await listenOnLoopback(server, port);
  return { region, url, documents, stop };
}

/** The page that the demo's table trusts. About its own responses an origin decides (docs/guides/browsers.md). */
const TRUSTED_PAGE = "http://localhost:3000";

/** Lets the trusted page read the response (Fetch standard, "CORS protocol"); whether it was a preflight, which is answered. */
function allowPage({ method, headers }: IncomingMessage, response: ServerResponse): boolean {
  response.setHeader("vary", "origin");
  if (headers.origin !== TRUSTED_PAGE) return false;
  response.setHeader("access-control-allow-origin", TRUSTED_PAGE);
  response.setHeader("access-control-expose-headers", "*");
  if (method !== "OPTIONS" || headers["access-control-request-method"] === undefined) return false;
  response.setHeader("access-control-allow-methods", headers["access-control-request-method"]);
  response.setHeader("access-control-allow-headers", headers["access-control-request-headers"] ?? "");
  response.writeHead(204).end();
  return true;
}

/** Hooks for tests: answers below documents, and upgrades. */
export interface MoreOfOrigin {
  handle(exchange: Exchange, last: string, previous: string | undefined): Promise<void> | undefined;
  prepare(server: Server, region: string): void;
}

/** Any JSON document at `/<kind>/<id>`, and `events` below it. */
async function handle(exchange: Exchange, more?: MoreOfOrigin): Promise<void> {
  if (exchange.path === "") fail(404, "documents are at /<kind>/<id>");
  const [last = "", previous] = exchange.path.split("/").slice(3).reverse();
  if (last === "events") return sendEvents(exchange);
  const reached = await answerReach(exchange, () => readJson(exchange.request));
  if (reached !== undefined) return void exchange.response.writeHead(reached.status, reached.fields).end(reached.text);
  return more?.handle(exchange, last, previous) ?? handleDocument(exchange);
}

export function wholeNumber({ query }: Exchange, name: string, fallback: number, max: number): number {
  const text = query.get(name) ?? String(fallback);
  if (/^\d{1,15}$/.test(text) && Number(text) <= max) return Number(text);
  fail(400, `${name} must be a whole number up to ${max}`);
}

const EVENT_INTERVAL_MS = 200;

/** `/events?count=`: server-sent events at an interval. */
async function sendEvents(exchange: Exchange): Promise<void> {
  const { response, region } = exchange;
  const count = wholeNumber(exchange, "count", 10, 100_000);
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  response.flushHeaders();
  for (let number = 1; number <= count; number += 1) {
    await delay(EVENT_INTERVAL_MS);
    if (response.destroyed) return;
    response.write(`id: ${number}\ndata: ${JSON.stringify({ region, number })}\n\n`);
  }
  response.end();
}
