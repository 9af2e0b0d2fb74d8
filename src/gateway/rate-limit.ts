import type { RateLimit } from "../ports/gateway.ts";
import { clientNetwork } from "../proxy/addresses/client-network.ts";
import type { Decision } from "../routing/index.ts";
import type { RequestContext } from "./request.ts";

/**
 * The problem response for a request over a limit; `undefined` when it may go on. An absent limit costs its callers one
 * look: `limit && (await limitRate(...))`.
 */
export async function limitRate(
  context: RequestContext,
  limit: RateLimit,
  which: "client" | "entity" | "lookup",
  decision?: Decision | Pick<Decision, "entity">,
  count = 1,
): Promise<Response | undefined> {
  // Here the platform is asked; a counter in the isolate answers at once.
  if (limit.max === undefined) context.watchClientIfSlow();
  const retryAfterSeconds = await limit.waitSeconds(rateKey(context, decision?.entity), count);
  if (retryAfterSeconds === 0) return undefined;
  return context.fail(
    { reason: "rate-limited", limit: which, retryAfterSeconds },
    decision && "target" in decision ? decision : undefined,
  );
}

/** The key by which a client is counted, for one entity or for all. */
export function rateKey({ client: { address } }: RequestContext, entity?: Decision["entity"]): string {
  const client = clientNetwork(address);
  // Neither an entity's name nor an address has a space.
  return entity === undefined ? client : `${entity.name} ${client}`;
}
