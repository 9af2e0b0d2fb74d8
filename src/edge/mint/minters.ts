import {
  type DistributedIdKind,
  distributedId128Kind,
  distributedIdKind,
  everyLayout,
  type HotguidState,
  hotguid,
  hotguidIdentity,
  type IuidState,
  type Layout,
  type MintError,
  type MinterState,
  mintHotguid,
  mintIuid,
  mintLuuid,
  mintNext,
  mintShortComb,
  ok,
  PRIMARY_KEY_MAX,
  type RandomWords,
  type Result,
  skipHotguids,
  startDistributedId,
  startHotguid,
  startIuid,
  startMinter,
  stepDistributedId,
  toSql,
  uuidText,
  type Words,
} from "../../ids/index.ts";
import { fieldOf } from "../../ids/layout/fields.ts";
import { randomBits } from "../../ids/mint/mint.ts";
import type { Clock, Entropy, Minters, Sequences } from "../../ports.ts";
import type { SequenceError } from "../../problems/errors.ts";
import { type MintOrder, mintingOf } from "../../routing/mint/plan.ts";
import { mintNumbered } from "./numbered-minter.ts";

/**
 * Minters remembered at once, for the order of their IDs. Beyond, the one that was used least lately is forgotten: its next ID begins
 * with fresh random bits, and is then new by chance as the IDs of two isolates are, but no longer surely after its last one.
 */
export const MINTERS_MAX = 1024;

interface Remembered {
  readonly layout: Layout;
  readonly state: MinterState;
}

/** Minting for layouts whose random bits keep isolates apart: each minter of this isolate goes on from its last ID. */
export function randomMinter({ clock, entropy }: { readonly clock: Clock; readonly entropy: RandomWords }) {
  const remembered = new Map<string, Remembered>();

  const remember = (name: string, minter: Remembered): void => {
    // Set anew, it is the last of the map; the first is the one that was used least lately.
    remembered.delete(name);
    remembered.set(name, minter);
    if (remembered.size > MINTERS_MAX) remembered.delete(remembered.keys().next().value as string);
  };

  return ({ layout, keys }: MintOrder, count: number): Result<readonly Words[], MintError> => {
    const name = [layout.name, ...Object.values(keys)].join("/");
    const known = remembered.get(name);
    const started = known?.layout === layout ? ok(known.state) : startMinter(layout, keys);
    // The plan has a value for each key that its field holds.
    if (!started.ok) throw new Error(`no minter of ${layout.name}: ${started.error.reason}`);
    let state = started.value;
    const ids: Words[] = [];
    const nowMs = clock.nowMs();
    while (ids.length < count) {
      const minted = mintNext(state, nowMs, entropy);
      if (!minted.ok) return minted;
      state = minted.value.state;
      // Kept at each step: an ID that was made counts as given, even when a later one of the batch fails.
      remember(name, { layout, state });
      ids.push(minted.value.words);
    }
    return ok(ids);
  };
}

/** Lets time pass; in a Worker this is also what moves the clock. */
const pause = (durationMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, durationMs));

/**
 * A generator of Architect.Identities for the whole isolate. Requests share its state and not a queue, since one request must
 * not wait for the promise of another: a step is taken at once, and only who must wait does.
 */
export function distributedMinter(
  kind: DistributedIdKind,
  { clock, entropy }: { readonly clock: Clock; readonly entropy: RandomWords },
) {
  let state = startDistributedId;
  return async (count: number): Promise<Result<readonly Words[], MintError>> => {
    const ids: Words[] = [];
    while (ids.length < count) {
      const random = randomBits(kind.random.bits, entropy);
      const step = stepDistributedId(kind, state, clock.nowMs(), random);
      if (!step.ok) return step;
      if (step.value.kind === "wait") await pause(step.value.sleepMs);
      else {
        state = step.value.state;
        ids.push(step.value.words);
      }
    }
    return ok(ids);
  };
}

interface MinterPorts {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly sequences: Sequences;
}

type MintResult = Result<readonly Words[], MintError | SequenceError>;
type Minter = (order: MintOrder, count: number) => MintResult | Promise<MintResult>;

