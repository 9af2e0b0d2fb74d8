import type { BulkRow, DirectoryTruth, PutMany } from "../../../src/features/directory/port.ts";
import { PUT_ROWS_MAX, shardOf } from "../../../src/features/directory/table/shard.ts";
import { err, ok } from "../../../src/ids/result.ts";

/** The truth of one directory in a map, as its objects behave. */
export const memoryTruth = (directory = "slug") => {
  const entries = new Map<string, { region: string; owner: string | undefined }>();
  const calls: number[] = [];
  const shards = new Map<string, number>();
  const shardOfKey = (key: string): number => {
    const shard = shards.get(key) ?? shardOf({ directory, key });
    shards.set(key, shard);
    return shard;
  };
  const state = { failures: 0, isFull: false };
  const fail = () => {
    state.failures--;
    return err({ reason: "directory-unavailable", directory, retryAfterSeconds: 2, why: "failed" } as const);
  };
  const truth: Pick<DirectoryTruth, "putMany" | "tryMany" | "scan"> = {
    async putMany(_, shard, rows, replace) {
      calls.push(rows.length);
      if (rows.length > PUT_ROWS_MAX) throw new RangeError("too many rows");
      if (state.failures > 0) return fail();
      const sums = { added: 0, unchanged: 0, replaced: 0, conflicts: 0 };
      const conflictKeys: string[] = [];
      const conflictRows: number[] = [];
      for (const [at, [key, region, owner]] of rows.entries()) {
        if (shardOf({ directory, key }) !== shard) throw new Error(`${key} is not of shard ${shard}`);
        const name = putOne([key, region, owner], replace);
        sums[name]++;
        if (name !== "conflicts" || conflictKeys.length === 20) continue;
        conflictKeys.push(key);
        conflictRows.push(at);
      }
      return ok<PutMany>({ ...sums, conflictKeys, conflictRows, isFull: state.isFull });
    },
    async tryMany(...args) {
      const before = args[2].map(([key]) => [key, entries.get(key)] as const);
      const put = await truth.putMany(...args);
      for (const [key, entry] of before) {
        if (entry === undefined) entries.delete(key);
        else entries.set(key, entry);
      }
      return put;
    },
    async scan(_, shard, after, limit) {
      if (state.failures > 0) return fail();
      const keys = [...entries.keys()].filter((key) => shardOfKey(key) === shard && key > after).sort();
      const page = keys.slice(0, limit);
      const rows = page.map((key) => ({
        key,
        region: entries.get(key)?.region ?? "",
        owner: entries.get(key)?.owner,
        state: "confirmed" as const,
        version: 1,
        changedAtMs: 0,
        leaseUntilMs: undefined,
        missingSinceMs: undefined,
      }));
      return ok({ rows, next: page.length < limit ? undefined : page.at(-1) });
    },
  };
  const putOne = ([key, region, owner]: BulkRow, replace: boolean) => {
    const before = entries.get(key);
    const differs = before !== undefined && (before.region !== region || (owner !== null && before.owner !== owner));
    if (before !== undefined && !differs) return "unchanged";
    if (differs && !replace) return "conflicts";
    entries.set(key, { region, owner: owner ?? before?.owner });
    return differs ? "replaced" : "added";
  };
  return { truth, entries, calls, state };
};
