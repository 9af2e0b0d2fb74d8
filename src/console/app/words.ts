import { gatewayNow } from "./clock.ts";

/**
 * Numbers, times and countries in the language of the browser. All that the page asks of `Intl` is here: a browser may have a
 * language tag that is none (`en-US@posix`, BCP 47) or a time zone that its `Intl` does not know, and either throws.
 */

const FALLBACK = "en";

/** The tag itself where `Intl` takes it, else English. */
export function localeOf(tag: unknown): string {
  try {
    return typeof tag === "string" && Intl.getCanonicalLocales(tag).length === 1 ? tag : FALLBACK;
  } catch {
    return FALLBACK;
  }
}

/** uPlot formats by `navigator.language` as it is loaded: where that is no tag it would not load at all. */
export function mendLanguage(browser: { readonly language?: string }): void {
  const locale = localeOf(browser.language);
  if (browser.language !== locale) Object.defineProperty(browser, "language", { value: locale, configurable: true });
}

/** A format in the language and the zone of the browser, or else in English and at UTC. */
export function formatOf<Format>(make: (locale?: string, timeZone?: "UTC") => Format): Format {
  try {
    return make();
  } catch {
    return make(FALLBACK, "UTC");
  }
}

const dateFormat = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  formatOf(
    (locale, timeZone) => new Intl.DateTimeFormat(locale, { ...options, ...(timeZone !== undefined && { timeZone }) }),
  );

const numberFormat = (options: Intl.NumberFormatOptions): Intl.NumberFormat =>
  formatOf((locale) => new Intl.NumberFormat(locale, options));

const numbers = numberFormat({ maximumFractionDigits: 2 });
const compact = numberFormat({ notation: "compact", maximumSignificantDigits: 3 });
const long = numberFormat({ notation: "compact", compactDisplay: "long", maximumSignificantDigits: 3 });
const hundredths = numberFormat({ minimumFractionDigits: 2, maximumFractionDigits: 2 });
const small = numberFormat({ maximumSignificantDigits: 2 });
const dates = dateFormat({ dateStyle: "medium", timeStyle: "medium" });
/** ECMA-402 lets a system without a known zone have none, or `Etc/Unknown`. */
const zone = dates.resolvedOptions().timeZone ?? "Etc/Unknown";
/** A local time says the same as one of UTC. */
export const isLocalUtc = /^(?:Etc\/)?UTC$/.test(zone);
const ago = formatOf((locale) => new Intl.RelativeTimeFormat(locale, { numeric: "auto" }));

/** Small ones keep two digits, so that no two steps of an axis read alike. */
export const countText = (count: number): string =>
  (count >= 100_000 ? compact : Math.abs(count) < 0.1 ? small : numbers).format(count);

/** `4.19 billion`. */
export const longText = (count: number): string => (count >= 1e6 ? long : numbers).format(count);

/** With every digit. */
export const wholeText = (count: number): string => numbers.format(count);

export const percentText = (share: number): string => `${numbers.format(share * 100)} %`;

