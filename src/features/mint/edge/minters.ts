import { setLast, systemPause } from "../../../edge/platform.ts";
import {
  type DistributedIdKind,
  distributedId128Kind,
  distributedIdKind,
  err,
  type HotguidState,
  hotguidIdentity,
  hotguidSql,
  type IuidState,
  kindOf,
  type Layout,
  type MintError,
  type MinterState,
  mintLuuid,
  mintNext,
  mintShortComb,
  ok,
  PRIMARY_KEY_MAX,
  type Result,
  skipHotguids,
  startDistributedId,
  startHotguid,
  startIuid,
  startMinter,
  stepDistributedId,
  toSql,
  type Words,
} from "../../../ids/index.ts";
import { MARKED_UUIDS } from "../../../ids/mint/create-minter.ts";
import { mintHotguids, withShardKey } from "../../../ids/mint/hotguid.ts";
import { mintIuids } from "../../../ids/mint/iuid.ts";
import { randomBits, rowsOf, type WordRows, wordsIn } from "../../../ids/mint/mint.ts";
import type { KeyRange } from "../../../ids/tools/key-range.ts";
import type { Minters } from "../port.ts";
import type { SequenceError } from "../problems.ts";
import { type MintOrder, mintingOf } from "../table/plan.ts";
import { type MinterPorts, mintNumbered, sampleNumbered } from "./numbered-minter.ts";

/**
 * Minters remembered at once, for the order of their IDs. Beyond, the one that was used least lately is forgotten: its next ID begins
 * with fresh random bits, and is then new by chance as the IDs of two isolates are, but no longer surely after its last one.
 */
export const MINTERS_MAX = 1024;

interface Remembered {
  readonly layout: Layout;
  readonly state: MinterState;
}

type MintResult = Result<WordRows, MintError | SequenceError>;
type Minter = (order: MintOrder, count: number) => MintResult | Promise<MintResult>;

/** So many IDs, or the first error. */
function times(count: number, next: (index: number) => Result<Words, MintError>): MintResult {
  const ids: Words[] = [];
  while (ids.length < count) {
    const words = next(ids.length);
    if (!words.ok) return words;
    ids.push(words.value);
  }
  return ok(rowsOf(ids));
}

/** Minting for layouts whose random bits keep isolates apart: each minter of this isolate goes on from its last ID. */
function randomMinter({ clock, entropy }: MinterPorts): Minter {
  const remembered = new Map<string, Remembered>();

  return ({ layout, keys }, count) => {
    const name = [layout.name, ...Object.values(keys)].join("/");
    const known = remembered.get(name);
    const started = known?.layout === layout ? ok(known.state) : startMinter(layout, keys);
    // The plan has a value for each key that its field holds.
    if (!started.ok) throw new Error(`no minter of ${layout.name}: ${started.error.reason}`);
    const nowMs = clock.nowMs();
    let state = started.value;
    const minted = times(count, () => {
      const next = mintNext(state, nowMs, entropy);
      if (!next.ok) return next;
      state = next.value.state;
      return ok(next.value.words);
    });
    // An ID that was made counts as given, even when a later one fails.
    setLast(remembered, name, { layout, state }, MINTERS_MAX);
    return minted;
  };
}

/**
 * A generator of Architect.Identities for the whole isolate. Requests share its state and not a queue, since one request must
 * not wait for the promise of another: a step is taken at once, and only who must wait does.
 */
function distributedMinter(kind: DistributedIdKind, { clock, entropy, pause = systemPause }: MinterPorts): Minter {
  let state = startDistributedId;
  return async (_, count) => {
    const ids: Words[] = [];
    while (ids.length < count) {
      const random = randomBits(kind.random.bits, entropy);
      const step = stepDistributedId(kind, state, clock.nowMs(), random);
      if (!step.ok) return step;
      // In a Worker this is also what moves the clock.
      if (step.value.kind === "wait") await pause(step.value.sleepMs);
      else {
        state = step.value.state;
        ids.push(step.value.words);
      }
    }
    return ok(rowsOf(ids));
  };
}

/**
 * The minters of one isolate. Isolates share no state: random bits keep the IDs of most layouts apart, and sequences those of
 * LUUIDs and of all layouts with too few random bits.
 */
