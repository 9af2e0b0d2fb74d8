import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  everyLayout,
  explainUuid,
  formatUuid,
  parseUuid,
  readUuid,
  recognise,
  uuid,
  uuidKind,
} from "../../../src/ids/index.ts";
import { writeUuid } from "../../../src/ids/text/uuid.ts";
import { runs } from "../../setup/property-runs.ts";
import { anyDamage, anyWords } from "../arbitraries.ts";

const TEXT = "0192f0c1-7a30-8005-8040-8f3b2a1c9d77";
const WORDS = [0x0192f0c1, 0x7a308005, 0x80408f3b, 0x2a1c9d77];
const STRICT = /^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$/;

const putAt = (text: string, at: number, insert: string): string =>
  text.slice(0, at) + insert + text.slice(at + insert.length);

test("written as codes, the text is the same, and nothing beside it", () => {
  fc.assert(
    fc.property(anyWords(), (words) => {
      const target = new Uint8Array(38);
      writeUuid([7, ...words], 1, target, 1);
      expect(String.fromCharCode(...target)).toBe(`\0${formatUuid(words)}\0`);
    }),
  );
});

describe("reading", () => {
  test("in either case", () => {
    expect(readUuid(TEXT, 0, 36)).toEqual(WORDS);
    expect(readUuid(TEXT.toUpperCase(), 0, 36)).toEqual(WORDS);
  });

  // Code units one by one: fast-check takes a second to prepare its own kind of text.
  const anyText = fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units));

  test("at any offset of a longer text", () => {
    fc.assert(
      fc.property(anyWords(), anyText, anyText, (words, before, after) => {
        const text = before + formatUuid(words) + after;
        expect(readUuid(text, before.length, before.length + 36)).toEqual(words);
      }),
    );
  });

  test.each([
    [0, 35],
    [0, 37],
    [1, 37],
    [-1, 35],
    [36, 72],
    [36, 0],
    [Number.NaN, Number.NaN],
    [Number.NEGATIVE_INFINITY, 36],
  ])("nothing from %d to %d", (start, end) => {
    expect(readUuid(TEXT, start, end)).toBeUndefined();
  });

  test("nothing that reaches out of the text, though all that is inside is right", () => {
    expect(readUuid(TEXT.slice(0, 35), 0, 36)).toBeUndefined();
    expect(readUuid(TEXT.slice(1), -1, 35)).toBeUndefined();
  });

  test("every 16-bit unit at every place, hexadecimal digits and hyphens aside, is refused", () => {
    const wrong = Array.from({ length: 36 }, (_, at) => at).flatMap((at) => {
      const before = TEXT.slice(0, at);
      const after = TEXT.slice(at + 1);
      const expected = TEXT[at] === "-" ? /-/ : /[0-9A-Fa-f]/;
      return Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(
        (unit) => (readUuid(before + unit + after, 0, 36) !== undefined) !== expected.test(unit),
      );
    });
    expect(wrong).toEqual([]);
  });

  test("agrees with a regular expression on damaged texts", () => {
    const damaged = anyWords().chain((words) => anyDamage(formatUuid(words)));
    fc.assert(
      fc.property(damaged, (text) => {
        expect(readUuid(text, 0, text.length) !== undefined).toBe(STRICT.test(text));
        expect(parseUuid(text).ok).toBe(STRICT.test(text));
      }),
      { numRuns: runs(500) },
    );
  });
});

test("formatting is the inverse of reading and makes lower case", () => {
  fc.assert(
    fc.property(anyWords(), (words) => {
      const text = formatUuid(words);
      expect(text).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect(readUuid(text, 0, 36)).toEqual(words);
    }),
    { numRuns: runs(500) },
  );
});

