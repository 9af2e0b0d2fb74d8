import { fieldsOfPart, type Gate, type Load } from "../../../gateway/fan-out.ts";
import type { RequestContext } from "../../../gateway/request.ts";
import type { Words } from "../../../ids/index.ts";
import type { ServedTable } from "../../../ports/gateway.ts";
import { NO_BODY } from "../../../proxy/body.ts";
import { type CodingError, decodedBody } from "../../../proxy/codings.ts";
import { deliver } from "../../../proxy/deliver.ts";
import type { ProxyRequest } from "../../../proxy/origin-request.ts";
import type { Target } from "../../../routing/table.ts";
import type { List } from "../table/types.ts";
import { nextIn, type Page, type RegionFault, readPage } from "./page.ts";

/** One list request, with the state that its requests to regions share. */
export interface ListRun {
  readonly context: RequestContext;
  readonly served: ServedTable;
  readonly list: List;
  /** The client's request, without the fields that a page must not have. */
  readonly request: Request;
  /** Raw parameters that are sent on. */
  readonly sent: readonly string[];
  /** Chooses the origin of a region. */
  readonly words: Words;
  /** Whether the limit of the entity allows one more request. */
  readonly mayAsk: () => Promise<boolean>;
  /** Requests to regions that may still be made for this answer. */
  pagesLeft: number;
  /** Whether it asks for what regions failed to give alone. */
  readonly isGap: boolean;
  readonly gate: Gate;
  /** Over when nothing more is wanted. */
  readonly load: Load;
}

/** A region's answer that is no page. `own`: a refusal of the origin, which the client may get as it is. */
export interface PageFailure {
  readonly fault: RegionFault;
  readonly own?: Response;
}

/** Limit of the platform for requests that wait for headers; others would wait within their deadline. */
export const AT_ONCE_MAX = 6;

export function pageRequest({ url, headers }: Request): Request {
  const kept = fieldsOfPart(headers);
  kept.set("accept", "application/json");
  return new Request(url, { headers: kept });
}

/** Reads one page of a region within its deadline, which begins when the page is asked for. `cursor`: `undefined` for the first one. */
export async function fetchPage(
  run: ListRun,
  target: Target,
  cursor: string | undefined,
  reserve: (bytes: number) => boolean,
): Promise<Page | PageFailure> {
  return run.gate.pass<Page | PageFailure>(() => {
    const { list } = run;
    if (!reserve(0)) return Promise.resolve({ fault: "overloaded" });
    const stop = new AbortController();
    const late = new Promise<PageFailure>((resolve) => {
      stop.signal.addEventListener("abort", () => resolve({ fault: "timeout" }));
    });
    const timer = setTimeout(() => stop.abort(), list.regionDeadlineMs);
    const page = readFrom(run, target, cursor, reserve, stop.signal);
    return Promise.race([page, late]).finally(() => clearTimeout(timer));
  });
}

async function readFrom(
  run: ListRun,
  target: Target,
  cursor: string | undefined,
  reserve: (bytes: number) => boolean,
  late: AbortSignal,
): Promise<Page | PageFailure> {
  const { context, list } = run;
  const proxied = proxyRequestOf(run, target, cursor);
  const delivered = await deliver(proxied, context.gateway);
  context.attempts += proxied.attempts;
  context.asked = (context.asked ?? 0) + 1;
  context.trace ??= proxied.traceparent?.slice(3, 35);
  if (!delivered.ok) return { fault: delivered.error.reason };
  const { response, bytes, fields } = delivered.value;
  if (late.aborted || run.load.isOver) {
    drop(response.body);
    return { fault: "timeout" };
  }
  const content = bytes === undefined ? response.body : new Response(bytes).body;
  const decoded = content && decodedBody(content, response.headers.get("content-encoding"), proxied);
  if (response.status !== 200) {
    const fault = `status-${response.status}`;
    if (isRefusal(response.status)) return { fault, own: refusalOf(response, content, decoded, fields.dropped) };
    drop(content);
    return { fault };
  }
  if (decoded?.ok === false) {
    drop(content);
    return { fault: codingFault(decoded.error) };
  }
  const text = await textOf(decoded?.value ?? null, list.pageBytesMax, reserve, late);
  return typeof text === "string" ? pageIn(run, target, text, response.headers.get("link")) : text;
}

type Body = ReadableStream<Uint8Array> | null;

const drop = (body: Body): void => void body?.cancel().catch(() => undefined);

