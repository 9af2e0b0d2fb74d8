import type { Context, MiddlewareHandler } from "hono";
import type { Gateway, RequestLine } from "../src/ports.ts";
import type { CompiledTable, Decision } from "../src/routing/index.ts";
import { redactPath } from "./shown-path.ts";

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
