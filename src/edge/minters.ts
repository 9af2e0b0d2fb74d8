import { fieldOf } from "../ids/builtin.ts";
import {
  builtinLayouts,
  err,
  type HotguidState,
  hotguid,
  hotguidIdentity,
  type IuidState,
  type MintError,
  mintHotguid,
  mintIuid,
  mintLuuid,
  ok,
  PRIMARY_KEY_MAX,
  type Result,
  startHotguid,
  startIuid,
  toSql,
  type Words,
} from "../ids/index.ts";
import type { Clock, Entropy, Minters, Sequences } from "../ports.ts";
import type { SequenceError } from "../problems/port-errors.ts";
import type { MintOrder } from "../routing/mint-plan.ts";

interface MinterPorts {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly sequences: Sequences;
}

type MintResult = Result<readonly Words[], MintError | SequenceError>;

/** The minters of one isolate. Isolates share no state: random bits keep iUIDs and HotGuids apart, sequences LUUIDs. */
export function isolateMinters(ports: MinterPorts): Minters {
  const iuids = iuidMinter(ports);
  const hotguids = hotguidMinter(ports);
  const luuids = luuidMinter(ports);
  return {
    async mint(order, count) {
      switch (order.layout) {
        case "iuid":
          return iuids(order, count);
        case "hotguid":
          return hotguids(order.shardKey, count);
        case "hotguid-sql": {
          const minted = hotguids(order.shardKey, count);
          return minted.ok ? ok(minted.value.map(toSql)) : minted;
        }
        case "luuid":
          return luuids(order.group, count);
      }
    },
  };
}

/** One state for each country and service: at most 65,536 of them, and order is promised within one only. */
function iuidMinter({ clock, entropy }: MinterPorts) {
  const states = new Map<number, IuidState>();
  return (order: Extract<MintOrder, { layout: "iuid" }>, count: number): MintResult => {
    const started = startIuid(order);
    if (!started.ok) return started;
    const key = order.country * 256 + order.service;
    let state = states.get(key) ?? started.value;
    const ids: Words[] = [];
    const nowMs = clock.nowMs();
    while (ids.length < count) {
      const minted = mintIuid(state, nowMs, entropy);
      if (!minted.ok) return minted;
      state = minted.value.state;
      // Kept at each step: an ID that was made counts as given, even when a later one of the batch fails.
      states.set(key, state);
      ids.push(minted.value.words);
    }
    return ok(ids);
  };
}

/** One state for all shard keys: they stand behind the counter, so memory stays flat however many keys are asked for. */
function hotguidMinter({ clock, entropy }: MinterPorts) {
  const shardKeyField = fieldOf(hotguid, "shardKey");
  let state: HotguidState | undefined;

  const start = (): HotguidState => {
    const identity = hotguidIdentity(entropy, [...builtinLayouts.values()]);
    if (!identity.ok) throw new Error(`no HotGuid identity keeps clear of layout ${identity.error.layout}`);
    const started = startHotguid(identity.value, { shardKey: 0 });
    if (!started.ok) throw new Error("a drawn HotGuid identity does not fit its fields");
    return started.value;
  };

  return (shardKey: number, count: number): MintResult => {
    const max = 2 ** shardKeyField.bits - 1;
    if (!Number.isInteger(shardKey) || shardKey < 0 || shardKey > max) {
      return err({ reason: "key-out-of-range", field: "shardKey", value: String(shardKey), max: String(max) });
    }
    state ??= start();
    const ids: Words[] = [];
    const nowMs = clock.nowMs();
    while (ids.length < count) {
      const minted = mintHotguid(state, nowMs, entropy);
      if (!minted.ok) return minted;
      state = minted.value.state;
      const words = minted.value.words.slice();
      shardKeyField.write(words, shardKey);
      ids.push(words);
    }
    return ok(ids);
  };
}

/** The primary key comes from the group's sequence, so the order holds over all isolates' blocks of one caller. */
function luuidMinter({ entropy, sequences }: MinterPorts) {
  return async (group: number, count: number): Promise<MintResult> => {
    const numbers = await sequences.take(`luuid-${group}`, count, PRIMARY_KEY_MAX);
    if (!numbers.ok) return numbers;
    const ids: Words[] = [];
    for (const primaryKey of numbers.value) {
      const minted = mintLuuid({ group, primaryKey }, entropy);
      if (!minted.ok) return minted;
      ids.push(minted.value);
    }
    return ok(ids);
  };
}
