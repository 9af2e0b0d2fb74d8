import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { formatShortKey, luuid } from "../ids/index.ts";
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

/** Uploads have no time limit. Idle connections outlive workerd's 5 s, so it never reuses one that is being closed. */
const SERVER_OPTIONS = { requestTimeout: 0, keepAliveTimeout: 65_000 };

/**
 * A region's origin: an HTTP server on loopback with its own documents, JSON values by `documentPathOf`. Rejects with Node's error
 * if the port is taken.
 */
export async function startOrigin(region: string, port: number, more?: MoreOfOrigin) {
  const documents = new Map<string, unknown>();
  const server = createServer(SERVER_OPTIONS, (request, response) => {
    const [, rawPath = "", search = ""] = /^([^?]*)\??(.*)$/s.exec(request.url ?? "") ?? [];
    const path = documentPathOf(rawPath);
    const exchange = { region, documents, request, response, path: path ?? "", query: new URLSearchParams(search) };
    response.setHeader(REGION_HEADER, region);
    if (allowPage(request, response)) return;
    handle(exchange, more).catch(({ message, cause }: Error) => {
      if (response.headersSent) response.destroy();
      else respond(exchange, typeof cause === "number" ? cause : 500, { why: message });
    });
  });
  more?.prepare(server, region);
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("the origin does not listen on TCP");
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { region, url: `http://127.0.0.1:${address.port}`, documents, stop };
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

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * A document's name: the path with UUIDs in lower case and LUUIDs by their short key, which names the same person.
 * `undefined` without a kind, or with nothing after the kind's slash.
 */
export function documentPathOf(rawPath: string): string | undefined {
  const segments = rawPath.split("/").slice(1);
  const [kind = "", id] = segments;
  return kind === "" || id === "" ? undefined : ["", ...segments.map(segmentName)].join("/");
}

function segmentName(segment: string): string {
  if (!UUID.test(segment)) return segment;
  const words = luuid.parse(segment);
  const primaryKey = words.ok ? luuid.field("primaryKey")?.read(words.value) : undefined;
  return typeof primaryKey === "number" ? formatShortKey(primaryKey) : segment.toLowerCase();
}

/** Hooks for tests: answers below documents, and upgrades. */
export interface MoreOfOrigin {
  handle(exchange: Exchange, last: string, previous: string | undefined): Promise<void> | undefined;
  prepare(server: Server, region: string): void;
}

export interface Exchange {
  readonly region: string;
  readonly documents: Map<string, unknown>;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** See `documentPathOf`; empty for none. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** The status of the response is the error's cause. */
export function fail(status: number, why: string): never {
  throw new Error(why, { cause: status });
}

/** Responds with the request as the origin received it, so that callers see what the gateway changed. */
export function respond({ region, request, response }: Exchange, status: number, members: object = {}): void {
  const { method, url, headers, rawHeaders } = request;
  const text = `${JSON.stringify({ region, method, url, headers, rawHeaders, ...members }, null, 2)}\n`;
  const contentType = "application/json; charset=utf-8";
  response.writeHead(status, { "content-type": contentType, "content-length": Buffer.byteLength(text) });
  response.end(method === "HEAD" ? undefined : text);
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

type Handler = (exchange: Exchange) => Promise<void> | void;

const HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ["GET", show],
  ["HEAD", show],
  ["POST", act],
  ["PUT", store],
  ["PATCH", patch],
  ["DELETE", remove],
  ["OPTIONS", describe],
]);

async function handleDocument(exchange: Exchange): Promise<void> {
  const handler = HANDLERS.get(exchange.request.method ?? "");
  if (handler !== undefined) return handler(exchange);
  allowMethods(exchange);
  fail(405, "this origin does not support the method");
}

function allowMethods({ response }: Exchange): void {
  response.setHeader("allow", [...HANDLERS.keys()].join(", "));
}

/** The document of the path, which may be `null`. */
function documentOf({ documents, path }: Exchange): unknown {
  return documents.has(path) ? documents.get(path) : fail(404, "this region has no such document");
}

function show(exchange: Exchange): void {
  respond(exchange, 200, { entity: documentOf(exchange) });
}

/** An action leaves the document as it is. */
async function act(exchange: Exchange): Promise<void> {
  const { documents, path, request } = exchange;
  const id = request.headers["waybill-entity-id"];
  if (typeof id === "string" && !path.includes(segmentName(id))) return create(exchange, id);
  respond(exchange, 200, { received: await readJson(request), entity: documents.get(path) ?? null });
}

async function store(exchange: Exchange): Promise<void> {
  const { documents, path, request } = exchange;
  const document = await readJson(request);
  const isNew = !documents.has(path);
  if (!isNew && request.headers["if-none-match"] === "*") fail(412, "the document exists");
  documents.set(path, document);
  respond(exchange, isNew ? 201 : 200, { entity: document });
}

async function patch(exchange: Exchange): Promise<void> {
  const { documents, path, request } = exchange;
  const changes = await readJson(request);
  documents.set(path, mergePatch(documentOf(exchange), changes));
  respond(exchange, 200, { entity: documents.get(path) });
}

function remove(exchange: Exchange): void {
  documentOf(exchange);
  exchange.documents.delete(exchange.path);
  respond(exchange, 200, { entity: null });
}

function describe(exchange: Exchange): void {
  allowMethods(exchange);
  respond(exchange, 200, { entity: exchange.documents.get(exchange.path) ?? null });
}

/** A new document in the collection, once for each ID: a repeated create finds the first one's. */
async function create(exchange: Exchange, id: string): Promise<void> {
  const { documents, path, request } = exchange;
  const document = await readJson(request);
  const own = documentPathOf(`/${path.split("/").at(-1)}/${id}`) ?? "";
  if (documents.has(own)) return respond(exchange, 200, { entity: documents.get(own) });
  documents.set(own, document);
  return respond(exchange, 201, { entity: document });
}

/** Documents are small. */
const BODY_BYTES_MAX = 1024 * 1024;

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Reads to the end: a client that is cut off never sees the response.
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
  }
  if (bytes > BODY_BYTES_MAX) fail(413, `a document has at most ${BODY_BYTES_MAX} bytes`);
  try {
    return bytes === 0 ? null : JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    fail(400, "a document is JSON");
  }
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** JSON Merge Patch, RFC 7396 section 2. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
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
