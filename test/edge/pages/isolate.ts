import type { EdgeCache } from "../../../src/edge/origins/moved-memory.ts";
import { IsolateTable } from "../../../src/edge/table/isolate-table.ts";
import { packHeaders } from "../../../src/features/packs/edge/index.ts";
import { kvPacks, type PackFailure } from "../../../src/features/packs/edge/packs.ts";
import type { DeclaredPack } from "../../../src/features/packs/table/schema.ts";
import { type CompiledTable, resolveAny } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { faultyKv, putTable, settled } from "../faulty-kv.ts";
import { RANGES, storePack } from "./files.ts";

export const INTERVAL_MS = 30_000;

/** Parcels of the shard keys 10, on the first page, and 5500, on the second. */
export const EU = "6347eb00-bbaa-01cc-0201-02030a000000";
export const US = "6347eb00-bbaa-01cc-0201-02037c150000";

/** The fixture with a pack before its routes. */
export const packedTable = (shards: DeclaredPack) => ({
  ...DECLARED_TABLE,
  packs: { shards },
  routes: [{ when: { layout: "hotguid" }, pack: "shards" }, ...DECLARED_TABLE.routes],
});

/** The table of the build sends all elsewhere, so that nobody can take it for the published one. */
const BUNDLED = { ...DECLARED_TABLE, routes: [{ when: {}, region: "ap" }] };

/** Isolates of one location on one clock, in front of one KV that holds revision 5 with a pack of two pages. */
export async function withPacks(kv: KVNamespace) {
  const older = { revision: 4, digest: await putTable(kv, 4, JSON.stringify(BUNDLED)) };
  const pack = await storePack(kv, RANGES);
  await putTable(kv, 5, JSON.stringify(packedTable(pack)));
  const store = faultyKv(kv, older, JSON.stringify(BUNDLED));
  const time = { nowMs: 1_000_000 };
  const cache = await caches.open(crypto.randomUUID());

  /** `edge`: the cache of the location, if not the real one. `chunkDeadlineMs`: short, where KV is to hang. */
  const isolate = ({ namespace = "one", isShared = true, edge = cache as EdgeCache, chunkDeadlineMs = 2_000 } = {}) => {
    const background: Promise<unknown>[] = [];
    const failures: PackFailure[] = [];
    const shared = {
      kv: store.kv,
      cache: isShared ? edge : undefined,
      namespace,
      clock: { nowMs: () => time.nowMs },
      entropy: { word: () => 2 ** 31 },
      waitUntil: (work: Promise<unknown>) => background.push(work),
    };
    const report = (failure: PackFailure) => failures.push(failure);
    const packs = kvPacks({ ...shared, retryMsMax: INTERVAL_MS, chunkDeadlineMs, report });
    const options = { ...shared, bundled: BUNDLED, refreshMs: INTERVAL_MS, report: () => undefined };
    const tables = new IsolateTable({ ...options, openers: [packHeaders(packs)] });
    const loaded = async () => {
      const served = await tables.load();
      if (!served.ok) throw new Error(served.error.why);
      return served.value;
    };
    const peek = () => tables.peek((work) => background.push(work));
    /** Work that can end has ended; work that hangs stays. */
    const settle = () => settled(background);
    /** Where an ID goes, with the pages that it needs, or in how many seconds it may go there. */
    const targetOf = async (table: CompiledTable, id: string): Promise<string | number> => {
      for (;;) {
        const decided = resolveAny(table, id, Date.UTC(2026, 0, 1));
        if (decided.ok) return decided.value.target.region.name;
        if (decided.error.reason !== "table-unavailable") return decided.error.reason;
        const page = await packs.load(table, decided.error.missing);
        if (!page.ok) return "retryAfterMs" in page.error ? page.error.retryAfterMs / 1000 : page.error.why;
      }
    };
    return { loaded, peek, settle, targetOf, failures };
  };
  return { store, time, cache, isolate, pack };
}
