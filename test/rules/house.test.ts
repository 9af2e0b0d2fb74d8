import { describe, expect, it } from "vitest";
import { passedBy, WARM } from "./coverage.ts";
import { EXCEPTIONS } from "./functions/exceptions.ts";
import { functionFaults, spreadLiterals } from "./functions/sizes.ts";
import {
  type File,
  FOLDER_FILES_MAX,
  fullFolders,
  LINES_MAX,
  loneFiles,
  longFiles,
  modulePromises,
  privateWords,
  projectFiles,
  subjectlessComments,
} from "./house.ts";

const files = projectFiles();

/** A file of so many lines. */
const planted = (path: string, lines: number, text = "x"): File => ({ path, text: `${text}\n`.repeat(lines) });

describe("the house", () => {
  it("is read as a whole", () => {
    expect(files.length).toBeGreaterThan(500);
  });

  it(`has no source file of more than ${LINES_MAX} lines`, () => {
    expect(longFiles(files)).toEqual([]);
    expect(longFiles([planted("src/a.ts", LINES_MAX), planted("routes/b.ts", LINES_MAX + 1)])).toHaveLength(1);
  });

  it(`has no folder of more than ${FOLDER_FILES_MAX} files`, () => {
    expect(fullFolders(files)).toEqual([]);
    const many = Array.from({ length: FOLDER_FILES_MAX + 1 }, (_, at) => planted(`src/full/${at}.ts`, 1));
    expect(fullFolders(many)).toEqual(["src/full has 17 files"]);
    expect(fullFolders(many.slice(1))).toEqual([]);
  });

  it("has no little file that one other file uses", () => {
    expect(loneFiles(files)).toEqual([]);
    const user = planted("src/a/user.ts", 1, 'import { x } from "./little.ts";');
    expect(loneFiles([user, planted("src/a/little.ts", 20)])).toEqual([
      "src/a/little.ts is used by src/a/user.ts alone",
    ]);
    const other = planted("src/a/other.ts", 1, 'import { x } from "./little.ts";');
    expect(loneFiles([user, other, planted("src/a/little.ts", 20)])).toEqual([]);
    expect(loneFiles([user, planted("src/a/little.ts", 60)])).toEqual([]);
  });

  it("makes no promise when a module of the worker is loaded", () => {
    expect(modulePromises(files)).toEqual([]);
    const lines = [
      "const NEVER = new Promise<never>(() => undefined);",
      "export const DONE: Promise<void> = Promise.resolve();",
      "const never = () => new Promise(() => undefined);",
      "  const own = new Promise(() => undefined);",
    ];
    const planted = ["src/edge/a.ts", "src/host/a.ts", "routes/a.ts"].map((path) => ({ path, text: lines.join("\n") }));
    expect(modulePromises(planted)).toEqual(
      ["src/edge/a.ts", "routes/a.ts"].flatMap((path) => [`${path}:1: ${lines[0]}`, `${path}:2: ${lines[1]}`]),
    );
  });

  it("says the subject of a comment first", () => {
    expect(subjectlessComments(files)).toEqual([]);
    const comments = "/** What is near. */\n  // Of an ID.\n/** The cache. */\nconst which = 1; // What\n * Whatever";
    for (const path of ["src/a.ts", "routes/a.tsx", "test/a/a.test.ts", "bench/a.mjs"]) {
      expect(subjectlessComments([{ path, text: comments }])).toEqual([
        `${path}:1: /** What is near. */`,
        `${path}:2: // Of an ID.`,
      ]);
    }
    expect(subjectlessComments([{ path: "README.md", text: comments }])).toEqual([]);
  });

  it("uses no private words", () => {
    expect(privateWords(files)).toEqual([]);
    expect(privateWords([planted("README.md", 1, "Whoever asks gets 16 octets.")])).toEqual([
      "README.md:1 says Whoever, octets",
    ]);
    expect(privateWords([planted("src/a.ts", 1, "the bytes of what; octetOrder")])).toEqual([]);
  });

  it("has no function over its bounds without a reason, and no exception that is not needed", () => {
    expect(functionFaults(files)).toEqual([]);
  });

  it.each([
    ["50 lines", `function f() {\n${"go();\n".repeat(48)}}`, []],
    ["52 lines", `function f() {\n${"go();\n".repeat(50)}}`, ["52 lines"]],
    ["lines of a nested function", `const f = () => {\n${nested("go();\n", 40)}${nested("go();\n", 40)}};`, []],
    ["5 parameters", "const f = (a, b, c, d, e) => a;", []],
    ["6 parameters", "const f = (a, b, c, d, e, g) => a;", ["6 parameters"]],
    ["6 parameters of a method", "class C { f(a, b, c, d, e, g) {} }", ["6 parameters"]],
    ["8 returns", `function f() { ${"if (x) return;".repeat(8)} }`, []],
    ["9 returns", `function f() { ${"if (x) return;".repeat(9)} }`, ["9 returns"]],
    ["15 branches", `const f = () => ${"x ? 1 : ".repeat(5)}${"y && ".repeat(5)}${"(z ?? w) || ".repeat(2)}0;`, []],
    [
      "16 branches",
      `const f = () => { ${"for (;;) {}".repeat(4)}${"while (x) {}".repeat(4)}${"if (x) {}".repeat(8)} };`,
      ["16 branches"],
    ],
    [
      "cases and a catch",
      `function f() { try { switch (x) { ${"case 1: break;".repeat(15)} } } catch {} }`,
      ["16 branches"],
    ],
    ["branches of a nested function", `function f() { ${nested("if (x) {}", 9)}${nested("if (x) {}", 9)} }`, []],
  ])("counts %s", (_, text, faults) => {
    const found = functionFaults([{ path: "src/a.ts", text }], {});
    expect(found).toEqual(faults.map((fault) => `src/a.ts f has ${fault}`));
  });

  it("lists exceptions to the bounds of functions by name, as long as they are needed", () => {
    const file = { path: "src/a.ts", text: "const f = (a, b, c, d, e, g) => a;" };
    expect(functionFaults([file], { "src/a.ts f": "planted" })).toEqual([]);
    expect(functionFaults([], { "src/a.ts f": "planted" })).toEqual(["src/a.ts f is an exception and needs none"]);
    for (const reason of Object.values(EXCEPTIONS)) expect(reason).toMatch(/\w+ \w+/);
  });

  it("spreads no literal into another one", () => {
    expect(spreadLiterals(files)).toEqual([]);
    const text = "const a = {\n  ...{ b, c },\n  ...(d && { e }),\n  ...f,\n};";
    expect(spreadLiterals([{ path: "src/a.ts", text }])).toEqual(["src/a.ts:2 spreads a literal"]);
  });

  it("passes few files and functions of the project for one warm request", async () => {
    const passed = await passedBy(WARM.map(({ request }) => request));
    for (const [at, { name, files: filesOf, functions }] of WARM.entries()) {
      const own = passed[at];
      expect(own?.files, name).toContain("src/worker/index.ts");
      expect(own?.files.length, name).toBeLessThanOrEqual(filesOf.max);
      if (functions !== undefined) expect(own?.functions.length, name).toBeLessThanOrEqual(functions.max);
    }
  });
});

/** A function with so many of the same. */
function nested(text: string, count: number): string {
  return `const inner = () => {\n${text.repeat(count)}};\n`;
}
