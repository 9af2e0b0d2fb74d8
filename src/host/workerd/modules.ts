import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type InputOptions, type OutputChunk, type OutputOptions, type Plugin, rolldown } from "rolldown";
import { builtConstants } from "./table-code.ts";

/** A module of the Worker. Modules import each other by relative names, so all of them stand in one folder. */
export interface ModuleFile {
  readonly name: string;
  readonly code: string;
  /** Its source map, if the build was asked for maps. */
  readonly map?: string | undefined;
}

export interface WorkerModule extends ModuleFile {
  /** Whether the entry imports it without being asked: every start compiles it. */
  readonly isFirst: boolean;
}

export interface BundleOptions {
  /** The declared routing table as JSON: the fallback of the Worker. */
  readonly tableText: string;
  /** Another main module, for tests and benchmarks. */
  readonly workerPath?: string | undefined;
  /** Smaller and faster to start, but with unreadable stack traces. */
  readonly minify?: boolean | undefined;
  readonly withMaps?: boolean | undefined;
}

/** The folder of the modules, in a build and in a state. */
export const WORKER_FOLDER = "worker";

/** The main module. It exports handlers and classes alone: another value stops the start. */
export const ENTRY_MODULE = "worker.js";

/** The imports of the entry, in one module: forty cost a start 2 ms. */
const CORE = "core";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const WORKER_ENTRY = fileURLToPath(new URL("../../worker.ts", import.meta.url));

/**
 * Bundles the Worker, with the digest of a table that it checked: the entry, `core.js` with all that the entry imports, and a
 * module for each part that is loaded by need. The entry comes first. Rejects with the bundler's messages.
 */
export async function bundleWorker(options: BundleOptions): Promise<readonly WorkerModule[]> {
  const { workerPath = WORKER_ENTRY, tableText, minify = false, withMaps = false } = options;
  const input = await sourcesOf(workerPath, tableText);
  const output: OutputOptions = {
    format: "esm",
    entryFileNames: ENTRY_MODULE,
    chunkFileNames: ({ facadeModuleId, moduleIds, name }) =>
      name === CORE ? `${CORE}.js` : nameOf(facadeModuleId ?? moduleIds.at(-1) ?? name),
    minify,
    comments: false,
    sourcemap: withMaps,
  };
  const used = await usedAtStart(input, workerPath);
  for (;;) {
    const groups = [{ name: CORE, test: (id: string) => used.has(id), includeDependenciesRecursively: false }];
    const chunks = await generate(input, { ...output, codeSplitting: { groups } });
    const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
    const first = new Set([ENTRY_MODULE]);
    for (const name of first) for (const imported of byName.get(name)?.imports ?? []) first.add(imported);
    // A part may use more of a file of the core, which then imports more itself: that belongs to the core too.
    const others = chunks.filter(({ fileName }) => first.has(fileName)).flatMap(({ moduleIds }) => moduleIds);
    const added = others.filter((id) => id !== workerPath && !used.has(id));
    for (const id of added) used.add(id);
    if (added.length > 0) continue;
    return chunks
      .map(({ fileName: name, code, map }) => ({ name, code, map: map?.toString(), isFirst: first.has(name) }))
      .toSorted((a, b) => Number(b.name === ENTRY_MODULE) - Number(a.name === ENTRY_MODULE));
  }
}

/** The sources of the Worker, and how they are read: as code for workerd, with the table and constants of the build. */
async function sourcesOf(workerPath: string, tableText: string): Promise<InputOptions> {
  // A text is read faster than a literal.
  const code = `export default JSON.parse(${JSON.stringify(JSON.stringify(JSON.parse(tableText)))})`;
  const bundledTable: Plugin = {
    name: "routing-table",
    load: { filter: { id: /[\\/]routing-table\.json$/ }, handler: () => ({ code, moduleType: "js" }) },
  };
  return {
    input: { worker: workerPath },
    platform: "browser",
    // An installation without the files of development builds the same.
    tsconfig: false,
    resolve: { conditionNames: ["workerd", "worker", "browser", "import"] },
    external: [/^cloudflare:/, /^node:/],
    transform: {
      target: "es2024",
      define: {
        BUILT_TABLE: await builtConstants(tableText),
        // `graphql` asks it for a module of Node at start.
        "globalThis.process": "undefined",
      },
    },
    // No file of the project acts when it is imported: one that re-exports others needs none of them.
    treeshake: { moduleSideEffects: [{ test: /[\\/](?:src|routes)[\\/]/, sideEffects: false }] },
    logLevel: "silent",
    plugins: [bundledTable],
  };
}

/**
 * The source files of which the entry uses something. A file that re-exports others is imported for one of them: following its
 * imports would put into the core all that any part uses of it.
 */
async function usedAtStart(input: InputOptions, workerPath: string): Promise<Set<string>> {
  const withoutParts: Plugin = {
    name: "without-parts",
    resolveDynamicImport: (id) => (typeof id === "string" ? { id, external: true } : null),
  };
  const [entry] = await generate({ ...input, plugins: [input.plugins, withoutParts] }, { format: "esm" });
  const used = Object.entries(entry?.modules ?? {}).flatMap(([id, { code }]) => (code === null ? [] : [id]));
  return new Set(used.filter((id) => id !== workerPath));
}

async function generate(input: InputOptions, options: OutputOptions): Promise<readonly OutputChunk[]> {
  const bundle = await rolldown(input);
  try {
    const { output } = await bundle.generate(options);
    return output.flatMap((each) => (each.type === "chunk" ? [each] : []));
  } finally {
    await bundle.close();
  }
}

/** By its source file: it stays the same from one build to the next. A module of the bundler's own is in no folder. */
const nameOf = (sourcePath: string): string =>
  `${(sourcePath.startsWith("\0") ? sourcePath.slice(1) : relative(ROOT, sourcePath))
    .replace(/^(?:src|node_modules)[\\/]|\.\w+$/g, "")
    .replaceAll(/[^\w.]+/g, "-")
    // A Worker of another folder, such as a copy.
    .replace(/^[.-]+/, "")}.js`;

/** Writes the modules as the whole contents of `worker/` in a folder: it has all of one build, or is not there. */
export function writeWorker(folder: string, modules: readonly ModuleFile[]): void {
  const made = join(folder, `unfinished.${WORKER_FOLDER}`);
  const place = join(folder, WORKER_FOLDER);
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  for (const { name, code, map } of modules) {
    writeFileSync(join(made, name), code);
    if (map !== undefined) writeFileSync(join(made, `${name}.map`), map);
  }
  rmSync(place, { recursive: true, force: true });
  renameSync(made, place);
  // Builds and states of earlier versions have one module.
  rmSync(join(folder, ENTRY_MODULE), { force: true });
}

/** The modules of a build, the entry first; empty if there is none. A build of an earlier version has the entry alone. */
export function readWorker(build: string): readonly ModuleFile[] {
  const folder = join(build, WORKER_FOLDER);
  const names = (existsSync(folder) ? readdirSync(folder) : []).filter((name) => name.endsWith(".js"));
  if (names.includes(ENTRY_MODULE)) {
    const others = names.filter((name) => name !== ENTRY_MODULE);
    return [ENTRY_MODULE, ...others].map((name) => ({ name, code: readFileSync(join(folder, name), "utf8") }));
  }
  const earlier = join(build, ENTRY_MODULE);
  return existsSync(earlier) ? [{ name: ENTRY_MODULE, code: readFileSync(earlier, "utf8") }] : [];
}
