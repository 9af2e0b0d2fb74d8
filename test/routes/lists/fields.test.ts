import { describe, expect, it } from "vitest";
import { nextOfLink } from "../../../src/features/lists/serve/link-header.ts";
import { comparePositions, positionOf } from "../../../src/features/lists/serve/order.ts";
import { timeMs } from "../../../src/features/lists/table/time.ts";

describe("the next link (RFC 8288 §3 and appendix B)", () => {
  it.each<[string, string, string | null | undefined]>([
    ["no link", "", undefined],
    ["a quoted relation", '</a>; rel="next"', "/a"],
    ["a token", "</a>;rel=next", "/a"],
    ["upper case (§2.1.1)", '</a>; REL="NEXT"', "/a"],
    ["several relations", '</a>; rel="prev  next\tlast"', "/a"],
    ["a longer name", '</a>; rel="nextpage next-archive"', undefined],
    ["another parameter's value", '</a>; title="; rel=next"; rel="prev"', undefined],
    ["a quoted comma and link", '</a>; title=", </b>; rel=next"; rel=prev', undefined],
    ["an escaped quote", '</a>; title="\\"; rel=next; x=\\""; rel=prev', undefined],
    ["an escape in the relation", '</a>; rel="n\\ext"', "/a"],
    ["a comma in a target", "</a?x=1,2>; rel=next, </b>; rel=last", "/a?x=1,2"],
    ["a semicolon in a target", "</a;rel=prev>; rel=next", "/a;rel=prev"],
    ["a second relation, which does not count (§3.3)", "</a>; rel=prev; rel=next", undefined],
    ["a reverse relation (§3.3)", "</a>; rev=next", undefined],
    ["an extended parameter (RFC 8187)", "</a>; title*=UTF-8'en'%2c%3b; rel=next", "/a"],
    ["a relation with a star", "</a>; rel*=UTF-8''next", undefined],
    ["parameters without a value", "</a>; x; rel=next; y=", "/a"],
    ["empty parameters", "</a>;; ;rel=next;", "/a"],
    ["spaces around the equals sign", '</a> ; rel = "next"', "/a"],
    ["empty elements (RFC 9110 §5.6.1.2)", " , ,</a>; rel=next, ,", "/a"],
    ["the second link", '</a>; rel="prev", </b>; rel="next", </c>; rel="last"', "/b"],
    ["a link of another resource (§3.2)", '</a>; rel=next; anchor="/other"', undefined],
    ["a link of the resource itself", '</a>; rel=next; anchor=""', "/a"],
    ["the same target twice", "</a>; rel=next, </a>; rel=next", "/a"],
    ["two targets", "</a>; rel=next, </b>; rel=next", null],
    ["no angle brackets", "/a; rel=next", null],
    ["a target without an end", "</a; rel=next", null],
    ["a quote without an end", '</a>; rel="next', null],
    ["more behind a quoted string", '</a>; rel="next" x', null],
  ])("%s: %s", (_, field, next) => {
    expect(nextOfLink(field)).toBe(next);
  });

  it("is read in linear time", () => {
    const long = " ".repeat(100_000);
    for (const field of [`<a>; x=${long}y`, `<a>;${long}=y`, `<a>${long}x`, `<a>; x="${"\\".repeat(100_001)}`]) {
      nextOfLink(field);
    }
  });
});

const order = { path: ["at"], type: "time", isDescending: false, hasDecimalIds: false } as const;

describe("a number as a key (RFC 8259 §6)", () => {
  const ASCENDING = [
    "-1e400",
    "-9007199254740994",
    "-9007199254740993",
    "-10.5",
    "-10",
    "-1.5",
    "-0.55",
    "-0.5",
    "-0.05",
    "-1e-400",
    "0",
    "1e-400",
    "0.05",
    "0.1",
    "0.1000000000000000000000000000001",
    "0.11",
    "1",
    "9.99",
    "10",
    "99",
    "100",
    "9007199254740992",
    "9007199254740992.5",
    "9007199254740993",
    "18446744073709551616",
    "1e400",
  ];

  it("has one order with all its digits", () => {
    for (const [at, one] of ASCENDING.entries()) {
      for (const [other, later] of ASCENDING.entries()) {
        const [a, b] = [one, later].map((text) => positionOf(text, "x", "number"));
        if (!a || !b) throw new Error(`${one} or ${later} is none`);
        expect(Math.sign(comparePositions(a, b, order)), `${one} and ${later}`).toBe(Math.sign(at - other));
      }
    }
  });

  it.each([
    ["0", "-0.0"],
    ["0", "0e9"],
    ["1", "1.000"],
    ["1e3", "1000"],
    ["0.001", "1E-3"],
    ["-12.5e+1", "-125"],
    ["100000000000000000000", "1e20"],
  ])("%s is %s", (one, other) => {
    const [a, b] = [one, other].map((text) => positionOf(text, "x", "number")?.key);
    expect([a === undefined, a]).toEqual([false, b]);
  });

  it.each(["", "01", "+1", ".5", "5.", "1e", "0x1", "Infinity", "NaN", " 1", "1 ", "1_0", "1e9999999999"])(
    "%j is none",
    (text) => {
      expect(positionOf(text, "x", "number")).toBeUndefined();
    },
  );

  it("is as doubles are, where these are exact", () => {
    const numbers = Array.from(
      { length: 60 },
      (_, at) => (at % 2 === 0 ? 1 : -1) * (at * 7919.125) ** (at % 5) * 2 ** ((at % 40) - 20),
    );
    for (const one of numbers) {
      for (const other of numbers) {
        const [a, b] = [one, other].map((number) => positionOf(String(number), "x", "number"));
        if (a && b) expect(Math.sign(comparePositions(a, b, order))).toBe(Math.sign(one - other));
      }
    }
  });
});

