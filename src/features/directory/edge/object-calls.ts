import { periodCounts, withTimeout } from "../../../edge/platform.ts";
import { err, type Result } from "../../../ids/result.ts";
import type { Clock } from "../../../ports/gateway.ts";
import type { DirectoryEntry, DirectoryFailure, DirectoryTruth } from "../port.ts";
import { shardOf } from "../table/shard.ts";
import type { DirectoryPlan } from "../table/types.ts";

/** Look-ups of one isolate that wait for objects. Each takes a few milliseconds: thousands a second pass. */
const AT_ONCE_MAX = 64;

/** Unknown names of one caller that may reach the objects. A page of a shop may link some dead ones. */
const UNKNOWN_MAX = 100;
const UNKNOWN_PERIOD_SECONDS = 10;
const CALLERS_MAX = 10_000;

const RETRY_AFTER_SECONDS = 2;

/** Look-ups in the Durable Objects: bounded for the isolate, and for the unknown names of each caller. */
export class ObjectCalls {
  readonly #truth: Pick<DirectoryTruth, "get">;
  readonly #clock: Clock;
  readonly #deadlineMs: number;
  readonly #unknown: ReturnType<typeof periodCounts>;
  /** By shard. */
  readonly #downUntilMs = new Map<number, number>();
  #running = 0;

  constructor(truth: Pick<DirectoryTruth, "get">, clock: Clock, deadlineMs: number) {
    this.#truth = truth;
    this.#clock = clock;
    this.#deadlineMs = deadlineMs;
    this.#unknown = periodCounts(UNKNOWN_PERIOD_SECONDS, clock, CALLERS_MAX);
  }

  /** Whether the key's object has failed a moment ago. */
  isDown({ name }: DirectoryPlan, key: string): boolean {
    return this.#clock.nowMs() < (this.#downUntilMs.get(shardOf({ directory: name, key })) ?? 0);
  }

  async get(
    { name: directory }: DirectoryPlan,
    key: string,
    caller: string,
  ): Promise<Result<DirectoryEntry | undefined, DirectoryFailure>> {
    const fail = (why: DirectoryFailure["why"], retryAfterSeconds = RETRY_AFTER_SECONDS) =>
      err({ reason: "directory-unavailable", directory, retryAfterSeconds, why } as const);
    if (this.#unknown.countOf(caller) >= UNKNOWN_MAX) return fail("busy", this.#unknown.secondsLeft());
    if (this.#running >= AT_ONCE_MAX) return fail("busy");
    this.#running += 1;
    try {
      const got = await withTimeout(this.#truth.get({ directory, key }), this.#deadlineMs, () => fail("failed"));
      if (got.ok && got.value?.state !== "confirmed") this.#unknown.add(caller);
      if (!got.ok && got.error.why === "failed") {
        const untilMs = this.#clock.nowMs() + RETRY_AFTER_SECONDS * 1000;
        this.#downUntilMs.set(shardOf({ directory, key }), untilMs);
      }
      return got;
    } finally {
      this.#running -= 1;
    }
  }
}
