import { mixWords, type Words } from "../ids/index.ts";
import { clientNetwork } from "../proxy/client-network.ts";
import { chooseRegion, type Decision, stickyCookie, type WithoutId } from "../routing/index.ts";
import { forward } from "./forward.ts";
import type { RequestContext } from "./request.ts";

/** Forwards a request on a path that no entity owns, to the region that the table's sources name. */
export async function forwardWithoutId(context: RequestContext, entry: WithoutId): Promise<Response> {
  const { request, method, path, query, scheme, table } = context;
  const { entity, methods, sources, sticky } = entry;
  context.entity = entity.name;
  if (methods !== undefined && !methods.includes(method)) {
    return context.fail({ reason: "method-not-allowed", method, allow: methods });
  }
  const choice = chooseRegion(sources, {
    header: (name) => request.headers.get(name) ?? undefined,
    country: () => context.client.country,
    continent: () => context.client.continent,
  });
  if (!choice.ok) {
    const { error } = choice;
    return context.fail(error.reason === "region-unknown" ? { ...error, path } : error);
  }
  const { region, isAssumed } = choice.value;
  const target = table?.withoutId.targets.get(region);
  if (target === undefined) throw new Error(`region ${region} was not checked`);
  const decision: Decision = { entity, layout: "", id: "", words: clientWords(context), target };
  const response = await forward(context, decision, path + query);
  // A problem says nothing about the client's home region, and the 101 of a WebSocket cannot be changed.
  if (sticky !== undefined && isAssumed && context.outcome === "answered" && response.status !== 101) {
    response.headers.append("set-cookie", stickyCookie(sticky, region, scheme === "https"));
  }
  return response;
}

/**
 * Stands for the ID where an origin of the region is chosen: the same for the same credentials, or else for the same
 * address or IPv6 network. Without either, any origin will do.
 */
function clientWords({ gateway, request, client: { address } }: RequestContext): Words {
  const key = request.headers.get("authorization") ?? (address && clientNetwork(address));
  if (key === undefined) return [gateway.entropy.word()];
  return [mixWords(Array.from({ length: key.length }, (_, at) => key.charCodeAt(at)))];
}
