import { err, ok, type Result } from "../ids/result.ts";
import type { Gateway, ServedTable } from "../ports.ts";
import type { GatewayError } from "../problems/index.ts";
import type { CompiledTable, Entity } from "../routing/index.ts";
import { pathWithId, primaryPattern } from "../routing/lookup/paths.ts";
import { isRandom, type MintPlan } from "../routing/mint/plan.ts";
import { regionsOfMinted } from "../routing/mint/verify.ts";
import { withPages } from "./resolve.ts";
import { decidePath, isUnambiguousOnAny, type ResolvedId } from "./resolve-minted.ts";

/** What is to be minted, by which table, and the tables by which requests for it will go. */
export interface MintTask {
  readonly gateway: Gateway;
  readonly served: ServedTable;
  readonly plan: MintPlan;
  /** The one that the plan was made by: the one in force, or its canary's. */
  readonly table: CompiledTable;
  /** Unix ms. */
  readonly nowMs: number;
}

/** An ID as its client sees it. */
export interface MintedId {
  readonly text: string;
  readonly region: string;
  /** The table that decides about it. */
  readonly by: ServedTable;
  /** Whether `/any` finds it, now and as long as times of this century are read, for what it is. */
  readonly isClear: boolean;
}

/** IDs drawn at once. Neighbours have much in common, so that more would often be in vain. */
const DRAW_MAX = 32;

/** So many may be dropped before the first that is clear, and so many more for each. Layouts that share nine of ten texts with others get by with it. */
const DROPPED_MAX = 1024;
const DROPPED_MAX_EACH = 32;

/**
 * Mints for a plan, in rising order. IDs that a request would not find a region for are given to nobody, nor are those that
 * `/any` would refuse as ambiguous: they are drawn anew. The last draw of ambiguous ones is kept as it is: such IDs are good
 * on their entity's path, and whoever asked for them is told.
 */
export async function mintIds(task: MintTask, count: number): Promise<Result<readonly MintedId[], GatewayError>> {
  const { layout } = task.plan.enabled;
  const isByChance = isRandom(layout);
  const droppedMax = isByChance ? DROPPED_MAX : DRAW_MAX;
  const kept: MintedId[] = [];
  let droppedCount = 0;
  while (kept.length < count) {
    const missing = count - kept.length;
    const isLast = droppedCount > droppedMax + DROPPED_MAX_EACH * kept.length;
    const isWhole = isLast || !isByChance;
    const random = await drawIds(task, isWhole ? missing : Math.min(missing, DRAW_MAX), droppedCount > 0);
    if (!random.ok) return random;
    const routed = random.value.filter((id) => id !== undefined);
    if (isLast && routed.length < random.value.length) return err(unroutable(task.plan));
    const good = isWhole ? routed : routed.filter(({ isClear }) => isClear);
    kept.push(...good);
    droppedCount += random.value.length - good.length;
  }
  return ok(kept);
}

/** `undefined` for an ID to which no request would find the way. */
async function drawIds(
  { gateway, served, plan, table, nowMs }: MintTask,
  count: number,
  isRedraw: boolean,
): Promise<Result<readonly (MintedId | undefined)[], GatewayError>> {
  const { entity, enabled, order } = plan;
  const minted = await gateway.minters.mint({ ...order, isRedraw }, count);
  if (!minted.ok) return minted;
  // A key without a region is told at once, and no other ID of that key is any better.
  const decide = () => regionsOfMinted(entity, enabled, minted.value);
  const regions = await withPages({ gateway, served: { table } }, decide(), decide);
  if (!regions.ok) return regions;
  const pattern = primaryPattern(entity, enabled.layout.name) ?? "";
  const ids: (MintedId | undefined)[] = [];
  for (const words of minted.value) {
    const text = shownForm(gateway, entity, enabled.layout.format(words));
    if (!text.ok) return text;
    const resolved = await decidePath(gateway, served, pathWithId(pattern, text.value), nowMs);
    if (resolved.ok) ids.push(mintedId({ gateway, served, entity }, text.value, resolved.value));
    else if (UNROUTABLE.has(resolved.error.reason)) ids.push(undefined);
    else return resolved;
  }
  return ok(ids);
}

/** What a request gets whose ID is at fault. All else, such as a page that cannot be had, is no reason to draw another one. */
const UNROUTABLE: ReadonlySet<GatewayError["reason"]> = new Set([
  "unassigned-key",
  "unknown-id",
  "wrong-entity",
  "ambiguous-id",
  "malformed-id",
  "unrouted-path",
  "entity-gone",
]);

/** Without the canary's part of it the path is this entity's: one that is another's by now leads elsewhere. */
function mintedId(
  { gateway, served, entity }: Pick<MintTask, "gateway" | "served"> & { readonly entity: Entity },
  text: string,
  resolved: ResolvedId,
): MintedId | undefined {
  const { by, decision } = resolved;
  if (by.table === served.table && decision.entity !== entity) return undefined;
  const isClear = isUnambiguousOnAny(gateway, served, entity, resolved, text);
  return { text, region: decision.target.region.name, by, isClear };
}

/** The IDs are given to nobody, so that none is shown. */
const unroutable = ({ entity, enabled }: MintPlan): GatewayError => ({
  reason: "unassigned-key",
  entity: entity.name,
  layout: enabled.layout.name,
});

/** The public text where the entity has one: clients see no others. */
function shownForm(gateway: Gateway, entity: Entity, internal: string): Result<string, GatewayError> {
  if (entity.public === undefined) return ok(internal);
  const shown = gateway.publicIds.show(entity, internal);
  if (!shown.ok) return shown;
  if (shown.value === undefined) throw new Error(`a minted ID of ${entity.name} has no public text`);
  return ok(shown.value);
}
