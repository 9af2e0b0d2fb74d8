import type { Clock } from "../../ports/gateway.ts";
import type { CallKind } from "../thin-object.ts";
import type { Within } from "./timer.ts";
import { isToCome } from "./to-come.ts";
import { Waiters } from "./waiters.ts";

/** A slow bucket hands an object over in less. */
const UNANSWERED_MS = 4_000;

/** One call in this time finds out whether the object has an owner again. The others look so often whether one has. */
const FIND_OUT_MS = 500;
const LOOK_MS = 100;

/**
 * A node that found the object is asked first for this long. workerd gives a connection to a frozen node 5 s, in which
 * calls that wait for it do not see that the lease has ended; another node may have a connection, and see it.
 */
const FOUND_MS = 10_000;

/** Failures from before the lease say nothing of now. */
const FORGOTTEN_MS = 20_000;

interface Failures {
  /** Unix times: of the first since the last answer, and of the last. */
  readonly sinceMs: number;
  readonly lastMs: number;
  nextMs: number;
  tries: number;
}

export type WaitingKind = Extract<CallKind, "start" | "patient" | "prompt">;

/** A number: the call finds out, by one try; tries are counted from 1. */
export type Turn = "usual" | number;

/**
 * Objects that no node owns: their node died or froze, and its lease has not ended. Nodes that are there fail each call, or do not
 * answer it in time. An object is one of these when its calls have failed for longer than it takes to hand it over. Each method
 * counts alone: an object may have one that always fails.
 */
export class Ownerless {
  readonly #clock: Clock;
  /** Calls of all objects. Those that wait for long keep no place from prompt ones, which may give back, nor mints from creates. */
  readonly #waiting: Readonly<Record<WaitingKind, Waiters>>;
  /** By object and method. Their number is that of the tables' sequences and of fixed shards. */
  readonly #failures = new Map<string, Failures>();
  /** The nodes that found objects, by object. */
  readonly #found = new Map<string, { readonly node: string; readonly untilMs: number }>();

  constructor(clock: Clock, within: Within) {
    this.#clock = clock;
    const waiters = () => new Waiters(clock, within, LOOK_MS);
    this.#waiting = { start: waiters(), patient: waiters(), prompt: waiters() };
  }

  noteFailure(method: string): void {
    const nowMs = this.#clock.nowMs();
    const before = this.#current(method, nowMs);
    this.#failures.set(method, { sinceMs: nowMs, nextMs: 0, tries: 0, ...before, lastMs: nowMs });
  }

  noteAnswer(method: string): void {
    this.#failures.delete(method);
  }

  noteFound(object: string, node: string): void {
    this.#found.set(object, { node, untilMs: this.#clock.nowMs() + FOUND_MS });
  }

  foundBy(object: string): string | undefined {
    const found = this.#found.get(object);
    if (found === undefined || isToCome(found.untilMs, this.#clock.nowMs(), FOUND_MS)) return found?.node;
    this.#found.delete(object);
    return undefined;
  }

  /** While another call finds out, it waits. `undefined`: for longer than that, or too many do. */
  async turnOf(method: string, kind: WaitingKind, waitMs: number): Promise<Turn | undefined> {
    const look = () => this.#turnOf(method);
    const turn = look();
    if (turn !== undefined || waitMs === 0) return turn;
    return this.#waiting[kind].wait({ seenMs: this.#clock.nowMs() }, waitMs, look);
  }

  /** The object has no owner, as far as calls of the method know. */
  isWithout(method: string): boolean {
    return this.#lasting(method, this.#clock.nowMs()) !== undefined;
  }

  /** `undefined`: another call finds out. */
  #turnOf(method: string): Turn | undefined {
    const nowMs = this.#clock.nowMs();
    const found = this.#lasting(method, nowMs);
    if (found === undefined) return "usual";
    if (isToCome(found.nextMs, nowMs, FIND_OUT_MS)) return undefined;
    found.nextMs = nowMs + FIND_OUT_MS;
    found.tries += 1;
    return found.tries;
  }

  /** Failures for longer than it takes to hand the object over. */
  #lasting(method: string, nowMs: number): Failures | undefined {
    const found = this.#current(method, nowMs);
    return found !== undefined && found.lastMs - found.sinceMs >= UNANSWERED_MS ? found : undefined;
  }

  #current(method: string, nowMs: number): Failures | undefined {
    const found = this.#failures.get(method);
    return found === undefined || Math.abs(nowMs - found.lastMs) > FORGOTTEN_MS ? undefined : found;
  }
}
