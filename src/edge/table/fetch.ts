import { bodyKey, formKey, type Pointer, type PointerCanary } from "../../formats/kv.ts";
import type { TableSource } from "../../formats/table-api.ts";
import { err, type Ok, ok, type Result } from "../../ids/result.ts";
import type { ServedCanary, ServedTable } from "../../ports/admin.ts";
import { type CompiledTable, selectorTest, servesEntity } from "../../routing/index.ts";
import { raceCacheAndKv, setLast } from "../platform.ts";
import type { ConfirmedPointer, TableCache } from "./edge-cache.ts";
import type { FormSeal, OpenedForm } from "./form-seal.ts";
import { KV_CACHE_SECONDS, type LoadFailure, readBody, verified, within } from "./kv.ts";
import { compileBuilt, compiler, restored, type VouchedTables } from "./restored.ts";

export interface LoadedTable {
  readonly table: CompiledTable;
  /** `undefined` for the bundled table. */
  readonly pointer: Pointer | undefined;
  /** The pointer's. */
  readonly digest: string | undefined;
  /** Where it came from, and the source that later responses name. */
  readonly source: TableSource;
  readonly laterSource: TableSource;
  readonly confirmedAtMs: number;
  readonly canary: LoadedCanary | undefined;
}

type LoadedCanary = Omit<ServedCanary, "label">;

const loadedCanary = ({ digest, audience }: PointerCanary, table: CompiledTable, stable: CompiledTable) => ({
  table,
  digest,
  audience,
  matches: selectorTest(stable, audience),
  ownsEntity: (entity: string) => servesEntity(audience, entity),
});

/** Whether a pointer is older than the loaded one: a location of KV may still serve it. */
export function isOlder(pointer: Pointer, held: Pointer | undefined): boolean {
  if (held === undefined) return false;
  const { revision, change } = held;
  return pointer.revision < revision || (pointer.revision === revision && pointer.change < change);
}

/** The `waybill-table` header of a table or a canary. */
const labelOf = (revision: number, source: TableSource, seconds: number, isCanary = false): string =>
  `rev=${revision}${isCanary ? "; canary" : ""}; source=${source}; age=${seconds}`;

const secondsSince = (confirmedAtMs: number, nowMs: number) => Math.max(0, Math.floor((nowMs - confirmedAtMs) / 1000));

/** When the label of a table changes next: its age is in whole seconds. */
export const nextLabelMs = (confirmedAtMs: number, nowMs: number): number =>
  confirmedAtMs + (secondsSince(confirmedAtMs, nowMs) + 1) * 1000;

type Unlabelled = Pick<ServedTable, "table" | "digest" | "confirmedAtMs"> & {
  readonly canary: LoadedCanary | undefined;
};

/** A table as responses name it: its source and age now; its canary too. */
export function withLabels(
  { table, digest, confirmedAtMs, canary }: Unlabelled,
  source: TableSource,
  nowMs: number,
): ServedTable {
  const seconds = secondsSince(confirmedAtMs, nowMs);
  return {
    table,
    digest,
    confirmedAtMs,
    source,
    label: labelOf(table.revision, source, seconds),
    canary: canary && { ...canary, label: labelOf(canary.table.revision, source, seconds, true) },
  };
}

export interface TableFetchOptions extends VouchedTables {
  readonly kv: KVNamespace;
  readonly cache: TableCache;
  readonly report: (failure: LoadFailure) => void;
  readonly deadlineMs: number;
  /** Lets a put outlive the request. */
  readonly waitUntil: (work: Promise<unknown>) => void;
  /** Asks the control plane for the form of a table that had to be checked here. */
  readonly requestForm?: ((digest: string) => Promise<void>) | undefined;
}

type Fetched = Pick<LoadedTable, "table" | "source">;

const formRefused = (digest: string, { version }: FormSeal, why: string) =>
  ({ reason: "form-refused", digest, version, why }) as const;

type Body = Readonly<{ bytes: ArrayBuffer; source: TableSource }>;

const from = (source: TableSource, bytes: Result<ArrayBuffer, LoadFailure>): Result<Body, LoadFailure> =>
  bytes.ok ? ok({ bytes: bytes.value, source }) : bytes;

/** Cached failures: of the table, its canary and those before. */
const REFUSED_MAX = 8;

type FoundForm = OpenedForm & { readonly bytes: ArrayBuffer; readonly source: "edge" | "kv" };