/** A region's refusal as its client gets it. `dropped`: fields of the connection. */
function refusalOf(
  { status, statusText, headers }: Response,
  content: Body,
  decoded: ReturnType<typeof decodedBody> | null,
  dropped: readonly string[] = [],
): Response {
  // A body that cannot be decoded is the client's to read.
  const isRaw = decoded?.ok === false;
  const init = { status, statusText, headers, encodeBody: isRaw ? "manual" : "automatic" } as const;
  const own = new Response(decoded?.ok === true ? decoded.value : content, init);
  const unsent = [...(isRaw ? [] : ["content-encoding"]), "content-length", "transfer-encoding", ...dropped];
  for (const name of unsent) own.headers.delete(name);
  return own;
}

/** The items of a page, and what leads to the next one. `link`: the header. */
function pageIn({ context, list }: ListRun, target: Target, text: string, link: string | null): Page | PageFailure {
  const read = readPage(text, list.items);
  if (read === undefined) return { fault: "malformed-page" };
  if (read.items.length > list.pageSize) return { fault: "too-many-items" };
  const urls = target.region.origins.map(({ url }) => new URL(url));
  const next = nextIn(read.rest, {
    next: list.next,
    link,
    paths: [list.path, ...urls.map(({ pathname }) => pathname.replace(/\/$/, "") + list.path)],
    origins: [...urls.map(({ origin }) => origin), ...sentOrigins(context)],
    charactersMax: list.pageCursorMax,
  });
  return next === null ? { fault: "malformed-next" } : { items: read.items, next };
}

/** Where an origin was told that its list is: the hosts in `x-forwarded-host`, by either scheme. */
function sentOrigins({ client, host, request, gateway }: RequestContext): readonly string[] {
  const told = gateway.trustsForwarded ? (request.headers.get("x-forwarded-host")?.split(",") ?? []) : [];
  const hosts = [client.host ?? host, host, ...told.map((one) => one.trim())];
  return hosts.flatMap((one) => [`https://${one}`, `http://${one}`]);
}

/** Names the coding, if it is the name of one (RFC 9110 §8.4.1). */
const codingFault = ({ coding }: CodingError): string =>
  `coding-${/^[\w!#$%&'*+.^`|~-]{1,32}$/.test(coding) ? coding : "unknown"}`;

/** Properties of the caller, not of the moment: credentials, parameters or rights. */
const isRefusal = (status: number): boolean => [400, 401, 402, 403, 404, 405, 406, 410, 422, 451].includes(status);

async function textOf(
  body: Body,
  bytesMax: number,
  reserve: (bytes: number) => boolean,
  late: AbortSignal,
): Promise<string | PageFailure> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  try {
    if (body === null) return "";
    const reader = body.getReader();
    late.addEventListener("abort", () => void reader.cancel().catch(() => undefined));
    let text = "";
    let bytes = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (late.aborted) return { fault: "timeout" };
      if (done) return text + decoder.decode();
      bytes += value.byteLength;
      if (bytes > bytesMax || !reserve(value.byteLength)) {
        void reader.cancel().catch(() => undefined);
        return { fault: bytes > bytesMax ? "page-too-large" : "overloaded" };
      }
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    return { fault: "malformed-page" };
  }
}

function proxyRequestOf(run: ListRun, target: Target, cursor: string | undefined): ProxyRequest {
  const { context, list, served, words } = run;
  const { client, gateway } = context;
  return {
    request: run.request,
    method: "GET",
    scheme: client.scheme ?? context.scheme,
    host: client.host ?? context.host,
    arrivedAtMs: gateway.clock.nowMs(),
    client,
    waitUntil: context.waitUntil,
    watchClient: () => undefined,
    trustsForwarded: gateway.trustsForwarded,
    asksReadable: true,
    hidesAuthorization: context.hidesAuthorization,
    body: NO_BODY,
    target: list.path + queryOf(run, cursor),
    decision: { by: "region", entity: list.entity, identity: words, target },
    revision: served.table.revision,
    // No other region's list would do.
    regions: new Map(),
    attempts: 0,
    traceparent: run.context.span?.traceparent,
  };
}

function queryOf({ list, sent }: ListRun, cursor: string | undefined): string {
  const { next, pageSizeQuery, pageSize } = list;
  if (cursor !== undefined && next.kind !== "cursor") return `?${cursor}`;
  const size = pageSizeQuery === undefined ? [] : [`${pageSizeQuery}=${pageSize}`];
  const at = cursor === undefined || next.kind !== "cursor" ? [] : [`${next.query}=${encodeURIComponent(cursor)}`];
  const pieces = [...sent, ...size, ...at];
  return pieces.length === 0 ? "" : `?${pieces.join("&")}`;
}
