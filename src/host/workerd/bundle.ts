import { createHash } from "node:crypto";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type InputOptions, type OutputChunk, type OutputOptions, type Plugin, rolldown } from "rolldown";
import type { ModuleFile } from "./modules.ts";

export interface WorkerModule extends ModuleFile {
  /** Whether an entry imports it without being asked: every start compiles it. */
  readonly isFirst: boolean;
}

/** Names of entries, without their ending, and their source files. */
export type Entries = Readonly<Record<string, string>>;

/** The imports of the entries, in one module: forty cost a start 2 ms. */
const CORE = "core";

const inRoot = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** The gateway as a library, and the classes of its Durable Objects. */
const LIBRARY: Entries = { index: inRoot("src/worker/index.ts"), objects: inRoot("src/worker/objects.ts") };

export interface BundleOptions {
  /** Another Worker, for tests and benchmarks. */
  readonly entries?: Entries | undefined;
  /** In place of the file `routing-table.json`, for a Worker that imports it. */
  readonly tableText?: string | undefined;
  /** Smaller and faster to start, but with unreadable stack traces. */
  readonly minify?: boolean | undefined;
  /** The version of the code for tables, if it is known. */
  readonly tableCode?: string | undefined;
  /** Gets the path of each file that is read. */
  readonly sources?: Set<string> | undefined;
}

/**
 * Bundles the Worker without a table: the entries, `core.js` with all that they import, and a module for each part that is loaded
 * by need. The entries come first. Rejects with the bundler's messages.
 */
export async function bundleWorker(options: BundleOptions = {}): Promise<readonly WorkerModule[]> {
  const { entries = LIBRARY, minify = false, sources = new Set() } = options;
  const input = await sourcesOf(entries, options);
  const output: OutputOptions = {
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: ({ facadeModuleId, moduleIds, name }) =>
      name === CORE ? `${CORE}.js` : nameOf(facadeModuleId ?? moduleIds.at(-1) ?? name),
    minify,
    comments: false,
    // The modules name their maps only where both are written.
    sourcemap: "hidden",
  };
  const own = new Set(Object.values(entries));
  const used = await usedAtStart(input, own, sources);
  for (;;) {
    const groups = [{ name: CORE, test: (id: string) => used.has(id), includeDependenciesRecursively: false }];
    const chunks = await generate(input, { ...output, codeSplitting: { groups } }, sources);
    const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
    const entryNames = Object.keys(entries).map((name) => `${name}.js`);
    const first = new Set(entryNames);
    for (const name of first) for (const imported of byName.get(name)?.imports ?? []) first.add(imported);
    // A part may use more of a file of the core, which then imports more itself: that belongs to the core too.
    const others = chunks.filter(({ fileName }) => first.has(fileName)).flatMap(({ moduleIds }) => moduleIds);
    const added = others.filter((id) => !own.has(id) && !used.has(id));
    for (const id of added) used.add(id);
    if (added.length > 0) continue;
    return chunks
      .map(({ fileName: name, code, map }) => ({ name, code, map: map?.toString(), isFirst: first.has(name) }))
      .toSorted((a, b) => Number(entryNames.includes(b.name)) - Number(entryNames.includes(a.name)));
  }
}

/** Sources are read as code for workerd. */
const SOURCES: InputOptions = {
  // Maps name files from there. A kept build is of whichever folder a command was run in.
  cwd: inRoot("."),
  platform: "browser",
  // An installation without the files of development builds the same.
  tsconfig: false,
  resolve: { conditionNames: ["workerd", "worker", "browser", "import"] },
  logLevel: "silent",
};

/** The sources of the Worker, with the version of the code for tables. */
async function sourcesOf(entries: Entries, { tableText, tableCode }: BundleOptions): Promise<InputOptions> {
  const table: Plugin = {
    name: "routing-table",
    load: {
      filter: { id: /[\\/]routing-table\.json$/ },
      handler: () => (tableText === undefined ? null : { code: tableText, moduleType: "json" }),
    },
  };
  return {
    ...SOURCES,
    input: { ...entries },
    external: [/^cloudflare:/, /^node:/],
    transform: {
      target: "es2024",
      define: {
        TABLE_CODE_VERSION: JSON.stringify(tableCode ?? (await tableCodeVersion())),
        // `graphql` asks it for a module of Node at start.
        "globalThis.process": "undefined",
      },
    },
    // No file of the project acts when it is imported: one that re-exports others needs none of them.
    treeshake: { moduleSideEffects: [{ test: /[\\/](?:src|routes)[\\/]/, sideEffects: false }] },
    plugins: [table],
  };
}

/**
 * The source files of which an entry uses something. A file that re-exports others is imported for one of them: following its
 * imports would put into the core all that any part uses of it.
 */
async function usedAtStart(
  input: InputOptions,
  entries: ReadonlySet<string>,
  sources: Set<string>,
): Promise<Set<string>> {
  const withoutParts: Plugin = {
    name: "without-parts",
    resolveDynamicImport: (id) => (typeof id === "string" ? { id, external: true } : null),
  };
  const chunks = await generate({ ...input, plugins: [input.plugins, withoutParts] }, { format: "esm" }, sources);
  const modules = chunks.flatMap((chunk) => Object.entries(chunk.modules));
  const used = modules.flatMap(([id, { code }]) => (code === null ? [] : [id]));
  return new Set(used.filter((id) => !entries.has(id)));
}

async function generate(
  input: InputOptions,
  options: OutputOptions,
  sources: Set<string>,
): Promise<readonly OutputChunk[]> {
  const bundle = await rolldown(input);
  try {
    const { output } = await bundle.generate(options);
    for (const path of await bundle.watchFiles) sources.add(path);
    return output.flatMap((each) => (each.type === "chunk" ? [each] : []));
  } finally {
    await bundle.close();
  }
}

/** By its source file: it stays the same from one build to the next. A module of the bundler's own is in no folder. */
const nameOf = (sourcePath: string): string =>
  `${(sourcePath.startsWith("\0") ? sourcePath.slice(1) : relative(inRoot("."), sourcePath))
    .replace(/^(?:src|node_modules)[\\/]|\.\w+$/g, "")
    .replaceAll(/[^\w.]+/g, "-")
    // A Worker of another folder, such as a copy.
    .replace(/^[.-]+/, "")}.js`;

const TABLE_CODE = ["load", "compile/store", "compile/restore"].map((name) => inRoot(`src/routing/${name}.ts`));

/**
 * The version of the code that checks, compiles, stores and restores tables: a digest of all of it, packages included. It changes
 * with every change, so that no version compiles what another has checked. `sources` gets the path of each file that is read.
 */
export async function tableCodeVersion(sources: Set<string> = new Set()): Promise<string> {
  const input = { ...SOURCES, input: TABLE_CODE, transform: { target: "es2024" } };
  const chunks = await generate(input, { format: "esm", minify: true, comments: false }, sources);
  const hash = createHash("sha256");
  for (const text of chunks.map(({ code }) => code).toSorted()) hash.update(text);
  return hash.digest("hex").slice(0, 16);
}
