import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import type { Metafile, Plugin } from "esbuild";
import { keptBuild } from "../kept-build.ts";

const ENTRY = fileURLToPath(new URL("../../console/main.tsx", import.meta.url));

/** Where the files are for the gateway: `ASSET` in `routes/console/console.ts` is their names. */
const ASSETS = "/-/console/assets/";

const SHELL = "shell.html";

/** Paths in a build are relative to it, wherever the process runs. */
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** esbuild reads them for JSX and classes. */
const CONFIGURATIONS = ["src/console/tsconfig.json", "tsconfig.base.json"].map((path) => resolve(ROOT, path));

interface PageFile<Bytes> {
  readonly name: string;
  readonly bytes: Bytes;
  /** Whether the page loads it before it shows anything. */
  readonly isFirst: boolean;
  /** Files of which something is in it. */
  readonly sources: readonly string[];
}

export type ConsoleFile = PageFile<Uint8Array>;

/** Bytes as base64, compressed. */
type KeptFile = PageFile<string>;

/** Builds the page with esbuild: files with the hash of their content in their names, and parts that are loaded when they are asked for. */
export async function bundleConsole(read: Set<string> = new Set()): Promise<readonly ConsoleFile[]> {
  const { build } = await import("esbuild");
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [ENTRY],
    outdir: "/",
    bundle: true,
    write: false,
    splitting: true,
    format: "esm",
    target: "es2023",
    platform: "browser",
    jsx: "automatic",
    jsxImportSource: "preact",
    loader: { ".svg": "file", ".woff2": "file" },
    minify: true,
    legalComments: "none",
    plugins: [pageStyles],
    metafile: true,
    publicPath: ASSETS,
    entryNames: "[name].[hash]",
    chunkNames: "part-[name].[hash]",
    assetNames: "[name].[hash]",
    logLevel: "silent",
  });
  for (const source of Object.keys(metafile.inputs)) read.add(resolve(ROOT, fileOf(source)));
  const first = firstLoaded(metafile);
  return outputFiles.map(({ path, contents }) => {
    const name = basename(path);
    const [, made] = Object.entries(metafile.outputs).find(([output]) => basename(output) === name) ?? [];
    const sources = Object.entries(made?.inputs ?? {}).flatMap(([source, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [fileOf(source)] : [],
    );
    return { name, bytes: contents, isFirst: first.has(name), sources };
  });
}

const PAGE_STYLE = "page-style";

/** The path of an input of the build. */
const fileOf = (source: string): string =>
  source.startsWith(`${PAGE_STYLE}:`) ? source.slice(PAGE_STYLE.length + 1) : source;

/**
 * A style sheet that a module imports is a part of it: it comes with the page, once, after the first sheet. The entry's own is the
 * first one, which the shell names. The page's policy lets no style element in, but sheets that a script makes.
 */
const pageStyles: Plugin = {
  name: PAGE_STYLE,
  setup({ onResolve, onLoad, resolve: find, esbuild }) {
    onResolve({ filter: /\.css$/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (kind !== "import-statement" || importer === ENTRY || pluginData === PAGE_STYLE) return undefined;
      const found = await find(path, { kind, importer, resolveDir, pluginData: PAGE_STYLE });
      return found.errors.length > 0 ? found : { path: found.path, namespace: PAGE_STYLE };
    });
    onLoad({ filter: /./, namespace: PAGE_STYLE }, async ({ path }) => {
      const { code } = await esbuild.transform(readFileSync(path, "utf8"), { loader: "css", minify: true });
      const made =
        "const sheet = new CSSStyleSheet(); sheet.replaceSync(text); document.adoptedStyleSheets.push(sheet);";
      return { contents: `const text = ${JSON.stringify(code.trim())}; ${made}`, watchFiles: [path] };
    });
  },
};

/** The entry's file, its style sheet, and all that it imports without being asked. */
function firstLoaded({ outputs }: Metafile): ReadonlySet<string> {
  const first = new Set<string>();
  const add = (path: string): void => {
    const output = outputs[path];
    if (output === undefined || first.has(basename(path))) return;
    first.add(basename(path));
    if (output.cssBundle !== undefined) add(output.cssBundle);
    for (const { path: imported, kind } of output.imports) {
      // Fonts are named by the style sheet.
      if (kind === "import-statement" || kind === "url-token") add(imported);
    }
  };
  for (const [path, { entryPoint }] of Object.entries(outputs)) if (entryPoint?.endsWith("main.tsx")) add(path);
  return first;
}

async function keptConsole() {
  const kept = await keptBuild("console", async () => {
    const sources = new Set([fileURLToPath(import.meta.url), ...CONFIGURATIONS]);
    const files = await bundleConsole(sources);
    const value = files.map((file): KeptFile => {
      return { ...file, bytes: gzipSync(file.bytes, { level: 9 }).toString("base64") };
    });
    return { value, sources };
  });
  return kept.map((file) => {
    const compressed = Buffer.from(file.bytes, "base64");
    return { ...file, compressed, bytes: gunzipSync(compressed) };
  });
}

/** Builds into a folder. The shell comes last, so that it never names a file that is not there; files that it does not name go. */
export async function buildConsole(folder: string): Promise<readonly ConsoleFile[]> {
  const files = await keptConsole();
  mkdirSync(folder, { recursive: true });
  const kept = new Set([SHELL]);
  const write = (name: string, bytes: Uint8Array | string): void => {
    kept.add(name);
    if (name === SHELL || !existsSync(join(folder, name))) writeFileSync(join(folder, name), bytes);
  };
  for (const { name, bytes, compressed } of files) {
    write(name, bytes);
    write(`${name}.gz`, compressed);
  }
  write(SHELL, shellOf(files));
  for (const name of readdirSync(folder)) if (!kept.has(name)) rmSync(join(folder, name), { recursive: true });
  return files;
}

const version = (): string => JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version;

/** The page before its script runs. It names the files of this build, and has no script of its own. */
function shellOf(files: readonly ConsoleFile[]): string {
  const first = files.filter(({ isFirst }) => isFirst).map(({ name }) => name);
  const main = first.find((name) => /^main\..*\.js$/.test(name));
  if (main === undefined) throw new Error("the console's build has no main file");
  const links = first.flatMap((name) => {
    if (name.endsWith(".css")) return [`<link rel="stylesheet" href="${ASSETS}${name}">`];
    if (name.endsWith(".woff2")) {
      return [`<link rel="preload" href="${ASSETS}${name}" as="font" type="font/woff2" crossorigin>`];
    }
    return name.endsWith(".js") && name !== main ? [`<link rel="modulepreload" href="${ASSETS}${name}">`] : [];
  });
  return `<!doctype html>
<html lang="en" data-version="${version()}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Waybill console</title>
<link rel="icon" href="data:,">
${links.join("\n")}
<script type="module" src="${ASSETS}${main}"></script>
<body>
<div id="app"><noscript>The console is a program: it needs JavaScript.</noscript></div>
</html>
`;
}
