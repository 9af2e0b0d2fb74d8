import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { ROOT } from "./folders.ts";

/** Contents of packages that are not bundled: libraries for other programs, and documents. */

/** Projects of the ID and origin libraries, with the folder that each is emitted into. */
const PROJECTS = [
  ["src/ids/tsconfig.library.json", "ids"],
  // Keeps the source folders: the origin library imports from other zones.
  ["src/origin/tsconfig.library.json", "."],
] as const;

/** Where the libraries are compiled; two packages have them. */
let compiled: string | undefined;

/** Emits one module per source file, so bundlers can drop unused ones. */
export function compileLibraries(folder: string): void {
  compiled ??= compileAll();
  cpSync(compiled, folder, { recursive: true });
}

function compileAll(): string {
  const folder = mkdtempSync(join(tmpdir(), "waybill-libraries-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const [project, into] of PROJECTS) compile(join(ROOT, project), join(folder, into));
  return folder;
}

function compile(project: string, output: string): void {
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [compiler, "-p", project, "--outDir", output], { stdio: "inherit" });
  for (const name of readdirSync(output, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".d.ts")) continue;
    const text = readFileSync(join(output, name), "utf8");
    // TypeScript keeps `./x.ts` in declarations; not all tools resolve that to `./x.d.ts`, but all resolve `./x.js`.
    writeFileSync(join(output, name), text.replace(/(from |import\()"(\.[^"]+)\.ts"/g, '$1"$2.js"'));
  }
}

const DOCS = join(ROOT, "docs");

/** A link to another file; the address of another host is none. */
const LINK = /(!?)\[([^\]]+)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)]*)?\)/g;

/** Documents that the command's texts name, with their examples. Links to files that the package lacks become text; pictures go. */
export function copyDocuments(folder: string): void {
  const all = readdirSync(DOCS, { recursive: true, encoding: "utf8" });
  const names = all.filter((name) => /\.(?:md|json|ndjson|ts|yaml|service)$/.test(name)).map((name) => normalize(name));
  for (const name of names) {
    const text = readFileSync(join(DOCS, name), "utf8");
    const isKept = (path: string): boolean => names.includes(normalize(join(dirname(name), path)));
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), name.endsWith(".md") ? keepLinks(text, isKept) : text);
  }
}

const keepLinks = (text: string, isKept: (path: string) => boolean): string =>
  text.replace(LINK, (link: string, picture: string, label: string, path: string) =>
    isKept(path) ? link : picture === "" ? label : "",
  );

/** Documents of the ID library, all in one folder; the first is its README. */
const PAGES: Readonly<Record<string, string>> = {
  "reference/library.md": "README.md",
  "reference/layouts.md": "layouts.md",
  "guides/public-ids.md": "public-ids.md",
  "guides/origins.md": "origins.md",
};

export function writeIdsDocuments(folder: string): void {
  for (const [page, name] of Object.entries(PAGES)) {
    const text = readFileSync(join(DOCS, page), "utf8");
    writeFileSync(join(folder, name), inOneFolder(text));
  }
}

/** Links to pages that the package lacks become text. */
const inOneFolder = (text: string): string =>
  text.replace(/\[([^\]]+)\]\((?:[\w.]+\/)*([\w-]+\.md)(#[^)]*)?\)/g, (_, label, name, anchor = "") =>
    Object.values(PAGES).includes(name) ? `[${label}](${name}${anchor})` : label,
  );
