import { waitUntil } from "cloudflare:workers";
import type { Clock, MovedKey, MovedMemory } from "../../ports/gateway.ts";
import { setLast, withTimeout } from "../platform.ts";

/** The cache that the isolates of one location share, and how one of them works with it. */
export interface LocationOptions {
  readonly clock: Clock;
  /** The cache that the isolates of one location share; absent where the platform has none. */
  readonly cache: EdgeCache | undefined;
  /** Names the deployment: all Workers of a zone have one cache, and their regions need not mean the same. */
  readonly namespace: string;
  /** Keeps work alive that outlives the answer, such as a read that other requests wait for. */
  readonly waitUntil: (work: Promise<unknown>) => void;
}

export type EdgeCache = Pick<Cache, "match" | "put" | "delete">;

/** An entry takes some 200 bytes: 2 MB of the isolate's 128. */
const ENTRIES_MAX = 10_000;

/**
 * How long the edge's cache is asked about an entity after this isolate saw one of it moved. Entities move in batches,
 * and most never do: asking for every request would put a look-up before each, for an answer that is nearly always no.
 * The old region corrects an isolate without entries once; the isolate asks the cache from then on.
 */
const RESTLESS_MS = 5 * 60_000;

/** An entry in the edge's cache says itself when it ends, for clocks and caches that differ. */
const UNTIL_FIELD = "waybill-until";

const RECALL_MS = 100;

type Entry = Readonly<{ region: string; untilMs: number }>;

export const edgeMovedMemory = (clock: Clock, namespace: string): MovedMemory =>
  movedMemory({ clock, cache: caches.default, namespace, waitUntil });

/** Remembers in the isolate, and behind it in the edge's cache. The isolate's entries are answered without waiting. */
export function movedMemory({ clock, cache, namespace, waitUntil }: LocationOptions): MovedMemory {
  /** The least recently used first. */
  const entries = new Map<string, Entry>();
  const restlessUntilMs = new Map<string, number>();
  let edge = cache;
  // A name that no request can have: RFC 6761 §6.4 keeps `.invalid` free.
  const base = `https://moved.waybill.invalid/${encodeURIComponent(namespace)}`;
  const urlOf = ({ entity, decided, id }: MovedKey): string =>
    `${base}/${[entity, decided, id].map(encodeURIComponent).join("/")}`;

  /** workerd by itself has the interface of a cache and none behind it: each call fails. One failure is enough to know. */
  const dropEdge = (): undefined => {
    edge = undefined;
  };
  const hold = (entity: string, url: string, entry: Entry): void => {
    setLast(entries, url, entry, ENTRIES_MAX);
    restlessUntilMs.set(entity, clock.nowMs() + RESTLESS_MS);
    memory.isEmpty = false;
  };
  const recallFrom = async (from: EdgeCache, entity: string, url: string): Promise<string | undefined> => {
    const match = from.match(url).then(readEntry, dropEdge);
    // A hint that cannot be read, or comes late, is none.
    const entry = await withTimeout(match, RECALL_MS, () => undefined).catch(() => undefined);
    if (entry === undefined || entry.untilMs <= clock.nowMs()) return undefined;
    hold(entity, url, entry);
    return entry.region;
  };

  const memory = {
    isEmpty: true as boolean,
    recall(key: MovedKey): string | undefined | Promise<string | undefined> {
      if (!restlessUntilMs.has(key.entity)) return undefined;
      const url = urlOf(key);
      const entry = entries.get(url);
      const nowMs = clock.nowMs();
      if (entry !== undefined) {
        entries.delete(url);
        if (entry.untilMs > nowMs) {
          entries.set(url, entry);
          return entry.region;
        }
      }
      const isRestless = (restlessUntilMs.get(key.entity) ?? 0) > nowMs;
      return edge !== undefined && isRestless ? recallFrom(edge, key.entity, url) : undefined;
    },
    remember(key: MovedKey, region: string, seconds: number): void {
      if (seconds <= 0) return;
      const url = urlOf(key);
      const entry = { region, untilMs: clock.nowMs() + seconds * 1000 };
      hold(key.entity, url, entry);
      if (edge !== undefined) waitUntil(edge.put(url, responseOf(entry, seconds)).catch(dropEdge));
    },
    forget(key: MovedKey): void {
      const url = urlOf(key);
      entries.delete(url);
      if (edge !== undefined) waitUntil(edge.delete(url).catch(dropEdge));
    },
  } satisfies MovedMemory;
  return memory;
}

const responseOf = ({ region, untilMs }: Entry, seconds: number): Response =>
  new Response(region, { headers: { "cache-control": `max-age=${seconds}`, [UNTIL_FIELD]: String(untilMs) } });

async function readEntry(response: Response | undefined): Promise<Entry | undefined> {
  if (response === undefined) return undefined;
  return { region: await response.text(), untilMs: Number(response.headers.get(UNTIL_FIELD)) };
}