describe("a time as a key (RFC 3339 §5.6)", () => {
  /** From the earliest to the latest. */
  const ASCENDING = [
    "0000-01-01T00:00:00+23:59",
    "0000-01-01T00:00:00Z",
    "0099-12-31T23:59:59Z",
    "1969-12-31T23:59:59.9Z",
    "1970-01-01T00:00:00Z",
    "2000-02-29T00:00:00Z",
    "2015-06-30T23:59:59.999Z",
    "2015-06-30T23:59:60Z",
    "2015-07-01T00:00:00Z",
    "2016-12-31T23:59:59.9999999999Z",
    "2016-12-31T15:59:60-08:00",
    "2016-12-31T23:59:60.5Z",
    "2016-12-31T23:59:60.50000000000000000001Z",
    "2017-01-01T00:00:00Z",
    "2017-01-01T00:00:00.000000000000000000000000001Z",
    "2017-01-01T00:00:00.09Z",
    "2017-01-01T00:00:00.1Z",
    "9999-12-31T23:59:59Z",
    "9999-12-31T23:59:59-23:59",
  ];

  it("has one order with all its digits", () => {
    const positions = ASCENDING.map((text) => positionOf(text, "x", "time"));
    for (const [at, position] of positions.entries()) {
      expect(position, ASCENDING[at]).toBeDefined();
      for (const [other, later] of positions.entries()) {
        if (position && later) expect(Math.sign(comparePositions(position, later, order))).toBe(Math.sign(at - other));
      }
    }
  });

  it.each([
    ["2017-01-01T00:00:00Z", "2017-01-01T00:00:00.000Z"],
    ["2017-01-01T00:00:00Z", "2017-01-01t00:00:00z"],
    ["2017-01-01T00:00:00Z", "2017-01-01T00:00:00-00:00"],
    ["2017-01-01T00:00:00Z", "2017-01-01T05:30:00+05:30"],
    ["2016-12-31T23:59:60Z", "2017-01-01T05:29:60+05:30"],
  ])("%s is %s", (one, other) => {
    const [a, b] = [one, other].map((text) => positionOf(text, "x", "time"));
    expect(a?.key).toBe(b?.key);
    expect(timeMs(one)).toBe(timeMs(other));
  });

  it.each([
    "2026-02-30T00:00:00Z",
    "2026-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T00:60:00Z",
    "2026-01-01T00:00:61Z",
    // §5.7: no leap second stands there.
    "2016-12-31T23:58:60Z",
    "2016-12-31T22:59:60Z",
    "2016-12-30T23:59:60Z",
    "2016-12-31T23:59:60-08:00",
    "2026-01-01T00:00:00",
    "2026-01-01T00:00Z",
    "2026-01-01T00:00:00.Z",
    "2026-01-01T00:00:00,5Z",
    "2026-01-01T00:00:00+24:00",
    "2026-01-01T00:00:00+01:60",
    "2026-01-01T00:00:00+0100",
    "2026-01-01T00:00:00+01",
    "2026-01-01 00:00:00Z",
    "2026-1-1T00:00:00Z",
    "+002026-01-01T00:00:00Z",
    "2026-01-01",
    "2026-W01-1T00:00:00Z",
    " 2026-01-01T00:00:00Z",
    "2026-01-01T00:00:00Z\n",
    "\u0662\u0660\u0662\u0666-01-01T00:00:00Z",
    "",
  ])("%j is none", (text) => {
    expect(positionOf(text, "x", "time")).toBeUndefined();
    expect(timeMs(text)).toBeUndefined();
  });

  it("agrees with the platform on all that it reads alike", () => {
    for (let ms = -62_167_219_200_000; ms < 253_402_300_800_000; ms += 86_399_123_457) {
      const text = new Date(ms).toISOString();
      expect(timeMs(text)).toBe(ms);
    }
  });
});
