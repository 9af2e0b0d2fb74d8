import type { Signable } from "../proxy/signature.ts";

/** A request of node:http, Express and similar frameworks. */
export interface NodeRequestLike {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** Express keeps the full URL here if a router is mounted below a path. */
  readonly originalUrl?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** A `Request` of the Fetch standard: Workers, Deno, Bun. */
export interface FetchRequestLike {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
}

export type RequestLike = NodeRequestLike | FetchRequestLike;

/** The value of a header, or `undefined`. `name` is in lower case. */
export function headerOf({ headers }: RequestLike, name: string): string | undefined {
  if (isFetchHeaders(headers)) return headers.get(name) ?? undefined;
  const value = headers[name];
  // The gateway sends each header once. Joined values match none of its own.
  return typeof value === "string" ? value : value?.join(", ");
}

/** The signed content of the request; `undefined` if the gateway cannot have sent it. */
export function claimOf(request: RequestLike, clientAddress: string): Signable | undefined {
  const region = headerOf(request, "waybill-region");
  const revision = countIn(headerOf(request, "waybill-revision"));
  const epoch = countIn(headerOf(request, "waybill-epoch") ?? "0");
  if (region === undefined || revision === undefined || epoch === undefined) return undefined;
  const id = headerOf(request, "waybill-entity-id") ?? "";
  const copyOf = headerOf(request, "waybill-copy-of");
  const own = { id, region, revision, epoch, clientAddress, copyOf };
  return { method: request.method ?? "", target: targetOf(request), ...own };
}

export function targetOf(request: RequestLike): string {
  if (isFetchHeaders(request.headers)) return request.url?.replace(SCHEME_AND_AUTHORITY, "") ?? "";
  return ("originalUrl" in request ? request.originalUrl : undefined) ?? request.url ?? "";
}

const SCHEME_AND_AUTHORITY = /^[a-z]+:\/\/[^/]*/;

function isFetchHeaders(headers: RequestLike["headers"]): headers is FetchRequestLike["headers"] {
  return typeof headers["get"] === "function";
}

/** Accepts only the canonical text that the gateway writes for a number. */
const countIn = (text: string | undefined) => (text !== undefined && COUNT.test(text) ? Number(text) : undefined);

const COUNT = /^(?:0|[1-9]\d{0,14})$/;
