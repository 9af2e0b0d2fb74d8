import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { type BucketRequest, type Fault, Faults } from "./fault.ts";
import { Objects, type StoredObject } from "./objects.ts";

/**
 * A stand-in for an S3 bucket: one Node server, objects in memory. It does what workerd's cluster asks of a store, by the
 * rules that S3 gives: conditional writes are atomic. `contract.ts` says these rules, and holds them against a real store.
 */

export interface BucketCounts {
  reads: number;
  writes: number;
  lists: number;
  deletes: number;
  /** Requests that it does not know: a stand-in that misses something must say so. */
  unknown: string[];
}

export interface RunningBucket {
  readonly name: string;
  readonly url: string;
  readonly port: number;
  /** In place of all that were there. */
  setFaults(faults: readonly Fault[]): Promise<void>;
  /** Nobody listens while it is down. */
  setDown(isDown: boolean): Promise<void>;
  /** Moves its `Date` off this machine's clock. */
  shiftClock(ms: number): Promise<void>;
  counts(): Promise<BucketCounts>;
  keys(prefix?: string): Promise<readonly string[]>;
  /** The text of an object; empty if there is none. */
  read(key: string): Promise<string>;
  stop(): Promise<void>;
}

export interface BucketOptions {
  readonly name?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
}

export async function startBucket(options: BucketOptions = {}): Promise<RunningBucket> {
  const { name = "acme", host = "127.0.0.1", port = 0 } = options;
  const bucket = new Bucket(name);
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    void bucket.serve(request, response);
  });
  const listen = (at: number) =>
    new Promise<void>((resolve, reject) => server.once("error", reject).listen(at, host, resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  await listen(port);
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("no TCP address");
  return {
    name,
    url: `http://${host}:${address.port}`,
    port: address.port,
    setFaults: async (faults) => bucket.faults.set(faults),
    setDown: (isDown) => (isDown ? close() : listen(address.port)),
    shiftClock: async (ms) => {
      bucket.shiftMs = ms;
    },
    counts: async () => structuredClone(bucket.counts),
    keys: async (prefix = "") => bucket.objects.keys().filter((key) => key.startsWith(prefix)),
    read: async (key) => bucket.objects.get(key)?.body.toString() ?? "",
    stop: async () => {
      if (server.listening) await close();
    },
  };
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly body?: Buffer | string;
}

class Bucket {
  readonly faults = new Faults();
  readonly objects = new Objects();
  readonly counts: BucketCounts = { reads: 0, writes: 0, lists: 0, deletes: 0, unknown: [] };
  readonly #name: string;
  shiftMs = 0;

  constructor(name: string) {
    this.#name = name;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.on("error", () => undefined);
    response.on("error", () => undefined);
    const asked = this.#read(request);
    const fault = asked && this.faults.take(asked);
    if (fault?.kind === "black-hole") return;
    if (fault?.kind === "reset") return void request.socket.resetAndDestroy();
    const body = await wholeBody(request);
    if (body === undefined) return;
    if (fault?.kind === "delay") await delay(fault.ms, undefined, { ref: false });
    const answer =
      fault?.kind === "status" ? refusal(fault.status) : asked ? this.#answer(request, asked, body) : refusal(404);
    if (fault?.kind === "answer-lost") return void request.socket.resetAndDestroy();
    // Without one Node would send this machine's own.
    response.setHeader("date", new Date(this.#nowMs()).toUTCString());
    response.writeHead(answer.status, { "content-length": Buffer.byteLength(answer.body ?? ""), ...answer.headers });
    response.end(request.method === "HEAD" ? undefined : answer.body);
  }

  #nowMs(): number {
    return Date.now() + this.shiftMs;
  }

  /** `undefined` for another bucket's. */
  #read({ method = "", url = "", headers, socket }: IncomingMessage): BucketRequest | undefined {
    const [, name, ...rest] = (url.split("?", 1)[0] ?? "").split("/");
    if (name !== this.#name) return undefined;
    const accessKey = /Credential=([^/]*)\//.exec(headers.authorization ?? "")?.[1] ?? "";
    const address = (socket.remoteAddress ?? "").replace(/^::ffff:/, "");
    return { method, key: decodeURIComponent(rest.join("/")), accessKey, address };
  }

  #answer(request: IncomingMessage, { method, key }: BucketRequest, body: Buffer): Answer {
    const query = new URL(request.url ?? "/", "http://bucket").searchParams;
    if (key === "" && method === "GET" && query.get("list-type") === "2") return this.#list(query);
    const known = [...query.keys()].every((name) => name === "x-id");
    if (key !== "" && known) {
      if (method === "PUT" && request.headers["x-amz-copy-source"] === undefined) return this.#put(request, key, body);
      if (method === "GET" || method === "HEAD") return this.#get(request, key);
      if (method === "DELETE") return this.#delete(key);
    }
    this.counts.unknown.push(`${method} ${request.url}`);
    return refusal(501);
  }

  #put({ headers }: IncomingMessage, key: string, body: Buffer): Answer {
    this.counts.writes += 1;
    const conditions = { ifMatch: headers["if-match"], ifNoneMatch: headers["if-none-match"] };
    const stored = this.objects.put(key, body, conditions, this.#nowMs());
    return typeof stored === "number" ? refusal(stored) : { status: 200, headers: { etag: stored.etag } };
  }

  #get({ headers }: IncomingMessage, key: string): Answer {
    this.counts.reads += 1;
    const stored = this.objects.get(key);
    if (stored === undefined) return refusal(404);
    const { etag, modifiedMs } = stored;
    const fields = { etag, "last-modified": new Date(modifiedMs).toUTCString(), "accept-ranges": "bytes" };
    if (headers["if-match"] !== undefined && headers["if-match"] !== etag) return refusal(412);
    if (headers["if-none-match"] === etag) return { status: 304, headers: fields };
    return rangeOf(stored, headers.range, fields);
  }

  #delete(key: string): Answer {
    this.counts.deletes += 1;
    this.objects.delete(key);
    return { status: 204 };
  }

  #list(query: URLSearchParams): Answer {
    this.counts.lists += 1;
    const [prefix, delimiter] = [query.get("prefix") ?? "", query.get("delimiter") ?? ""];
    const token = query.get("continuation-token");
    const after = token === null ? (query.get("start-after") ?? "") : Buffer.from(token, "base64url").toString();
    const max = Math.min(Number(query.get("max-keys") ?? 1_000), 1_000);
    const { contents, prefixes, next } = this.objects.list({ prefix, delimiter, after, max });
    const written = query.get("encoding-type") === "url" ? encodeURIComponent : escaped;
    const lines = [
      element("Name", this.#name),
      element("Prefix", written(prefix)),
      element("KeyCount", contents.length + prefixes.length),
      element("MaxKeys", max),
      element("IsTruncated", next !== undefined),
      ...(next === undefined ? [] : [element("NextContinuationToken", Buffer.from(next).toString("base64url"))]),
      ...contents.map(([key, stored]) => element("Contents", listed(written(key), stored))),
      ...prefixes.map((found) => element("CommonPrefixes", element("Prefix", written(found)))),
    ];
    return xml(200, element("ListBucketResult", lines.join("")));
  }
}

