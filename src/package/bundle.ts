import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type OutputChunk, type Plugin, rolldown } from "rolldown";

const SOURCES = fileURLToPath(new URL("..", import.meta.url));
const inSources = (path: string): string => join(SOURCES, path);

/** Packages that an installation has beside this one; nothing else is imported by name. */
export const OUTSIDE = ["workerd", "wrangler"] as const;

const SHEBANG = "#!/usr/bin/env node";

/** Files that act when they are imported. Others of the project only declare. */
const ACTING = /[\\/]src[\\/](?:cli[\\/](?:main|create)|package[\\/]entry[\\/][a-z]+)\.ts$/;

/** The package has its parts prebuilt, beside the command. */
const packagedParts: Plugin = {
  name: "packaged-parts",
  resolveId: {
    filter: { id: /parts\.ts$/ },
    handler(specifier, importer) {
      const path = resolve(dirname(importer ?? ""), specifier);
      return path === inSources("host/parts.ts") ? inSources("package/parts.ts") : null;
    },
  },
};

export interface Program {
  /** Names of modules in `dist/cli`, with their source files in `src`. */
  readonly entries: Readonly<Record<string, string>>;
  readonly tableCodeVersion: string;
}

/** Bundles programs for Node into one folder: an entry each, and chunks that they share or load by need. Gives their sources. */
export async function bundlePrograms(
  folder: string,
  { entries, tableCodeVersion }: Program,
): Promise<readonly string[]> {
  const bundle = await rolldown({
    input: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, inSources(path)])),
    platform: "node",
    tsconfig: false,
    // jsonc-parser's main file is a UMD whose imports no bundler sees.
    resolve: { mainFields: ["module", "main"] },
    external: [/^node:/, ...OUTSIDE],
    transform: { target: "node20.18", define: { TABLE_CODE_VERSION: JSON.stringify(tableCodeVersion) } },
    treeshake: {
      moduleSideEffects: [
        { test: ACTING, sideEffects: true },
        { test: /[\\/]src[\\/]/, sideEffects: false },
      ],
    },
    plugins: [packagedParts],
    logLevel: "silent",
  });
  try {
    const { output } = await bundle.generate({
      format: "esm",
      entryFileNames: "[name].js",
      // All stand in one folder: paths to the package's other files are relative to it.
      chunkFileNames: "[name]-[hash].js",
      banner: ({ fileName }) => (fileName === "main.js" ? SHEBANG : ""),
      minify: true,
      comments: false,
    });
    const chunks = output.flatMap((each) => (each.type === "chunk" ? [each] : []));
    mkdirSync(folder, { recursive: true });
    for (const { fileName, code } of chunks) writeFileSync(join(folder, fileName), code);
    chmodSync(join(folder, "main.js"), 0o755);
    return chunks.flatMap(sourcesOf);
  } finally {
    await bundle.close();
  }
}

/** Files of which something is left. */
const sourcesOf = ({ modules }: OutputChunk): readonly string[] =>
  Object.entries(modules).flatMap(([path, { code }]) => (code === null ? [] : [path]));
