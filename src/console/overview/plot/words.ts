import { clockText, countText, formatOf } from "../../app/words.ts";
import type { Span } from "./places.ts";

/** Times and figures of charts and tiles, as short as they may be. */

const days = formatOf(
  (locale, timeZone) =>
    new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", ...(timeZone && { timeZone }) }),
);

const dayText = (at: number): string => days.format(new Date(at * 1000));

/** A chart over more than this names days. */
const DAYS_SECONDS = 36 * 3_600;

/** An axis over less than this has seconds. */
const SECONDS_SECONDS = 300;

export type TimeText = (time: number, isWhole?: boolean) => string;

/** `isWhole`: of one value, where no axis beside it says the rest. */
export function timeTextFor(at: readonly number[], { from, to }: Span): TimeText {
  const [first = 0, second = 60] = at;
  const isLong = to - from > DAYS_SECONDS;
  const hasSeconds = second - first < 60;
  return (time, isWhole = false) => {
    if (isWhole) return isLong ? `${dayText(time)}, ${clockText(time, false)}` : clockText(time, hasSeconds);
    if (!isLong) return clockText(time, to - from < SECONDS_SECONDS);
    const clock = clockText(time, false);
    return clock === "00:00" ? dayText(time) : clock;
  };
}

const DAY_MS = 86_400_000;

/** `21:39`, with its day where that is not clear. */
export function momentText(atMs: number, nowMs: number): string {
  const clock = clockText(atMs / 1000, false);
  return nowMs - atMs < DAY_MS / 2 ? clock : `${dayText(atMs / 1000)}, ${clock}`;
}

/** A rate: three digits say enough. */
export const rateText = (rate: number): string =>
  countText(rate >= 100 ? Math.round(rate) : Number(rate.toPrecision(rate >= 10 ? 3 : 2)));

/** Two or three digits, and never 0 or 100 for what is not. */
export function shareText(share: number | undefined): string {
  if (share === undefined) return "–";
  const percent = share * 100;
  if (percent <= 0) return "0 %";
  if (percent >= 100) return "100 %";
  const shown = percent >= 99.9 ? 99.9 : Number(percent.toPrecision(percent >= 10 ? 3 : 2));
  return `${countText(Math.max(0.01, shown))} %`;
}

/** `9 min`. */
export function lastedText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