/** With two digits after the point, for columns of figures. */
export const hundredthsText = (number: number): string => hundredths.format(number);

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`;

/** A time in a format, or the text itself where it is no time: every format throws at one (ECMA-262 §21.4.1.1). */
const timeText = (time: string | number, format: (date: Date) => string): string => {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? String(time) : format(date);
};

/** `3 Mar 2026, 14:05:06 (Europe/Berlin)`. */
export const localTime = (time: string | number): string =>
  timeText(time, (date) => `${dates.format(date)} (${zone === "Etc/Unknown" ? "local time" : zone})`);

export const shortTime = (time: string | number): string => timeText(time, (date) => dates.format(date));

export const utcTime = (time: string | number): string =>
  timeText(time, (date) =>
    date
      .toISOString()
      .replace("T", " ")
      .replace(/\.?0*Z$/, " UTC"),
  );

const utcDays = formatOf((locale) => new Intl.DateTimeFormat(locale, { dateStyle: "long", timeZone: "UTC" }));

/** `1 June 2026`, or with the time of the day; always of UTC, so that all who read a table read the same. */
export const timeInWords = (time: string): string =>
  timeText(time, (date) => {
    const [, clock = ""] = utcTime(date.getTime()).split(" ");
    return clock === "00:00:00"
      ? utcDays.format(date)
      : `${utcDays.format(date)}, ${clock.replace(/^(..:..):00$/, "$1")} UTC`;
  });

const [minutes, seconds] = [{}, { second: "2-digit" } as const].map((more) =>
  dateFormat({ hour: "2-digit", minute: "2-digit", hourCycle: "h23", ...more }),
);

/** Unix seconds as `14:05`, or with seconds. */
export const clockText = (at: number, hasSeconds: boolean): string =>
  timeText(at * 1000, (date) => ((hasSeconds ? seconds : minutes) ?? dates).format(date));

const days = dateFormat({ day: "numeric", month: "short" });
const daysOfYears = dateFormat({ day: "numeric", month: "short", year: "numeric" });
const DAY_MS = 86_400_000;

/** `today, 21:00`, `14 Oct`, or with the year of one that is over. */
export const dayText = (time: string, nowMs = gatewayNow()): string =>
  timeText(time, (date) => {
    const now = new Date(nowMs);
    if (date.toDateString() === now.toDateString()) return `today, ${clockText(date.getTime() / 1000, false)}`;
    const isNear = date.getFullYear() === now.getFullYear() || nowMs - date.getTime() < 180 * DAY_MS;
    return (isNear ? days : daysOfYears).format(date);
  });

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];

export const agoText = (time: string | number, nowMs = gatewayNow()): string =>
  timeText(time, (date) => {
    const secondsAhead = (date.getTime() - nowMs) / 1000;
    const [unit, length] = UNITS.find(([, each]) => Math.abs(secondsAhead) >= each) ?? ["second", 1];
    return ago.format(Math.round(secondsAhead / length), unit);
  });

const regions = formatOf((locale) => new Intl.DisplayNames(locale, { type: "region", fallback: "code" }));

/** ISO 3166-1 alpha-2 of a UN M.49 number, as CLDR has it; the number itself for an area of several countries. */
export function codeOfArea(number: string): string {
  try {
    return new Intl.Locale(`und-${number.padStart(3, "0")}`).region ?? number;
  } catch {
    return number;
  }
}

/** A name of an ISO 3166-1 code or a UN M.49 area. */
export function countryName(code: string): string {
  try {
    return regions.of(/^\d+$/.test(code) ? codeOfArea(code) : code.toUpperCase()) ?? code;
  } catch {
    return code;
  }
}

/** Two letters become a flag where the system's letters have it. */
export const flagOf = (code: string): string => (/^[A-Za-z]{2}$/.test(code) && hasFlags() ? flagText(code) : "");

const flagText = (code: string): string =>
  String.fromCodePoint(...[...code.toUpperCase()].map((letter) => 0x1f1a5 + letter.charCodeAt(0)));

let canShowFlags: boolean | undefined;

/** Without a font for them all flags are the same two boxes. */
function hasFlags(): boolean {
  if (canShowFlags !== undefined || typeof document === "undefined") return canShowFlags ?? true;
  const [first, second] = ["DE", "JP"].map((code) => {
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("2d");
    context?.fillText(flagText(code), 2, 14);
    return canvas.toDataURL();
  });
  canShowFlags = first !== second;
  return canShowFlags;
}

export const msText = (ms: number | undefined | null): string =>
  ms === undefined || ms === null ? "–" : ms >= 1000 ? `${numbers.format(ms / 1000)} s` : `${Math.round(ms)} ms`;

/** `48 s`, `48 min`, `5 h`, `3 d`: rounded down, for how long something has been so. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)} h` : `${numbers.format(Math.floor(seconds / 86_400))} d`;
}

interface SessionEnd {
  readonly expiresAt?: string | null;
  readonly endsBy?: string | null;
}

/** Such as `Ends at 22:18 if you do nothing, at 02:40 in any case.` */
export function endText({ expiresAt, endsBy }: SessionEnd): string {
  if (expiresAt == null) return "Nothing ends it here.";
  const at = (time: string): string => clockText(Date.parse(time) / 1000, false);
  if (endsBy == null || endsBy === expiresAt) return `Ends at ${at(expiresAt)} in any case.`;
  return `Ends at ${at(expiresAt)} if you do nothing, at ${at(endsBy)} in any case.`;
}
