import {
  type DistributedIdKind,
  distributedId128Kind,
  distributedIdKind,
  everyLayout,
  hotguidIdentity,
  type Layout,
  type MintError,
  type Minted,
  mintHotguid,
  mintIuid,
  mintLuuid,
  mintNext,
  mintShortComb,
  ok,
  type RandomWords,
  type Result,
  startDistributedId,
  startHotguid,
  startIuid,
  startMinter,
  stepDistributedId,
  toSql,
  uuidText,
  type Words,
} from "../ids/index.ts";
import type { MintKeys } from "./mint-keys.ts";

/** What offline minting is given beside the keys: nothing here is kept from one run to the next. */
export interface OfflineMint {
  readonly count: number;
  readonly nowMs: number;
  readonly entropy: RandomWords;
  /** IDs for which it is false are passed over, a bounded number of them. Absent: all are wanted. */
  readonly isWanted?: ((words: Words) => boolean) | undefined;
}

type Mints = (layout: Layout, keys: MintKeys, mint: OfflineMint) => Result<readonly Words[], MintError>;

/** Mints IDs, strictly rising where the layout has an order. `keys` are those that `keysOf` lets through. */
export const mintOffline: Mints = (layout, keys, mint) => (MINTERS[layout.name] ?? byLayout)(layout, keys, mint);

/** A key that was asked for, and fits a field of at most 53 bits. */
const number = (keys: MintKeys, name: string): number => {
  const value = keys[name];
  if (value === undefined) throw new Error(`no value for field ${name}`);
  return Number(value);
};

const iuids: Mints = (_, keys, { nowMs, entropy, ...request }) =>
  repeat(
    startIuid({ country: number(keys, "country"), service: number(keys, "service") }),
    (state) => mintIuid(state, nowMs, entropy),
    request,
  );

const hotguids: Mints = (_, keys, { nowMs, entropy, ...request }) =>
  repeat(
    startHotguid(identityOf(keys, entropy), { shardKey: number(keys, "shardKey") }),
    (state) => mintHotguid(state, nowMs, entropy),
    request,
  );

const hotguidsForSql: Mints = (layout, keys, mint) => {
  const { isWanted } = mint;
  const minted = hotguids(layout, keys, { ...mint, isWanted: isWanted && ((words) => isWanted(toSql(words))) });
  return minted.ok ? ok(minted.value.map(toSql)) : minted;
};

/** All layouts that are UUIDs, whether or not a table enables them: their fixed bits are kept clear of. */
const UUID_LAYOUTS = everyLayout.filter(({ table }) => table.text === uuidText);

/** Without one given, an identity with which no ID can be taken for any of them. */
const identityOf = (keys: MintKeys, entropy: RandomWords) => {
  if (keys["machine"] !== undefined) return { machine: number(keys, "machine"), process: number(keys, "process") };
  const identity = hotguidIdentity(entropy, UUID_LAYOUTS);
  if (!identity.ok) throw new Error(`no HotGuid identity keeps clear of layout ${identity.error.layout}`);
  return identity.value;
};

const luuids: Mints = (_, keys, { entropy, ...request }) =>
  repeat(
    ok(number(keys, "primaryKey")),
    (primaryKey) => {
      const words = mintLuuid({ group: number(keys, "group"), primaryKey }, entropy);
      return words.ok ? ok({ state: primaryKey + 1, words: words.value }) : words;
    },
    request,
  );

/** Where the library's generator would sleep, the clock of the run goes on instead. */
const distributedIds =
  (kind: DistributedIdKind): Mints =>
  (_, __, { nowMs, entropy, ...request }) =>
    repeat(
      ok({ state: startDistributedId, nowMs }),
      ({ state, nowMs }) => {
        const random = randomOf(kind, entropy);
        for (let clockMs = nowMs; ; ) {
          const step = stepDistributedId(kind, state, clockMs, random);
          if (!step.ok) return step;
          if (step.value.kind === "id") {
            return ok({ state: { state: step.value.state, nowMs: clockMs }, words: step.value.words });
          }
          clockMs += step.value.sleepMs;
        }
      },
      request,
    );

const WORD_BITS = 32;

/** As many random bits as the generator asks for. */
const randomOf = ({ random }: DistributedIdKind, entropy: RandomWords): bigint => {
  let bits = 0n;
  for (let word = 0; word < random.bits; word += WORD_BITS) bits = (bits << 32n) | BigInt(entropy.word() >>> 0);
  return BigInt.asUintN(random.bits, bits);
};

const shortCombs: Mints = (layout, _, { nowMs, entropy, ...request }) =>
  repeat(
    ok(undefined),
    (state) => {
      const words = mintShortComb(layout, nowMs, entropy);
      return words.ok ? ok({ state, words: words.value }) : words;
    },
    request,
  );

const byLayout: Mints = (layout, keys, { nowMs, entropy, ...request }) => {
  const start = startMinter(layout, keys);
  if (start.ok) return repeat(start, (state) => mintNext(state, nowMs, entropy), request);
  const { error } = start;
  if (error.reason === "key-out-of-range" || error.reason === "clock-behind") return { ok: false, error };
  throw new Error(`keys of layout ${layout.name} were let through: ${error.reason}`);
};

/** The layouts with rules of their own. */
const MINTERS: Readonly<Record<string, Mints>> = {
  iuid: iuids,
  hotguid: hotguids,
  "hotguid-sql": hotguidsForSql,
  luuid: luuids,
  "distributed-id": distributedIds(distributedIdKind),
  "distributed-id-128": distributedIds(distributedId128Kind),
  "short-prefix-comb": shortCombs,
  "short-suffix-comb": shortCombs,
};

/** The counter of a HotGuid leaves any bad stretch in fewer steps. */
const PASSED_OVER_MAX = 0x1_0000;

const repeat = <State>(
  start: Result<State, MintError>,
  step: (state: State) => Result<Minted<State>, MintError>,
  { count, isWanted }: Pick<OfflineMint, "count" | "isWanted">,
): Result<readonly Words[], MintError> => {
  if (!start.ok) return start;
  let state = start.value;
  let passedOver = 0;
  const ids: Words[] = [];
  while (ids.length < count) {
    const minted = step(state);
    if (!minted.ok) return minted;
    const { words } = minted.value;
    state = minted.value.state;
    if (passedOver > PASSED_OVER_MAX || isWanted === undefined || isWanted(words)) ids.push(words);
    else passedOver++;
  }
  return ok(ids);
};
