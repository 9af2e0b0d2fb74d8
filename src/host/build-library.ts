import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * `npm run build [-- FOLDER]`: builds the ID and origin libraries as a separate package in `dist/`, for `npm pack ./dist`.
 * An app that reads IDs needs neither the gateway's dependencies nor Node.
 */

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly private: boolean;
  /** Paths start with `./dist/`. */
  readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Dependencies of public IDs: AES, and CMAC with it. */
const DEPENDENCIES = ["@stablelib/aes", "@stablelib/cmac"];

/** Documents of the package, all in one folder; the first is its README. */
const PAGES = {
  "reference/library.md": "README.md",
  "reference/layouts.md": "layouts.md",
  "guides/public-ids.md": "public-ids.md",
  "guides/origins.md": "origins.md",
};

const folder = resolve(ROOT, process.argv[2] ?? "dist");
for (const zone of ["ids", "origin", "proxy"]) rmSync(join(folder, zone), { recursive: true, force: true });
compile("src/ids/tsconfig.library.json", join(folder, "ids"));
// Keeps the source folders: the origin library imports from two other zones.
compile("src/origin/tsconfig.library.json", folder);
writeFileSync(join(folder, "package.json"), `${JSON.stringify(libraryManifest(), null, 2)}\n`);
for (const [page, name] of Object.entries(PAGES)) {
  writeFileSync(join(folder, name), inOneFolder(readFileSync(join(ROOT, "docs", page), "utf8")));
}

/** Emits one module per source file, so bundlers can drop unused ones. */
function compile(project: string, output: string): void {
  const args = ["-p", join(ROOT, project), "--outDir", output];
  const { status, error } = spawnSync("tsc", args, { stdio: "inherit" });
  if (status !== 0) throw new Error("the library does not compile", { cause: error });
  for (const name of readdirSync(output, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".d.ts")) continue;
    const text = readFileSync(join(output, name), "utf8");
    // TypeScript keeps `./x.ts` in declarations; not all tools resolve that to `./x.d.ts`, but all resolve `./x.js`.
    writeFileSync(join(output, name), text.replace(/(from |import\()"(\.[^"]+)\.ts"/g, '$1"$2.js"'));
  }
}

/** Links to pages that the package lacks become text. */
function inOneFolder(text: string): string {
  return text.replace(/\[([^\]]+)\]\((?:[\w.]+\/)*([\w-]+\.md)(#[^)]*)?\)/g, (_, label, name, anchor = "") =>
    Object.values(PAGES).includes(name) ? `[${label}](${name}${anchor})` : label,
  );
}

function libraryManifest() {
  const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const versionOf = (name: string): string => {
    const version = manifest.dependencies[name];
    if (version === undefined) throw new Error(`package.json has no dependency ${name}`);
    return version;
  };
  return {
    name: manifest.name,
    version: manifest.version,
    description:
      "Read, write, recognise and mint IDs that carry time, place and type; verify the gateway that routed by them.",
    license: manifest.license,
    private: manifest.private,
    type: "module",
    sideEffects: false,
    exports: Object.fromEntries(
      Object.entries(manifest.exports).map(([name, targets]) => [
        name,
        Object.fromEntries(Object.entries(targets).map(([kind, path]) => [kind, path.replace("./dist/", "./")])),
      ]),
    ),
    dependencies: Object.fromEntries(DEPENDENCIES.map((name) => [name, versionOf(name)])),
  };
}
