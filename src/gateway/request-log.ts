import type { Context, MiddlewareHandler } from "hono";
import type { Gateway, RequestLine } from "../ports.ts";
import { type CompiledTable, type Decision, hasPublic } from "../routing/index.ts";

/** Stands for all that is not shown behind it. */
const REST = "/*";

const ANY = "/any/";

/** The gateway's own pages, as far as no ID can be in them: the shortest public ID has 22 characters. */
const GATEWAY_PAGE =
  /^(?:\/mint|\/-\/(?:(?:table\/)?[a-z.]{1,16}|table\/revisions\/[0-9]{1,15}|problems\/[a-z-]{1,40}))$/;

/** Who decides about a request, and what they found out. */
export interface Redaction {
  /** The table that decided, or is in force; `undefined` while there is none. */
  readonly table: CompiledTable | undefined;
  /** The canary beside it. */
  readonly canary: CompiledTable | undefined;
  /** Whether the text in the ID's place was read as an ID of an entity that is not public. */
  readonly isPlainId: boolean;
}

/**
 * What logs may show of a path. Everything, where no entity has public IDs. Else only what is known to hold none of them: the pattern up
 * to the ID, an ID that was found to be of an entity that is not public, the gateway's own pages. A text that was refused before
 * anybody read it, or that nobody could read, may be a public ID wherever it stands; so may whatever stands below an ID.
 */
export function redactPath(path: string, { table, canary, isPlainId }: Redaction): string {
  if (GATEWAY_PAGE.test(path)) return path;
  if (table === undefined) return REST;
  if (!hasPublic(table) && (canary === undefined || !hasPublic(canary))) return path;
  if (path.startsWith(ANY)) {
    const end = endOfSegment(path, ANY.length);
    return isPlainId ? upTo(path, end) : masked(path, ANY.length, end);
  }
  const match = table.paths.match(path);
  if (match !== undefined) {
    const { entity, idStart, idEnd } = match;
    return isPlainId && entity.public === undefined ? upTo(path, idEnd) : masked(path, idStart, idEnd);
  }
  return table.withoutId.match(path)?.entity.paths.includes(path) === true ? path : REST;
}

function masked(path: string, start: number, end: number): string {
  return `${path.slice(0, start)}:id${end < path.length ? REST : ""}`;
}

function upTo(path: string, end: number): string {
  return end < path.length ? path.slice(0, end) + REST : path;
}

function endOfSegment(path: string, from: number): number {
  const slash = path.indexOf("/", from);
  return slash === -1 ? path.length : slash;
}

/** What is found out about a request on its way, for its log line and the metrics. */
export interface LogFields {
  entity: string | undefined;
  layout: string | undefined;
  region: string | undefined;
  /** The table that decides. */
  table: CompiledTable | undefined;
  /** The one beside it, as the request arrived. */
  canary: CompiledTable | undefined;
  outcome: string;
  originMs: number | undefined;
  attempts: number;
  trace: string | undefined;
  /** Whether the ID in the path was found to be one of an entity that is not public. */
  isPlainId: boolean;
}

/** The outcome of the gateway's own pages. */
const OWN = "own";

const KEY = "notes";

/** The notes of the request; the same object for all who ask. */
export function logFields(context: Context): LogFields {
  const known: LogFields | undefined = context.get(KEY);
  if (known !== undefined) return known;
  const fields: LogFields = {
    entity: undefined,
    layout: undefined,
    region: undefined,
    table: undefined,
    canary: undefined,
    outcome: OWN,
    originMs: undefined,
    attempts: 0,
    trace: undefined,
    isPlainId: false,
  };
  context.set(KEY, fields);
  return fields;
}

export function logDecision(fields: LogFields, { entity, layout, target }: Decision): void {
  fields.entity = entity.name;
  // A request without an ID has none.
  fields.layout = layout === "" ? undefined : layout;
  fields.region = target.region.name;
}

/** Of a client that left before its answer began, as others call it; it is sent to nobody. */
const LEFT = { status: 499, outcome: "client-left" } as const;

/** Tells of each request when its answer begins, or when its client has left before that. */
export function requestLogger(gateway: Gateway): MiddlewareHandler {
  return async (c, next) => {
    const arrivedAtMs = gateway.clock.nowMs();
    const { signal } = c.req.raw;
    const leave = (): void => logRequest(gateway, c, arrivedAtMs, LEFT);
    signal.addEventListener("abort", leave);
    await next();
    signal.removeEventListener("abort", leave);
    if (!signal.aborted) logRequest(gateway, c, arrivedAtMs, { status: c.res.status, outcome: logFields(c).outcome });
  };
}

function logRequest(
  gateway: Gateway,
  c: Context,
  arrivedAtMs: number,
  { status, outcome }: Pick<RequestLine, "status" | "outcome">,
): void {
  const { entity, layout, region, table, canary, originMs, attempts, trace, isPlainId } = logFields(c);
  const waitUntil = (work: Promise<unknown>): void => c.executionCtx.waitUntil(work);
  // A request that was refused before it came to a table may hold an ID all the same.
  const inForce = table === undefined ? gateway.tables.peek(waitUntil) : undefined;
  const known = { table: table ?? inForce?.table, canary: canary ?? inForce?.canary?.table, isPlainId };
  const atMs = gateway.clock.nowMs();
  const line: RequestLine = {
    atMs,
    method: c.req.method,
    path: redactPath(c.req.path, known),
    entity,
    layout,
    region,
    revision: table?.revision,
    status,
    outcome,
    ms: atMs - arrivedAtMs,
    originMs,
    attempts,
    trace,
  };
  gateway.observe(line, waitUntil);
}
