import type { RateLimit } from "../ports.ts";
import { clientNetwork } from "../proxy/client-network.ts";
import type { Decision } from "../routing/index.ts";
import { respondWithProblem, type TableRequestContext } from "./request.ts";

/** All clients without a known address count as one: a limit that could be passed by hiding would be none. */
const UNKNOWN = "unknown";

/**
 * The answer to a request that passes a limit; `undefined` when it may go on. A limit that is off costs its callers one
 * look: `limit && (await overLimit(...))`.
 */
export async function overLimit(
  context: TableRequestContext,
  limit: RateLimit,
  which: "client" | "entity" | "lookup",
  decision?: Decision,
): Promise<Response | undefined> {
  const { address } = context.gateway.clientOf(context.request);
  const client = address === undefined ? UNKNOWN : clientNetwork(address);
  // A name has no space, and an address has none.
  const retryAfterSeconds = await limit.waitSeconds(
    decision === undefined ? client : `${decision.entity.name} ${client}`,
  );
  if (retryAfterSeconds === 0) return undefined;
  const error = { reason: "rate-limited", limit: which, retryAfterSeconds } as const;
  return respondWithProblem(context, error, context.served, decision);
}
