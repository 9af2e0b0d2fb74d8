import type { Env } from "../../../edge/env.ts";
import { LateWork, lateWorkOf } from "../../../edge/machines/late.ts";
import { STATE_DEADLINE_MS } from "../../../edge/machines/rpc.ts";
import { callObject, systemClock } from "../../../edge/platform.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { Clock } from "../../../ports/platform.ts";
import type {
  BulkRow,
  ChangeOutcome,
  Claim,
  ClaimOutcome,
  DirectoryEntry,
  DirectoryFailure,
  DirectoryKey,
  DirectoryTruth,
  KeyChanges,
  KeyCounts,
  PutMany,
  Reservation,
  Rows,
} from "../port.ts";
import { DIRECTORY_SHARDS, PUT_ROWS_MAX, SCAN_ROWS_MAX, shardOf } from "../table/shard.ts";

declare module "../../../edge/env.ts" {
  interface Env {
    readonly DIRECTORY: DurableObjectNamespace<DirectoryRpc>;
  }
}

export { DIRECTORY_SHARDS, PUT_ROWS_MAX, SCAN_ROWS_MAX, shardOf };

/** One object more notes the changed keys of all directories. */
const CHANGES_SHARD = DIRECTORY_SHARDS;

/** A call takes a few milliseconds from nearby and some hundred from afar. */
const DEADLINE_MS = 4_000;

const RETRY_AFTER_SECONDS = 2;

/** The object of a key, and the number of objects by which it was chosen. */
export interface ShardOf {
  readonly shard: number;
  readonly shards: number;
  /** When the caller of a change no longer waits, Unix ms; callers of former versions do not say. */
  readonly notAfterMs?: number;
  /** The name of a call that reserves. The release of a reservation without an answer has it too; a client's own has none. */
  readonly attempt?: string;
}

/** The caller of a change does not wait any more, or its clock differs: nothing was changed. */
export const LATE = { state: "late" } as const;

/** A late answer that is heard is a failure: the caller waits, and cannot be told more. */
async function inTime<Outcome extends { readonly state: string }>(answer: Promise<Outcome | typeof LATE>) {
  const outcome = await answer;
  if (outcome.state === LATE.state) throw new Error("the object called a change late: clocks differ");
  return outcome as Outcome;
}

/** One of the Durable Objects, as those who call it know it. Each call is one transaction. */
export interface DirectoryRpc extends Rpc.DurableObjectBranded {
  get(of: ShardOf, at: DirectoryKey): Promise<DirectoryEntry | undefined>;
  reserve(of: ShardOf, claim: Reservation): Promise<ClaimOutcome | typeof LATE>;
  confirm(of: ShardOf, claim: Claim): Promise<ClaimOutcome>;
  release(of: ShardOf, claim: Claim): Promise<"done" | "taken">;
  register(of: ShardOf, claim: Omit<Reservation, "leaseMs">): Promise<ClaimOutcome>;
  move(of: ShardOf, at: DirectoryKey, region: string, version: number): Promise<ChangeOutcome | typeof LATE>;
  remove(of: ShardOf, at: DirectoryKey, version: number): Promise<ChangeOutcome | typeof LATE>;
  reportMissing(of: ShardOf, at: DirectoryKey, version: number): Promise<ChangeOutcome | typeof LATE>;
  learn(of: ShardOf, at: DirectoryKey, from: string, region: string): Promise<void>;
  orphans(of: ShardOf, directory: string, after: string, limit: number): Promise<Rows>;
  scan(of: ShardOf, directory: string, after: string, limit: number): Promise<Rows>;
  count(of: ShardOf, directory: string): Promise<KeyCounts>;
  /** `key`: empty for any number of keys. */
  noteChange(of: ShardOf, at: DirectoryKey): Promise<void>;
  changesSince(of: ShardOf, directory: string, sinceMs: number): Promise<KeyChanges>;
  /** `rows`: JSON of `BulkRow[]`, at most `PUT_ROWS_MAX`: one parameter of SQLite, whatever their number. */
  putMany(of: ShardOf, directory: string, rows: string, replace: boolean): Promise<PutMany>;
  tryMany(of: ShardOf, directory: string, rows: string, replace: boolean): Promise<PutMany>;
}

export const objectName = (shard: number): string => `keys-${shard}`;

/** Plain data crosses without the types of RPC. */
const stubOf = (namespace: DurableObjectNamespace<DirectoryRpc>, shard: number) =>
  namespace.get(namespace.idFromName(objectName(shard))) as unknown as DirectoryRpc;

const randomAttempt = (): string => crypto.randomUUID();

interface DirectoryTimes {
  /** For how long a client waits for a reservation. */
  readonly promptMs?: number;
  readonly late?: LateWork;
  readonly clock?: Clock;
  readonly newAttempt?: () => string;
}

