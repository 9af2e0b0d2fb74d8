import type { FieldValues } from "../layout/compile.ts";
import type { KeysOf, Layout, Words } from "../layout/layout.ts";
import { kindOf } from "../layout/words.ts";
import { hotguidSqlTable, hotguidTable, iuid, luuid } from "../layouts/builtin.ts";
import { distributedId128 } from "../layouts/distributed-id.ts";
import { uuidMax, uuidNil, uuidV1, uuidV2, uuidV3, uuidV4, uuidV5, uuidV6, uuidV7, uuidV8 } from "../layouts/uuid.ts";
import { err, ok, type Result } from "../result.ts";
import { toSql } from "../tools/sql-order.ts";
import { checkKeys, type MinterError, mintNext, startMinter } from "./by-layout.ts";
import {
  type DistributedIdKind,
  distributedId128Kind,
  distributedIdKind,
  startDistributedId,
  stepDistributedId,
} from "./distributed-id.ts";
import { hotguidIdentity, type IdentityError, mintHotguid, startHotguid } from "./hotguid.ts";
import { mintIuid, startIuid } from "./iuid.ts";
import { mintLuuid } from "./luuid.ts";
import { checkClock, type MintError, type MintResult, type RandomWords, randomBits } from "./mint.ts";
import { mintShortComb } from "./short-comb.ts";

/** A minter that keeps its state: one ID for each call. An error leaves the state as it was. */
export type WordMinter = (nowMs: number) => Result<Words, MintError>;

type Numbers = Readonly<Record<string, number>>;
type Starts = (keys: Numbers, entropy: RandomWords, layout: Layout) => Result<WordMinter, MinterError>;

type Step<State> = (state: State, nowMs: number) => MintResult<State>;

const keeping = <State>(start: Result<State, MintError>, step: Step<State>): Result<WordMinter, MintError> => {
  if (!start.ok) return start;
  let state = start.value;
  return ok((nowMs) => {
    const minted = step(state, nowMs);
    if (!minted.ok) return minted;
    state = minted.value.state;
    return ok(minted.value.words);
  });
};

const startsHotguid: Starts = ({ machine = 0, process = 0, shardKey = 0 }, entropy) =>
  keeping(startHotguid({ machine, process }, { shardKey }), (state, nowMs) => mintHotguid(state, nowMs, entropy));

/** Where the library's generator would sleep, the minter's clock advances instead. */
const startsDistributedId =
  (kind: DistributedIdKind): Starts =>
  (_, entropy) =>
    keeping(ok({ last: startDistributedId, clockMs: Number.NEGATIVE_INFINITY }), ({ last, clockMs: keptMs }, nowMs) => {
      const fault = checkClock(keptMs - nowMs);
      if (fault !== undefined) return err(fault);
      const random = randomBits(kind.random.bits, entropy);
      for (let clockMs = Math.max(nowMs, keptMs); ; ) {
        const step = stepDistributedId(kind, last, clockMs, random);
        if (!step.ok) return step;
        if (step.value.kind === "id")
          return ok({ state: { last: step.value.state, clockMs }, words: step.value.words });
        clockMs += step.value.sleepMs;
      }
    });

const startsShortComb: Starts = (_, entropy, layout) => ok((nowMs) => mintShortComb(layout, nowMs, entropy));

const STARTS: Readonly<Record<string, Starts>> = {
  iuid: ({ country = 0, service = 0 }, entropy) =>
    keeping(startIuid({ country, service }), (state, nowMs) => mintIuid(state, nowMs, entropy)),
  hotguid: startsHotguid,
  "hotguid-sql": (keys, entropy, layout) => {
    const minter = startsHotguid(keys, entropy, layout);
    if (!minter.ok) return minter;
    return ok((nowMs) => {
      const words = minter.value(nowMs);
      return words.ok ? ok(toSql(words.value)) : words;
    });
  },
  luuid: ({ group = 0, primaryKey: first = 0 }, entropy) =>
    keeping(ok(first), (primaryKey) => {
      const words = mintLuuid({ group, primaryKey }, entropy);
      return words.ok ? ok({ state: primaryKey + 1, words: words.value }) : words;
    }),
  "distributed-id": /* @__PURE__ */ startsDistributedId(distributedIdKind),
  "distributed-id-128": /* @__PURE__ */ startsDistributedId(distributedId128Kind),
  "short-prefix-comb": startsShortComb,
  "short-suffix-comb": startsShortComb,
};

