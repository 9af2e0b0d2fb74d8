import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The rules on files and folders, as functions of the files: the tests plant violations in them, `npm run house` prints them. */

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export const LINES_MAX = 400;
export const FOLDER_FILES_MAX = 16;
/** A file with one importer and fewer lines belongs into its importer. */
export const LONE_LINES_MIN = 40;
export const README_WORDS_MAX = 800;

export interface File {
  /** From the top folder. */
  readonly path: string;
  readonly text: string;
}

/** The project's own files, those that git does not track yet included. */
export function projectFiles(): readonly File[] {
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: ROOT, encoding: "utf8" });
  return listed
    .split("\n")
    .filter((path) => /^(?:src|routes|bench|test|docs|README)/.test(path))
    .flatMap((path) => {
      try {
        return [{ path, text: readFileSync(join(ROOT, path), "utf8") }];
      } catch {
        // Deleted, and not committed yet.
        return [];
      }
    });
}

const isCode = ({ path }: File): boolean => /^(?:src|routes|bench|test)\/.*\.(?:tsx?|mjs|css)$/.test(path);
const isSource = ({ path }: File): boolean => /^(?:src|routes)\/.*\.(?:tsx?|mjs|css)$/.test(path);

export const linesOf = ({ text }: File): number => text.split("\n").length - 1;

/** Data in the shape of code: it is looked up, not read. */
const TABLES: ReadonlySet<string> = new Set(["src/routing/data/m49.ts", "src/routing/data/iso-3166.ts"]);

export const longFiles = (files: readonly File[]): readonly string[] =>
  files
    .filter((file) => (isSource(file) || file.path.startsWith("bench/")) && isCode(file) && !TABLES.has(file.path))
    .filter((file) => linesOf(file) > LINES_MAX)
    .map((file) => `${file.path} has ${linesOf(file)} lines`);

export function filesPerFolder(files: readonly File[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { path } of files.filter(isCode)) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return counts;
}

export const fullFolders = (files: readonly File[]): readonly string[] =>
  [...filesPerFolder(files)]
    .filter(([, count]) => count > FOLDER_FILES_MAX)
    .map(([folder, count]) => `${folder} has ${count} files`);

/** Small files that may have one importer: interfaces, schemas, Durable Objects, entry points, lists of exports, URL families, the check of one part of the table, the lists of features, and the parts of one. */
const MAY_BE_LONE =
  /(?:^|\/)(?:index|errors|ports|env|limits|object|[a-z-]*schema)\.ts$|^routes\/[a-z-]+\.ts$|^src\/routing\/check\/|^src\/features\/[a-z-]+\.ts$|^src\/features\/[a-z-]+\/(?:table|serve|load|edge|front|pages|openapi|port|problems|problem-texts|table\/(?:check|compile|diff))\.ts$/;

export function loneFiles(files: readonly File[]): readonly string[] {
  const importers = new Map<string, string[]>();
  for (const file of files.filter(isSource)) {
    for (const [, specifier = ""] of file.text.matchAll(/\bfrom "(\.[^"]+)"/g)) {
      const path = relative(ROOT, resolve(ROOT, dirname(file.path), specifier));
      importers.set(path, [...(importers.get(path) ?? []), file.path]);
    }
  }
  return (
    files
      .filter(
        (file) =>
          isSource(file) && linesOf(file) < LONE_LINES_MIN && !MAY_BE_LONE.test(file.path) && !TABLES.has(file.path),
      )
      // The composition root takes each adapter from a file of its own.
      .filter(
        ({ path }) => new Set(importers.get(path)).size === 1 && importers.get(path)?.[0] !== "src/worker/index.ts",
      )
      .map(({ path }) => `${path} is used by ${importers.get(path)?.[0]} alone`)
  );
}

/** Words of no field: the standard term is shorter to read. */
const PRIVATE_WORDS =
  /(?<![-\w])(?:wish(?:es)?|sights?|goals?|whereabouts|shelf|carriage|octets?|nobody|whoever|somebody|he|his|him|strangers?|tale|outrun|drawn|mend(?:ed|s)?)(?![-\w])/gi;

/** Names that are public or stored, by file: the member of a fault, the column of SQLite, and Firebird's own word. */
const NAMES_THAT_STAY: ReadonlyMap<string, string> = new Map([
  ["src/ids/layout/check-table.ts", "octets"],
  ["src/routing/layouts/declaration-faults.ts", "octets"],
  ["src/control-plane/storage.ts", "octets"],
  ["docs/guides/databases.md", "OCTETS"],
]);

export const privateWords = (files: readonly File[]): readonly string[] =>
  files
    .filter(({ path }) => /^(?:src|routes|docs|README)/.test(path) && /\.(?:tsx?|mjs|css|md|json)$/.test(path))
    .flatMap(({ path, text }) =>
      text.split("\n").flatMap((line, at) => {
        const found = [...line.matchAll(PRIVATE_WORDS)].map(([word]) => word);
        const faults = found.filter((word) => NAMES_THAT_STAY.get(path) !== word);
        return faults.length === 0 ? [] : [`${path}:${at + 1} says ${faults.join(", ")}`];
      }),
    );

/** A comment says its subject first, then the verb: one that begins so is read twice. */
const SUBJECTLESS = /^\s*(?:\/\*\*|\/\/|\*|\/\*)\s*(?:What|Who|That|Of|Which)\b/;

export const subjectlessComments = (files: readonly File[]): readonly string[] =>
  files.filter(isCode).flatMap((file) => linesWith(SUBJECTLESS, file));

/** In a module of the worker: the request that loads it owns the promise, and no other may wait for it. */
const MODULE_PROMISE = /^(?:export )?(?:const|let) [^=]*= (?:new Promise\b|Promise\.)/;

export const modulePromises = (files: readonly File[]): readonly string[] =>
  files
    .filter(({ path }) => /^(?:routes|src\/(?!cli\/|host\/))/.test(path))
    .flatMap((file) => linesWith(MODULE_PROMISE, file));

/** Each with its place. */
const linesWith = (pattern: RegExp, { path, text }: File): readonly string[] =>
  text.split("\n").flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : []));

export const words = (files: readonly File[], paths = /./): number =>
  files
    .filter(({ path }) => paths.test(path))
    .reduce((sum, { text }) => sum + text.split(/\s+/).filter((word) => word !== "").length, 0);
