import type { Client, Gateway, ServedTable } from "../ports.ts";
import type { GatewayError, RequestError } from "../problems/index.ts";
import type { CompiledTable, Decision } from "../routing/index.ts";
import { isNotNormalized } from "../routing/lookup/paths.ts";
import { problemResponse } from "./problem-response.ts";

/** `http://` and `https://` both end before this index, and a host has at least one character. */
const AUTHORITY_INDEX_MIN = 8;

/** One request from arrival to response, with what is found out about it on the way. */
export class RequestContext {
  readonly gateway: Gateway;
  readonly request: Request;
  readonly method: string;
  readonly scheme: "http" | "https";
  /** Value of the client's `host` header, unchecked until `openRequest`. */
  readonly host: string;
  /** Raw path, from its first slash. The router uses it too: nothing that it would decode may lead to a page. */
  readonly path: string;
  /** Raw query with its question mark, or empty. */
  readonly query: string;
  /** Unix ms. */
  readonly arrivedAtMs: number;
  /** Keeps work alive that outlives the response. */
  readonly waitUntil: (work: Promise<unknown>) => void;

  /** The tables in force when the request arrived; set by `openRequest`. */
  served: ServedTable | undefined;
  /** Whether the canary's table decides. */
  byCanary = false;

  // What the log line and the metrics show.
  entity: string | undefined;
  layout: string | undefined;
  region: string | undefined;
  /** `answered` by an origin, `own` for the gateway's own pages, or the slug of the problem. */
  outcome = "own";
  originMs: number | undefined;
  /** Requests sent to origins. */
  attempts = 0;
  /** Trace ID of the W3C trace context that origins were told. */
  trace: string | undefined;
  /** Whether the ID in the path was found to belong to an entity that is not public. */
  isPlainId = false;

  constructor(gateway: Gateway, request: Request, execution: Pick<ExecutionContext, "waitUntil">) {
    const { url } = request;
    const pathStart = url.indexOf("/", AUTHORITY_INDEX_MIN);
    const queryStart = url.indexOf("?", pathStart);
    this.gateway = gateway;
    this.request = request;
    this.method = request.method;
    this.scheme = url.startsWith("https://") ? "https" : "http";
    this.host = request.headers.get("host") ?? url.slice(this.scheme.length + 3, pathStart);
    this.path = queryStart === -1 ? url.slice(pathStart) : url.slice(pathStart, queryStart);
    this.query = queryStart === -1 ? "" : url.slice(queryStart);
    this.arrivedAtMs = gateway.clock.nowMs();
    this.waitUntil = (work) => execution.waitUntil(work);
  }

  get client(): Client {
    return this.gateway.clientOf(this.request);
  }

  /** The table that decides; before `openRequest` there is none. */
  get table(): CompiledTable | undefined {
    return this.byCanary ? this.served?.canary?.table : this.served?.table;
  }

  /** Value of `waybill-table` for the table that decides. */
  get tableLabel(): string | undefined {
    return this.byCanary ? this.served?.canary?.label : this.served?.label;
  }

  logDecision({ entity, layout, target }: Decision): void {
    this.entity = entity.name;
    // A request without an ID has no layout.
    this.layout = layout === "" ? undefined : layout;
    this.region = target.region.name;
  }

  /** A problem response. `decision`: what had been decided before the error. */
  fail(error: GatewayError, decision?: Decision): Response {
    if (decision !== undefined) this.logDecision(decision);
    if ("entity" in error && error.entity !== undefined) this.entity = error.entity;
    if ("region" in error) this.region = error.region;
    this.outcome = error.reason;
    return problemResponse(error, this.tableLabel);
  }
}

/**
 * Checks the request's target and takes the tables in force. Only the first requests of an isolate wait for a table.
 * Returns the problem response where either is not to be had.
 */
export async function openRequest(context: RequestContext): Promise<ServedTable | Response> {
  const error = targetError(context);
  if (error !== undefined) return context.fail(error);
  const inMemory = context.gateway.tables.peek(context.waitUntil);
  if (inMemory !== undefined) {
    context.served = inMemory;
    return inMemory;
  }
  const loaded = await context.gateway.tables.load();
  if (!loaded.ok) return context.fail(loaded.error);
  context.served = loaded.value;
  return loaded.value;
}

/**
 * workerd puts the `host` header into the URL unchecked, so a host with a slash or a question mark would move the path:
 * such a request is refused.
 */
export function targetError({ host, path }: Pick<RequestContext, "host" | "path">): RequestError | undefined {
  if (!isHost(host)) return { reason: "malformed-request", detail: "The host header is not a host." };
  if (isNotNormalized(path)) {
    return { reason: "malformed-request", detail: "The path has a dot segment or a backslash; send it resolved." };
  }
  return undefined;
}

/** A host name, an IPv4 address or a bracketed IPv6 address, with an optional port (RFC 9110 §7.2). */
const HOST = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** A gateway serves few hosts: most requests name the last good one again. */
let lastHost = "";

function isHost(text: string): boolean {
  if (text === lastHost) return text !== "";
  if (!HOST.test(text)) return false;
  lastHost = text;
  return true;
}
