import {
  builtinLayouts,
  err,
  groupOfClass,
  hotguidIdentity,
  iuid,
  type MintError,
  type Minted,
  mintHotguid,
  mintIuid,
  mintLuuid,
  ok,
  type RandomWords,
  type Result,
  startHotguid,
  startIuid,
  toSql,
  type Words,
} from "../ids/index.ts";
import type { MintOrder, MintPlanError, MintWish } from "../routing/mint-plan.ts";

/** What offline minting is given beside the order: nothing here is kept from one run to the next. */
export interface OfflineMint {
  readonly count: number;
  readonly nowMs: number;
  readonly entropy: RandomWords;
  /** For `luuid`: the first primary key, in place of the sequence that a gateway has. */
  readonly primaryKey: number;
}

/** Mints all IDs of an order, strictly rising. */
export const mintOffline = (order: MintOrder, mint: OfflineMint): Result<readonly Words[], MintError> => {
  const { nowMs, entropy } = mint;
  switch (order.layout) {
    case "iuid":
      return repeat(startIuid(order), (state) => mintIuid(state, nowMs, entropy), mint.count);
    case "hotguid":
      return hotguids(order.shardKey, mint);
    case "hotguid-sql": {
      const minted = hotguids(order.shardKey, mint);
      return minted.ok ? ok(minted.value.map(toSql)) : minted;
    }
    case "luuid":
      return repeat(ok(mint.primaryKey), (primaryKey) => luuidStep(order.group, primaryKey, entropy), mint.count);
  }
};

const hotguids = (shardKey: number, { nowMs, entropy, count }: OfflineMint): Result<readonly Words[], MintError> => {
  const identity = hotguidIdentity(entropy, [...builtinLayouts.values()]);
  if (!identity.ok) throw new Error(`no HotGuid identity keeps clear of layout ${identity.error.layout}`);
  return repeat(startHotguid(identity.value, { shardKey }), (state) => mintHotguid(state, nowMs, entropy), count);
};

const luuidStep = (group: number, primaryKey: number, entropy: RandomWords): Result<Minted<number>, MintError> => {
  const words = mintLuuid({ group, primaryKey }, entropy);
  return words.ok ? ok({ state: primaryKey + 1, words: words.value }) : words;
};

const repeat = <State>(
  start: Result<State, MintError>,
  step: (state: State) => Result<Minted<State>, MintError>,
  count: number,
): Result<readonly Words[], MintError> => {
  if (!start.ok) return start;
  let state = start.value;
  const ids: Words[] = [];
  while (ids.length < count) {
    const minted = step(state);
    if (!minted.ok) return minted;
    state = minted.value.state;
    ids.push(minted.value.words);
  }
  return ok(ids);
};

/** The order that a wish spells out by itself. Without a table nothing has a name but the built-in layouts. */
export const orderWithoutTable = (wish: MintWish): Result<MintOrder, MintPlanError> => {
  const { layout, country, service, shardKey, group } = wish;
  const malformed = (detail: string): Result<never, MintPlanError> => err({ reason: "malformed-request", detail });
  if (wish.entity !== undefined) return malformed("--entity needs a routing table: give one with --table.");
  if (wish.slices !== undefined) return malformed("--slice needs a routing table: give one with --table.");
  const given = { country, service, "shard-key": shardKey, group };
  const needed = layout === undefined ? undefined : NEEDED_KEYS.get(layout);
  if (layout === undefined) return malformed("Without a routing table, --layout is needed.");
  if (needed === undefined) {
    return err({ reason: "unknown-name", what: "layout", name: layout, known: [...NEEDED_KEYS.keys()] });
  }
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined && needed.includes(key)) return malformed(`An ID of layout ${layout} needs --${key}.`);
    if (value !== undefined && !needed.includes(key)) return malformed(`--${key} has no place in layout ${layout}.`);
  }
  if (layout === "iuid") return iuidOrder(country as string, service as number);
  if (layout === "luuid") return ok({ layout, group: group as number });
  return ok({ layout: layout as "hotguid" | "hotguid-sql", shardKey: shardKey as number });
};

const NEEDED_KEYS: ReadonlyMap<string, readonly string[]> = new Map([
  ["iuid", ["country", "service"]],
  ["hotguid", ["shard-key"]],
  ["hotguid-sql", ["shard-key"]],
  ["luuid", ["group"]],
]);

const iuidOrder = (country: string, service: number): Result<MintOrder, MintPlanError> => {
  if (/^[0-9]{1,16}$/.test(country)) return ok({ layout: iuid.name as "iuid", country: Number(country), service });
  const detail = `Without a routing table, --country is a number: "${country}" has none.`;
  return err({ reason: "malformed-request", detail });
};

/** The group that the options name, by number or by class. */
export const groupOption = (
  group: number | undefined,
  className: string | undefined,
): Result<number | undefined, MintPlanError> => {
  if (className === undefined) return ok(group);
  if (group === undefined) return ok(groupOfClass(className));
  return err({ reason: "malformed-request", detail: "Give --group or --class, not both." });
};
