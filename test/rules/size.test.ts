import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LINES_MAX = 400;

/** Data in the shape of code: it is looked up, not read. */
const TABLES = new Set(["src/routing/data/m49.ts", "src/routing/data/iso-3166.ts"]);

it(`no source file has more than ${LINES_MAX} lines`, () => {
  const files = ["src", "routes", "bench"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .map((name) => `${folder}/${name}`)
      .filter((name) => /\.(?:ts|tsx|mjs|cjs|js)$/.test(name)),
  );
  expect(files.length).toBeGreaterThan(50);
  const long = files
    .filter((name) => !TABLES.has(name))
    .map((name) => ({ name, lines: readFileSync(join(ROOT, name), "utf8").split("\n").length - 1 }))
    .filter(({ lines }) => lines > LINES_MAX);
  expect(long).toEqual([]);
});
