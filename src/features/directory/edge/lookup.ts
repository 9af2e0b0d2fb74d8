import { waitUntil } from "cloudflare:workers";
import type { LocationOptions } from "../../../edge/origins/moved-memory.ts";
import { withTimeout } from "../../../edge/platform.ts";
import { ok, type Result } from "../../../ids/result.ts";
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
import type { DirectoryPlan } from "../table/types.ts";
import { dropOf, type KnownKey, KnownKeys, nameOf } from "./known-keys.ts";
import { ObjectCalls } from "./object-calls.ts";

export interface LookupOptions extends LocationOptions {
  readonly truth: Pick<DirectoryTruth, "get">;
  readonly copies: CopyLayer;
  readonly counters: Counters;
  readonly report: (difference: DirectoryComparison) => void;
  readonly deadlines?: typeof DEADLINES_MS;
}

/** A near layer either answers soon, or the next layer is asked. */
const DEADLINES_MS = { cache: 100, copy: 700, object: 2_000 };

/** A look-up can die with the request that began it; then the next one starts over. */
const FLIGHT_MS = 6_000;

type Found = Result<DirectoryAnswer, DirectoryFailure>;
type Flight = { readonly startedAtMs: number; end: Promise<Found> | undefined };

export const edgeDirectory = (options: Omit<LookupOptions, "cache" | "waitUntil">): Directory =>
  isolateDirectory({ ...options, cache: caches.default, waitUntil });

/**
 * Memory, the edge's cache, a published copy, the object: the nearest that says it counts, each within its deadline. A
 * key is looked up once at a time. When all fail, a stale value is served, labelled. A failure is never an absent key.
 */
export function isolateDirectory(options: LookupOptions): Directory {
  const { clock, truth, copies, counters, deadlines = DEADLINES_MS } = options;
  const known = new KnownKeys(options, deadlines.cache);
  const calls = new ObjectCalls(truth, clock, deadlines.object);
  const flights = new Map<string, Flight>();

  async function findCopy(plan: DirectoryPlan, key: string): Promise<CopyAnswer | undefined> {
    return withTimeout(copies.find(plan.name, key), deadlines.copy, () => undefined).catch(() => undefined);
  }

  async function fetchAnswer(
    plan: DirectoryPlan,
    key: string,
    caller: string,
    isCurrent: () => boolean,
  ): Promise<Found> {
    const old = known.foundOf(plan, key);
    const near = await known.inCache(plan, key);
    if (near !== undefined && known.isFresh(plan, near)) {
      if (isCurrent()) known.hold(plan.name, key, near);
      return ok(answerOf(near, "cache"));
    }
    const nowMs = clock.nowMs();
    const stale = [old, near].find((entry) => mayBeStale(plan, entry, nowMs));
    // While an object fails, a key that is cached does not wait for it again and again.
    if (stale !== undefined && calls.isDown(plan, key)) return ok(answerOf(stale, "stale"));
    const copy = await findCopy(plan, key);
    if (copy !== undefined && isYoung(plan, copy, nowMs)) {
      const entry = keyIn(copy, nowMs);
      if (isCurrent()) known.hold(plan.name, key, entry);
      return ok(answerOf(entry, "pages"));
    }
    const got = await calls.get(plan, key, caller);
    if (!got.ok) return answerWithout(got, plan, stale, copy, nowMs);
    const entry = { region: got.value?.state === "confirmed" ? got.value.region : undefined, atMs: clock.nowMs() };
    // A reserved key is about to be there.
    const isSettled = got.value === undefined || got.value.state === "confirmed";
    if (isCurrent() && isSettled) known.keep(plan, key, entry);
    return ok(isSettled ? answerOf(entry, "object") : { state: "absent", source: "object", isReserved: true });
  }

  async function lookup(plan: DirectoryPlan, key: string, caller = "") {
    const inMemory = known.inMemory(plan, key);
    if (inMemory !== undefined) return ok(answerOf(inMemory, "memory"));
    const copy = copies.peek(plan.name, key);
    const nowMs = clock.nowMs();
    if (copy?.state === "found" && isYoung(plan, copy, nowMs)) {
      const entry = keyIn(copy, nowMs);
      known.hold(plan.name, key, entry);
      return ok(answerOf(entry, "pages"));
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
      counters.count("directory_lookups", plan.name, outcomeOf(plan, answer));
      return answer;
    },
    compared({ directory, outcome, ...difference }) {
      counters.count("directory_comparisons", directory, outcome);
      if (outcome !== "same") options.report({ directory, outcome, ...difference });
    },
    async forget(directory, key) {
      flights.delete(nameOf(directory, key));
      copies.forget(directory, key);
      await known.forget(directory, key);
    },
    forgetMany(directory, withFound) {
      dropOf(flights, directory);
      known.forgetMany(directory, withFound);
    },
  };
}

const answerOf = ({ region }: KnownKey, source: DirectoryAnswer["source"]): DirectoryAnswer =>
  region === undefined ? { state: "absent", source } : { state: "found", region, source };

const mayBeStale = (plan: DirectoryPlan, entry: KnownKey | undefined, nowMs: number): boolean =>
  entry?.region !== undefined && nowMs - entry.atMs < (plan.cacheSeconds + plan.staleSeconds) * 1000;

/** The answer while the object gives none: a stale value, a stale copy, or the default. */
function answerWithout(
  failed: Extract<Found, { readonly ok: false }>,
  plan: DirectoryPlan,
  stale: KnownKey | undefined,
  copy: CopyAnswer | undefined,
  nowMs: number,
): Found {
  if (stale !== undefined) return ok(answerOf(stale, "stale"));
  if (copy?.state === "found" && nowMs - copy.builtAtMs < (plan.copySeconds + plan.staleSeconds) * 1000) {
    return ok(answerOf(keyIn(copy, nowMs), "stale"));
  }
  // Too many names are no failure of the directory: no flood leads anybody's requests to the default.
  if (plan.fallback === undefined || failed.error.why !== "failed") return failed;
  return ok<DirectoryAnswer>({ state: "found", region: plan.fallback, source: "default" });
}

/** `unknown`: absent, and the table says where such keys go. */
const outcomeOf = ({ unknown }: DirectoryPlan, answer: Found): LookupOutcome => {
  if (!answer.ok) return answer.error.why === "busy" ? "busy" : "failed";
  if (answer.value.state === "found") return answer.value.source;
  return unknown === undefined || answer.value.isReserved === true ? "absent" : "unknown";
};

const isYoung = (plan: DirectoryPlan, copy: CopyAnswer, nowMs: number): boolean => {
  const isFound = copy.state === "found";
  const seconds = isFound ? plan.copySeconds : plan.absentSeconds;
  return nowMs - copy.builtAtMs < seconds * 1000 && (!isFound || copy.isConfirmed !== false);
};

/** An absent key is as old as the copy: what was claimed since must not wait longer. */
const keyIn = (copy: CopyAnswer, nowMs: number): KnownKey =>
  copy.state === "found" ? { region: copy.region, atMs: nowMs } : { region: undefined, atMs: copy.builtAtMs };
