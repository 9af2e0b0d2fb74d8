import type { Clock } from "../ports.ts";

/**
 * Counts by key, begun anew with each full period: one number a key, so that up to twice a limit may pass across the seam of
 * two periods. When there are more keys than are kept, the oldest is forgotten: whoever has so many keys passes limits by key
 * anyway, and nobody is refused for what others did.
 */
export function periodCounts(periodSeconds: number, clock: Clock, keysMax: number) {
  const periodMs = periodSeconds * 1000;
  let period = Number.NaN;
  const counts = new Map<string, number>();

  const countOf = (key: string): number => {
    const now = Math.floor(clock.nowMs() / periodMs);
    if (now !== period) {
      period = now;
      counts.clear();
    }
    return counts.get(key) ?? 0;
  };

  return {
    countOf,
    /** Until the period ends and all are counted anew: from 1 to `periodSeconds`. */
    secondsLeft: (): number => Math.ceil((periodMs - (clock.nowMs() % periodMs)) / 1000),
    add(key: string): void {
      const count = countOf(key);
      if (count === 0 && counts.size >= keysMax) for (const oldest of counts.keys()) if (counts.delete(oldest)) break;
      counts.set(key, count + 1);
    },
  };
}
