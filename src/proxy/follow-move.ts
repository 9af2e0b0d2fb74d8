import { err } from "../ids/result.ts";
import type { MovedKey } from "../ports.ts";
import type { Region } from "../routing/table.ts";
import { askRegion, type Delivery, type DeliveryWorld } from "./deliver.ts";
import { refuseFenced } from "./fence.ts";
import type { Passage } from "./origin-request.ts";

/** In a 421 (RFC 9110 §15.5.20) of an origin: the region that has the entity. */
const REGION_FIELD = "waybill-region";

/**
 * Delivers a request to the region that has the entity. An origin that says "not mine, but that region's" is taken at its
 * word once; its 421 never reaches the client. What the table says of moved entities goes before what origins say. What is
 * remembered counts where the table decides on the same region again: another table, or a canary, is not held to it.
 */
export async function deliver(passage: Passage, world: DeliveryWorld): Promise<Delivery> {
  const { region, rule } = passage.decision.target;
  const fenced = refuseFenced(passage.decision, passage.method, passage.asksUpgrade);
  if (fenced !== undefined) return err(fenced);
  const isSettled = rule.kind === "moved";
  const memory = isSettled || !isRemembered(passage) ? undefined : world.memory;
  const known = memory === undefined ? undefined : await recall(passage, memory, world);
  const first = known ?? region;
  const answer = await askRegion(passage, first, world);
  if (!answer.ok) return answer;
  const { response, region: asked } = answer.value;
  const named = regionNamedBy(response);
  if (named === undefined) return answer;
  await response.body?.cancel();
  if (known !== undefined) memory?.forget(keyOf(passage));
  if (isSettled) return disagree(asked, "the table says that it has it");
  const other = world.regions.get(named);
  if (other === undefined) return disagree(asked, "the region that it names is not in the table");
  if (other === asked) return disagree(asked, "it names itself");
  return follow(passage, asked, other, asked === first, world);
}

async function recall(passage: Passage, memory: NonNullable<DeliveryWorld["memory"]>, world: DeliveryWorld) {
  const told = memory.recall(keyOf(passage));
  const name = told instanceof Promise ? await told : told;
  return name === undefined ? undefined : world.regions.get(name);
}

const isRemembered = ({ decision: { entity, id } }: Passage): boolean => entity.rememberMovedSeconds > 0 && id !== "";

/** The region that an origin names for an entity that is not its own. */
const regionNamedBy = ({ status, headers }: Response): string | undefined =>
  status === 421 ? (headers.get(REGION_FIELD) ?? undefined) : undefined;

/** `isOwn`: the 421 is of the region that was decided on. Another one's, after failover, is believed for this request only. */
async function follow(
  passage: Passage,
  disowner: Region,
  region: Region,
  isOwn: boolean,
  world: DeliveryWorld,
): Promise<Delivery> {
  const { entity } = passage.decision;
  const remember = () => {
    // Where the table says it too, there is nothing to remember.
    if (!isOwn || !isRemembered(passage) || region === passage.decision.target.region) return;
    world.memory?.remember(keyOf(passage), region.name, entity.rememberMovedSeconds);
  };
  if (passage.body.kind === "stream") {
    remember();
    return err({ reason: "body-too-large-to-replay", region: disowner.name, bytesMax: entity.replayBytesMax });
  }
  const answer = await askRegion(passage, region, world);
  if (!answer.ok) return answer;
  const { response, region: asked } = answer.value;
  if (regionNamedBy(response) === undefined) {
    // One that does not know the entity, or is in trouble, confirms nothing.
    if (asked === region && response.status !== 404 && response.status < 500) remember();
    return answer;
  }
  await response.body?.cancel();
  return disagree(region, "it was named by another one, and names one itself");
}

const disagree = ({ name }: Region, why: string): Delivery => err({ reason: "origins-disagree", region: name, why });

/** Words alone are not one ID: those of XID and ObjectId may be equal. */
const keyOf = ({ decision: { entity, layout, words, target } }: Passage): MovedKey => ({
  entity: entity.name,
  id: `${layout}:${words.join(".")}`,
  decided: target.region.name,
});
