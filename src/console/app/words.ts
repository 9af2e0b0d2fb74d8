/** Numbers, times and countries in the language of the browser. */

const numbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumSignificantDigits: 3 });
const small = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 2 });
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const ago = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });

/** Small ones keep two digits, so that no two steps of an axis read alike. */
export const countText = (count: number): string =>
  (count >= 100_000 ? compact : Math.abs(count) < 0.1 ? small : numbers).format(count);

/** With every digit. */
export const wholeText = (count: number): string => numbers.format(count);

export const percentText = (share: number): string => `${numbers.format(share * 100)} %`;

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`;

/** `3 Mar 2026, 14:05:06 (Europe/Berlin)`. */
export const localTime = (time: string | number): string => `${dates.format(new Date(time))} (${zone})`;

export const shortTime = (time: string | number): string => dates.format(new Date(time));

export const utcTime = (time: string | number): string =>
  new Date(time)
    .toISOString()
    .replace("T", " ")
    .replace(/\.?0*Z$/, " UTC");

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];

export function agoText(time: string | number, nowMs = Date.now()): string {
  const seconds = (new Date(time).getTime() - nowMs) / 1000;
  const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1];
  return ago.format(Math.round(seconds / length), unit);
}

const regions = new Intl.DisplayNames(undefined, { type: "region", fallback: "code" });

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