/** Reads what the control plane vouched for to this version; an error if it did not, or if that cannot be read. */
function formFetcher({ kv, cache, report, deadlineMs }: TableFetchOptions, seal: FormSeal) {
  return async (digest: string): Promise<Result<FoundForm, LoadFailure>> => {
    const key = formKey(digest, seal.version);
    const open = async (bytes: ArrayBuffer, source: FoundForm["source"]): Promise<Result<FoundForm, LoadFailure>> => {
      const opened = await seal.open(digest, bytes);
      return opened === undefined ? err(formRefused(digest, seal, SIGNATURE_FAULT)) : ok({ ...opened, bytes, source });
    };
    return raceCacheAndKv(
      cache.part(key, (bytes) => open(bytes, "edge")),
      async () => {
        const read = await within(() => kv.get(key, { type: "arrayBuffer", cacheTtl: KV_CACHE_SECONDS }), deadlineMs);
        if (!read.ok) return read;
        if (read.value === null) return err({ reason: "not-published" });
        const opened = await open(read.value, "kv");
        if (!opened.ok) report(opened.error);
        return opened;
      },
    );
  };
}

const SIGNATURE_FAULT = "no key of this deployment has signed it";

/** Loads the tables of a pointer. `undefined` if the table cannot be loaded; a canary that cannot be loaded is left out. */
export function tableFetcher(options: TableFetchOptions) {
  const { kv, cache, report, deadlineMs, waitUntil, seal, requestForm } = options;
  /** A body never changes, so a faulty one is not read again. */
  const refused = new Map<string, LoadFailure>();
  const fetchForm = seal && formFetcher(options, seal);

  const fetchBody = (digest: string): Promise<Result<Body, LoadFailure>> => {
    const near = cache.part(bodyKey(digest), async (found) => from("edge", await verified(found, digest)));
    return raceCacheAndKv(near, async () => from("kv", await readBody(kv, digest, deadlineMs)));
  };

  /** Restores the table, or compiles its text without a check. `undefined`: it must be checked. */
  const fetchVouched = async (digest: string, revision: number): Promise<Ok<Fetched> | undefined> => {
    const opened = await fetchForm?.(digest);
    if (seal === undefined || !opened?.ok) return undefined;
    const { form, source, bytes } = opened.value;
    if (source === "kv") waitUntil(cache.putPart(formKey(digest, seal.version), bytes));
    const table = form && (await restored(form, revision));
    if (table !== undefined) return ok({ table, source });
    if (form !== undefined) report(formRefused(digest, seal, "it does not fit"));
    const compiled = await fetchText(digest, revision, true);
    return compiled.ok ? compiled : undefined;
  };

  const fetchText = async (
    digest: string,
    revision: number,
    isChecked: boolean,
  ): Promise<Result<Fetched, LoadFailure>> => {
    const body = await fetchBody(digest);
    if (!body.ok) return body;
    const { bytes, source } = body.value;
    const { compileBody } = compiler.loaded ?? (await compiler.load());
    const table = compileBody(bytes, digest, revision, isChecked);
    if (!table.ok) {
      setLast(refused, digest, table.error, REFUSED_MAX);
      return table;
    }
    if (source === "kv") waitUntil(cache.putPart(bodyKey(digest), bytes));
    return ok({ table: table.value, source });
  };

  const fetchTable = async (
    { digest, revision }: Pick<Pointer, "digest" | "revision">,
    held: LoadedTable | undefined,
  ): Promise<Result<Fetched, LoadFailure>> => {
    const same = tableInMemory(digest, held);
    if (same !== undefined) return ok({ table: { ...same, revision }, source: "memory" });
    if (digest === options.built?.digest) {
      const built = await compileBuilt(options, revision);
      if (built.ok) return ok({ table: built.value, source: "memory" });
    }
    const known = refused.get(digest);
    if (known !== undefined) return err(known);
    if (seal === undefined) return fetchText(digest, revision, false);
    // Without a voucher that can be read the table is checked.
    const vouched = fetchVouched(digest, revision).catch(() => undefined);
    return raceCacheAndKv(vouched, async () => {
      const checked = await fetchText(digest, revision, false);
      // The form may be late; it is asked for only if there is none.
      if (checked.ok) waitUntil(vouched.then((found) => (found === undefined ? requestForm?.(digest) : undefined)));
      return checked;
    });
  };

  const fetchCanary = async (named: PointerCanary, stable: CompiledTable, held: LoadedTable | undefined) => {
    const { digest, revision } = named;
    if (held?.canary?.digest === digest && held.canary.table.revision === revision) {
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
    await options.fit?.(table, digest);
    if (canary !== undefined) await options.fit?.(canary.table, canary.digest);
    const source = isFromKv ? fetched.value.source : "edge";
    return { table, pointer, digest, source, laterSource: isFromKv ? "memory" : "edge", confirmedAtMs, canary };
  };
}

/** A promoted canary has the same text under a new number: it is compiled once. */
function tableInMemory(digest: string, held: LoadedTable | undefined): CompiledTable | undefined {
  if (held?.pointer?.digest === digest) return held.table;
  return held?.canary?.digest === digest ? held.canary.table : undefined;
}
