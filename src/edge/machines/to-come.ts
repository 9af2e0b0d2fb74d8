/** Whether a time has not come. One that is further off than any was set comes from before the clock went back: it is over. */
export const isToCome = (atMs: number, nowMs: number, wasAheadMs: number): boolean =>
  atMs > nowMs && atMs - nowMs <= wasAheadMs;
