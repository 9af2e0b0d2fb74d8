import { waitUntil } from "cloudflare:workers";
import type { Clock } from "../../ports/gateway.ts";
import type { Env } from "../env.ts";
import { reportDefect } from "../log.ts";
import { callObject, systemClock, systemPause } from "../platform.ts";
import { START_WAIT_MS } from "./rpc.ts";
import { never } from "./timer.ts";

/** Clocks of machines may differ by this: a state node that is further from its bucket's leaves the cluster. */
export const CLOCKS_MS = 2_000;

/**
 * Whether a call comes so long after the end of its caller's wait, Unix ms, that it came after it by every clock. A call that is
 * sooner may be late too: callers release what such a call took. Former versions name no end.
 */
export const isLate = (notAfterMs: number | undefined, nowMs: number): boolean =>
  notAfterMs !== undefined && nowMs > notAfterMs + CLOCKS_MS;

/** A call that takes something, which others cannot have until it is released. */
export interface Taking<Value> {
  /** Once it is sent. */
  readonly deadlineMs: number;
  readonly send: (notAfterMs: number) => Promise<Value>;
  /** Whether an answer says that it was taken. */
  readonly hasTaken: (value: Value) => boolean;
  /** May be called again, and when nothing was taken. Whether the object heard of it. */
  readonly release: () => Promise<boolean>;
  /** For how long it is kept from others. */
  readonly leaseMs: number;
}

export interface LateOptions {
  readonly clock: Clock;
  readonly pause: (ms: number) => Promise<void>;
  readonly waitUntil: (work: Promise<unknown>) => void;
  /** For how long calls may wait before they are sent. They then end so much later. */
  readonly startWaitMs?: number;
}

const PLATFORM: LateOptions = { clock: systemClock, pause: systemPause, waitUntil };

/** On an edge calls may wait for a place. */
export const lateWorkOf = ({ STATE_1 }: Env): LateWork =>
  new LateWork({ ...PLATFORM, startWaitMs: STATE_1 === undefined ? 0 : START_WAIT_MS });

/** Works of an isolate at once. Beyond, leases end what was taken. */
export const LATE_WORKS_MAX = 1_000;

const REPEAT_MS = 500;
const REPEAT_MS_MAX = 4_000;

/** Work after the answer: of calls whose callers have given up. */
export class LateWork {
  readonly #options: LateOptions;
  #running = 0;

  constructor(options: LateOptions = PLATFORM) {
    this.#options = options;
  }

  /** Calls in time. A call that fails may have taken something, or still take it: that is released. */
  async take<Value>(taking: Taking<Value>): Promise<Value> {
    const { clock, startWaitMs = 0 } = this.#options;
    const { deadlineMs } = taking;
    let last: Promise<Value> | undefined;
    let endMs = 0;
    const send = (): Promise<Value> => {
      endMs = clock.nowMs() + deadlineMs;
      last = taking.send(endMs);
      return last;
    };
    try {
      return await callObject(send, startWaitMs + deadlineMs, true);
    } catch (error) {
      const answers = isUnavailable(error) ? error.answers : last === undefined ? [] : [last];
      const notAfterMs = endMs + (isUnavailable(error) ? error.waitedMs : startWaitMs);
      if (answers.length > 0 && taking.leaseMs > 0) this.#start(() => this.#release(taking, answers, notAfterMs));
      throw error;
    }
  }

  /** Sends again, at growing intervals, until it arrives or the time comes. */
  repeat(send: () => Promise<boolean>, untilMs: number): void {
    this.#start(() => this.#repeat(send, untilMs));
  }

  /** `answers`: one for each try. A try that took it is released at once, one without an answer when it can no longer take it. */
  async #release<Value>(taking: Taking<Value>, answers: readonly Promise<Value>[], notAfterMs: number): Promise<void> {
    const { clock, pause } = this.#options;
    // By a clock that is behind, the object takes it so much later.
    const settled = pause(Math.max(0, notAfterMs + 2 * CLOCKS_MS - clock.nowMs())).then(() => undefined);
    const unanswered = answers.map(async (each): Promise<boolean> => {
      const answer = await Promise.race([each.catch(never), settled]);
      if (answer !== undefined && taking.hasTaken(answer)) await this.#untilReleased(taking);
      return answer === undefined;
    });
    if ((await Promise.all(unanswered)).includes(true)) await this.#untilReleased(taking);
  }

  async #untilReleased<Value>({ release, leaseMs }: Taking<Value>): Promise<void> {
    const untilMs = this.#options.clock.nowMs() + leaseMs;
    if (!(await release())) await this.#repeat(release, untilMs);
  }

  async #repeat(send: () => Promise<boolean>, untilMs: number): Promise<void> {
    const { clock, pause } = this.#options;
    for (let waitMs = REPEAT_MS; clock.nowMs() + waitMs < untilMs; waitMs = Math.min(2 * waitMs, REPEAT_MS_MAX)) {
      await pause(waitMs);
      if (await send()) return;
    }
  }

  #start(work: () => Promise<void>): void {
    if (this.#running >= LATE_WORKS_MAX) return;
    this.#running++;
    const end = (): void => {
      this.#running--;
    };
    this.#options.waitUntil(work().catch(reportDefect).finally(end));
  }
}

/** `StateUnavailable` of an edge's calls, without its module: one machine never loads that. */
interface Unavailable<Value> {
  readonly answers: readonly Promise<Value>[];
  readonly waitedMs: number;
}

const isUnavailable = (error: unknown): error is Unavailable<never> => error instanceof Error && "answers" in error;
