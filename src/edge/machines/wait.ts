import type { Clock } from "../../ports/gateway.ts";
import { type AwaitedCall, type Send, type Sent, StateUnavailable } from "./call.ts";
import type { Ownerless, Turn } from "./ownerless.ts";
import { START_WAIT_MS, saysLate } from "./rpc.ts";
import { isToCome } from "./to-come.ts";

/** A call's time before its deadline begins, over all its tries. */
export class Wait {
  /** The first answer of any try, however late. */
  readonly answer: Promise<unknown>;
  readonly #clock: Clock;
  readonly #fromMs: number;
  readonly #answers: Promise<unknown>[] = [];
  #isAnswered = false;
  #noteAnswer: (value: unknown) => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#fromMs = clock.nowMs();
    this.answer = new Promise((resolve) => {
      this.#noteAnswer = resolve;
    });
  }

  leftMs(): number {
    const nowMs = this.#clock.nowMs();
    const untilMs = this.#fromMs + START_WAIT_MS;
    return isToCome(untilMs, nowMs, START_WAIT_MS) ? untilMs - nowMs : 0;
  }

  sent(): Sent {
    return { answers: this.#answers, waitedMs: this.#clock.nowMs() - this.#fromMs };
  }

  /** The call, whose tries are all heard. */
  heard(call: AwaitedCall): AwaitedCall {
    const send: Send = async (rpc, waitedMs) => {
      const value = await call.send(rpc, waitedMs);
      // A try that came late changed nothing: another one may do it.
      if (!saysLate(value)) {
        this.#isAnswered = true;
        this.#noteAnswer(value);
      }
      return value;
    };
    return { ...call, send, isAnswered: () => this.#isAnswered };
  }
}

/** While the object has no owner, a try that failed waits on. Another one may have found it meanwhile. */
export async function inTurn(
  ownerless: Ownerless,
  call: AwaitedCall,
  wait: Wait,
  send: (turn: Turn) => Promise<unknown>,
) {
  for (;;) {
    const turn = await turnOf(ownerless, call, wait.leftMs(), wait.sent());
    try {
      return await send(turn);
    } catch (error) {
      const isOver = wait.leftMs() === 0 || call.isAnswered?.() === true;
      if (isOver || (turn === "usual" && !ownerless.isWithout(call.method))) throw error;
    }
  }
}

export async function turnOf(ownerless: Ownerless, call: AwaitedCall, waitMs: number, sent: Sent): Promise<Turn> {
  const turn = await ownerless.turnOf(call.method, call.kind, waitMs);
  if (turn === undefined) throw new StateUnavailable("all calls of this object failed a moment ago", sent);
  return turn;
}
