import type { Words } from "../ids/index.ts";
import { err, ok, type Result } from "../ids/result.ts";
import type { Gateway, ServedTable } from "../ports.ts";
import type { GatewayError } from "../problems/index.ts";
import type { CompiledTable, Entity } from "../routing/index.ts";
import { primaryPattern, regionsOfMinted } from "../routing/index.ts";
import { HORIZON_MS } from "../routing/limits.ts";
import { isRandom, type MintPlan } from "../routing/mint/plan.ts";
import { type DecideInput, decidePath, failure } from "./decide.ts";
import { withPages } from "./pages.ts";
import { entityOf, readId } from "./public-ids.ts";

/** What is to be minted, and the tables by which requests for it will go. */
export interface MintTask {
  readonly gateway: Pick<Gateway, "minters" | "packs" | "publicIds" | "pause">;
  readonly served: ServedTable;
  readonly plan: MintPlan;
  /** The table that the plan was made by: the one in force, or its canary's. */
  readonly table: CompiledTable;
  /** Unix ms. */
  readonly nowMs: number;
}

/** An ID as its client sees it. */
export interface MintedId {
  readonly text: string;
  readonly region: string;
  /** Whether the canary's table decides about it. */
  readonly byCanary: boolean;
  /** Whether `/any` finds it as what it is, now and while times of this century are read. */
  readonly isUnambiguous: boolean;
}

/** IDs generated at once. Neighbours have much in common, so that more would often be in vain. */
const BATCH_MAX = 32;

/**
 * Between batches the isolate has so long for other requests: with 8 large mints at once a batch of each still takes less.
 * 1,000 IDs take 125 ms.
 */
const REST_MS = 4;

/** IDs that may be dropped before the first good one, and for each further one. Enough for layouts that share 9 of 10 texts. */
const DROPPED_MAX = 1024;
const DROPPED_MAX_EACH = 32;

/**
 * Mints for a plan, in rising order. IDs that no region would get are dropped, and so are those that `/any` would refuse
 * as ambiguous: others are generated in their place. After too many drops ambiguous ones are kept: they work on their
 * entity's path, and the caller is told.
 */
export async function mintIds(task: MintTask, count: number): Promise<Result<readonly MintedId[], GatewayError>> {
  const { layout } = task.plan.enabled;
  const hasRandomBits = isRandom(layout);
  const droppedMax = hasRandomBits ? DROPPED_MAX : BATCH_MAX;
  const kept: MintedId[] = [];
  let droppedCount = 0;
  // What would be refused is refused before it takes numbers.
  const sample = await task.gateway.minters.sample(task.plan.order);
  if (!sample.ok) return sample;
  const tried = await checkMinted(task, sample.value === undefined ? [] : [sample.value]);
  if (!tried.ok) return tried;
  const isDoubtful = tried.value.includes(undefined);
  while (kept.length < count) {
    const missing = count - kept.length;
    const isLast = droppedCount > droppedMax + DROPPED_MAX_EACH * kept.length;
    const keepsAll = isLast || !hasRandomBits;
    if (kept.length > 0) await task.gateway.pause(REST_MS);
    const batch = keepsAll && !(isDoubtful && kept.length === 0) ? missing : Math.min(missing, BATCH_MAX);
    const words = await task.gateway.minters.mint({ ...task.plan.order, isRedraw: droppedCount > 0 }, batch);
    const minted = words.ok ? await checkMinted(task, words.value) : words;
    if (!minted.ok) return minted;
    const routed = minted.value.filter((id) => id !== undefined);
    if (isLast && routed.length < minted.value.length) {
      // The ID is not given out, so it is not shown.
      return err({ reason: "unassigned-key", entity: task.plan.entity.name, layout: layout.name });
    }
    const good = keepsAll ? routed : routed.filter(({ isUnambiguous }) => isUnambiguous);
    kept.push(...good);
    droppedCount += minted.value.length - good.length;
  }
  return ok(kept);
}

/** `undefined` for an ID for which no request would find a region. */
async function checkMinted(
  task: MintTask,
  minted: readonly Words[],
): Promise<Result<readonly (MintedId | undefined)[], GatewayError>> {
  const { gateway, served, plan, table, nowMs } = task;
  const { entity, enabled } = plan;
  // A key without a region is an error at once: no other ID of the key would be better.
  const checkRegions = () => {
    const regions = regionsOfMinted(entity, enabled, minted);
    return regions.ok ? ({ kind: "assigned" } as const) : failure(table, regions.error, false);
  };
  const regions = await withPages(gateway, checkRegions);
  if (regions.kind === "error") return err(regions.error);
  const pattern = primaryPattern(entity, enabled.layout.name) ?? "";
  const idAt = pattern.indexOf(":id");
  const [before, after] = [pattern.slice(0, idAt), pattern.slice(idAt + ":id".length)];
  const input: DecideInput = { tables: served, publicIds: gateway.publicIds, layoutName: undefined, nowMs };
  const ids: (MintedId | undefined)[] = [];
  for (const [index, words] of minted.entries()) {
    if (index > 0 && index % BATCH_MAX === 0) await gateway.pause(REST_MS);
    const internal = enabled.layout.format(words);
    // The public text where the entity has one: clients see no other.
    const shown = entity.public === undefined ? ok(internal) : gateway.publicIds.show(entity, internal);
    if (!shown.ok) return shown;
    const text = shown.value;
    if (text === undefined) throw new Error(`a minted ID of ${entity.name} has no public text`);
    const path = before + text + after;
    const decided = decidePath(input, path);
    // A promise for each ID would cost as much as its decision.
    const outcome = decided.kind === "page" ? await withPages(gateway, () => decidePath(input, path)) : decided;
    if (outcome.kind === "error" && !UNROUTABLE.has(outcome.error.reason)) return err(outcome.error);
    // Without the canary the path must be this entity's own: another entity may own it by now.
    const isOwn = outcome.kind === "region" && (outcome.byCanary || outcome.decision.entity === entity);
    if (isOwn) {
      const { decision, byCanary } = outcome;
      const isUnambiguous = isFoundByAny(input, entity, text, decision.entity, byCanary);
      ids.push({ text, region: decision.target.region.name, byCanary, isUnambiguous });
    } else ids.push(undefined);
  }
  return ok(ids);
}

/** Errors of which the ID is the cause. Others, such as a page that cannot be had, are no reason to generate another ID. */
const UNROUTABLE: ReadonlySet<GatewayError["reason"]> = new Set([
  "unassigned-key",
  "unknown-id",
  "wrong-entity",
  "ambiguous-id",
  "malformed-id",
  "unrouted-path",
  "entity-gone",
]);

/** Whether `/any` finds a text as what it is. `decided`: the entity by the table that decides on the path. */
function isFoundByAny(
  { tables: { table, canary }, publicIds }: DecideInput,
  entity: Entity,
  text: string,
  decided: Entity,
  byCanary: boolean,
): boolean {
  const inForce = readId(publicIds, table, text, HORIZON_MS, undefined);
  // The canary reads only what the table in force cannot, of entities that are all its own.
  if (inForce.ok && entityOf(inForce.value).name !== entity.name) return false;
  const isRead = inForce.ok || inForce.error.reason !== "ambiguous-id" || canary?.ownsEntity(entity.name) === true;
  if (!byCanary || canary === undefined || !isRead) return isRead;
  const second = readId(publicIds, canary.table, text, HORIZON_MS, undefined);
  return second.ok ? entityOf(second.value).name === decided.name : second.error.reason !== "ambiguous-id";
}