/** The truth out of Durable Objects. A stub is broken after a failure, so each call makes its own. `report`: what failed, for the log. */
export function durableDirectory(
  namespace: DurableObjectNamespace<DirectoryRpc>,
  report: (error: unknown) => void = () => undefined,
  deadlineMs = DEADLINE_MS,
  times: DirectoryTimes = {},
): DirectoryTruth {
  const { promptMs = deadlineMs, late = new LateWork(), clock = systemClock, newAttempt = randomAttempt } = times;
  const shards = DIRECTORY_SHARDS;
  const callShard = async <Value>(
    directory: string,
    shard: number,
    send: (object: DirectoryRpc, of: ShardOf) => Promise<Value>,
    isIdempotent = true,
  ): Promise<Result<Value, DirectoryFailure>> => {
    try {
      const of = { shard, shards, ...(isIdempotent ? {} : { notAfterMs: clock.nowMs() + deadlineMs }) };
      return ok(await callObject(() => send(stubOf(namespace, shard), of), deadlineMs, isIdempotent));
    } catch (error) {
      report(error);
      return unavailable(directory);
    }
  };
  const call = <Value>(at: DirectoryKey, send: (object: DirectoryRpc, of: ShardOf) => Promise<Value>) =>
    callShard(at.directory, shardOf(at), send);
  /** A change by version that is made twice is refused the second time, although it was made. */
  const callOnce = <Value>(at: DirectoryKey, send: (object: DirectoryRpc, of: ShardOf) => Promise<Value>) =>
    callShard(at.directory, shardOf(at), send, false);
  /** Copies must know of a change before it is made: a copy that asks too early asks once more than it must. */
  const noted = async <Value>(at: DirectoryKey, change: () => Promise<Result<Value, DirectoryFailure>>) => {
    const note = await callShard(at.directory, CHANGES_SHARD, (object, of) => object.noteChange(of, at));
    return note.ok ? change() : note;
  };
  const taking = { namespace, deadlineMs: promptMs, late, call };
  return {
    get: (at) => call(at, (object, of) => object.get(of, at)),
    async reserve(claim) {
      try {
        return ok(await reserved(taking, claim, newAttempt()));
      } catch (error) {
        report(error);
        return unavailable(claim.directory);
      }
    },
    confirm: (claim) => call(claim, (object, of) => object.confirm(of, claim)),
    release: (claim) => call(claim, (object, of) => object.release(of, claim)),
    register: (claim) => call(claim, (object, of) => object.register(of, claim)),
    move: (at, region, version) =>
      noted(at, () => callOnce(at, (object, of) => inTime(object.move(of, at, region, version)))),
    remove: (at, version) => noted(at, () => callOnce(at, (object, of) => inTime(object.remove(of, at, version)))),
    reportMissing: (at, version) => call(at, (object, of) => inTime(object.reportMissing(of, at, version))),
    async learn(at, from, region) {
      const learned = await noted(at, () => call(at, (object, of) => object.learn(of, at, from, region)));
      return learned.ok ? ok(undefined) : learned;
    },
    orphans: (directory, shard, after, limit) =>
      callShard(directory, shard, (object, of) => object.orphans(of, directory, after, limit)),
    scan: (directory, shard, after, limit) =>
      callShard(directory, shard, (object, of) => object.scan(of, directory, after, limit)),
    count: (directory, shard) => callShard(directory, shard, (object, of) => object.count(of, directory)),
    changesSince: (directory, sinceMs) =>
      callShard(directory, CHANGES_SHARD, (object, of) => object.changesSince(of, directory, sinceMs)),
    tryMany: (directory, shard, rows, replace) =>
      callShard(directory, shard, (object, of) => object.tryMany(of, directory, JSON.stringify(rows), replace)),
    putMany(directory, shard, rows: readonly BulkRow[], replace) {
      const put = () =>
        callShard(directory, shard, (object, of) => object.putMany(of, directory, JSON.stringify(rows), replace));
      return replace ? noted({ directory, key: "" }, put) : put();
    },
  };
}

interface Reserving {
  readonly namespace: DurableObjectNamespace<DirectoryRpc>;
  readonly deadlineMs: number;
  readonly late: LateWork;
  readonly call: (
    claim: Claim,
    send: (object: DirectoryRpc, of: ShardOf) => ReturnType<DirectoryRpc["release"]>,
  ) => ReturnType<DirectoryTruth["release"]>;
}

/** A reservation that its caller did not hear of would hold off all others until its lease ends: it is released. */
function reserved(
  { namespace, deadlineMs, late, call }: Reserving,
  claim: Reservation,
  attempt: string,
): Promise<ClaimOutcome> {
  const of = { shard: shardOf(claim), shards: DIRECTORY_SHARDS, attempt };
  const { directory, key, owner, operation, leaseMs } = claim;
  return late.take({
    deadlineMs,
    leaseMs,
    send: (notAfterMs) => inTime<ClaimOutcome>(stubOf(namespace, of.shard).reserve({ ...of, notAfterMs }, claim)),
    hasTaken: ({ state }) => state === "done",
    async release() {
      const taken = { directory, key, owner, operation };
      return (await call(taken, (object, own) => object.release({ ...own, attempt }, taken))).ok;
    },
  });
}

const unavailable = (directory: string) =>
  err({ reason: "directory-unavailable", directory, retryAfterSeconds: RETRY_AFTER_SECONDS, why: "failed" } as const);

/** The truth of a deployment. An edge gives up sooner than a machine that has the objects. */
export const directoryOf = (env: Env, report: (error: unknown) => void): DirectoryTruth =>
  durableDirectory(env.DIRECTORY, report, DEADLINE_MS, {
    promptMs: env.STATE_1 === undefined ? DEADLINE_MS : STATE_DEADLINE_MS,
    late: lateWorkOf(env),
  });
