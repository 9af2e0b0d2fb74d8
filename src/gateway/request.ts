import type { Client, Gateway, RequestLine, ServedTable, Span } from "../ports/gateway.ts";
import type { GatewayError, RequestError } from "../problems/index.ts";
import { isHost } from "../proxy/addresses/host.ts";
import { SLOW_MS } from "../proxy/attempt.ts";
import { isTraceparent } from "../proxy/headers.ts";
import { AUTHORITY_INDEX_MIN } from "../proxy/origin-request.ts";
import { type CompiledTable, chooseRegion, type Decision } from "../routing/index.ts";
import { ANY_PREFIX, NOT_NORMALIZED } from "../routing/lookup/paths.ts";
import type { RegionSource } from "../routing/resolve/region-sources.ts";
import type { Asked, Rule } from "../routing/table.ts";
import { problemResponse } from "./problem-response.ts";

/** The status that nginx gives a client that left before its response began; it is never sent. */
const CLIENT_LEFT_STATUS = 499;

/**
 * Requests that wait for an origin, whose client is not watched yet: to read a request's signal costs a tenth of the
 * request (docs/design/performance.md). Their client has left when they no longer run themselves. Places are used again: a
 * `Set` makes new tables all the time, and an old table keeps its requests alive until a full collection.
 */
const unwatched: (RequestContext | undefined)[] = [];
const freePlaces: number[] = [];

/** Far longer than a request that still runs stays unwatched. */
const LEFT_AFTER_MS = SLOW_MS + 2_000;

const SWEEP_MS = 1_000;
let sweepDueMs = 0;

/** When a request that an origin got was last answered, Unix ms. */
let forwardedAtMs = Number.NEGATIVE_INFINITY;
const BESIDE_MS = 1_000;

/** One request from arrival to response, with what is found out about it on the way. */
export class RequestContext {
  // Declared alone: a field with an initial value costs a call more for each request.
  declare readonly gateway: Gateway;
  declare readonly request: Request;
  declare readonly method: string;
  declare readonly scheme: "http" | "https";
  /** Value of the client's `host` header; `hostError` checks it before anything else. */
  declare readonly host: string;
  /** Raw path, from its first slash. The router uses it too: nothing that it would decode may lead to a page. */
  declare readonly path: string;
  /** Raw query with its question mark, or empty. */
  declare readonly query: string;
  /** Unix ms. */
  declare readonly arrivedAtMs: number;
  declare readonly client: Client;
  /** Whether the host is the console's: nothing is proxied there. */
  declare readonly isAtConsole: boolean;
  /** Keeps work alive that outlives the response. */
  declare readonly waitUntil: (work: Promise<unknown>) => void;

  /** The tables in force when the request arrived; set by `openRequest`. */
  declare served: ServedTable | undefined;
  /** The table that decides; before `openRequest` there is none. */
  declare table: CompiledTable | undefined;
  /** Value of `waybill-table` for it. */
  declare tableLabel: string | undefined;

  /** The features' `Line`, whose types name this one; before the request is served there is none. */
  declare line: object | undefined;

