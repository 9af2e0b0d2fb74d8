import { setTimeout as delay } from "node:timers/promises";

/** Starts work at an even pace, whatever is still under way, until it is stopped; then waits for all of it. */
export class Paced {
  readonly #running = new Set<Promise<void>>();
  readonly #work: (at: number) => Promise<void>;
  readonly #everyMs: number;
  readonly #errors: unknown[] = [];
  #ended: Promise<void> | undefined;
  #isOver = false;

  constructor(perSecond: number, work: (at: number) => Promise<void>) {
    this.#everyMs = 1_000 / perSecond;
    this.#work = work;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  start(): void {
    this.#ended = this.#run();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#ended;
    await Promise.all(this.#running);
    if (this.#errors.length > 0) throw this.#errors[0];
  }

  async #run(): Promise<void> {
    const startMs = performance.now();
    for (let at = 0; !this.#isOver; at++) {
      await delay(Math.max(startMs + at * this.#everyMs - performance.now(), 0));
      const running = this.#work(at)
        .catch((error: unknown) => void this.#errors.push(error))
        .finally(() => this.#running.delete(running));
      this.#running.add(running);
    }
  }
}
