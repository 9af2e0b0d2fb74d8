import { describe, expect, it } from "vitest";
import {
  type File,
  FOLDER_FILES_MAX,
  fullFolders,
  LINES_MAX,
  loneFiles,
  longFiles,
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

  it("says the subject of a comment first", () => {
    expect(subjectlessComments(files)).toEqual([]);
    const comments = "/** What is near. */\n  // Of an ID.\n/** The cache. */\nconst which = 1; // What\n * Whatever";
    expect(subjectlessComments([{ path: "src/a.ts", text: comments }])).toEqual([
      "src/a.ts:1: /** What is near. */",
      "src/a.ts:2: // Of an ID.",
    ]);
  });

  it("uses no private words", () => {
    expect(privateWords(files)).toEqual([]);
    expect(privateWords([planted("README.md", 1, "Whoever asks gets 16 octets.")])).toEqual([
      "README.md:1 says Whoever, octets",
    ]);
    expect(privateWords([planted("src/a.ts", 1, "the bytes of what; octetOrder")])).toEqual([]);
  });
});
