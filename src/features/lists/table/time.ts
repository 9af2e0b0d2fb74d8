/** Times of RFC 3339 (§5.6): all of them, and no others. */

/** `seconds` since 1970, of a leap second those of the one before it. `fraction`: its digits, as many as there are. */
interface Time {
  readonly seconds: number;
  readonly isLeap: boolean;
  readonly fraction: string;
}

/** `T` and `Z` may be lower case. */
const TIME =
  /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.(\d+))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i;

function readTime(text: string): Time | undefined {
  const [found, ...parts] = TIME.exec(text) ?? [];
  if (found === undefined) return undefined;
  const [year, month, day, hour, minute, second] = parts.map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const days = daysSince1970(year, month, day);
  if (days === undefined) return undefined;
  const [fraction = "", sign, offsetHour = "0", offsetMinute = "0"] = parts.slice(6);
  // §4.3: an unknown offset, -00:00, is UTC too.
  const offsetMinutes = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === "-" ? -1 : 1);
  const utcMinutes = days * 1440 + hour * 60 + minute - offsetMinutes;
  const isLeap = second === 60;
  if (isLeap && !endsMonth(utcMinutes)) return undefined;
  return { seconds: utcMinutes * 60 + (isLeap ? 59 : second), isLeap, fraction };
}

/** `undefined` for 30 February. */
function daysSince1970(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() / 86_400_000 : undefined;
}

/** Leap seconds stand at the end of a month, in UTC (§5.7). */
function endsMonth(utcMinutes: number): boolean {
  const next = new Date((utcMinutes + 1) * 60_000);
  return next.getUTCDate() === 1 && next.getUTCHours() === 0 && next.getUTCMinutes() === 0;
}

/** Seconds from the first time that can be written, 0000-01-01T00:00:00+23:59, to 1970. */
const BEFORE_1970_SECONDS = 62_167_219_200 + 86_340;

/** A text that sorts as the time does, with every digit of its fraction. */
export function timeKey(text: string): string | undefined {
  const time = readTime(text);
  if (time === undefined) return undefined;
  const { seconds, isLeap, fraction } = time;
  // A leap second comes after the 59th and before the next minute.
  return `${String(seconds + BEFORE_1970_SECONDS).padStart(12, "0")}${isLeap ? 1 : 0}${fraction.replace(/(?<!0)0+$/, "")}`;
}

/** Unix ms, rounded down. A leap second counts as the next one, as POSIX counts. */
export function timeMs(text: string): number | undefined {
  const time = readTime(text);
  return time && (time.seconds + (time.isLeap ? 1 : 0)) * 1000 + Number(time.fraction.slice(0, 3).padEnd(3, "0"));
}
