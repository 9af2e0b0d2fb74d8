import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, it } from "vitest";
import { writeWhole } from "../../../src/cli/process-runtime.ts";

/** Files that the command writes over a user's own. */

const folder = mkdtempSync(join(tmpdir(), "waybill-whole-"));
const file = join(folder, "wrangler.toml");
const isRoot = process.getuid?.() === 0;

beforeEach(() => {
  chmodSync(folder, 0o755);
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  writeFileSync(file, "before");
});
afterAll(() => rmSync(folder, { recursive: true }));

const read = (path = file): string => readFileSync(path, "utf8");

it("a new file is made, and another keeps its mode", () => {
  writeWhole(join(folder, "new"), "a");
  expect(read(join(folder, "new"))).toBe("a");
  chmodSync(file, 0o620);
  writeWhole(file, new Uint8Array([98]));
  expect([read(), statSync(file).mode & 0o777]).toEqual(["b", 0o620]);
  expect(readdirSync(folder).toSorted()).toEqual(["new", "wrangler.toml"]);
});

it("a link leads to its file as before", () => {
  const link = join(folder, "link.toml");
  symlinkSync("wrangler.toml", link);
  writeWhole(link, "after");
  expect([read(), read(link), statSync(link).ino]).toEqual(["after", "after", statSync(file).ino]);
});

it("a failure in the middle leaves the file as it was", () => {
  const broken = { [Symbol.toPrimitive]: () => "x" } as unknown as string;
  expect(() => writeWhole(file, broken)).toThrow();
  expect([read(), readdirSync(folder)]).toEqual(["before", ["wrangler.toml"]]);
});

it.skipIf(isRoot)("a file that may not be written stays, and one in a folder without a place is written", () => {
  chmodSync(file, 0o444);
  expect(() => writeWhole(file, "after")).toThrow("EACCES");
  chmodSync(file, 0o644);
  chmodSync(folder, 0o555);
  writeWhole(file, "after");
  chmodSync(folder, 0o755);
  expect([read(), readdirSync(folder)]).toEqual(["after", ["wrangler.toml"]]);
});
