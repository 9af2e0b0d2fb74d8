import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { editJson } from "../../../src/cli/lib/json-edit.ts";
import { plainJson } from "../../../src/routing/schema/json-scanner.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { runs } from "../../setup/property-runs.ts";
import { waybill } from "../fake-runtime.ts";
import { MemoryFiles } from "../memory-files.ts";

const parse = (text: string) => JSON.parse(plainJson(text.replace(/^\ufeff/, "")));

/** The comments of a text that name an entry, by their words: `// of x 3` and `/* of x 3 *​/`. */
const notes = (text: string): readonly string[] => [...text.matchAll(/of (\w+) \d+/g)].map(([note]) => note).sort();

interface Shape {
  readonly eol: string;
  readonly mark: string;
  /** Between a brace and an entry, and between entries, before the indent. */
  readonly isSpread: (of: "root" | "part", at: number) => boolean;
  readonly note: (of: string, place: "above" | "before-comma" | "behind", isLast: boolean) => string;
  readonly hasLastComma: boolean;
  readonly indent: string;
}

/** Writes a table of the shape. A line comment is always followed by a line end. */
const textOf = (table: Readonly<Record<string, unknown>>, shape: Shape): string => {
  const objectText = (members: Readonly<Record<string, unknown>>, of: "root" | "part"): string => {
    const indent = of === "root" ? shape.indent : shape.indent.repeat(2);
    const names = Object.keys(members);
    let text = "{";
    let isOpen = false;
    const add = (part: string) => {
      if (part === "") return;
      text += (isOpen && !part.startsWith(shape.eol) ? shape.eol : "") + part;
      isOpen = /^ *\/\//.test(part);
    };
    for (const [at, name] of names.entries()) {
      const isLast = at === names.length - 1;
      if (shape.isSpread(of, at)) add(shape.eol + indent);
      else add(" ");
      const above = shape.note(name, "above", isLast);
      // On the line of another entry, a line comment belongs to that one.
      if (above !== "" && (shape.isSpread(of, at) || !above.startsWith("//"))) {
        add(above);
        add(shape.isSpread(of, at) ? shape.eol + indent : " ");
      }
      const value = members[name];
      const isPart = of === "root" && ["moves", "moved", "gone"].includes(name);
      add(`${JSON.stringify(name)}: ${isPart ? objectText(value as typeof members, "part") : JSON.stringify(value)}`);
      const before = shape.note(name, "before-comma", isLast);
      // A comma cannot follow a line comment on its line.
      if (before.startsWith("/*")) add(` ${before}`);
      if (!isLast || shape.hasLastComma) add(",");
      // On one line a comment behind the comma belongs to what follows.
      const behind = shape.note(name, "behind", isLast);
      if (behind.startsWith("//") || (behind !== "" && (isLast || shape.isSpread(of, at + 1)))) add(` ${behind}`);
    }
    add(shape.isSpread(of, names.length) ? shape.eol + indent.slice(shape.indent.length) : " ");
    add("}");
    return text;
  };
  return `${shape.mark + objectText(table, "root")}\n`.replace(/\r?\n/g, shape.eol);
};

let counter = 0;
const noteOf = (style: string, of: string): string => {
  counter += 1;
  if (style === "line") return `// of ${of} ${counter} "x": {`;
  if (style === "block") return `/* of ${of} ${counter}, } */`;
  return style === "long" ? `/* of ${of} ${counter}\n  // , "a": 1 */` : "";
};

const styles = ["", "line", "block", "long"] as const;

/** Every choice by its index in a list of random numbers. */
const shapes = fc
  .record({
    eol: fc.constantFrom("\n", "\r\n"),
    mark: fc.constantFrom("", "\ufeff"),
    indent: fc.constantFrom("  ", "\t", ""),
    hasLastComma: fc.boolean(),
    lines: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
    notes: fc.array(fc.constantFrom(...styles), { minLength: 9, maxLength: 9 }),
  })
  .map(({ lines, notes: chosen, ...shape }): Shape => {
    const places = ["above", "before-comma", "behind"];
    return {
      ...shape,
      isSpread: (of, at) => lines[(of === "root" ? 0 : 6) + (at % 6)] === true,
      note: (of, place) => noteOf(chosen[(of.length + of.charCodeAt(0) + places.indexOf(place) * 4) % 9] ?? "", of),
    };
  });

const table = { a: 1, moved: { x: "eu", y: "us", zz: "ap" }, moves: {}, default: "eu" };

type Edits = ReadonlyMap<string, unknown>;

const edits = (parts: Readonly<Record<string, unknown>>): Edits =>
  new Map(
    Object.entries(parts).map(([part, edit]) => [
      part,
      typeof edit === "object" ? new Map(Object.entries(edit ?? {})) : edit,
    ]),
  );

const steps: readonly (readonly [string, Edits, removed: readonly string[]])[] = [
  ["adds to a part", edits({ moved: { w: "eu" } }), []],
  ["adds a part", edits({ gone: { w: { epoch: 1 } } }), []],
  ["adds a number", edits({ epochFloor: 3 }), []],
  ["changes an entry", edits({ moved: { y: { region: "eu", epoch: 2 } } }), []],
  ["removes the first", edits({ moved: { x: undefined } }), ["x"]],
  ["removes one between", edits({ moved: { y: undefined } }), ["y"]],
  ["removes the last", edits({ moved: { zz: undefined } }), ["zz"]],
  ["removes two", edits({ moved: { x: undefined, y: undefined } }), ["x", "y"]],
  ["removes all", edits({ moved: { x: undefined, y: undefined, zz: undefined } }), ["x", "y", "zz"]],
  ["takes one elsewhere", edits({ moved: { y: undefined }, moves: { y: { epoch: 3 } } }), []],
  ["takes one to a new part", edits({ moved: { zz: undefined }, gone: { zz: { epoch: 3 } } }), []],
];