export function isolateMinters(ports: MinterPorts): Minters {
  const own = ownMinters(ports);
  const byChance = randomMinter(ports);
  return {
    async mint(order, count) {
      const kind = kindOf(order.layout);
      switch (mintingOf(order.layout)) {
        case "own": {
          const minter = own[kind];
          if (minter === undefined) throw new Error(`layout ${kind} has a minter of its own, and there is none`);
          return minter(order, count);
        }
        case "chance":
          return byChance(order, count);
        case "numbers":
          return mintNumbered(ports, order, count);
        case "none":
          throw new Error(`a plan has an order for ${kind}, which is not minted`);
      }
    },
    async sample(order, count) {
      if (mintingOf(order.layout) === "numbers") return sampleNumbered(ports, order, count);
      if (order.layout.name !== "luuid") return ok(undefined);
      const group = keyOf(order, "group");
      const bounds = luuidBounds(ports);
      if (bounds === undefined) return err(rangeInvalid(group));
      const next = await ports.sequences.peek(luuidSequence(group), bounds);
      return next.ok ? mintLuuid({ group, primaryKey: next.value }, ports.entropy) : next;
    },
  };
}

/** A key that the plan has seen to. */
const keyOf = ({ layout, keys }: MintOrder, name: string): number => {
  const value = keys[name];
  if (typeof value !== "number") throw new Error(`an order for ${layout.name} has no ${name}`);
  return value;
};

function ownMinters(ports: MinterPorts): Readonly<Record<string, Minter>> {
  const { clock, entropy, sequences } = ports;
  const hotguids = hotguidMinter(ports);
  /** Nothing is remembered: 106 random bits stand beside the counter of minutes. */
  const shortCombs: Minter = ({ layout }, count) => {
    const nowMs = clock.nowMs();
    return times(count, () => mintShortComb(layout, nowMs, entropy));
  };
  return {
    iuid: iuidMinter(ports),
    hotguid: hotguids,
    "hotguid-sql"(order, count) {
      const minted = hotguids(order, count);
      return minted.ok ? ok(rowsOf(wordsIn(minted.value, hotguidSql.fixed.value.length).map(toSql))) : minted;
    },
    /** The primary key comes from the group's sequence, so the order holds over all isolates' blocks of one caller. */
    async luuid(order, count) {
      const group = keyOf(order, "group");
      const bounds = luuidBounds(ports);
      if (bounds === undefined) return err(rangeInvalid(group));
      const numbers = await sequences.take(luuidSequence(group), count, bounds);
      if (!numbers.ok) return numbers;
      return times(count, (index) => mintLuuid({ group, primaryKey: numbers.value[index] as number }, entropy));
    },
    "distributed-id": distributedMinter(distributedIdKind, ports),
    "distributed-id-128": distributedMinter(distributedId128Kind, ports),
    "short-prefix-comb": shortCombs,
    "short-suffix-comb": shortCombs,
  };
}

/** Without a valid range another gateway may give the same keys. */
const luuidBounds = ({ primaryKeys = WHOLE_RANGE }: MinterPorts) =>
  primaryKeys === "faulty"
    ? undefined
    : { first: primaryKeys.first, max: primaryKeys.last, interleaved: primaryKeys.interleaved };

const rangeInvalid = (group: number) =>
  ({ reason: "sequence-unavailable", name: luuidSequence(group), isRangeInvalid: true }) as const;

const WHOLE_RANGE: KeyRange = { first: 1, last: PRIMARY_KEY_MAX };

const luuidSequence = (group: number): string => `luuid-${group}`;

/** One state for each country and service: at most 65,536 of them, and order is promised within one only. */
function iuidMinter({ clock, entropy }: MinterPorts): Minter {
  const states = new Map<number, IuidState>();
  return (order, count) => {
    const country = keyOf(order, "country");
    const service = keyOf(order, "service");
    const started = startIuid({ country, service });
    if (!started.ok) return started;
    const key = country * 256 + service;
    const nowMs = clock.nowMs();
    const { state, rows, error } = mintIuids(states.get(key) ?? started.value, count, nowMs, entropy);
    states.set(key, state);
    return error === undefined ? ok(rows) : err(error);
  };
}

/** One state for all shard keys: they stand behind the counter, so memory stays flat however many keys are asked for. */
function hotguidMinter({ clock, entropy }: MinterPorts) {
  let last: HotguidState | undefined;

  const start = (): HotguidState => {
    const identity = hotguidIdentity(entropy, MARKED_UUIDS);
    if (!identity.ok) throw new Error(`no HotGuid identity keeps clear of layout ${identity.error.layout}`);
    const started = startHotguid(identity.value, { shardKey: 0 });
    if (!started.ok) throw new Error("a random HotGuid identity does not fit its fields");
    return started.value;
  };

  return (order: MintOrder, count: number): MintResult => {
    const shardKey = keyOf(order, "shardKey");
    let from = withShardKey(last ?? start(), shardKey);
    // How another layout reads a HotGuid rests on the last bits of its counter, too.
    if (order.isRedraw) from = skipHotguids(from, entropy.word() & 0xffff);
    const { state, rows, error } = mintHotguids(from, count, clock.nowMs(), entropy);
    last = state;
    return error === undefined ? ok(rows) : err(error);
  };
}