/** `undefined` if the client gave up. */
async function wholeBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks);
}

/** One range, as RFC 9110 §14.1.2 has it; several are answered whole. */
function rangeOf({ body }: StoredObject, range: string | undefined, headers: Readonly<Record<string, string>>): Answer {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(range ?? "") ?? [];
  if (first === "" && last === "") return { status: 200, headers, body };
  const from = first === "" ? Math.max(body.length - Number(last), 0) : Number(first);
  const to = first === "" || last === "" ? body.length - 1 : Math.min(Number(last), body.length - 1);
  if (from >= body.length || from > to) {
    return { ...refusal(416), headers: { "content-range": `bytes */${body.length}` } };
  }
  const fields = { ...headers, "content-range": `bytes ${from}-${to}/${body.length}` };
  return { status: 206, headers: fields, body: body.subarray(from, to + 1) };
}

const CODES: Readonly<Record<number, string>> = {
  403: "AccessDenied",
  404: "NoSuchKey",
  412: "PreconditionFailed",
  416: "InvalidRange",
  500: "InternalError",
  501: "NotImplemented",
  503: "SlowDown",
};

const refusal = (status: number): Answer => xml(status, element("Error", element("Code", CODES[status] ?? "Error")));

const xml = (status: number, root: string): Answer => ({
  status,
  headers: { "content-type": "application/xml" },
  body: `<?xml version="1.0" encoding="UTF-8"?>\n${root}`,
});

const listed = (key: string, { body, etag, modifiedMs }: StoredObject): string =>
  element("Key", key) +
  element("LastModified", new Date(modifiedMs).toISOString()) +
  element("ETag", escaped(etag)) +
  element("Size", body.length) +
  element("StorageClass", "STANDARD");

const element = (name: string, content: string | number | boolean): string => `<${name}>${content}</${name}>`;

const escaped = (text: string): string => text.replace(/[<>&"]/g, (character) => `&#${character.codePointAt(0)};`);
