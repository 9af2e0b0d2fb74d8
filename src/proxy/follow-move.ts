import { err } from "../ids/result.ts";
import type { MovedKey, MovedMemory, ProxyPorts } from "../ports.ts";
import type { Decision, Region } from "../routing/table.ts";
import { type Delivery, sendToRegion } from "./deliver.ts";
import type { ProxyError } from "./errors.ts";
import type { ProxyRequest } from "./origin-request.ts";

/** A fence stands for as long as the last changes are copied and a table is published: often a matter of seconds. */
const RETRY_AFTER_MS = 2_000;

/** RFC 9110 §9.2.1. */
const READS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Refuses a write to an entity whose move is fenced, before any origin is asked; reads go on to where the entity is. An
 * upgrade is no read: what comes over a WebSocket would be written in a region that the entity is about to leave.
 * It spares clients a detour. What makes a move safe is the fence at the origin (docs/guides/move-entities.md): other gateways may have
 * older tables.
 */
export const rejectFenced = (
  { target: { move } }: Decision,
  method: string,
  asksUpgrade: boolean,
): ProxyError | undefined => {
  if (move?.state !== "fenced" || (READS.has(method) && !asksUpgrade)) return undefined;
  return { reason: "entity-moving", retryAfterMs: RETRY_AFTER_MS };
};

/** In a 421 (RFC 9110 §15.5.20) of an origin: the region that has the entity. */
const REGION_FIELD = "waybill-region";

/**
 * Delivers a request to the region that has the entity. An origin that says "not mine, but that region's" is taken at its
 * word once; its 421 never reaches the client. What the table says of moved entities goes before what origins say. What is
 * remembered counts where the table decides on the same region again: another table, or a canary, is not held to it.
 */
export async function deliver(proxyRequest: ProxyRequest, deps: ProxyPorts): Promise<Delivery> {
  const { region, rule } = proxyRequest.decision.target;
  const fenced = rejectFenced(proxyRequest.decision, proxyRequest.method, proxyRequest.asksUpgrade);
  if (fenced !== undefined) return err(fenced);
  const isSettled = rule.kind === "moved";
  const memory = isSettled || !isRemembered(proxyRequest) ? undefined : deps.movedMemory;
  const known = memory === undefined ? undefined : await recall(proxyRequest, memory);
  const first = known ?? region;
  const answer = await sendToRegion(proxyRequest, first, deps);
  if (!answer.ok) return answer;
  const { response, region: sent } = answer.value;
  const named = regionNamedBy(response);
  if (named === undefined) return answer;
  await response.body?.cancel();
  if (known !== undefined) memory?.forget(keyOf(proxyRequest));
  if (isSettled) return disagree(sent, "the table says that it has it");
  const other = proxyRequest.regions.get(named);
  if (other === undefined) return disagree(sent, "the region that it names is not in the table");
  if (other === sent) return disagree(sent, "it names itself");
  return follow(proxyRequest, sent, other, sent === first, deps);
}

async function recall(proxyRequest: ProxyRequest, memory: MovedMemory) {
  const named = memory.recall(keyOf(proxyRequest));
  const name = named instanceof Promise ? await named : named;
  return name === undefined ? undefined : proxyRequest.regions.get(name);
}

const isRemembered = ({ decision: { entity, id } }: ProxyRequest): boolean =>
  entity.rememberMovedSeconds > 0 && id !== "";

/** The region that an origin names for an entity that is not its own. */
const regionNamedBy = ({ status, headers }: Response): string | undefined =>
  status === 421 ? (headers.get(REGION_FIELD) ?? undefined) : undefined;

/** `isOwn`: the 421 is of the region that was decided on. Another one's, after failover, is believed for this request only. */
async function follow(
  proxyRequest: ProxyRequest,
  disowner: Region,
  region: Region,
  isOwn: boolean,
  deps: ProxyPorts,
): Promise<Delivery> {
  const { entity } = proxyRequest.decision;
  const remember = () => {
    // Where the table says it too, there is nothing to remember.
    if (!isOwn || !isRemembered(proxyRequest) || region === proxyRequest.decision.target.region) return;
    deps.movedMemory?.remember(keyOf(proxyRequest), region.name, entity.rememberMovedSeconds);
  };
  if (proxyRequest.body.kind === "stream") {
    remember();
    return err({ reason: "body-too-large-to-replay", region: disowner.name, bytesMax: entity.replayBytesMax });
  }
  const answer = await sendToRegion(proxyRequest, region, deps);
  if (!answer.ok) return answer;
  const { response, region: sent } = answer.value;
  if (regionNamedBy(response) === undefined) {
    // One that does not know the entity, or is in trouble, confirms nothing.
    if (sent === region && response.status !== 404 && response.status < 500) remember();
    return answer;
  }
  await response.body?.cancel();
  return disagree(region, "it was named by another one, and names one itself");
}

const disagree = ({ name }: Region, why: string): Delivery => err({ reason: "origins-disagree", region: name, why });

/** Words alone are not one ID: those of XID and ObjectId may be equal. */
const keyOf = ({ decision: { entity, layout, words, target } }: ProxyRequest): MovedKey => ({
  entity: entity.name,
  id: `${layout}:${words.join(".")}`,
  decided: target.region.name,
});