  // The log line and the metrics show these.
  declare entity: string | undefined;
  declare layout: string | undefined;
  declare region: string | undefined;
  /** The one that decided. */
  declare rule: Rule | undefined;
  /** Without an ID: the source that chose the region, and those before it whose value is not listed. */
  declare source: string | undefined;
  declare unlisted: readonly string[] | undefined;
  /** How sure the region is, by the kind of the rule that says it. */
  declare doubt: Readonly<Record<string, string>> | undefined;
  /** `answered` by an origin, `own` for the gateway's own pages, or the slug of the problem. */
  declare outcome: string;
  /** Made by the gateway for a page of its own. */
  declare isOwn: true | undefined;
  /** Made here of the answers of origins: who may read it is for the gateway to say. */
  declare isMerged: boolean;
  /** Answered by another region than the one decided on. */
  declare isElsewhere: true | undefined;
  declare originMs: number | undefined;
  /** Requests sent to origins. */
  declare attempts: number;
  /** How many requests to origins those were for; `undefined` for one. */
  declare asked: number | undefined;
  /** Trace ID of the client's W3C trace context, once it was sent on. */
  declare trace: string | undefined;
  /** The request's own span, if it is sampled. */
  declare span: Span | undefined;
  /** Until when the request's idempotency key holds, Unix ms; `undefined` without one. */
  declare keyUntilMs: number | undefined;
  /** Whether the ID in the path was found to belong to an entity that is not public. */
  declare isPlainId: boolean;
  /** Aborts when the rest of the answer is for no one; `undefined`: when the client has left. */
  declare unwanted: AbortSignal | undefined;
  /** Whether the answer shows how the request was decided. */
  declare isDebugged: boolean;
  /** Whether `authorization` is a credential of the gateway's own, which no origin gets. */
  declare hidesAuthorization: boolean;
  /** Whether nothing of the request's body is left, or its answer reads it; false where that is not known. */
  declare isBodyRead: boolean;
  declare private isLogged: boolean;
  declare private isWatched: boolean;
  /** Among the unwatched; -1 for none. */
  declare private place: number;

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
    this.client = gateway.clientOf(request);
    this.isAtConsole = gateway.console?.isAt(this.client.host ?? this.host) === true;
    this.waitUntil = (work) => execution.waitUntil(work);
    this.outcome = "own";
    this.isOwn = undefined;
    this.isMerged = false;
    this.isElsewhere = undefined;
    this.attempts = 0;
    this.isPlainId = false;
    this.isDebugged = this.hidesAuthorization = false;
    this.isBodyRead = false;
    this.isLogged = false;
    this.isWatched = false;
    this.place = -1;
    this.served = this.table = this.line = undefined;
    this.source = this.unlisted = undefined;
    this.tableLabel = this.entity = this.layout = this.region = this.rule = this.trace = undefined;
    this.span = gateway.beginSpan === undefined || this.isForOwnPage ? undefined : gateway.beginSpan(request);
    this.originMs = this.asked = this.keyUntilMs = this.unwanted = this.doubt = undefined;
    if (this.arrivedAtMs >= sweepDueMs || this.arrivedAtMs < sweepDueMs - SWEEP_MS) this.#logThoseWhoLeft();
  }

  /** The host that the client asked for. */
  get servedHost(): string {
    return this.client.host ?? this.host;
  }

  /** The method that a CORS preflight asks for. */
  get preflightFor(): string | undefined {
    if (this.method !== "OPTIONS") return undefined;
    return this.request.headers.get("access-control-request-method") ?? undefined;
  }

  /** A client that leaves from now on, before its response begins, is logged at once. */
  watchClient(): void {
    if (this.isWatched || this.isLogged) return;
    this.isWatched = true;
    // The place itself is free again when the request is logged.
    if (this.place !== -1) unwatched[this.place] = undefined;
    this.onClientLeft(() => this.log(CLIENT_LEFT_STATUS, "client-left"));
  }

  onClientLeft(act: () => void): void {
    const { signal } = this.request;
    if (signal.aborted) act();
    else signal.addEventListener("abort", act);
  }

  /**
   * Work that ends what it has begun in a store. A connection that is reset ends its request at once, unlike one that is
   * closed (RFC 9293 §3.10.7); a key would stay in use for the whole lease.
   */
  finishAlways(work: Promise<Response>): Promise<Response> {
    const ended = () => undefined;
    this.waitUntil(work.then(ended, ended));
    return work;
  }

  /** Later steps watch the client themselves when it has waited for `SLOW_MS`. One that leaves before is logged later. */
  watchClientLater(): void {
    if (this.isWatched || this.isLogged || this.place !== -1) return;
    this.place = freePlaces.pop() ?? unwatched.length;
    unwatched[this.place] = this;
  }

  /** For what may wait and watches nothing itself: most of it ends before a timer that costs less than a signal. */
  watchClientIfSlow(): void {
    this.watchClientLater();
    setTimeout(() => this.watchClient(), SLOW_MS);
  }

  /** Whether others are answered by origins meanwhile. */
  get isBesideForwarded(): boolean {
    return Math.abs(this.gateway.clock.nowMs() - forwardedAtMs) < BESIDE_MS;
  }

  /** Nothing else of a request runs when its client has left. */
  #logThoseWhoLeft(): void {
    sweepDueMs = this.arrivedAtMs + SWEEP_MS;
    for (const left of unwatched) {
      if (left === undefined || this.arrivedAtMs - left.arrivedAtMs < LEFT_AFTER_MS) continue;
      left.log(CLIENT_LEFT_STATUS, "client-left", left.arrivedAtMs + SLOW_MS, this.waitUntil);
    }
  }

  private get isForOwnPage(): boolean {
    return this.path.startsWith("/-/") || this.gateway.console?.isAt(this.host) === true;
  }

  /** The canary's table decides. */
  takeCanary(): void {
    this.table = this.served?.canary?.table;
    this.tableLabel = this.served?.canary?.label;
  }

  /** Logs the request when its response begins, or when the client has left before that. */
  log(status: number, outcome = this.outcome, atMs = this.gateway.clock.nowMs(), waitUntil = this.waitUntil): void {
    if (this.isLogged) return;
    this.isLogged = true;
    if (this.place !== -1) {
      unwatched[this.place] = undefined;
      freePlaces.push(this.place);
    }
    const { gateway, table } = this;
    if (this.attempts > 0) forwardedAtMs = atMs;
    // A request that failed before it had a table may hold a public ID all the same.
    const inForce = this.served ?? gateway.tables.peek(waitUntil);
    const decider = table ?? inForce?.table;
    const canary = inForce?.canary?.table;
    const mayHide = decider === undefined || (decider.reading ?? canary?.reading) !== undefined;
    const path = mayHide
      ? redactPath(this.path, { table: decider, canary, isPlainId: this.isPlainId, asked: this })
      : this.path;
    const line: RequestLine = {
      atMs,
      method: this.method,
      path,
      entity: this.entity,
      layout: this.layout,
      region: this.region,
      source: this.source,
      unlisted: this.unlisted,
      revision: table?.revision,
      rule: this.rule,
      status,
      outcome,
      ms: atMs - this.arrivedAtMs,
      originMs: this.originMs,
      attempts: this.attempts,
      asked: this.asked,
      isElsewhere: this.isElsewhere,
      isOwn: this.isOwn ?? (outcome !== "answered" && outcome !== "own" ? this.isForOwnPage : undefined),
      trace: this.attempts > 0 ? this.trace : (this.trace ?? this.#traceId()),
      span: this.span?.id,
      parentSpan: this.span?.parent,
    };
    gateway.observe(Object.assign(line, this.doubt), waitUntil, canary && table && sideOf(table, canary));
  }

  /** The name of a request of which no origin was told. */
  #traceId(): string | undefined {
    const traceparent = this.span?.traceparent ?? this.request.headers.get("traceparent") ?? "";
    return isTraceparent(traceparent) ? traceparent.slice(3, 35) : undefined;
  }

  logDecision(decision: Decision): void {
    const { entity, target } = decision;
    this.entity = entity.name;
    this.layout = decision.by === "id" ? decision.layout : undefined;
    this.region = target.region.name;
    const { rule } = target;
    this.rule = rule;
    this.doubt = "state" in rule ? { [rule.kind]: String(rule.state) } : undefined;
  }

  /** The region that sources choose, without an ID. `entry`: its name in metrics. */
  chooseRegion(entry: string, sources: readonly RegionSource[]): ReturnType<typeof chooseRegion> {
    const { request, path, query } = this;
    const choice = chooseRegion(sources, {
      path,
      query,
      host: this.servedHost,
      header: (name) => request.headers.get(name) ?? undefined,
      country: () => this.client.country,
      continent: () => this.client.continent,
    });
    if (!choice.ok) return choice;
    this.source = choice.value.label;
    this.unlisted = choice.value.unlisted;
    for (const source of choice.value.unlisted ?? []) this.gateway.counters.count("unlisted_values", entry, source);
    return choice;
  }

  /** A problem response. `decision`: what had been decided before the error. */
  fail(error: GatewayError, decision?: Decision): Response {
    if (decision !== undefined) this.logDecision(decision);
    if ("entity" in error && error.entity !== undefined) this.entity = error.entity;
    if ("region" in error) this.region = error.region;
    this.outcome = error.reason;
    return problemResponse(error, this.tableLabel, this.keyUntilMs, this.gateway.pseudonym.name);
  }
}

