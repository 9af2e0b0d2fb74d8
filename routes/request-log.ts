import type { Context, MiddlewareHandler } from "hono";
import type { Gateway, RequestLine } from "../src/ports.ts";
import type { Decision } from "../src/routing/index.ts";

/** What is found out about a request on its way, for its log line and the metrics. */
export interface Notes {
  entity: string | undefined;
  layout: string | undefined;
  region: string | undefined;
  revision: number | undefined;
  outcome: string;
  originMs: number | undefined;
  attempts: number;
  trace: string | undefined;
  /** Where an ID stands in the path that no log may show. */
  hidden: { readonly start: number; readonly end: number } | undefined;
}

/** The outcome of the gateway's own pages. */
const OWN = "own";

const KEY = "notes";

/** The notes of the request; the same object for all who ask. */
export function notesOf(context: Context): Notes {
  const known: Notes | undefined = context.get(KEY);
  if (known !== undefined) return known;
  const notes: Notes = {
    entity: undefined,
    layout: undefined,
    region: undefined,
    revision: undefined,
    outcome: OWN,
    originMs: undefined,
    attempts: 0,
    trace: undefined,
    hidden: undefined,
  };
  context.set(KEY, notes);
  return notes;
}

export function noteDecision(notes: Notes, { entity, layout, target }: Decision): void {
  notes.entity = entity.name;
  notes.layout = layout;
  notes.region = target.region.name;
}

/** Tells of each request when its answer begins. */
export function observeRequests(gateway: Gateway): MiddlewareHandler {
  return async (c, next) => {
    const arrivedAtMs = gateway.clock.nowMs();
    await next();
    const { hidden, ...notes } = notesOf(c);
    const line: RequestLine = {
      ...notes,
      method: c.req.method,
      path: shownPath(c.req.raw.url, hidden),
      status: c.res.status,
      ms: gateway.clock.nowMs() - arrivedAtMs,
    };
    gateway.observe(line, (work) => c.executionCtx.waitUntil(work));
  };
}

/** The path as it was sent, without IDs that are not to be shown; the query may hold what no log should. */
function shownPath(url: string, hidden: Notes["hidden"]): string {
  const [target = ""] = url.split("?", 1);
  const path = target.slice(target.indexOf("/", "https://".length));
  return hidden === undefined ? path : `${path.slice(0, hidden.start)}:id${path.slice(hidden.end)}`;
}
