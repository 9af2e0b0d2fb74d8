import { describe, expect, it } from "vitest";
import { aheadOf } from "../../src/console/app/clock.ts";
import {
  agoText,
  clockText,
  countryName,
  formatOf,
  localeOf,
  localTime,
  mendLanguage,
  shortTime,
  utcTime,
} from "../../src/console/app/words.ts";

describe("the language of a browser (BCP 47)", () => {
  it.each([
    ["en-US", "en-US"],
    ["de", "de"],
    ["zh-Hant-TW", "zh-Hant-TW"],
    // Well-formed and not known: `Intl` falls back by itself.
    ["xx-YY", "xx-YY"],
    ["en-US-u-va-posix", "en-US-u-va-posix"],
    ["en-US@posix", "en"],
    ["en_US", "en"],
    ["en_US.UTF-8", "en"],
    ["C", "en"],
    ["c-", "en"],
    ["", "en"],
    ["*", "en"],
    [undefined, "en"],
    [null, "en"],
    [7, "en"],
  ])("%j is read as %s", (tag, locale) => {
    expect(localeOf(tag)).toBe(locale);
    expect(() => new Intl.NumberFormat(localeOf(tag))).not.toThrow();
    const browser = { language: tag as string };
    mendLanguage(browser);
    expect(browser.language).toBe(locale);
  });

  it("is English at UTC where a format knows neither language nor zone", () => {
    const seen: unknown[] = [];
    const made = formatOf((locale, timeZone) => {
      seen.push([locale, timeZone]);
      return new Intl.DateTimeFormat(locale ?? "en-US@posix", { timeZone: timeZone ?? "Mars/Olympus" });
    });
    expect(seen).toEqual([
      [undefined, undefined],
      ["en", "UTC"],
    ]);
    expect(made.resolvedOptions()).toMatchObject({ locale: "en", timeZone: "UTC" });
  });
});

describe("times in words", () => {
  it.each(["", "soon", "2026-13-45T00:00:00Z", "+999999-01-01T00:00:00Z", Number.NaN, 8.64e15 + 1])(
    "%j is no time, and is shown as it is",
    (time) => {
      for (const text of [localTime, shortTime, utcTime, agoText]) expect(text(time)).toBe(String(time));
    },
  );

  it("has times as far as dates reach (ECMA-262 §21.4.1.1)", () => {
    for (const time of [0, 8.64e15, -8.64e15])
      for (const text of [localTime, shortTime, utcTime, agoText]) expect(text(time)).not.toBe("");
    expect(clockText(0, true)).toMatch(/^\d\d:\d\d:\d\d$/);
    expect(clockText(1e300, false)).not.toBe("");
  });
});

it.each([
  ["KZ", "Kazakhstan"],
  ["kz", "Kazakhstan"],
  ["398", "Kazakhstan"],
  ["", ""],
  ["K", "K"],
  ["K@", "K@"],
  ["99999", "99999"],
])("the country %j is %s", (code, name) => expect(countryName(code)).toBe(name));

const BROWSER_MS = Date.parse("2026-11-28T12:00:00Z");
const HOUR_MS = 3_600_000;

it.each([
  ["a clock that is right", new Date(BROWSER_MS).toUTCString(), 0],
  ["a second on the way", new Date(BROWSER_MS - 1_000).toUTCString(), 0],
  ["a browser that is two hours behind", new Date(BROWSER_MS + 2 * HOUR_MS).toUTCString(), 2 * HOUR_MS],
  ["a browser of the next day", new Date(BROWSER_MS - 24 * HOUR_MS).toUTCString(), -24 * HOUR_MS],
  ["no field", null, undefined],
  ["no date", "soon", undefined],
])("the gateway's clock is ahead by so many ms: %s", (_, date, aheadMs) => {
  expect(aheadOf(date, BROWSER_MS)).toBe(aheadMs);
});
