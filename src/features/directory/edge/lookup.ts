import { waitUntil } from "cloudflare:workers";
import type { EdgeCache, LocationOptions } from "../../../edge/origins/moved-memory.ts";
import { periodCounts, setLast, withTimeout } from "../../../edge/platform.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { Counters } from "../../../ports/gateway.ts";
import { clientNetwork } from "../../../proxy/addresses/client-network.ts";
import type {
  CopyAnswer,
  CopyLayer,
  Directory,
  DirectoryAnswer,
  DirectoryComparison,
  DirectoryFailure,
  DirectoryTruth,
  LookupOutcome,
} from "../port.ts";
import { shardOf } from "../table/shard.ts";
import type { DirectoryPlan } from "../table/types.ts";

export interface LookupOptions extends LocationOptions {
  readonly truth: Pick<DirectoryTruth, "get">;
  readonly copies: CopyLayer;
  readonly counters: Counters;
  readonly report: (difference: DirectoryComparison) => void;
  readonly deadlines?: typeof DEADLINES_MS;
}

/** Found keys in memory, the least recently used first. With the longest keys they take 12 MB of the isolate's 128. */
const FOUND_MAX = 20_000;

/** Absent ones have a place of their own, so that random names displace no key that is there. */
const ABSENT_MAX = 5_000;

/** A near layer either answers soon, or the next layer is asked. */
const DEADLINES_MS = { cache: 100, copy: 700, object: 2_000 };

/** A look-up can die with the request that began it; then the next one begins anew. */
const FLIGHT_MS = 6_000;

/** Look-ups of one isolate that wait for objects. Each takes a few milliseconds: thousands a second pass. */
const OBJECT_CALLS_MAX = 64;

/** Unknown names of one caller that may reach the objects. A page of a shop may link some dead ones. */
const UNKNOWN_MAX = 100;
const UNKNOWN_PERIOD_SECONDS = 10;
const CALLERS_MAX = 10_000;

const RETRY_AFTER_SECONDS = 2;

/** `undefined`: absent. */
type Entry = Readonly<{ region: string | undefined; atMs: number }>;
type Found = Result<DirectoryAnswer, DirectoryFailure>;
type Flight = { readonly startedAtMs: number; end: Promise<Found> | undefined };

const AT_FIELD = "waybill-at";

export const edgeDirectory = (options: Omit<LookupOptions, "cache" | "waitUntil">): Directory =>
  isolateDirectory({ ...options, cache: caches.default, waitUntil });

/**
 * Memory, the edge's cache, a published copy, the object: the nearest that says it counts, each within its deadline. A
 * key is looked up once at a time. When all fail, a stale value is served, labelled. A failure is never an absent key.
 */
