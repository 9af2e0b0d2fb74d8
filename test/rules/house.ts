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
/** Of all source but the later features below, and what joins these to the rest. */
const SOURCE_LINES_MAX = 36_000;
/** Lines in files of the rest that call a later feature. */
const JOINT_LINES_MAX = 1_300;
/** Each later feature has lines of its own, so that what was there before cannot grow in their shade. */
const LATER_SOURCE: readonly { readonly name: string; readonly files: RegExp; readonly linesMax: number }[] = [
  { name: "exports", files: /^src\/(?:export|cli\/commands\/export)\//, linesMax: 2_900 },
  {
    name: "creation",
    files:
      /^(?:src\/(?:routing\/create|edge\/idempotency)\/|src\/gateway\/(?:create\/|join-ids)|src\/idempotency-ports|src\/ids\/mint\/scoped|src\/ids\/tools\/(?:client-id|key-range)|src\/edge\/mint\/(?:reserved-numbers|use)|src\/problems\/stale-client-id|src\/cli\/commands\/(?:id-check|idempotency|luuid)|routes\/(?:idempotency|lib\/once))/,
    linesMax: 4_000,
  },
  {
    name: "IDs anywhere",
    files: /^(?:src\/(?:routing|gateway)\/places\/|src\/cli\/commands\/explain\/request|routes\/explain)/,
    linesMax: 1_900,
  },
  {
    name: "the directory",
    files: /^(?:src\/(?:routing|gateway|edge|cli\/commands)\/directory\/|src\/directory-ports|routes\/directory)/,
    linesMax: 4_800,
  },
  { name: "GraphQL", files: /^(?:src\/graphql\/|src\/(?:routing|gateway)\/graphql\/)/, linesMax: 2_800 },
  { name: "lists", files: /^src\/(?:routing|gateway)\/lists\//, linesMax: 2_000 },
  {
    name: "many at once",
    files: /^(?:src\/gateway\/many\/|routes\/many|src\/cli\/commands\/locate)/,
    linesMax: 700,
  },
  {
    name: "the console",
    files:
      /^(?:src\/console\/|src\/(?:edge|gateway|host|demo)\/console\/|src\/edge\/metrics\/(?:history|isolates)|src\/proxy\/session-cookie|src\/published\/console|src\/console-ports|routes\/(?:console\/|lib\/table-canary))/,
    linesMax: 9_000,
  },
  { name: "browsers and copies", files: /^src\/(?:(?:routing|gateway)\/(?:cors|copies)|demo\/reach)/, linesMax: 800 },
];
export const README_WORDS_MAX = 700;

/** The README and all pages that were there before the pages below, and what these add to them: problems, commands, settings. */
const WORDS_MAX = 30_000;
const JOINT_WORDS_MAX = 2_600;

/** Pages of later features: as many words as each has, up to its own bound, come on top. */
const LATER_PAGES: Readonly<Record<string, number>> = {
  "docs/guides/databases.md": 1500,
  "docs/guides/creation.md": 1400,
  "docs/guides/luuid.md": 400,
  "docs/guides/ids-anywhere.md": 1000,
  "docs/guides/adopting.md": 1800,
  "docs/reference/directory.md": 1500,
  "docs/operate/console.md": 1500,
  "docs/guides/graphql.md": 1300,
  "docs/guides/lists.md": 1300,
  "docs/guides/browsers.md": 600,
  "docs/guides/read-copies.md": 500,
};

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

/** What may be small and have one importer: interfaces, schemas, Durable Objects, entry points, lists of exports, URL families, and the check of one part of the table. */
const MAY_BE_LONE =
  /(?:^|\/)(?:index|errors|ports|env|limits|object|[a-z-]*schema)\.ts$|^routes\/[a-z-]+\.ts$|^src\/routing\/check\//;

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
      .filter(({ path }) => new Set(importers.get(path)).size === 1 && importers.get(path)?.[0] !== "src/worker.ts")
      .map(({ path }) => `${path} is used by ${importers.get(path)?.[0]} alone`)
  );
}

/** Words of no field: the standard term is shorter to read. */
const PRIVATE_WORDS =
  /(?<![-\w])(?:wish(?:es)?|sights?|goals?|whereabouts|shelf|carriage|octets?|nobody|whoever|somebody|he|his|him|strangers?|tale|outrun|drawn|mend(?:ed|s)?)(?![-\w])/gi;

/** Names that are public or stored, by file: the member of a fault, and the column of SQLite. */
const NAMES_THAT_STAY: ReadonlyMap<string, string> = new Map([
  ["src/ids/layout/check-table.ts", "octets"],
  ["src/routing/layouts/declared.ts", "octets"],
  ["src/edge/control-plane/storage.ts", "octets"],
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

/** Lines of all source but the later features, and of each of these, with their bounds. */
export function sourceLines(files: readonly File[]): readonly { name: string; lines: number; linesMax: number }[] {
  const sum = (some: readonly File[]) => some.reduce((lines, file) => lines + linesOf(file), 0);
  const sources = files.filter(isSource);
  const isLater = ({ path }: File) => LATER_SOURCE.some((later) => later.files.test(path));
  return [
    {
      name: "src and routes",
      lines: sum(sources.filter((file) => !isLater(file))),
      linesMax: SOURCE_LINES_MAX + JOINT_LINES_MAX,
    },
    ...LATER_SOURCE.map(({ name, files: own, linesMax }) => {
      return { name: `what came later: ${name}`, lines: sum(sources.filter(({ path }) => own.test(path))), linesMax };
    }),
  ];
}

export const words = (files: readonly File[], paths = /./): number =>
  files
    .filter(({ path }) => paths.test(path))
    .reduce((sum, { text }) => sum + text.split(/\s+/).filter((word) => word !== "").length, 0);

/** The bound of the words of the README and all pages. */
export const wordsMax = (files: readonly File[]): number =>
  files.reduce((sum, file) => sum + Math.min(words([file]), LATER_PAGES[file.path] ?? 0), WORDS_MAX + JOINT_WORDS_MAX);
