import { type DecideInput, decidePath, failure } from "../../../gateway/decide.ts";
import { type Delimiters, joinIds, type Run, textsOf } from "../../../gateway/join-ids.ts";
import { decideLoading } from "../../../gateway/loading.ts";
import { fieldOf, formatShortKey, luuid, type Words } from "../../../ids/index.ts";
import { type WordRows, wordsIn } from "../../../ids/mint/mint.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { Gateway, LoadPorts, ServedTable } from "../../../ports/gateway.ts";
import type { GatewayError } from "../../../problems/index.ts";
import { LUUID_SHORT } from "../../../routing/identity.ts";
import type { CompiledTable, Entity } from "../../../routing/index.ts";
import { primaryPattern } from "../../../routing/index.ts";
import { HORIZON_MS } from "../../../routing/limits.ts";
import { takenBy } from "../../../routing/lookup/choice.ts";
import { pathWithId } from "../../../routing/lookup/paths.ts";
import { entityOf, type ReadPorts, readAny } from "../../../routing/resolve/reading.ts";
import { isRandom, type MintPlan } from "../table/plan.ts";
import { regionByWords, regionsOfMinted } from "../table/verify.ts";

/** An order for IDs, and the tables by which requests for it will go. */
export interface MintTask {
  readonly gateway: Pick<Gateway, "minters" | "pause"> & LoadPorts & ReadPorts;
  readonly served: ServedTable;
  readonly plan: MintPlan;
  /** The table that the plan was made by: the one in force, or its canary's. */
  readonly table: CompiledTable;
  /** Unix ms. */
  readonly nowMs: number;
}

/** IDs as their client sees them, in rising order. */
export interface MintedIds {
  readonly texts: () => readonly string[];
  /** The body of a response with their texts. */
  readonly join: (delimiters: Delimiters) => ReturnType<typeof joinIds>;
  /** The one of all, or that of each. */
  readonly regions: string | readonly string[];
  /** Texts that `/any` does not find as what they are, now and while times of this century are read. */
  readonly unclear: readonly string[];
  /** Whether the canary's table decides: `true` and `false` for both, in the order of the IDs. */
  readonly byCanary: ReadonlySet<boolean>;
}

interface MintedId {
  readonly text: string;
  readonly region: string;
  readonly byCanary: boolean;
  readonly isUnambiguous: boolean;
}

/** IDs generated at once while some may have to be dropped: neighbours have much in common, so more would often be in vain. */
const BATCH_MAX = 32;

/** Yield between batches. With 8 large mints at once the work of each between two rests still takes less. */
const REST_MS = 4;

/** Work between rests, in IDs whose text is read again. One that is decided by its words takes a 32nd. */
const WORK_MAX = 40;
const WORK_BY_WORDS = 1 / 32;

/** IDs that may be dropped before the first good one, and for each further one. Enough for layouts that share 9 of 10 texts. */
const DROPPED_MAX = 1024;
const DROPPED_MAX_EACH = 32;

type Rest = (work: number) => Promise<unknown> | undefined;

/** Called before work. `undefined`: it needs no rest. */
function restsOf({ pause }: MintTask["gateway"]): Rest {
  let done = 0;
  return (work) => {
    if (done + work <= WORK_MAX) {
      done += work;
      return undefined;
    }
    done = work;
    return pause(REST_MS);
  };
}

/**
 * Mints for a plan, in rising order. IDs that no region would get are dropped, and so are those that `/any` would refuse
 * as ambiguous: others are generated in their place. After too many drops ambiguous ones are kept: they work on their
 * entity's path, and the caller is told.
 */
