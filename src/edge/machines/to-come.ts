/** Whether a time has not come. A time further off than it was set was set before the clock went back, and says nothing. */
export const isToCome = (atMs: number, nowMs: number, wasAheadMs: number): boolean =>
  atMs > nowMs && atMs - nowMs <= wasAheadMs;
