import { ok, type Result } from "../src/ids/result.ts";
import type { Gateway } from "../src/ports.ts";
import type { GatewayError } from "../src/problems/index.ts";
import { isClearOnAny } from "../src/routing/clear-ids.ts";
import { type CompiledTable, type Entity, hasPublic } from "../src/routing/index.ts";
import { HORIZON_MS } from "../src/routing/limits.ts";
import type { MintPlan } from "../src/routing/mint-plan.ts";
import { regionsOfMinted } from "../src/routing/mint-region.ts";
import { isDrawn } from "../src/routing/minting.ts";
import { withPages } from "./pages.ts";
import { readAny } from "./public-entity.ts";

/** An ID as its client sees it. */
export interface MintedId {
  readonly text: string;
  readonly region: string;
  /** Whether `/any` finds it, now and as long as times of this century are read, for what it is. */
  readonly isClear: boolean;
}

/** IDs drawn at once. Neighbours have much in common, so that more would often be in vain. */
const DRAW_MAX = 32;

/** So many may be dropped before the first that is clear, and so many more for each. Layouts that share nine of ten texts with others get by with it. */
const DROPPED_MAX = 1024;
const DROPPED_MAX_EACH = 32;

/**
 * Mints for a plan, in rising order. IDs that `/any` would refuse as ambiguous are given to nobody, and drawn anew, where chance has a part in
 * them. The last draw is kept as it is: such IDs are good on their entity's path, and whoever asked for them is told.
 */
export async function mintIds(
  gateway: Gateway,
  table: CompiledTable,
  plan: MintPlan,
  count: number,
): Promise<Result<readonly MintedId[], GatewayError>> {
  const kept: MintedId[] = [];
  let droppedCount = 0;
  while (kept.length < count) {
    const missing = count - kept.length;
    const isLast = !isDrawn(plan.enabled.layout) || droppedCount > DROPPED_MAX + DROPPED_MAX_EACH * kept.length;
    const drawn = await drawIds(gateway, table, plan, isLast ? missing : Math.min(missing, DRAW_MAX), droppedCount > 0);
    if (!drawn.ok) return drawn;
    const good = isLast ? drawn.value : drawn.value.filter(({ isClear }) => isClear);
    kept.push(...good);
    droppedCount += drawn.value.length - good.length;
  }
  return ok(kept);
}

async function drawIds(
  gateway: Gateway,
  table: CompiledTable,
  { entity, enabled, order }: MintPlan,
  count: number,
  isRedraw: boolean,
): Promise<Result<readonly MintedId[], GatewayError>> {
  const minted = await gateway.minters.mint({ ...order, isRedraw }, count);
  if (!minted.ok) return minted;
  const decide = () => regionsOfMinted(entity, enabled, minted.value);
  const regions = await withPages({ gateway, served: { table } }, decide(), decide);
  if (!regions.ok) return regions;
  const ids: MintedId[] = [];
  for (const [at, words] of minted.value.entries()) {
    const text = shownText(gateway, entity, enabled.layout.format(words));
    if (!text.ok) return text;
    const region = regions.value[at] as string;
    ids.push({ text: text.value, region, isClear: isClear(gateway, table, entity, text.value) });
  }
  return ok(ids);
}

/** The public text where the entity has one: clients see no others. */
function shownText(gateway: Gateway, entity: Entity, internal: string): Result<string, GatewayError> {
  if (entity.public === undefined) return ok(internal);
  const shown = gateway.publicIds.show(entity, internal);
  if (!shown.ok) return shown;
  if (shown.value === undefined) throw new Error(`a minted ID of ${entity.name} has no public text`);
  return ok(shown.value);
}

/** The same for what clients see: public texts are opened first. */
function isClear(gateway: Gateway, table: CompiledTable, entity: Entity, text: string): boolean {
  if (!hasPublic(table)) return isClearOnAny(table, entity, text);
  const reading = readAny(gateway, table, text, HORIZON_MS, undefined);
  if (!reading.ok) return reading.error.reason !== "ambiguous-id";
  const found = reading.value.kind === "public" ? reading.value.opened.entity : reading.value.decision.entity;
  return found === entity;
}
