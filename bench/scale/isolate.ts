import type { Inputs } from "./inputs.ts";

type Rules = Pick<Inputs, "refreshSeconds" | "refreshJitter" | "reportSeconds">;

/**
 * When an isolate looks for a table, and when it reports: at its first request, and then at the first one after each pause.
 * The same as in `src/edge/tables.ts` and `traffic.ts`, which `test/edge/scale-rules.test.ts` holds this to.
 */
export class SimulatedIsolate {
  readonly #rules: Rules;
  readonly #uniform: () => number;
  #lookDueSeconds: number;
  #reportDueSeconds: number;

  /** `uniform`: random from 0 to 1. The due times are those of one that has run before, 0 for a new one. */
  constructor(rules: Rules, uniform: () => number, lookDueSeconds = 0, reportDueSeconds = 0) {
    this.#rules = rules;
    this.#uniform = uniform;
    this.#lookDueSeconds = lookDueSeconds;
    this.#reportDueSeconds = reportDueSeconds;
  }

  /** Whether a request of now makes it look for a table. */
  looks(nowSeconds: number): boolean {
    if (nowSeconds < this.#lookDueSeconds) return false;
    const { refreshSeconds, refreshJitter } = this.#rules;
    this.#lookDueSeconds = nowSeconds + refreshSeconds * (1 - refreshJitter + 2 * refreshJitter * this.#uniform());
    return true;
  }

  /** Whether it reports beside a request of now. `isUrgent`: a breaker has turned. */
  reports(nowSeconds: number, isUrgent: boolean): boolean {
    if (nowSeconds < this.#reportDueSeconds && !isUrgent) return false;
    this.#reportDueSeconds = nowSeconds + this.#rules.reportSeconds;
    return true;
  }
}
