import type {
  ClaimOutcome,
  DirectoryEntry,
  DirectoryKey,
  DirectoryTruth,
} from "../../../src/features/directory/port.ts";
import { ok } from "../../../src/ids/result.ts";

interface Held {
  readonly region: string;
  readonly owner: string;
  readonly operation: string;
  /** `undefined`: confirmed. */
  readonly untilMs: number | undefined;
  readonly missingMs?: number | undefined;
  readonly version: number;
  readonly changedMs: number;
}

type Claims = Omit<DirectoryTruth, "orphans" | "scan" | "count" | "putMany" | "tryMany" | "changesSince">;

/** Claims as docs/reference/directory.md tells them, in a map: slow to nobody, and the oracle of the objects. */
export function fakeTruth(clock: { nowMs: number }): Claims & { readonly held: Map<string, Held> } {
  const held = new Map<string, Held>();
  let version = 0;
  const name = ({ directory, key }: DirectoryKey) => `${directory}/${key}`;
  const entry = (at: DirectoryKey, one: Held): DirectoryEntry => ({
    key: at.key,
    region: one.region,
    owner: one.owner,
    state: one.untilMs === undefined ? "confirmed" : one.untilMs > clock.nowMs ? "reserved" : "expired",
    version: one.version,
    changedAtMs: one.changedMs,
    leaseUntilMs: one.untilMs,
    missingSinceMs: one.missingMs,
  });
  const set = (at: DirectoryKey, one: Omit<Held, "version" | "changedMs">): ClaimOutcome => {
    const next = { ...one, version: ++version, changedMs: clock.nowMs };
    held.set(name(at), next);
    return { state: "done", entry: entry(at, next) };
  };
  const isOver = ({ untilMs }: Held) => untilMs !== undefined && untilMs <= clock.nowMs;
  const wait = ({ untilMs = 0 }: Held): ClaimOutcome => ({
    state: "held",
    retryAfterSeconds: Math.ceil((untilMs - clock.nowMs) / 1000),
  });
  const truth: Claims = {
    async get(at) {
      const one = held.get(name(at));
      return ok(one && entry(at, one));
    },
    async reserve({ leaseMs, ...claim }) {
      const one = held.get(name(claim));
      if (one !== undefined && one.untilMs === undefined) {
        const isSame = one.owner === claim.owner && one.region === claim.region;
        return ok(isSame ? { state: "done", entry: entry(claim, one) } : { state: "taken" });
      }
      if (one !== undefined && one.owner !== claim.owner && !isOver(one)) return ok(wait(one));
      const { owner, operation, region } = claim;
      return ok(set(claim, { owner, operation, region, untilMs: clock.nowMs + leaseMs }));
    },
    async confirm(claim) {
      const one = held.get(name(claim));
      if (one === undefined) return ok({ state: "lost" });
      if (one.untilMs === undefined) {
        return ok(one.owner === claim.owner ? { state: "done", entry: entry(claim, one) } : { state: "taken" });
      }
      if (one.owner === claim.owner && one.operation === claim.operation)
        return ok(set(claim, { ...one, untilMs: undefined }));
      return ok(isOver(one) ? { state: "lost" } : wait(one));
    },
    async release(claim) {
      const one = held.get(name(claim));
      if (one === undefined || one.owner !== claim.owner || one.operation !== claim.operation) return ok("done");
      if (one.untilMs === undefined) return ok("taken");
      held.delete(name(claim));
      return ok("done");
    },
    async register(claim) {
      const reserved = await truth.reserve({ ...claim, leaseMs: 0 });
      if (!reserved.ok || reserved.value.state !== "done" || reserved.value.entry.state === "confirmed")
        return reserved;
      return truth.confirm(claim);
    },
    async move(at, region, expected) {
      return change(at, expected, (one) => set(at, { ...one, region, missingMs: undefined }));
    },
    async remove(at, expected) {
      return change(at, expected, () => {
        held.delete(name(at));
        return { state: "lost" };
      });
    },
    async reportMissing(at, expected) {
      return change(at, expected, (one) =>
        one.untilMs === undefined && one.missingMs === undefined
          ? set(at, { ...one, missingMs: clock.nowMs })
          : { state: "done", entry: entry(at, one) },
      );
    },
    async learn(at, from, region) {
      const one = held.get(name(at));
      if (one?.untilMs === undefined && one?.region === from) set(at, { ...one, region });
      return ok(undefined);
    },
  };
  const change = (at: DirectoryKey, expected: number, apply: (one: Held) => ClaimOutcome) => {
    const one = held.get(name(at));
    if (one === undefined) return ok({ state: "absent" } as const);
    if (one.version !== expected) return ok({ state: "stale", version: one.version } as const);
    const outcome = apply(one);
    return ok({ state: "done", entry: outcome.state === "done" ? outcome.entry : undefined } as const);
  };
  return { ...truth, held };
}