const sideOf = (table: CompiledTable, canary: CompiledTable) => (table === canary ? "canary" : "stable");

/**
 * Checks the request's path and takes the tables in force. Only the first requests of an isolate wait for a table.
 * Gives the problem response where either is not to be had.
 */
export function openRequest(context: RequestContext): ServedTable | Response | Promise<ServedTable | Response> {
  const { gateway, path } = context;
  if (NOT_NORMALIZED.test(path)) return context.fail(UNRESOLVED_PATH);
  const served = gateway.tables.peek(context.waitUntil);
  if (served === undefined) return loadTable(context);
  context.served = served;
  context.table = served.table;
  context.tableLabel = served.label;
  return served;
}

async function loadTable(context: RequestContext): Promise<ServedTable | Response> {
  context.watchClient();
  const loaded = await context.gateway.tables.load();
  if (!loaded.ok) return context.fail(loaded.error);
  context.served = loaded.value;
  context.table = loaded.value.table;
  context.tableLabel = loaded.value.label;
  return loaded.value;
}

/** A gateway serves few hosts: most requests name the last good one again. */
let lastHost: string | undefined;

/**
 * workerd puts the `host` header into the URL unchecked: one with a slash or a question mark would move the path, and some
 * make a URL that cannot be parsed (RFC 9112 §3.2). A trusted proxy's word is held to the same.
 */
