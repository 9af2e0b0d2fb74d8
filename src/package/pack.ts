import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { decode, encode, type SourceMapSegment } from "@jridgewell/sourcemap-codec";
import { buildConsole } from "../host/console/build.ts";
import { schemaFile, tableCodeVersion, templatesFolder, version, workerModules } from "../host/parts.ts";
import type { ModuleFile } from "../host/workerd/modules.ts";
import { bundlePrograms } from "./bundle.ts";
import { compileLibraries, copyDocuments, writeIdsDocuments } from "./contents.ts";
import { ROOT } from "./folders.ts";
import { licencesOf } from "./licences.ts";
import { manifestsFor, type PackageName } from "./manifests.ts";

/** `npm run pack [-- --out FOLDER --version VERSION --only NAME]`: the published packages, as folders and tarballs. */

const { values } = parseArgs({
  options: {
    out: { type: "string", default: "build/packages" },
    version: { type: "string", default: version },
    only: { type: "string" },
  },
});
const out = resolve(ROOT, values.out);
const manifests = manifestsFor(values.version);

const MAKERS: Readonly<Record<PackageName, (folder: string) => Promise<void> | void>> = {
  waybill: makeWaybill,
  "@waybill/ids": makeIds,
  "create-waybill": makeCreate,
};

const names = (Object.keys(MAKERS) as PackageName[]).filter(
  (name) => values.only === undefined || name === values.only,
);
if (names.length === 0) throw new Error(`--only ${values.only}: there are ${Object.keys(MAKERS).join(", ")}`);
for (const name of names) {
  const folder = begin(name);
  await MAKERS[name](folder);
  pack(name);
}

/** `@waybill/ids` is `waybill-ids`, as npm names its tarball. */
function folderOf(name: PackageName): string {
  return join(out, name.replace(/^@/, "").replace("/", "-"));
}

function begin(name: PackageName): string {
  const folder = folderOf(name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifests[name], null, 2)}\n`);
  cpSync(join(ROOT, "CHANGELOG.md"), join(folder, "CHANGELOG.md"));
  return folder;
}

async function makeWaybill(folder: string): Promise<void> {
  const dist = join(folder, "dist");
  const programs = await bundlePrograms(join(dist, "cli"), {
    entries: { main: "package/entry/waybill.ts", table: "package/table.ts" },
    tableCodeVersion: await tableCodeVersion(),
  });
  const worker = writeModules(join(dist, "worker"), await workerModules());
  const page = await buildConsole(join(dist, "console"));
  // The compressed forms hold them already, and are a quarter of the tarball.
  for (const { name } of page) rmSync(join(dist, "console", name));
  compileLibraries(dist);
  for (const [name, into] of [
    ["table", "cli/table"],
    ["worker", "worker/index"],
    ["objects", "worker/objects"],
  ])
    cpSync(join(ROOT, `src/package/types/${name}.d.ts`), join(dist, `${into}.d.ts`));
  cpSync(schemaFile(), join(folder, "routing-table.schema.json"));
  cpSync(join(ROOT, "src/cli/examples/examples.schema.json"), join(folder, "examples.schema.json"));
  cpSync(templatesFolder(), join(folder, "templates"), { recursive: true });
  cpSync(join(ROOT, "src/package/readme/waybill.md"), join(folder, "README.md"));
  copyDocuments(join(folder, "docs"));
  const sources = [...programs, ...worker, ...page.flatMap((file) => file.sources)];
  writeFileSync(join(folder, "THIRD-PARTY-LICENSES.txt"), licencesOf(sources));
}

/** With maps. Gives the files that the modules are made of. */
function writeModules(folder: string, modules: readonly ModuleFile[]): readonly string[] {
  mkdirSync(folder, { recursive: true });
  return modules.flatMap(({ name, code, map }) => {
    writeFileSync(join(folder, name), code);
    // The bundler's own module is of no file.
    if (map === undefined) return [];
    const small = mapOfLines(JSON.parse(map));
    writeFileSync(join(folder, `${name}.map`), JSON.stringify(small));
    return small.sources;
  });
}

interface SourceMap {
  readonly sources: readonly string[];
  readonly mappings: string;
}

/** A trace needs files and lines: columns, names and the sources themselves would be a fifth of the package. */
function mapOfLines({ sources, mappings, ...rest }: SourceMap) {
  const lines = decode(mappings).map((segments) => {
    let last = "";
    return segments.flatMap((segment): SourceMapSegment[] => {
      const [column, source, line, own] = segment;
      const place = `${source}:${line}`;
      if (place === last) return [];
      last = place;
      return source === undefined || line === undefined || own === undefined
        ? [[column]]
        : [[column, source, line, own]];
    });
  });
  return {
    ...rest,
    names: [],
    sourcesContent: undefined,
    // From the top folder, not from where a bundle might be written.
    sources: sources.map((source) => source.replace(/^(?:\.\.\/)+/, "")),
    mappings: encode(lines),
  };
}

function makeIds(folder: string): void {
  compileLibraries(join(folder, "dist"));
  writeIdsDocuments(folder);
}

async function makeCreate(folder: string): Promise<void> {
  const sources = await bundlePrograms(join(folder, "dist/cli"), {
    entries: { main: "package/entry/create.ts" },
    tableCodeVersion: await tableCodeVersion(),
  });
  cpSync(templatesFolder(), join(folder, "templates"), { recursive: true });
  cpSync(join(ROOT, "src/package/readme/create-waybill.md"), join(folder, "README.md"));
  writeFileSync(join(folder, "THIRD-PARTY-LICENSES.txt"), licencesOf(sources));
}

function pack(name: PackageName): void {
  const args = ["pack", folderOf(name), "--json", "--offline", "--ignore-scripts", "--pack-destination", out];
  const [made] = JSON.parse(execFileSync("npm", args, { cwd: out, encoding: "utf8" }));
  const tarball = `${folderOf(name)}-${values.version}.tgz`;
  const size = (bytes: number) => `${(bytes / 1e6).toFixed(2)} MB`;
  process.stdout.write(
    `${tarball.replace(`${ROOT}`, "")}: ${size(statSync(tarball).size)} packed, ${size(made.unpackedSize)} unpacked, ${made.entryCount} files\n`,
  );
}
