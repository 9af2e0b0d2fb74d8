/** The gateway's time. A browser's clock may be wrong by hours, and all times that the page shows or writes are of the gateway. */

/** Answers name whole seconds, and travel. A smaller difference is no error of a clock. */
const ERROR_MS_MIN = 10_000;

let aheadMs = 0;

/** Unix ms. */
export const gatewayNow = (): number => Date.now() + aheadMs;

/** `date`: the field of an answer (RFC 9110 §6.6.1) that came at `atMs` by the browser's clock. */
export function learnTime(date: string | null, atMs: number): void {
  aheadMs = aheadOf(date, atMs) ?? aheadMs;
}

/** By how many ms the gateway's clock is ahead; `undefined` where the field says nothing. */
export function aheadOf(date: string | null, atMs: number): number | undefined {
  const differenceMs = Date.parse(date ?? "") - atMs;
  if (Number.isNaN(differenceMs)) return undefined;
  return Math.abs(differenceMs) < ERROR_MS_MIN ? 0 : differenceMs;
}
