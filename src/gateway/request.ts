import type { Context } from "hono";
import { err, ok, type Result } from "../ids/result.ts";
import type { Gateway, ServedTable } from "../ports.ts";
import type { GatewayError, RequestError } from "../problems/index.ts";
import type { Decision } from "../routing/index.ts";
import { isNotNormalized } from "../routing/lookup/paths.ts";
import { problemResponse } from "./problem-response.ts";
import { type LogFields, logDecision, logFields } from "./request-log.ts";

/** `http://` and `https://` both end before this index, and a host has at least one character. */
const AUTHORITY_INDEX_MIN = 8;

/**
 * The path as it was sent, for the router: what it would decode by itself must not lead to a page. In `/-/%6detrics` there is none,
 * and `/%2d/metrics` is not the gateway's.
 */
export function rawPath({ url }: Request): string {
  const start = url.indexOf("/", AUTHORITY_INDEX_MIN);
  const query = url.indexOf("?", start);
  return query === -1 ? url.slice(start) : url.slice(start, query);
}

/** Where a request points, in the bytes that the client sent. */
export interface RequestTarget {
  readonly host: string;
  readonly scheme: "http" | "https";
  /** Raw path, from its first slash. */
  readonly path: string;
  /** Raw query with its question mark, or empty. */
  readonly query: string;
}

/** A host name, an IPv4 address or a bracketed IPv6 address, with an optional port (RFC 9110 §7.2). */
const HOST = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/**
 * Reads the target without parsing it again. workerd glues the Host field into the URL unchecked, so a host with a
 * slash or a question mark in it would move the path: such a request is refused.
 */
export function readTarget(request: Request): Result<RequestTarget, RequestError> {
  const url = request.url;
  const pathStart = url.indexOf("/", AUTHORITY_INDEX_MIN);
  const scheme = url.startsWith("https://") ? "https" : "http";
  const host = request.headers.get("host") ?? url.slice(scheme.length + 3, pathStart);
  if (!isHost(host)) return err({ reason: "malformed-request", detail: "The host field is not a host." });
  const queryStart = url.indexOf("?", pathStart);
  const path = queryStart === -1 ? url.slice(pathStart) : url.slice(pathStart, queryStart);
  const query = queryStart === -1 ? "" : url.slice(queryStart);
  if (isNotNormalized(path)) {
    return err({ reason: "malformed-request", detail: "The path has a dot segment or a backslash; send it resolved." });
  }
  return ok({ host, scheme, path, query });
}

/** A gateway answers for few hosts: the last good one is remembered, and most requests name it again. */
let lastHost = "";

function isHost(text: string): boolean {
  if (text === lastHost) return text !== "";
  if (!HOST.test(text)) return false;
  lastHost = text;
  return true;
}

/** A request that has arrived. */
export interface RequestContext {
  readonly gateway: Gateway;
  readonly hono: Context;
  readonly request: Request;
  readonly target: RequestTarget;
  readonly arrivedAtMs: number;
  readonly logFields: LogFields;
}

/** A request with the table that decides about it. */
export interface TableRequestContext extends RequestContext {
  readonly served: ServedTable;
}

/**
 * Reads the request's target and takes the table in force; or the answer, when one of them is not to be had.
 * Only the first requests of an isolate wait for a table; later ones find it in memory.
 */
export async function openRequest(gateway: Gateway, c: Context): Promise<TableRequestContext | Response> {
  const request = c.req.raw;
  const target = readTarget(request);
  const fields = logFields(c);
  if (!target.ok) {
    fields.outcome = target.error.reason;
    return problemResponse(target.error);
  }
  const context = {
    gateway,
    hono: c,
    request,
    target: target.value,
    arrivedAtMs: gateway.clock.nowMs(),
    logFields: fields,
  };
  const inMemory = gateway.tables.peek((work) => c.executionCtx.waitUntil(work));
  const served = inMemory === undefined ? await gateway.tables.load() : ok(inMemory);
  if (!served.ok) return respondWithProblem(context, served.error);
  fields.table = served.value.table;
  fields.canary = served.value.canary?.table;
  return { ...context, served: served.value };
}

/** Answers with a problem. `decision` is what had been decided before it went wrong. */
export function respondWithProblem(
  context: RequestContext,
  error: GatewayError,
  served?: ServedTable,
  decision?: Decision,
): Response {
  const { logFields: fields } = context;
  if (decision !== undefined) logDecision(fields, decision);
  if ("entity" in error) fields.entity = error.entity;
  if ("region" in error) fields.region = error.region;
  fields.outcome = error.reason;
  return problemResponse(error, served?.label);
}
