import type { FormSeal } from "../edge/table/form-seal.ts";
import { deleteKey, KV_CACHE_SECONDS, tableText, within } from "../edge/table/kv.ts";
import { FORM_BYTES_MAX, formKey } from "../formats/kv.ts";
import type { Clock } from "../ports/gateway.ts";
import { storeTable } from "../routing/compile/store.ts";
import type { DeclaredTable } from "../routing/schema/table.ts";
import type { RevisionLog } from "./revisions.ts";
import type { WrittenForm } from "./storage.ts";

/** Isolates may still look for the form of a table or a version that was in force: of a Worker that is rolled back. */
const RETAINED_MS = 86_400_000;

/** In KV at most, beside those in force. Beyond, the oldest are deleted at once. */
const RETAINED_MAX = 64;

/** Isolates that miss a form ask all at once; during this time KV may show that there is none. */
const ASKED_MS = KV_CACHE_SECONDS * 2000;

const DEADLINE_MS = 10_000;

export interface StoredFormsOptions {
  readonly log: RevisionLog;
  readonly kv: KVNamespace;
  readonly clock: Clock;
  readonly seal: FormSeal;
  /** Receives why a form could not be written: isolates check and compile the table themselves. */
  readonly report: (why: string) => void;
}

export type StoredForms = ReturnType<typeof storedForms>;

/** Writes to KV, for each table in force, that it was checked and what it compiles to. Sweeps those of former ones. */
export function storedForms({ log, kv, clock, seal, report }: StoredFormsOptions) {
  const running = new Map<string, Promise<void>>();
  const askedAtMs = new Map<string, number>();
  const keyOf = (digest: string): string => formKey(digest, seal.version);

  const inForce = (): readonly string[] => {
    const { digest } = log.current();
    return [...new Set([digest, log.canary()?.digest ?? digest])];
  };

  /** Never throws, and never holds up the table itself for longer than a write takes. */
  const write = (digest: string): Promise<void> => {
    const work = running.get(digest) ?? attempt(digest).finally(() => running.delete(digest));
    running.set(digest, work);
    return work;
  };

  const attempt = async (digest: string): Promise<void> => {
    try {
      const bytes = log.body(digest);
      // The signature says that these bytes passed this version's check.
      if (bytes === undefined || !log.isSound(digest, bytes)) return;
      const text = tableText(bytes);
      if (!text.ok) return;
      const sealed = await seal.seal(digest, storeTable(JSON.parse(text.value) as DeclaredTable));
      const value = sealed.byteLength > FORM_BYTES_MAX ? await seal.seal(digest, undefined) : sealed;
      const key = keyOf(digest);
      const put = await within(() => kv.put(key, value), DEADLINE_MS);
      if (!put.ok) return report("why" in put.error ? put.error.why : put.error.reason);
      const others = written().filter((each) => each.key !== key);
      log.save({ ...log.state(), forms: [{ key, atMs: clock.nowMs() }, ...others] });
      await sweep();
    } catch (error) {
      report(String(error));
    }
  };

  const written = (): readonly WrittenForm[] => log.state().forms ?? [];

  /** The newest come first. */
  const sweep = async (): Promise<void> => {
    const needed = new Set(inForce().map(keyOf));
    const others = written().filter(({ key }) => !needed.has(key));
    const old = others.filter(({ atMs }, at) => at >= RETAINED_MAX || atMs + RETAINED_MS < clock.nowMs());
    for (const { key } of old) {
      const gone = await within(() => deleteKey(kv, key), DEADLINE_MS);
      if (gone.ok) log.save({ ...log.state(), forms: written().filter((each) => each.key !== key) });
    }
  };

  return {
    write,

    /** An isolate missed the form: after an upgrade, a new key, or a table that another publisher wrote. */
    async renew(digest: string): Promise<void> {
      const nowMs = clock.nowMs();
      if (!inForce().includes(digest) || (askedAtMs.get(digest) ?? Number.NEGATIVE_INFINITY) + ASKED_MS > nowMs) return;
      askedAtMs.clear();
      for (const each of inForce()) askedAtMs.set(each, nowMs);
      for (const each of inForce()) {
        const found = await within(() => kv.get(keyOf(each), { type: "arrayBuffer" }), DEADLINE_MS);
        if (!found.ok) continue;
        if (found.value === null || (await seal.open(each, found.value)) === undefined) await write(each);
      }
    },
  };
}
