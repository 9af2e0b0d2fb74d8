import { err, ok, type Result } from "../ids/result.ts";
import type { CompiledTable } from "../routing/index.ts";
import type { TableSource } from "../table-ports.ts";
import { type LoadedCanary, type LoadedTable, loadedCanary } from "./held-table.ts";
import { raceCacheAndKv } from "./nearest.ts";
import type { ConfirmedPointer, TableCache } from "./table-cache.ts";
import {
  bodyKey,
  compileBody,
  type LoadFailure,
  type Pointer,
  type PointerCanary,
  readBody,
  verified,
} from "./table-store.ts";

export interface TableFetchOptions {
  readonly kv: KVNamespace;
  readonly cache: TableCache;
  readonly report: (failure: LoadFailure) => void;
  readonly deadlineMs: number;
  /** Keeps a put going that nobody waits for. */
  readonly waitUntil: (work: Promise<unknown>) => void;
}

interface Fetched {
  readonly table: CompiledTable;
  readonly source: TableSource;
}

interface Body {
  readonly bytes: ArrayBuffer;
  readonly source: TableSource;
}

const from = (source: TableSource, bytes: Result<ArrayBuffer, LoadFailure>): Result<Body, LoadFailure> =>
  bytes.ok ? ok({ bytes: bytes.value, source }) : bytes;

/** Faulty bodies remembered: of the table and of its canary, and of those before. */
const REFUSED_MAX = 8;

/**
 * Gets the tables that a pointer names: what is held already from memory, else from the edge's cache, else from KV; verified and
 * compiled. `undefined` where the table cannot be had; a canary that cannot is left out. `isFromKv`: whether the pointer is
 * KV's own word of now.
 */
export function tableFetcher({ kv, cache, report, deadlineMs, waitUntil }: TableFetchOptions) {
  /** A body never changes: one that was found faulty is not read and checked again. */
  const refused = new Map<string, LoadFailure>();

  const fetchBody = (digest: string): Promise<Result<Body, LoadFailure>> => {
    const near = cache.part(bodyKey(digest), async (found) => from("edge", await verified(found, digest)));
    return raceCacheAndKv(near, async () => from("kv", await readBody(kv, digest, deadlineMs)));
  };

  const fetchTable = async (
    { digest, revision }: Pick<Pointer, "digest" | "revision">,
    held: LoadedTable | undefined,
  ): Promise<Result<Fetched, LoadFailure>> => {
    const same = tableInMemory(digest, held);
    if (same !== undefined) return ok({ table: { ...same, revision }, source: "memory" });
    const known = refused.get(digest);
    if (known !== undefined) return err(known);
    const body = await fetchBody(digest);
    if (!body.ok) return body;
    const { bytes, source } = body.value;
    const table = compileBody(bytes, digest, revision);
    if (!table.ok) {
      const [oldest] = refused.size >= REFUSED_MAX ? refused.keys() : [];
      if (oldest !== undefined) refused.delete(oldest);
      refused.set(digest, table.error);
      return table;
    }
    if (source === "kv") waitUntil(cache.putPart(bodyKey(digest), bytes));
    return ok({ table: table.value, source });
  };

  const fetchCanary = async (
    named: PointerCanary,
    stable: CompiledTable,
    held: LoadedTable | undefined,
  ): Promise<LoadedCanary | undefined> => {
    const { digest, revision } = named;
    if (held?.canary?.named.digest === digest && held.canary.named.revision === revision) {
      return loadedCanary(named, held.canary.table, stable);
    }
    const fetched = await fetchTable(named, held);
    if (fetched.ok) return loadedCanary(named, fetched.value.table, stable);
    report(fetched.error);
    return undefined;
  };

  return async (
    seen: ConfirmedPointer,
    held: LoadedTable | undefined,
    isFromKv: boolean,
  ): Promise<LoadedTable | undefined> => {
    const { pointer, confirmedAtMs } = seen;
    const { digest, revision } = pointer;
    const isSame = held?.pointer?.digest === digest && held.pointer.revision === revision;
    const fetched = isSame ? ok({ table: held.table, source: held.source }) : await fetchTable(pointer, held);
    if (!fetched.ok) {
      report(fetched.error);
      return undefined;
    }
    const { table } = fetched.value;
    const canary = pointer.canary && (await fetchCanary(pointer.canary, table, held));
    const source = isFromKv ? fetched.value.source : "edge";
    return { table, pointer, source, laterSource: isFromKv ? "memory" : "edge", confirmedAtMs, canary };
  };
}

/** One text may come into force under several numbers, as a canary that is promoted does: it is compiled once. */
function tableInMemory(digest: string, held: LoadedTable | undefined): CompiledTable | undefined {
  if (held?.pointer?.digest === digest) return held.table;
  return held?.canary?.named.digest === digest ? held.canary.table : undefined;
}