export function hostError({ host, client }: Pick<RequestContext, "host" | "client">): RequestError | undefined {
  if (host !== lastHost) {
    if (!isHost(host)) return { reason: "malformed-request", detail: `The host header ${NO_HOST}` };
    lastHost = host;
  }
  if (client.host === undefined || isHost(client.host)) return undefined;
  return { reason: "malformed-request", detail: `The host that a trusted proxy names ${NO_HOST}` };
}

const NO_HOST = "is not a host that a URL can have.";

/** The error of a path that is not normalized. */
export const UNRESOLVED_PATH: RequestError = {
  reason: "malformed-request",
  detail: "The path has a dot segment or a backslash; send it resolved.",
};

/** Stands for the part of a path that is not shown. */
const REST = "/*";

/** The gateway's own pages, as far as no ID can be in them: the shortest public ID has 22 characters. */
const GATEWAY_PAGE =
  /^(?:\/any|\/mint|\/-\/(?:(?:table\/)?[a-z.]{1,16}|table\/revisions\/[0-9]{1,15}|problems\/[a-z-]{1,40}))$/;

/** `table`: the one that decided, or is in force. `isPlainId`: the ID's place holds one of an entity that is not public. */
type Redaction = Readonly<{
  table: CompiledTable | undefined;
  canary: CompiledTable | undefined;
  isPlainId: boolean;
  asked?: Asked;
}>;

/**
 * The part of a path that logs may show: everything, where no entity has public IDs. Else only what cannot hold one: the pattern
 * up to the ID, an ID of an entity that is not public, the gateway's own pages. A text that nothing read may be a public
 * ID wherever it stands, and so may whatever follows an ID.
 */
export function redactPath(path: string, { table, canary, isPlainId, asked }: Redaction): string {
  if (table !== undefined && table.reading === undefined && canary?.reading === undefined) return path;
  if (GATEWAY_PAGE.test(path)) return path;
  if (table === undefined) return REST;
  if (path.startsWith(ANY_PREFIX)) {
    const slash = path.indexOf("/", ANY_PREFIX.length);
    const end = slash === -1 ? path.length : slash;
    return isPlainId ? upTo(path, end) : masked(path, ANY_PREFIX.length, end);
  }
  const match = table.paths.match(path, asked);
  if (match !== undefined) {
    const { entity, idStart, idEnd } = match;
    return isPlainId && entity.reading?.hides !== true ? upTo(path, idEnd) : masked(path, idStart, idEnd);
  }
  return table.withoutId.match(path, asked)?.entity.entity.paths.includes(path) === true ? path : REST;
}

function masked(path: string, start: number, end: number): string {
  return `${path.slice(0, start)}:id${end < path.length ? REST : ""}`;
}

function upTo(path: string, end: number): string {
  return end < path.length ? path.slice(0, end) + REST : path;
}
