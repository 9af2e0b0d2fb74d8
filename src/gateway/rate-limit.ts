import type { RateLimit } from "../ports.ts";
import { clientNetwork } from "../proxy/client-network.ts";
import type { Decision } from "../routing/index.ts";
import type { RequestContext } from "./request.ts";

/** All clients without a known address count as one: hiding the address must not pass the limit. */
const UNKNOWN = "unknown";

/**
 * The problem response for a request over a limit; `undefined` when it may go on. An absent limit costs its callers one
 * look: `limit && (await limitRate(...))`.
 */
export async function limitRate(
  context: RequestContext,
  limit: RateLimit,
  which: "client" | "entity" | "lookup",
  decision?: Decision,
  count = 1,
): Promise<Response | undefined> {
  const { address } = context.client;
  const client = address === undefined ? UNKNOWN : clientNetwork(address);
  // Neither an entity's name nor an address has a space.
  const retryAfterSeconds = await limit.waitSeconds(
    decision === undefined ? client : `${decision.entity.name} ${client}`,
    count,
  );
  if (retryAfterSeconds === 0) return undefined;
  return context.fail({ reason: "rate-limited", limit: which, retryAfterSeconds }, decision);
}
