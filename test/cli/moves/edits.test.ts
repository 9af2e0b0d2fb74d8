import { describe, expect, it } from "vitest";
import { editJson } from "../../../src/cli/lib/json-edit.ts";

const edit = (text: string, edits: Readonly<Record<string, unknown>>, part = "moved") =>
  editJson(text, new Map([[part, new Map(Object.entries(edits))]])).text;

const TABLE = `{
    "a": [1,   2],

    "moved": {
        "x": "eu", "y":   "us",
        "z": { "region": "ap",
               "epoch": 3 }
    },
    "last":true
}
`;

describe("edits of a table's text", () => {
  it("change what they name, and no other character", () => {
    expect(edit(TABLE, { y: { region: "eu", epoch: 1 } })).toBe(
      TABLE.replace('"y":   "us"', '"y":   { "region": "eu", "epoch": 1 }'),
    );
    expect(edit(TABLE, { x: undefined })).toBe(TABLE.replace('"x": "eu", ', ""));
    expect(edit(TABLE, { y: undefined })).toBe(TABLE.replace(', "y":   "us"', ""));
    expect(edit(TABLE, { z: undefined })).toBe(TABLE.replace(/,\s*"z":[^}]*\}/, ""));
    expect(edit(TABLE, { other: undefined })).toBe(TABLE);
    expect(edit(TABLE, { other: undefined }, "gone")).toBe(TABLE);
    expect(edit(TABLE, {})).toBe(TABLE);
  });

  it("add entries at the end, on lines of their own", () => {
    expect(edit(TABLE, { w: "eu", v: "us" })).toBe(
      TABLE.replace(/("epoch": 3 \})/, '$1,\n        "w": "eu",\n        "v": "us"'),
    );
  });

  it("make a part and remove it again", () => {
    const made = edit(TABLE, { w: { epoch: 1 } }, "gone");
    expect(made).toBe(TABLE.replace('"last":true', '"last":true,\n    "gone": {\n        "w": { "epoch": 1 }\n    }'));
    expect(edit(made, { w: undefined }, "gone")).toBe(TABLE);
    expect(edit(TABLE, { x: undefined, y: undefined, z: undefined })).toBe(
      TABLE.replace(/\s*"moved"[\s\S]*\},(?=\s*"last")/, ""),
    );
  });

  it("give a part on one line more of them when it grows, not when it shrinks", () => {
    const table = '{\n\t"moved": { "x": "eu", "y": "us" }\n}\n';
    expect(edit(table, { x: undefined })).toBe('{\n\t"moved": { "y": "us" }\n}\n');
    expect(edit(table, { z: "ap" })).toBe('{\n\t"moved": {\n\t\t"x": "eu",\n\t\t"y": "us",\n\t\t"z": "ap"\n\t}\n}\n');
    expect(edit('{\n\t"moved": {}\n}', { z: "ap" })).toBe('{\n\t"moved": {\n\t\t"z": "ap"\n\t}\n}');
  });

  it("keep comments and trailing commas with their entries", () => {
    const table = `{
  // the table
  "moved": { // who moved
    "x": "eu", // first
    "y": "us" // last
  },
}
`;
    expect(edit(table, { z: "ap", w: "eu" })).toBe(
      table.replace('"us" // last', '"us", // last\n    "z": "ap",\n    "w": "eu"'),
    );
    expect(edit(table, { x: "ap" })).toBe(table.replace('"x": "eu"', '"x": "ap"'));
    expect(edit(table, { z: { epoch: 1 } }, "gone")).toBe(
      table.replace("  },\n}", '  },\n  "gone": {\n    "z": { "epoch": 1 }\n  },\n}'),
    );
    const trailing = '{\n  "moved": {\n    "x": "eu", // only\n  },\n}';
    expect(edit(trailing, { y: "us" })).toBe('{\n  "moved": {\n    "x": "eu", // only\n    "y": "us",\n  },\n}');
  });

  it("keep line ends of two characters, and tables on one line", () => {
    const crlf = '{\r\n  "a": 1\r\n}\r\n';
    expect(edit(crlf, { x: "eu" })).toBe('{\r\n  "a": 1,\r\n  "moved": {\r\n    "x": "eu"\r\n  }\r\n}\r\n');
    expect(edit('{"a":1}', { x: { region: "eu", epoch: 2 } })).toBe('{"a":1,"moved":{"x":{"region":"eu","epoch":2}}}');
    expect(edit('{"moved":{"x":"eu"}}\n', { y: "us" })).toBe('{"moved":{"x":"eu","y":"us"}}\n');
    expect(edit('{ "a": 1 }', { x: "eu" })).toBe('{ "a": 1, "moved": { "x": "eu" } }');
  });
});
