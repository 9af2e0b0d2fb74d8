/** An alarm that is late by this much is lost: the storage was restored, or the platform stopped retrying. */
const ALARM_LOST_MS = 60_000;

/** Wakes a Durable Object for what is over, in steps: one alarm for many entries costs one request. */
export class SweepAlarm {
  readonly #context: DurableObjectState;
  readonly #stepMs: number;
  #atMs: number | undefined;

  /** `stepMs`: by so much later than due may entries be removed. */
  constructor(context: DurableObjectState, stepMs: number) {
    this.#context = context;
    this.#stepMs = stepMs;
    void context.blockConcurrencyWhile(async () => {
      this.#atMs = (await context.storage.getAlarm()) ?? undefined;
    });
  }

  /** To be called by `alarm` first. */
  hasFired(): void {
    this.#atMs = undefined;
  }

  /** An alarm that comes before is enough. */
  async wakeAfter(dueMs: number, nowMs: number): Promise<void> {
    const atMs = Math.max(dueMs, nowMs) + this.#stepMs;
    if (this.#atMs !== undefined && this.#atMs <= atMs && this.#atMs > nowMs - ALARM_LOST_MS) return;
    await this.wakeAt(atMs);
  }

  async wakeAt(atMs: number): Promise<void> {
    this.#atMs = atMs;
    await this.#context.storage.setAlarm(atMs);
  }
}
