import type { RequestLine } from "../ports.ts";
import { type CompiledTable, hasPublic } from "../routing/index.ts";
import { ANY_PREFIX } from "../routing/lookup/paths.ts";
import type { RequestContext } from "./request.ts";

/** A client that left before its response began, by the status that nginx gives it; it is never sent. */
const CLIENT_LEFT = { status: 499, outcome: "client-left" } as const;

/** Runs a handler and logs the request when its response begins, or when the client has left before that. */
export async function logged(context: RequestContext, respond: () => Promise<Response>): Promise<Response> {
  const { signal } = context.request;
  const leave = (): void => logRequest(context, CLIENT_LEFT);
  signal.addEventListener("abort", leave);
  const response = await respond();
  signal.removeEventListener("abort", leave);
  if (!signal.aborted) logRequest(context, { status: response.status, outcome: context.outcome });
  return response;
}

function logRequest(context: RequestContext, { status, outcome }: Pick<RequestLine, "status" | "outcome">): void {
  const { gateway, method, path, arrivedAtMs, waitUntil, served, table, isPlainId } = context;
  // A request that failed before it had a table may hold a public ID all the same.
  const inForce = served ?? gateway.tables.peek(waitUntil);
  const redaction = { table: table ?? inForce?.table, canary: inForce?.canary?.table, isPlainId };
  const atMs = gateway.clock.nowMs();
  const { entity, layout, region, originMs, attempts, trace } = context;
  const line: RequestLine = {
    atMs,
    method,
    path: redactPath(path, redaction),
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

/** Stands for the part of a path that is not shown. */
const REST = "/*";

/** The gateway's own pages, as far as no ID can be in them: the shortest public ID has 22 characters. */
const GATEWAY_PAGE =
  /^(?:\/mint|\/-\/(?:(?:table\/)?[a-z.]{1,16}|table\/revisions\/[0-9]{1,15}|problems\/[a-z-]{1,40}))$/;

/** What is known about a path that is to be logged. */
export interface Redaction {
  /** The table that decided, or the one in force; `undefined` while there is none. */
  readonly table: CompiledTable | undefined;
  /** The canary beside it. */
  readonly canary: CompiledTable | undefined;
  /** Whether the text in the ID's place was read as an ID of an entity that is not public. */
  readonly isPlainId: boolean;
}

/**
 * What logs may show of a path: everything, where no entity has public IDs. Else only what cannot hold one: the pattern
 * up to the ID, an ID of an entity that is not public, the gateway's own pages. A text that nothing read may be a public
 * ID wherever it stands, and so may whatever follows an ID.
 */
export function redactPath(path: string, { table, canary, isPlainId }: Redaction): string {
  if (GATEWAY_PAGE.test(path)) return path;
  if (table === undefined) return REST;
  if (!hasPublic(table) && (canary === undefined || !hasPublic(canary))) return path;
  if (path.startsWith(ANY_PREFIX)) {
    const end = endOfSegment(path, ANY_PREFIX.length);
    return isPlainId ? upTo(path, end) : masked(path, ANY_PREFIX.length, end);
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