export async function mintIds(task: MintTask, count: number): Promise<Result<MintedIds, GatewayError>> {
  const { gateway, plan } = task;
  const { layout } = plan.enabled;
  const hasRandomBits = isRandom(layout);
  const droppedMax = hasRandomBits ? DROPPED_MAX : BATCH_MAX;
  const kept: Kept = { runs: [], regions: new Regions(), unclear: [], byCanary: new Set() };
  const rest = restsOf(gateway);
  let droppedCount = 0;
  const isDoubtful = await trySample(task, count, rest);
  if (!isDoubtful.ok) return isDoubtful;
  while (kept.regions.count < count) {
    const keptCount = kept.regions.count;
    const missing = count - keptCount;
    const isLast = droppedCount > droppedMax + DROPPED_MAX_EACH * keptCount;
    const keepsAll = isLast || !hasRandomBits;
    const isProven = keepsAll ? !(isDoubtful.value && keptCount === 0) : droppedCount === 0 && keptCount > 0;
    const batch = isProven ? missing : Math.min(missing, BATCH_MAX);
    await rest(batch * WORK_BY_WORDS);
    const words = await gateway.minters.mint({ ...plan.order, isRedraw: droppedCount > 0 }, batch);
    if (!words.ok) return words;
    if (decideByWords(task, words.value, kept.regions)) {
      kept.runs.push(words.value);
      kept.byCanary.add(false);
      continue;
    }
    const minted = await checkMinted(task, wordsIn(words.value, layout.fixed.value.length), rest);
    if (!minted.ok) return minted;
    const routed = minted.value.filter((id) => id !== undefined);
    if (isLast && routed.length < minted.value.length) {
      // The ID is not given out, so it is not shown.
      return err({ reason: "unassigned-key", entity: plan.entity.name, layout: layout.name });
    }
    const good = keepsAll ? routed : routed.filter(({ isUnambiguous }) => isUnambiguous);
    keep(kept, good);
    droppedCount += minted.value.length - good.length;
  }
  const { runs, regions, unclear, byCanary } = kept;
  const texts = () => textsOf(layout, runs);
  const join = (delimiters: Delimiters) => joinIds(layout, runs, count, delimiters);
  return ok({ texts, join, regions: regions.found, unclear, byCanary });
}

/**
 * Whether an ID like the next one of an order that takes numbers may find no region. A request that must be refused is so before
 * it takes numbers.
 */
async function trySample(task: MintTask, count: number, rest: Rest): Promise<Result<boolean, GatewayError>> {
  const sample = await task.gateway.minters.sample(task.plan.order, count);
  if (!sample.ok) return sample;
  if (sample.value === undefined) return ok(false);
  const tried = await checkMinted(task, [sample.value], rest);
  return tried.ok ? ok(tried.value.includes(undefined)) : tried;
}

/** IDs that their client gets. */
interface Kept {
  readonly runs: Run[];
  readonly regions: Regions;
  readonly unclear: string[];
  readonly byCanary: Set<boolean>;
}

function keep(kept: Kept, good: readonly MintedId[]): void {
  kept.runs.push(good.map(({ text }) => text));
  for (const { text, region, byCanary, isUnambiguous } of good) {
    kept.regions.push(region);
    kept.byCanary.add(byCanary);
    if (!isUnambiguous) kept.unclear.push(text);
  }
}

/** Most batches have one region: it stands for all. */
class Regions {
  count = 0;
  found: string | string[] = "";

  push(region: string): void {
    if (this.count === 0) this.found = region;
    if (this.found !== region) {
      if (typeof this.found === "string") this.found = new Array<string>(this.count).fill(this.found);
      this.found.push(region);
    }
    this.count++;
  }

  append({ found, count }: Regions): void {
    for (let at = 0; at < count; at++) this.push(typeof found === "string" ? found : (found[at] as string));
  }
}

/** Whether their words decide; then their regions stand behind the others. */
function decideByWords({ served, plan, table, nowMs }: MintTask, minted: WordRows, regions: Regions): boolean {
  const regionOf = served.canary === undefined ? regionByWords(table, plan.entity) : undefined;
  if (regionOf === undefined) return false;
  const found = new Regions();
  // An array of plain doubles: in any other, each word would be an object.
  const words = Array.from(plan.enabled.layout.fixed.value, () => 0.5);
  for (let from = 0; from < minted.length; from += words.length) {
    for (let word = 0; word < words.length; word++) words[word] = minted[from + word] as number;
    const region = regionOf(words, nowMs);
    if (region === undefined) return false;
    found.push(region);
  }
  regions.append(found);
  return true;
}