/** Whether a HotGuid is to get machine and process. Given alone, one of them is a fault. */
export const lacksIdentity = ({ table }: Layout, { machine, process }: FieldValues): boolean =>
  (table === hotguidTable || table === hotguidSqlTable) && machine === undefined && process === undefined;

/** All fixed bits of UUIDs: COMBs have those of version 4. A HotGuid must not match them. */
export const MARKED_UUIDS: readonly Layout[] = [
  iuid,
  luuid,
  distributedId128,
  uuidNil,
  uuidMax,
  uuidV1,
  uuidV2,
  uuidV3,
  uuidV4,
  uuidV5,
  uuidV6,
  uuidV7,
  uuidV8,
];

type Started = Result<WordMinter, MinterError | IdentityError>;

/**
 * A minter of any layout that is mintable. `keys` has a value for every `key` and `node` field; an LUUID's `primaryKey`
 * is the first of a sequence. HotGuids get a random `machine` and `process` if neither is given.
 */
export const wordMinter = (layout: Layout, keys: FieldValues, entropy: RandomWords): Started => {
  const starts = STARTS[kindOf(layout)];
  if (layout.table.minter !== "own" || starts === undefined) {
    const start = startMinter(layout, keys);
    return start.ok ? keeping(start, (state, nowMs) => mintNext(state, nowMs, entropy)) : start;
  }
  let all = keys;
  if (lacksIdentity(layout, keys)) {
    const identity = hotguidIdentity(entropy, MARKED_UUIDS);
    if (!identity.ok) return identity;
    all = { ...keys, ...identity.value };
  }
  const fault = checkKeys(layout, all);
  if (fault !== undefined) return err(fault);
  return starts(Object.fromEntries(Object.entries(all).map(([name, value]) => [name, Number(value)])), entropy, layout);
};

/** A layout, and a value for every `key` and `node` field. */
export type MinterOptions<Of extends Layout = Layout> = { readonly layout: Of } & KeysOf<Of>;

/**
 * A minter of ID texts, with the platform's clock and `crypto.getRandomValues`: Node, Workers, browsers, React Native
 * with `react-native-get-random-values`. Unlike the rest of the library it throws: an `Error` with the `MinterError` or
 * `MintError` as its `cause`, for wrong keys at once, for a clock that is far behind when called. `nowMs`: another clock, in
 * whole Unix ms, as of a device that knows a server's time better than its own.
 */
export const createMinter = <Of extends Layout>(
  { layout, ...keys }: MinterOptions<Of>,
  nowMs: () => number = () => Date.now(),
): (() => string) => {
  const minter = orThrow(layout, wordMinter(layout, keys as FieldValues, systemEntropy()));
  return () => layout.format(orThrow(layout, minter(nowMs())));
};

export const orThrow = <Value>(layout: Layout, result: Result<Value, { readonly reason: string }>): Value => {
  if (result.ok) return result.value;
  const { reason, ...evidence } = result.error;
  throw new Error(`no ID of ${layout.name}: ${reason} ${JSON.stringify(evidence)}`, { cause: result.error });
};

const ENTROPY_WORDS = 256;

interface Platform {
  readonly crypto?: { readonly getRandomValues: (words: Uint32Array) => unknown };
}

const systemEntropy = (): RandomWords => {
  const words = new Uint32Array(ENTROPY_WORDS);
  let used = ENTROPY_WORDS;
  return {
    word() {
      if (used === ENTROPY_WORDS) {
        const { crypto } = globalThis as Platform;
        if (crypto === undefined) throw new Error("no crypto.getRandomValues; import react-native-get-random-values");
        crypto.getRandomValues(words);
        used = 0;
      }
      return words[used++] as number;
    },
  };
};