const meant = (changes: Edits): unknown => {
  const after: Record<string, unknown> = { ...table };
  for (const [part, edit] of changes) {
    if (!(edit instanceof Map)) after[part] = edit;
    else {
      const members = new Map(Object.entries({ ...(after[part] ?? {}) }));
      for (const [key, value] of edit) value === undefined ? members.delete(key) : members.set(key, value);
      after[part] = Object.fromEntries(members);
    }
  }
  return after;
};

/** Without empty parts. */
const filled = (value: object) =>
  Object.entries(value)
    .filter(([, part]) => Object.keys(Object(part)).length > 0 || typeof part !== "object")
    .sort();

describe("a text with comments, commas and line ends at any place", () => {
  it.each(steps)("%s", (_, changes, removed) => {
    fc.assert(
      fc.property(shapes, (shape) => {
        const text = textOf(table, shape);
        expect(parse(text)).toEqual(table);
        const edited = editJson(text, changes);
        expect(filled(parse(edited.text))).toEqual(filled(meant(changes) as object));
        expect(edited.text.startsWith("\ufeff")).toBe(shape.mark !== "");
        const goes = (note: string) => removed.some((key) => note.startsWith(`of ${key} `));
        expect(notes(edited.text), text + edited.text).toEqual(notes(text).filter((note) => !goes(note)));
        expect(edited.removed.flatMap(notes).sort()).toEqual(notes(text).filter(goes));
        // Again and again.
        const again = editJson(edited.text, edits({ moved: { w2: "eu", zz: undefined } }));
        expect(parse(again.text).moved).toHaveProperty("w2", "eu");
        if (shape.eol === "\r\n") expect(edited.text).not.toMatch(/[^\r]\n/);
      }),
      { numRuns: runs(60) },
    );
  });

  it("every comment stays beside its own entry", () => {
    const text = `{
  "moved": {
    "ID1": "eu", // ticket 42
    "ID2": "us" // aborted
  }
}
`;
    const finish = (id: string) => editJson(text, new Map([["moved", new Map([[id, undefined]])]]));
    expect(finish("ID2")).toEqual({
      text: text.replace(/,( \/\/ ticket 42)\n.*aborted/, "$1"),
      removed: ["// aborted"],
    });
    expect(finish("ID1")).toEqual({ text: text.replace(/ {4}"ID1".*\n/, ""), removed: ["// ticket 42"] });
  });

  it.each([
    [
      "a line comment in front of the comma",
      '{ "p": { "a": 1 // of a\n , "b": 2 // of b\n , "c": 3 } }',
      '{ "p": { "a": 1, // of a\n  "c": 3 } }',
    ],
    [
      "a blank line",
      '{ "p": {\n  "a": 1,\n\n  // section\n\n  // of b\n  "b": 2,\n  "c": 3\n} }',
      '{ "p": {\n  "a": 1,\n\n  // section\n  "c": 3\n} }',
    ],
    [
      "a blank line before the last",
      '{ "p": {\n  "a": 1,\n  // section\n\n  "b": 2\n} }',
      '{ "p": {\n  "a": 1\n  // section\n} }',
    ],
    ["entries on one line", '{"p":{"a":1,/* of b */"b":2/* too */,"c":3}}', '{"p":{"a":1,"c":3}}'],
  ])("%s: what is removed is b alone", (_, text, after) => {
    expect(editJson(text, new Map([["p", new Map([["b", undefined]])]])).text).toBe(after);
  });

  it("keeps the comments of a part that it empties", () => {
    const text = '{\n  // who moved\n  "moved": { // one\n    "x": "eu"\n  }\n}';
    expect(editJson(text, new Map([["moved", new Map([["x", undefined]])]])).text).toBe(
      text.replace('\n    "x": "eu"', ""),
    );
  });
});

const ORDER = "01990f04-d900-8005-8040-000000000001";

/** `{` and the first key share a line; the last entry ends in a comment. */
const compact = (last: string): string =>
  `{ ${JSON.stringify(DECLARED_TABLE)
    .slice(1, -1)
    .replaceAll(/,"(?=routes|entities)/g, ',\n  "')},\n  "default": "eu"${last}\n}\n`;

describe.each([" // all others", ", // all others", " /* all */ // others", "\r", " // all others\r"])(
  "a table that ends with %j",
  (last) => {
    it("has in force what each step of a move says", async () => {
      const files = MemoryFiles.of({ "routing-table.json": compact(last) });
      const move = (...args: readonly string[]) => waybill(["move", ...args], { files });
      const inForce = async () => (await move("status", ORDER)).stdout;
      for (const args of [
        ["start", ORDER, "--to", "us"],
        ["fence", ORDER],
        ["switch", ORDER],
        ["gone", ORDER],
      ]) {
        const { stdout, code } = await move(...args);
        expect(code).toBe(0);
        expect(await inForce()).toBe(stdout);
      }
      expect(files.text("routing-table.json").match(/\/\/.*|\/\*.*?\*\//g)).toEqual(
        compact(last).match(/\/\/.*|\/\*.*?\*\//g),
      );
    });
  },
);
