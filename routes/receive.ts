import type { Context } from "hono";
import { ok } from "../src/ids/result.ts";
import type { Gateway, ServedTable } from "../src/ports.ts";
import type { GatewayError } from "../src/problems/index.ts";
import type { Decision } from "../src/routing/index.ts";
import { problemResponse } from "./problem-response.ts";
import { type Notes, noteDecision, notesOf } from "./request-log.ts";
import { type RequestTarget, readTarget } from "./target.ts";

/** A request that has arrived. */
export interface Arrival {
  readonly gateway: Gateway;
  readonly context: Context;
  readonly request: Request;
  readonly target: RequestTarget;
  readonly arrivedAtMs: number;
  readonly notes: Notes;
}

/** A request with the table that decides about it. */
export interface Received extends Arrival {
  readonly served: ServedTable;
}

/**
 * Reads the request's target and takes the table in force; or the answer, when one of them is not to be had.
 * Only the first requests of an isolate wait for a table; later ones find it in memory.
 */
export async function receive(gateway: Gateway, c: Context): Promise<Received | Response> {
  const request = c.req.raw;
  const target = readTarget(request);
  const notes = notesOf(c);
  if (!target.ok) {
    notes.outcome = target.error.reason;
    return problemResponse(target.error);
  }
  const arrival = { gateway, context: c, request, target: target.value, arrivedAtMs: gateway.clock.nowMs(), notes };
  const inMemory = gateway.tables.peek((work) => c.executionCtx.waitUntil(work));
  const served = inMemory === undefined ? await gateway.tables.load() : ok(inMemory);
  if (!served.ok) return refuse(arrival, served.error);
  notes.table = served.value.table;
  notes.canary = served.value.canary?.table;
  return { ...arrival, served: served.value };
}

/** Answers with a problem. `decision` is what had been decided before it went wrong. */
export function refuse(arrival: Arrival, error: GatewayError, served?: ServedTable, decision?: Decision): Response {
  const { notes } = arrival;
  if (decision !== undefined) noteDecision(notes, decision);
  if ("entity" in error) notes.entity = error.entity;
  if ("region" in error) notes.region = error.region;
  notes.outcome = error.reason;
  return problemResponse(error, served?.label);
}
