import type { IncomingMessage, ServerResponse } from "node:http";
import type { JsonValue } from "./json.ts";
import type { RegionStore } from "./region-store.ts";

/** One request at a demo origin, with what its handlers need. */
export interface Exchange {
  readonly region: string;
  readonly store: RegionStore;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Where the document lies: `/orders/<id>` and what is below, IDs as the store spells them. */
  readonly documentPath: string;
  readonly query: URLSearchParams;
}

export const REGION_HEADER = "x-demo-region";

/** Answers with what the origin received, so that a caller sees what the gateway made of the request. */
export function answer(exchange: Exchange, status: number, more: Readonly<Record<string, JsonValue>> = {}): void {
  const { request, response, region } = exchange;
  const echo = {
    region,
    method: request.method ?? "",
    url: request.url ?? "",
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    ...more,
  };
  const text = `${JSON.stringify(echo, null, 2)}\n`;
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(text),
  });
  response.end(request.method === "HEAD" ? undefined : text);
}

export const respondWithError = (exchange: Exchange, status: number, why: string): void =>
  answer(exchange, status, { why });

/** A whole number of the query, or `undefined` when it is something else or beyond `max`. */
export function wholeNumber(query: URLSearchParams, name: string, fallback: number, max: number): number | undefined {
  const text = query.get(name);
  if (text === null) return fallback;
  return /^\d{1,15}$/.test(text) && Number(text) <= max ? Number(text) : undefined;
}
