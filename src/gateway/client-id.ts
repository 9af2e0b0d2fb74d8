import type { GatewayError } from "../problems/index.ts";
import { textAt } from "../routing/create/request.ts";
import type { Create, Decision } from "../routing/table.ts";
import type { RequestContext } from "./request.ts";

/** The ID that a client made itself, where the table has a place for one and it is there. */
export function clientIdOf({ clientId }: Create, request: Request, json: unknown): string | undefined {
  if (clientId === undefined) return undefined;
  const { header, path } = clientId;
  return (header && request.headers.get(header)) || (path && textAt(json, path)) || undefined;
}

/** Why an ID cannot be of a client that makes it now. Entities that exist are never asked. */
export function judgeFreshness(
  _context: RequestContext,
  _create: Create,
  _decision: Decision,
): GatewayError | undefined {
  return undefined;
}
