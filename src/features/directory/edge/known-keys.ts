import type { EdgeCache, LocationOptions } from "../../../edge/origins/moved-memory.ts";
import { setLast, withTimeout } from "../../../edge/platform.ts";
import type { DirectoryPlan } from "../table/types.ts";

/** A key as it was seen. `region`: `undefined` for an absent one. */
export type KnownKey = Readonly<{ region: string | undefined; atMs: number }>;

/** Found keys in memory, the least recently used first. With the longest keys they take 12 MB of the isolate's 128. */
const FOUND_MAX = 20_000;

/** Absent ones have a place of their own, so that random names displace no key that is there. */
const ABSENT_MAX = 5_000;

const AT_FIELD = "waybill-at";

/** Keys that this isolate has seen, and behind them those in the cache of its location. */
export class KnownKeys {
  readonly #found = new Map<string, KnownKey>();
  readonly #absent = new Map<string, KnownKey>();
  readonly #options: LocationOptions;
  readonly #cacheDeadlineMs: number;
  readonly #base: string;
  #cache: EdgeCache | undefined;

  constructor(options: LocationOptions, cacheDeadlineMs: number) {
    this.#options = options;
    this.#cacheDeadlineMs = cacheDeadlineMs;
    this.#cache = options.cache;
    // RFC 6761 §6.4 keeps `.invalid` free: no request can have the name.
    this.#base = `https://directory.waybill.invalid/${encodeURIComponent(options.namespace)}`;
  }

  isFresh(plan: DirectoryPlan, entry: KnownKey): boolean {
    const seconds = entry.region === undefined ? plan.absentSeconds : plan.cacheSeconds;
    const ageMs = this.#options.clock.nowMs() - entry.atMs;
    return ageMs >= 0 && ageMs < seconds * 1000;
  }

  /** A fresh key of the isolate. */
  inMemory(plan: DirectoryPlan, key: string): KnownKey | undefined {
    const name = nameOf(plan.name, key);
    const entry = this.#found.get(name) ?? this.#absent.get(name);
    if (entry === undefined || !this.isFresh(plan, entry)) return undefined;
    this.#set(name, entry);
    return entry;
  }

  /** A key that was there, fresh or not. */
  foundOf(plan: DirectoryPlan, key: string): KnownKey | undefined {
    return this.#found.get(nameOf(plan.name, key));
  }

  /** A key of the location, fresh or not. A cache that fails or is late has none. */
  async inCache(plan: DirectoryPlan, key: string): Promise<KnownKey | undefined> {
    if (this.#cache === undefined) return undefined;
    const match = this.#cache.match(this.#urlOf(plan.name, key)).then(readEntry, this.#dropCache);
    return withTimeout(match, this.#cacheDeadlineMs, () => undefined).catch(() => undefined);
  }

  hold(directory: string, key: string, entry: KnownKey): void {
    this.#set(nameOf(directory, key), entry);
  }

  /** In memory and, behind the answer, in the edge's cache: for as long as it may count, stale or not. */
  keep(plan: DirectoryPlan, key: string, entry: KnownKey): void {
    this.hold(plan.name, key, entry);
    const seconds = entry.region === undefined ? plan.absentSeconds : plan.cacheSeconds + plan.staleSeconds;
    if (this.#cache === undefined || seconds === 0) return;
    const headers = { "cache-control": `max-age=${seconds}`, [AT_FIELD]: String(entry.atMs) };
    const response = new Response(JSON.stringify(entry.region ?? null), { headers });
    this.#options.waitUntil(this.#cache.put(this.#urlOf(plan.name, key), response).catch(this.#dropCache));
  }

  async forget(directory: string, key: string): Promise<void> {
    const name = nameOf(directory, key);
    this.#found.delete(name);
    this.#absent.delete(name);
    await this.#cache?.delete(this.#urlOf(directory, key)).catch(this.#dropCache);
  }

  /** In the memory of the isolate alone: no cache can be asked for its keys. */
  forgetMany(directory: string, withFound: boolean): void {
    dropOf(this.#absent, directory);
    if (withFound) dropOf(this.#found, directory);
  }

  /** workerd by itself has the interface of a cache and none behind it: one failure is enough to know. */
  readonly #dropCache = (): undefined => {
    this.#cache = undefined;
  };

  #set(name: string, entry: KnownKey): void {
    if (entry.region === undefined) {
      this.#found.delete(name);
      setLast(this.#absent, name, entry, ABSENT_MAX);
    } else {
      this.#absent.delete(name);
      setLast(this.#found, name, entry, FOUND_MAX);
    }
  }

  #urlOf(directory: string, key: string): string {
    return `${this.#base}/${directory}/${encodeURIComponent(key)}`;
  }
}

/** No directory's name has a space. */
export const nameOf = (directory: string, key: string): string => `${directory} ${key}`;

export function dropOf(names: Map<string, unknown>, directory: string): void {
  const start = nameOf(directory, "");
  for (const name of names.keys()) if (name.startsWith(start)) names.delete(name);
}

async function readEntry(response: Response | undefined): Promise<KnownKey | undefined> {
  if (response === undefined) return undefined;
  const region: unknown = await response.json();
  return { region: typeof region === "string" ? region : undefined, atMs: Number(response.headers.get(AT_FIELD)) };
}