/**
 * The minters of one isolate. Isolates share no state: random bits keep the IDs of most layouts apart, and sequences those of
 * LUUIDs and of all layouts with too few random bits.
 */
export function isolateMinters(ports: MinterPorts): Minters {
  const own = ownMinters(ports);
  const byChance = randomMinter(ports);
  return {
    async mint(order, count) {
      switch (mintingOf(order.layout)) {
        case "own":
          return ownMinter(own, order)(order, count);
        case "chance":
          return byChance(order, count);
        case "numbers":
          return mintNumbered(ports, order, count);
        case "none":
          throw new Error(`a plan has an order for ${order.layout.name}, which is not minted`);
      }
    },
  };
}

const ownMinter = (own: ReadonlyMap<string, Minter>, { layout }: MintOrder): Minter => {
  const minter = own.get(layout.name);
  if (minter === undefined) throw new Error(`layout ${layout.name} has a minter of its own, and there is none`);
  return minter;
};

/** A key that the plan has seen to. */
const keyOf = ({ layout, keys }: MintOrder, name: string): number => {
  const value = keys[name];
  if (typeof value !== "number") throw new Error(`an order for ${layout.name} has no ${name}`);
  return value;
};

function ownMinters(ports: MinterPorts): ReadonlyMap<string, Minter> {
  const hotguids = hotguidMinter(ports);
  const luuids = luuidMinter(ports);
  const distributed = distributedMinter(distributedIdKind, ports);
  const distributed128 = distributedMinter(distributedId128Kind, ports);
  const shortCombs = shortCombMinter(ports);
  return new Map<string, Minter>([
    ["iuid", iuidMinter(ports)],
    ["hotguid", (order, count) => hotguids(keyOf(order, "shardKey"), count, order.isRedraw)],
    [
      "hotguid-sql",
      (order, count) => {
        const minted = hotguids(keyOf(order, "shardKey"), count, order.isRedraw);
        return minted.ok ? ok(minted.value.map(toSql)) : minted;
      },
    ],
    ["luuid", (order, count) => luuids(keyOf(order, "group"), count)],
    ["distributed-id", (_, count) => distributed(count)],
    ["distributed-id-128", (_, count) => distributed128(count)],
    ["short-prefix-comb", shortCombs],
    ["short-suffix-comb", shortCombs],
  ]);
}

/** Nothing is remembered: 106 random bits stand beside the counter of minutes. */
function shortCombMinter({ clock, entropy }: MinterPorts): Minter {
  return ({ layout }, count) => {
    const ids: Words[] = [];
    const nowMs = clock.nowMs();
    while (ids.length < count) {
      const minted = mintShortComb(layout, nowMs, entropy);
      if (!minted.ok) return minted;
      ids.push(minted.value);
    }
    return ok(ids);
  };
}

/** UUID layouts of ours with fixed bits: no HotGuid minted here can be read as one of them, whatever the table enables. */
const MARKED_UUIDS = everyLayout.filter(({ fixedBits, table }) => fixedBits > 0 && table.text === uuidText);

/** One state for each country and service: at most 65,536 of them, and order is promised within one only. */
function iuidMinter({ clock, entropy }: MinterPorts) {
  const states = new Map<number, IuidState>();
  return (order: MintOrder, count: number): MintResult => {
    const [country, service] = [keyOf(order, "country"), keyOf(order, "service")];
    const started = startIuid({ country, service });
    if (!started.ok) return started;
    const key = country * 256 + service;
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
    const identity = hotguidIdentity(entropy, MARKED_UUIDS);
    if (!identity.ok) throw new Error(`no HotGuid identity keeps clear of layout ${identity.error.layout}`);
    const started = startHotguid(identity.value, { shardKey: 0 });
    if (!started.ok) throw new Error("a random HotGuid identity does not fit its fields");
    return started.value;
  };

  return (shardKey: number, count: number, isRedraw = false): MintResult => {
    state ??= start();
    // How another layout reads a HotGuid rests on the last bits of its counter, too.
    if (isRedraw) state = skipHotguids(state, entropy.word() & 0xffff);
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
