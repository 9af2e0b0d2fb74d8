import { mixWords, type Words } from "../ids/index.ts";
import { clientNetwork } from "../proxy/client-network.ts";
import { chooseRegion, type Decision, stickyCookie } from "../routing/index.ts";
import { forward } from "./forward.ts";
import { respondWithProblem, type TableRequestContext } from "./request.ts";

/** A request on a path that no entity has: to the region that something else than an ID says, where the table declares it. */
export async function forwardWithoutId(context: TableRequestContext): Promise<Response> {
  const { gateway, request, served, logFields: fields } = context;
  const { path, query, scheme } = context.target;
  const entry = served.table.withoutId.match(path);
  if (entry === undefined) return respondWithProblem(context, { reason: "unrouted-path", path }, served);
  const { entity, methods, sources, sticky } = entry;
  const { method } = request;
  fields.entity = entity.name;
  if (methods !== undefined && !methods.includes(method)) {
    return respondWithProblem(context, { reason: "method-not-allowed", method, allow: methods }, served);
  }
  const choice = chooseRegion(sources, {
    header: (name) => request.headers.get(name) ?? undefined,
    country: () => gateway.clientOf(request).country,
    continent: () => gateway.clientOf(request).continent,
  });
  if (!choice.ok) {
    const { error } = choice;
    return respondWithProblem(context, error.reason === "region-unknown" ? { ...error, path } : error, served);
  }
  const { region, isAssumed } = choice.value;
  const target = served.table.withoutId.targets.get(region);
  if (target === undefined) throw new Error(`region ${region} was not checked`);
  const decision: Decision = { entity, layout: "", id: "", words: clientWords(context), target };
  const answer = await forward(context, decision, path + query);
  // A problem says nothing about where the client is at home, and the 101 of a WebSocket cannot be changed.
  if (sticky !== undefined && isAssumed && fields.outcome === "answered" && answer.status !== 101) {
    answer.headers.append("set-cookie", stickyCookie(sticky, region, scheme === "https"));
  }
  return answer;
}

/**
 * Stands for the ID where an origin of the region is chosen: the same for the same credentials, or else for one address or
 * network of IPv6. Who has neither gets any origin, not always the same one.
 */
function clientWords({ gateway, request }: TableRequestContext): Words {
  const { address } = gateway.clientOf(request);
  const who = request.headers.get("authorization") ?? (address && clientNetwork(address));
  if (who === undefined) return [gateway.entropy.word()];
  return [mixWords(Array.from({ length: who.length }, (_, at) => who.charCodeAt(at)))];
}