describe("explaining", () => {
  test.each([
    ["nothing", "", { reason: "empty" }],
    ["a space in front", ` ${TEXT}`, { reason: "whitespace", at: 0 }],
    ["a line feed behind", `${TEXT}\n`, { reason: "whitespace", at: 36 }],
    ["a byte order mark", `\ufeff${TEXT}`, { reason: "whitespace", at: 0 }],
    ["a no-break space inside", putAt(TEXT, 3, "\u00a0"), { reason: "whitespace", at: 3 }],
    ["NUL", putAt(TEXT, 7, "\0"), { reason: "alphabet", at: 7 }],
    ["the letter g", putAt(TEXT, 35, "g"), { reason: "alphabet", at: 35 }],
    ["a full-width digit", putAt(TEXT, 0, "\uff10"), { reason: "alphabet", at: 0 }],
    ["a full-width letter", putAt(TEXT, 0, "\uff41"), { reason: "alphabet", at: 0 }],
    ["an Arabic digit", putAt(TEXT, 1, "\u0661"), { reason: "alphabet", at: 1 }],
    ["a dotless i", putAt(TEXT, 1, "\u0131"), { reason: "alphabet", at: 1 }],
    ["a long hyphen", putAt(TEXT, 8, "\u2013"), { reason: "alphabet", at: 8 }],
    ["a lone surrogate", putAt(TEXT, 9, "\ud800"), { reason: "alphabet", at: 9 }],
    ["an emoji", putAt(TEXT, 9, "\u{1f600}"), { reason: "alphabet", at: 9 }],
    ["a zero-width joiner", putAt(TEXT, 9, "\u200d"), { reason: "alphabet", at: 9 }],
    ["a unit whose low byte is a digit", putAt(TEXT, 5, "\u0130"), { reason: "alphabet", at: 5 }],
    ["an encoded hyphen", TEXT.replace("-", "%2d"), { reason: "alphabet", at: 8 }],
    ["braces", `{${TEXT}}`, { reason: "alphabet", at: 0 }],
    ["a URN", `urn:uuid:${TEXT}`, { reason: "alphabet", at: 0 }],
    ["a digit short", TEXT.slice(0, 35), { reason: "length", expected: "36", actual: 35 }],
    ["a digit long", `${TEXT}0`, { reason: "length", expected: "36", actual: 37 }],
    ["a megabyte", "a".repeat(1 << 20), { reason: "length", expected: "36", actual: 1 << 20 }],
    [
      "spaces behind that go on for ever",
      TEXT + " ".repeat(1 << 20),
      { reason: "length", expected: "36", actual: 36 + (1 << 20) },
    ],
    ["no hyphens", TEXT.replaceAll("-", ""), { reason: "shape", at: 8, suggestion: TEXT }],
    ["no hyphens, upper case", TEXT.replaceAll("-", "").toUpperCase(), { reason: "shape", at: 8, suggestion: TEXT }],
    [
      "groups of 9-3-4-4-12, as the LUUID article prints them",
      "000000231-22e-6aa1-a789-28ef27ab7c62",
      { reason: "shape", at: 8, suggestion: "00000023-122e-6aa1-a789-28ef27ab7c62" },
    ],
    ["a hyphen at the end", `${TEXT}-`, { reason: "shape", at: 36, suggestion: TEXT }],
    ["one hyphen too few and a digit too many", `${TEXT.replace("-", "0")}`, { reason: "shape", at: 8 }],
    ["hyphens only", "-".repeat(36), { reason: "shape", at: 0 }],
  ])("%s", (_name, text, error) => {
    expect(parseUuid(text)).toEqual({ ok: false, error });
  });

  test.each(["0".repeat(8), "f".repeat(8), "0192f0c1"])(
    "of a UUID that is read there is nothing to explain: %s",
    (a) => {
      const rest = a.slice(0, 4);
      expect(explainUuid(`${a}-${rest}-${rest}-${rest}-${a}${rest}`)).toBeUndefined();
    },
  );

  test("a suggestion is canonical text of the same digits", () => {
    fc.assert(
      fc.property(anyWords(), fc.uniqueArray(fc.nat(31), { maxLength: 6 }), (words, hyphensAt) => {
        const digits = formatUuid(words).replaceAll("-", "");
        const grouped = [...digits].map((digit, at) => (hyphensAt.includes(at) ? `-${digit}` : digit)).join("");
        fc.pre(!STRICT.test(grouped));
        expect(explainUuid(grouped)).toMatchObject({ reason: "shape", suggestion: formatUuid(words) });
      }),
    );
  });
});

describe("variant and version", () => {
  test.each([
    ["00000000-0000-0000-0000-000000000000", "ncs", undefined],
    ["0192f0c1-7a30-8005-7040-8f3b2a1c9d78", "ncs", undefined],
    ["0192f0c1-7a30-8005-8040-8f3b2a1c9d78", "rfc9562", 8],
    ["919108f7-52d1-4320-9bac-f847db4148a8", "rfc9562", 4],
    ["017f22e2-79b0-7cc3-b8c4-dc0c0c07398f", "rfc9562", 7],
    ["017f22e2-79b0-0cc3-bfff-dc0c0c07398f", "rfc9562", 0],
    ["017f22e2-79b0-fcc3-8fff-dc0c0c07398f", "rfc9562", 15],
    ["00000000-0000-0000-c000-000000000046", "microsoft", undefined],
    ["00000000-0000-4000-dfff-000000000046", "microsoft", undefined],
    ["00000000-0000-4000-e000-000000000046", "future", undefined],
    ["ffffffff-ffff-ffff-ffff-ffffffffffff", "future", undefined],
  ] as const)("of %s", (text, variant, version) => {
    const words = readUuid(text, 0, text.length);
    expect(uuidKind(words ?? [])).toEqual({ variant, version });
  });
});

describe("layout uuid", () => {
  const GUIDS = [
    // Made by npm guid 0.0.12 and guid-typescript 1.0.9: neither sets version or variant.
    "3f1f8ab4-19c2-0e57-f1ad-6ba2ff6a1d90",
    "c1a5e0b2-7d3e-95aa-2c8f-08f4d1f3be77",
    "00000000-0000-0000-0000-000000000000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
    TEXT,
  ];

  test.each(GUIDS)("reads every UUID text, and writes it in lower case: %s", (text) => {
    const words = uuid.parse(text.toUpperCase());
    expect(words.ok && uuid.format(words.value)).toBe(text);
  });

  test("reads what readUuid reads, and nothing else", () => {
    fc.assert(
      fc.property(anyWords(), (words) => {
        expect(uuid.parse(formatUuid(words))).toEqual({ ok: true, value: words });
      }),
    );
    expect(uuid.parse(TEXT.replaceAll("-", ""))).toMatchObject({ ok: false, error: { reason: "shape" } });
  });

  test("is a reading of its own only where no other layout fits", () => {
    const layouts = everyLayout.map((layout) => ({ layout }));
    const namesOf = (text: string) =>
      recognise(text, layouts, Date.UTC(2026, 10, 21)).readings.flatMap(({ layout, excluded }) =>
        excluded ? [] : [layout.name],
      );
    expect(namesOf("ffffffff-ffff-9fff-bfff-ffffffffffff")).toEqual(["uuid"]);
    expect(namesOf("919108f7-52d1-4320-9bac-f847db4148a8")).not.toContain("uuid");
  });
});