/** `undefined` for an ID for which no request would find a region. */
async function checkMinted(
  task: MintTask,
  minted: readonly Words[],
  rest: Rest,
): Promise<Result<readonly (MintedId | undefined)[], GatewayError>> {
  const { gateway, served, plan, table, nowMs } = task;
  const { entity, enabled } = plan;
  // A key without a region is an error at once: no other ID of the key would be better.
  const checkRegions = () => {
    const regions = regionsOfMinted(entity, enabled, minted);
    return regions.ok ? ({ kind: "assigned" } as const) : failure(table, regions.error, false);
  };
  const regions = await decideLoading(gateway, checkRegions);
  if (regions.kind === "error") return err(regions.error);
  const pattern = primaryPattern(entity, enabled.layout.name) ?? "";
  const idAt = pattern.indexOf(":id");
  const before = pattern.slice(0, idAt);
  const after = pattern.slice(idAt + ":id".length);
  const asked = takenBy(entity.conditions);
  const input: DecideInput = { tables: served, ports: gateway, layoutName: undefined, nowMs, asked };
  const ids: (MintedId | undefined)[] = [];
  for (const words of minted) {
    // A promise for each ID would cost as much as its decision.
    const due = rest(1);
    if (due !== undefined) await due;
    const internal = enabled.layout.format(words);
    // Where the entity has another text for clients, they see no other.
    const shown = entity.reading?.show === undefined ? ok(internal) : entity.reading.show(gateway, entity, internal);
    if (!shown.ok) return shown;
    const text = shown.value;
    if (text === undefined) throw new Error(`a minted ID of ${entity.name} has no public text`);
    const path = before + text + after;
    const decided = decidePath(input, path);
    const outcome =
      decided.kind === "load"
        ? await decideLoading(gateway, (found) => decidePath({ ...input, found }, path))
        : decided;
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
  { tables: { table, canary }, ports }: DecideInput,
  entity: Entity,
  text: string,
  decided: Entity,
  byCanary: boolean,
): boolean {
  const later = { ports, layoutName: undefined, nowMs: HORIZON_MS };
  const inForce = readAny(later, table, text, undefined);
  // The canary reads only what the table in force cannot, of entities that are all its own.
  if (inForce.ok && entityOf(inForce.value).name !== entity.name) return false;
  const isRead = inForce.ok || inForce.error.reason !== "ambiguous-id" || canary?.ownsEntity(entity.name) === true;
  if (!byCanary || canary === undefined || !isRead) return isRead;
  const second = readAny(later, canary.table, text, undefined);
  return second.ok ? entityOf(second.value).name === decided.name : second.error.reason !== "ambiguous-id";
}

/** The short key of an LUUID. None of an entity that hides its IDs: it would show them. */
export const shortKeyOf = (entity: Entity, layout: string, words: Words): string | undefined =>
  layout === luuid.name && entity.reading?.hides !== true
    ? formatShortKey(fieldOf(luuid, "primaryKey").read(words))
    : undefined;

/** Texts that a client may show instead of LUUIDs. `links`: paths of the short keys, where each leads to the region of its ID. */
interface ShortKeys {
  readonly shortKeys: readonly string[];
  readonly links?: readonly string[];
}

/** One look-up takes 3 µs, an ID that is read again some 20. */
const WORK_SHORT = 1 / 8;

/** `undefined` for IDs without short keys. */
export async function shortKeysOf(task: MintTask, minted: MintedIds): Promise<ShortKeys | undefined> {
  const { gateway, served, plan, nowMs } = task;
  const { entity, enabled } = plan;
  if (enabled.layout !== luuid || entity.reading?.hides === true) return undefined;
  const shortKeys = minted.texts().map((text) => {
    const words = luuid.parse(text);
    if (!words.ok) throw new Error("a minted LUUID is none");
    return shortKeyOf(entity, luuid.name, words.value) as string;
  });
  const pattern = primaryPattern(entity, LUUID_SHORT);
  if (pattern === undefined) return { shortKeys };
  const rest = restsOf(gateway);
  const input: DecideInput = { tables: served, ports: gateway, layoutName: undefined, nowMs };
  const links: string[] = [];
  for (const [at, key] of shortKeys.entries()) {
    const due = rest(WORK_SHORT);
    if (due !== undefined) await due;
    const path = pathWithId(pattern, key);
    const decided = decidePath(input, path);
    const outcome =
      decided.kind === "load"
        ? await decideLoading(gateway, (found) => decidePath({ ...input, found }, path))
        : decided;
    const region = typeof minted.regions === "string" ? minted.regions : minted.regions[at];
    if (outcome.kind !== "region" || outcome.decision.layout !== LUUID_SHORT) return { shortKeys };
    const { target, entity: owner } = outcome.decision;
    if (owner.name !== entity.name || target.region.name !== region) return { shortKeys };
    links.push(path);
  }
  return { shortKeys, links };
}