export function isolateDirectory(options: LookupOptions): Directory {
  const { clock, truth, copies, counters, deadlines = DEADLINES_MS } = options;
  const found = new Map<string, Entry>();
  const absent = new Map<string, Entry>();
  const flights = new Map<string, Flight>();
  const unknown = periodCounts(UNKNOWN_PERIOD_SECONDS, clock, CALLERS_MAX);
  /** By shard. */
  const downUntilMs = new Map<number, number>();
  let objectCalls = 0;
  let edge = options.cache;
  // RFC 6761 §6.4 keeps `.invalid` free: no request can have the name.
  const base = `https://directory.waybill.invalid/${encodeURIComponent(options.namespace)}`;
  const urlOf = (directory: string, key: string): string => `${base}/${directory}/${encodeURIComponent(key)}`;

  /** workerd by itself has the interface of a cache and none behind it: one failure is enough to know. */
  const dropEdge = (): undefined => {
    edge = undefined;
  };
  const nameOf = (directory: string, key: string): string => `${directory} ${key}`;
  const count = (directory: string, outcome: LookupOutcome): void =>
    counters.count("directory_lookups", directory, outcome);

  const isFresh = (plan: DirectoryPlan, entry: Entry): boolean => {
    const seconds = entry.region === undefined ? plan.absentSeconds : plan.cacheSeconds;
    const ageMs = clock.nowMs() - entry.atMs;
    return ageMs >= 0 && ageMs < seconds * 1000;
  };

  const hold = (name: string, entry: Entry): void => {
    if (entry.region === undefined) {
      found.delete(name);
      setLast(absent, name, entry, ABSENT_MAX);
    } else {
      absent.delete(name);
      setLast(found, name, entry, FOUND_MAX);
    }
  };

  const answerOf = ({ region }: Entry, source: DirectoryAnswer["source"]): DirectoryAnswer =>
    region === undefined ? { state: "absent", source } : { state: "found", region, source };

  function remembered(plan: DirectoryPlan, key: string): DirectoryAnswer | undefined {
    const name = nameOf(plan.name, key);
    const entry = found.get(name) ?? absent.get(name);
    if (entry === undefined || !isFresh(plan, entry)) return undefined;
    hold(name, entry);
    return answerOf(entry, "memory");
  }

  async function cached(from: EdgeCache, plan: DirectoryPlan, key: string): Promise<Entry | undefined> {
    const match = from.match(urlOf(plan.name, key)).then(readEntry, dropEdge);
    return withTimeout(match, deadlines.cache, () => undefined).catch(() => undefined);
  }

  /** In memory and, behind the answer, in the edge's cache: for as long as it may count, stale or not. */
  function keep(plan: DirectoryPlan, key: string, entry: Entry): void {
    hold(nameOf(plan.name, key), entry);
    const seconds = entry.region === undefined ? plan.absentSeconds : plan.cacheSeconds + plan.staleSeconds;
    if (edge === undefined || seconds === 0) return;
    const headers = { "cache-control": `max-age=${seconds}`, [AT_FIELD]: String(entry.atMs) };
    const response = new Response(JSON.stringify(entry.region ?? null), { headers });
    options.waitUntil(edge.put(urlOf(plan.name, key), response).catch(dropEdge));
  }

  async function askObject(plan: DirectoryPlan, key: string, caller: string) {
    const busy = (retryAfterSeconds: number) =>
      err({ reason: "directory-unavailable", directory: plan.name, retryAfterSeconds, why: "busy" } as const);
    if (unknown.countOf(caller) >= UNKNOWN_MAX) return busy(unknown.secondsLeft());
    if (objectCalls >= OBJECT_CALLS_MAX) return busy(RETRY_AFTER_SECONDS);
    objectCalls += 1;
    try {
      const failed = err({
        reason: "directory-unavailable",
        directory: plan.name,
        retryAfterSeconds: RETRY_AFTER_SECONDS,
        why: "failed",
      } as const);
      const got = await withTimeout(truth.get({ directory: plan.name, key }), deadlines.object, () => failed);
      if (got.ok && got.value?.state !== "confirmed") unknown.add(caller);
      return got;
    } finally {
      objectCalls -= 1;
    }
  }

  async function fetchAnswer(
    plan: DirectoryPlan,
    key: string,
    caller: string,
    isCurrent: () => boolean,
  ): Promise<Found> {
    const name = nameOf(plan.name, key);
    const old = found.get(name);
    const near = edge && (await cached(edge, plan, key));
    if (near !== undefined && isFresh(plan, near)) {
      if (isCurrent()) hold(name, near);
      return ok(answerOf(near, "cache"));
    }
    const nowMs = clock.nowMs();
    const untilMs = (plan.cacheSeconds + plan.staleSeconds) * 1000;
    const stale = [old, near].find((entry) => entry?.region !== undefined && nowMs - entry.atMs < untilMs);
    const shard = shardOf({ directory: plan.name, key });
    // While an object fails, a key that is cached does not wait for it again and again.
    if (stale !== undefined && nowMs < (downUntilMs.get(shard) ?? 0)) return ok(answerOf(stale, "stale"));
    const copy = await withTimeout(copies.find(plan.name, key), deadlines.copy, () => undefined).catch(() => undefined);
    const counts = copy !== undefined && isYoung(plan, copy, nowMs);
    if (counts) {
      // An absent key is as old as the copy: what was claimed since must not wait longer.
      const atMs = copy.state === "found" ? nowMs : copy.builtAtMs;
      if (isCurrent()) hold(name, { region: copy.state === "found" ? copy.region : undefined, atMs });
      return ok<DirectoryAnswer>({ ...answerIn(copy), source: "pages" });
    }
    const got = await askObject(plan, key, caller);
    if (got.ok) {
      const entry = { region: got.value?.state === "confirmed" ? got.value.region : undefined, atMs: clock.nowMs() };
      // A reserved key is about to be there.
      const isSettled = got.value === undefined || got.value.state === "confirmed";
      if (isCurrent() && isSettled) keep(plan, key, entry);
      return ok(isSettled ? answerOf(entry, "object") : { state: "absent", source: "object", isReserved: true });
    }
    if (got.error.why === "failed") downUntilMs.set(shard, clock.nowMs() + RETRY_AFTER_SECONDS * 1000);
    if (stale !== undefined) return ok(answerOf(stale, "stale"));
    if (copy?.state === "found" && nowMs - copy.builtAtMs < (plan.copySeconds + plan.staleSeconds) * 1000) {
      return ok<DirectoryAnswer>({ ...answerIn(copy), source: "stale" });
    }
    // Too many names are no failure of the directory: no flood leads anybody's requests to the default.
    if (plan.fallback !== undefined && got.error.why === "failed") {
      return ok<DirectoryAnswer>({ state: "found", region: plan.fallback, source: "default" });
    }
    return got;
  }

  async function lookup(plan: DirectoryPlan, key: string, caller = "") {
    const inMemory = remembered(plan, key);
    if (inMemory !== undefined) return ok(inMemory);
    const copy = copies.peek(plan.name, key);
    const nowMs = clock.nowMs();
    if (copy?.state === "found" && isYoung(plan, copy, nowMs)) {
      hold(nameOf(plan.name, key), { region: copy.region, atMs: nowMs });
      return ok<DirectoryAnswer>({ ...answerIn(copy), source: "pages" });
    }
    const name = nameOf(plan.name, key);
    const running = flights.get(name);
    if (running?.end !== undefined && clock.nowMs() < running.startedAtMs + FLIGHT_MS) {
      const shared = await withTimeout(running.end, FLIGHT_MS, () => undefined);
      // Another caller's limit is not this one's.
      if (shared !== undefined && (shared.ok || shared.error.why !== "busy")) return shared;
    }
    const flight: Flight = { startedAtMs: clock.nowMs(), end: undefined };
    flights.set(name, flight);
    const end = fetchAnswer(plan, key, caller, () => flights.get(name) === flight);
    flight.end = end;
    const clear = (): void => {
      if (flights.get(name) === flight) flights.delete(name);
    };
    options.waitUntil(end.then(clear, clear));
    return end;
  }

  return {
    async lookup(plan, key, address) {
      const answer = await lookup(plan, key, address && clientNetwork(address));
      count(plan.name, answer.ok ? outcomeOf(plan, answer.value) : answer.error.why === "busy" ? "busy" : "failed");
      return answer;
    },
    compared({ directory, outcome, ...difference }) {
      counters.count("directory_comparisons", directory, outcome);
      if (outcome !== "same") options.report({ directory, outcome, ...difference });
    },
    async forget(directory, key) {
      const name = nameOf(directory, key);
      found.delete(name);
      absent.delete(name);
      flights.delete(name);
      copies.forget(directory, key);
      await edge?.delete(urlOf(directory, key)).catch(dropEdge);
    },
  };
}

/** `unknown`: absent, and the table says where such keys go. */
const outcomeOf = ({ unknown }: DirectoryPlan, answer: DirectoryAnswer): LookupOutcome => {
  if (answer.state === "found") return answer.source;
  return unknown === undefined || answer.isReserved === true ? "absent" : "unknown";
};

const isYoung = (plan: DirectoryPlan, copy: CopyAnswer, nowMs: number): boolean => {
  const isFound = copy.state === "found";
  const seconds = isFound ? plan.copySeconds : plan.absentSeconds;
  return nowMs - copy.builtAtMs < seconds * 1000 && (!isFound || copy.isConfirmed !== false);
};

const answerIn = (copy: CopyAnswer) =>
  copy.state === "found" ? ({ state: "found", region: copy.region } as const) : ({ state: "absent" } as const);

async function readEntry(response: Response | undefined): Promise<Entry | undefined> {
  if (response === undefined) return undefined;
  const region: unknown = await response.json();
  return { region: typeof region === "string" ? region : undefined, atMs: Number(response.headers.get(AT_FIELD)) };
}
