import type { Respond, Send, ServeFeature } from "../../gateway/feature.ts";
import type { RequestContext } from "../../gateway/request.ts";
import { changeable } from "../../gateway/respond.ts";
import type { Gateway } from "../../ports/gateway.ts";
import type { OriginResponse } from "../../proxy/attempt.ts";
import { discard, isRemembered, movedKeyOf, SAFE, sendToRegion } from "../../proxy/deliver.ts";
import { asksUpgrade, type ProxyRequest } from "../../proxy/origin-request.ts";
import { type CompiledTable, type Decision, stickyCookie } from "../../routing/index.ts";
import { cookieValues } from "../../routing/lookup/values.ts";
import type { Region } from "../../routing/table.ts";
import { nearestCopy } from "./table/compile.ts";
import type { ReadCopies } from "./table/schema.ts";

declare module "../../ports/metrics.ts" {
  interface CountedEvents {
    /** A read that was sent to a copy. `missing`, `refused` and `failed`: then to the owner. */
    readonly copy_reads: readonly [region: string, outcome: "answered" | "missing" | "refused" | "failed"];
  }
}

/** Reads of entities with read copies: from the copy that is nearest to the client, or from the owner. */

/** A client's word that its read must not be older than the owner's data. */
const READ_FIELD = "waybill-read";
const OWNER = "owner";

/** Whether the client has the cookie that follows a write, whose value is `owner`; if that is uncertain, the owner is right too. */
const hasWritten = ({ headers }: Request, { cookie }: Pick<ReadCopies, "cookie">): boolean =>
  cookie !== undefined && cookieValues(headers.get("cookie") ?? undefined, cookie)?.includes(OWNER) !== false;

/** For origins: the region of which they are to serve their copy. */
const COPY_OF_FIELD = "waybill-copy-of";
/** For clients. */
const COPY_FIELD = "waybill-copy";

export const copies: ServeFeature = {
  name: "copies",
  steps: (_, { copies: declared }) =>
    declared && {
      send: (toOwner, respond) => (context, proxied) => sendNearest(context, proxied, toOwner, respond),
    },
};

/** To the nearest copy, or to the owner. */
async function sendNearest(
  context: RequestContext,
  proxied: ProxyRequest,
  toOwner: Send,
  respond: Respond,
): Promise<Response> {
  const { gateway, request } = context;
  const { decision, client } = proxied;
  const declared = decision.entity.copies as ReadCopies;
  const said = request.headers.get(READ_FIELD);
  if (said !== null && said !== OWNER) {
    const detail = `${READ_FIELD} can only be \`${OWNER}\`; leave it out to read from the nearest copy.`;
    return context.fail({ reason: "malformed-request", detail }, decision);
  }
  const isWrite = !SAFE.has(proxied.method);
  const mayCopy = said === null && !hasWritten(request, declared) && proxied.hasOthers !== true && isRead(proxied);
  const region =
    mayCopy && decision.by === "id"
      ? nearestCopy(decision, countryOf(context, declared), () => client.continent)
      : undefined;
  const answer =
    region === undefined || (await isKnownToMove(proxied, gateway))
      ? undefined
      : await readCopy(proxied, region, gateway);
  const table = context.table as CompiledTable;
  if (answer !== undefined) {
    note(context, proxied);
    const response = changeable(await respond(context, table, copied(decision, answer.region), answer), decision);
    if (context.outcome !== "answered") return response;
    response.headers.set(COPY_FIELD, `of=${decision.target.region.name}; lag=${declared.lagSeconds}`);
    return response;
  }
  const response = await toOwner(context, proxied);
  if (declared.cookie === undefined || !isWrite || response.status === 101) return response;
  // A write whose answer was lost may have been made.
  const marked = changeable(response, decision);
  const sticky = { cookie: declared.cookie, maxAgeSeconds: declared.lagSeconds };
  marked.headers.append("set-cookie", stickyCookie(sticky, OWNER, proxied.scheme === "https"));
  return marked;
}

/** A client that lies reads from a copy that is far away. */
const countryOf = ({ client, request }: RequestContext, { countryHeader }: ReadCopies): string | undefined =>
  client.country ?? (countryHeader && (request.headers.get(countryHeader) ?? undefined));

/** A conversation may write, and a body may say what to do. */
const isRead = (proxied: ProxyRequest): boolean =>
  (proxied.method === "GET" || proxied.method === "HEAD") && proxied.body.kind === "none" && !asksUpgrade(proxied);

/** Whether an origin said so: copies of the region that an entity left may still have it. */
async function isKnownToMove({ decision }: ProxyRequest, { movedMemory }: Gateway): Promise<boolean> {
  if (movedMemory === undefined || movedMemory.isEmpty || !isRemembered(decision)) return false;
  return (await movedMemory.recall(movedKeyOf(decision))) !== undefined;
}

/** As the copy is asked: a shadow is compared with the owner alone. */
const copied = (decision: Decision, region: Region): Decision => ({
  ...decision,
  target: { ...decision.target, region, canary: undefined, shadow: undefined },
});

/**
 * The copy's answer; `undefined` where it has none that counts. A copy that does not know an entity may be behind, however
 * old the ID is: an ID can be made long before its entity, and what is below an entity later than it.
 */
async function readCopy(proxied: ProxyRequest, region: Region, gateway: Gateway): Promise<OriginResponse | undefined> {
  const { counters } = gateway;
  const { decision } = proxied;
  const copyOf = decision.target.region.name;
  const asked = { ...proxied, decision: copied(decision, region), copyOf, more: { [COPY_OF_FIELD]: copyOf } };
  const answer = await sendToRegion(asked, region, gateway);
  proxied.attempts = asked.attempts;
  proxied.traceparent = asked.traceparent;
  if (answer.ok && isOfUse(answer.value)) {
    counters.count("copy_reads", region.name, "answered");
    return answer.value;
  }
  counters.count(
    "copy_reads",
    region.name,
    answer.ok ? (answer.value.response.status === 404 ? "missing" : "refused") : "failed",
  );
  if (answer.ok) await discard(answer.value);
  return undefined;
}

const isOfUse = ({ response: { status } }: OriginResponse): boolean => status !== 404 && status !== 421 && status < 500;

function note(context: RequestContext, { attempts, traceparent }: ProxyRequest): void {
  context.attempts = attempts;
  context.trace = traceparent?.slice(3, 35);
}
