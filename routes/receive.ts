import type { Context } from "hono";
import { ok } from "../src/ids/result.ts";
import type { Gateway, ServedTable } from "../src/ports.ts";
import type { GatewayError } from "../src/problems/index.ts";
import type { Decision } from "../src/routing/index.ts";
import { problemResponse } from "./problem-response.ts";
import { type LogFields, logDecision, logFields } from "./request-log.ts";
import { type RequestTarget, readTarget } from "./target.ts";

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
