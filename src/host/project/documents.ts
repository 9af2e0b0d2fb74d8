import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { formatShortKey, luuid } from "../../ids/index.ts";

/** JSON documents of an origin by their paths: those of the demo, and those that stand in for origins that are not there. */

export interface Exchange {
  readonly region: string;
  readonly documents: Map<string, unknown>;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** See `documentPathOf`; empty for none. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The URL of an origin that is not there, if this is a stand-in: it has every document, and those never sent are null. */
  readonly standsInFor?: string | undefined;
}

/** Uploads have no time limit. Idle connections outlive workerd's 5 s, so it never reuses one that is being closed. */
export const SERVER_OPTIONS = { requestTimeout: 0, keepAliveTimeout: 65_000 };

/** Rejects with Node's error if the port is taken. */
export async function listenOnLoopback(server: Server, port: number) {
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("the server does not listen on TCP");
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { port: address.port, url: `http://127.0.0.1:${address.port}`, stop };
}

/** Path and query of a request, and the document's name by the path. */
export function targetOf({ url = "" }: IncomingMessage) {
  const [, rawPath = "", search = ""] = /^([^?]*)\??(.*)$/s.exec(url) ?? [];
  return { path: documentPathOf(rawPath) ?? "", query: new URLSearchParams(search) };
}

/** Answers with what went wrong, unless the answer has begun. */
export function refuse(exchange: Exchange, { message, cause }: Error): void {
  if (exchange.response.headersSent) exchange.response.destroy();
  else respond(exchange, typeof cause === "number" ? cause : 500, { why: message });
}

/** The status of the response is the error's cause. */
export function fail(status: number, why: string): never {
  throw new Error(why, { cause: status });
}

/** Responds with the request as the origin received it, so that callers see what the gateway changed. */
export function respond(exchange: Exchange, status: number, members: object = {}): void {
  const { region, request, response, standsInFor } = exchange;
  const { method, url, headers, rawHeaders } = request;
  const received =
    standsInFor === undefined
      ? { region, method, url, headers, rawHeaders }
      : { standsInFor, region, method, path: url, headers };
  const text = `${JSON.stringify({ ...received, ...members }, null, 2)}\n`;
  const contentType = "application/json; charset=utf-8";
  response.writeHead(status, { "content-type": contentType, "content-length": Buffer.byteLength(text) });
  response.end(method === "HEAD" ? undefined : text);
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

/** Any JSON document at a path. */
export async function handleDocument(exchange: Exchange): Promise<void> {
  const handler = HANDLERS.get(exchange.request.method ?? "");
  if (handler !== undefined) return handler(exchange);
  allowMethods(exchange);
  fail(405, "this origin does not support the method");
}

function allowMethods({ response }: Exchange): void {
  response.setHeader("allow", [...HANDLERS.keys()].join(", "));
}

/** The document of the path, which may be `null`. */
function documentOf({ documents, path, standsInFor }: Exchange): unknown {
  if (documents.has(path)) return documents.get(path);
  return standsInFor === undefined ? fail(404, "this region has no such document") : null;
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

export async function readJson(request: IncomingMessage): Promise<unknown> {
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
