import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changedLines } from "../../src/console/routing/lines.ts";
import { type Edit, editText } from "../../src/formats/console/edit.ts";
import { runs } from "../setup/property-runs.ts";

const TEXT = `{
  // why
  "regions": {
    "eu": { "origins": [{ "url": "https://eu", "weight": 1 }] }, // home
    "us": { "origins": [{ "url": "https://us" }] } // far
  },
  "routes": [
    { "when": { "country": ["KZ", "UZ"] }, "region": "us" }, // first
    { "when": {}, "region": "eu" }
  ]
}
`;

const changed = (edits: readonly Edit[], text = TEXT) => editText(text, edits).split("\n");
const lines = TEXT.split("\n");

describe("one value of a table's text", () => {
  it("is replaced where it stands", () => {
    const after = changed([{ path: ["routes", 0, "region"], value: "eu" }]);
    expect(after).toEqual(lines.with(7, '    { "when": { "country": ["KZ", "UZ"] }, "region": "eu" }, // first'));
  });

  it("comes to a list in the middle, and to the end", () => {
    const route = { when: { country: "IN" }, region: "us" };
    const text = '    { "when": { "country": "IN" }, "region": "us" }';
    expect(changed([{ path: ["routes", 1], value: route, isInsert: true }])).toEqual(lines.toSpliced(8, 0, `${text},`));
    expect(changed([{ path: ["routes", 2], value: route, isInsert: true }])).toEqual(
      lines.toSpliced(8, 1, `${lines[8]},`, text),
    );
  });

  it("comes to an object behind the last one's comment", () => {
    const after = changed([{ path: ["regions", "ap"], value: { origins: [{ url: "https://ap" }] } }]);
    expect(after).toEqual(
      lines.toSpliced(
        4,
        1,
        '    "us": { "origins": [{ "url": "https://us" }] }, // far',
        '    "ap": { "origins": [{ "url": "https://ap" }] }',
      ),
    );
  });

  it("comes with the parents that it needs", () => {
    expect(changed([{ path: ["countries", "IN"], value: 11 }])).toEqual(
      lines.toSpliced(9, 1, "  ],", '  "countries": {', '    "IN": 11', "  }"),
    );
  });

  it("goes with its line and its comment, and leaves those of others", () => {
    expect(changed([{ path: ["routes", 0], value: undefined }])).toEqual(lines.toSpliced(7, 1));
    expect(changed([{ path: ["routes", 1], value: undefined }])).toEqual(
      lines.toSpliced(7, 2, '    { "when": { "country": ["KZ", "UZ"] }, "region": "us" } // first'),
    );
    expect(changed([{ path: ["regions", "eu", "origins", 0, "weight"], value: undefined }])).toEqual(
      lines.with(3, '    "eu": { "origins": [{ "url": "https://eu" }] }, // home'),
    );
    expect(changed([{ path: ["routes", 0, "when", "country", 0], value: undefined }])).toEqual(
      lines.with(7, '    { "when": { "country": ["UZ"] }, "region": "us" }, // first'),
    );
  });

  it("keeps the way of a text without spaces, and its line ends", () => {
    expect(editText('{"a":[]}', [{ path: ["a", 0], value: { b: [1, 2] } }])).toBe('{"a":[{"b":[1,2]}]}');
    expect(editText('{\r\n  "a": 1\r\n}', [{ path: ["b"], value: 2 }])).toBe('{\r\n  "a": 1,\r\n  "b": 2\r\n}');
  });

  it("stands before a trailing comma", () => {
    expect(editText('{ "a": [1, 2,] }', [{ path: ["a", 2], value: 3 }])).toBe('{ "a": [1, 2, 3,] }');
    expect(editText("[\n  1, // one\n]", [{ path: [1], value: 2 }])).toBe("[\n  1, // one\n  2,\n]");
  });

  it("throws for what is no JSON", () => {
    expect(() => editText("", [{ path: ["a"], value: 1 }])).toThrow();
    expect(() => editText('{ "a": ', [{ path: ["a"], value: 1 }])).toThrow();
  });

  it("says what was asked, in any text", () => {
    const value = fc.jsonValue({ maxDepth: 2, depthSize: "small" }).filter((one) => one !== null);
    const list = fc.array(value, { maxLength: 4 });
    const indent = fc.constantFrom(undefined, 1, 2, "\t");
    fc.assert(
      fc.property(list, value, fc.nat(4), indent, fc.boolean(), (items, next, at, space, isInsert) => {
        const place = Math.min(at, items.length);
        const text = JSON.stringify({ a: items, b: 1 }, null, space);
        const edited = editText(text, [{ path: ["a", place], value: next, isInsert }]);
        const wanted = isInsert ? items.toSpliced(place, 0, next) : items.toSpliced(place, 1, next);
        expect(JSON.parse(edited)).toEqual(JSON.parse(JSON.stringify({ a: wanted, b: 1 })));
        const emptied = editText(edited, [{ path: ["a", place], value: undefined }]);
        expect(JSON.parse(emptied)).toEqual(JSON.parse(JSON.stringify({ a: wanted.toSpliced(place, 1), b: 1 })));
      }),
      { numRuns: runs(100) },
    );
  });
});

describe("lines that differ", () => {
  it.each([
    ["a\nb\nc", "a\nb\nc", 0],
    ["a\nb\nc", "a\nB\nc", 1],
    ["a\nb\nc", "a\nb\nx\nc", 1],
    ["a\nb\nc", "b\na\nc", 1],
    ["a\nb\nc\nd", "a\nd", 2],
    ["", "a\nb", 2],
  ])("%j and %j: %i", (before, after, count) => {
    expect(changedLines(before, after)).toBe(count);
  });
});
