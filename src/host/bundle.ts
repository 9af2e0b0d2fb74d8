import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

export interface BundleOptions {
  /** The Worker's main module. */
  readonly entry: string;
  /** Stands in for the file `routing-table.json` that the Worker imports; absent: the file itself. */
  readonly tableText?: string | undefined;
  /** Smaller and quicker to start, at the price of stack traces that nobody can read. */
  readonly minify: boolean;
}

/** Where the Worker begins, as an absolute path. */
export const WORKER_ENTRY = fileURLToPath(new URL("../worker.ts", import.meta.url));

/** The Worker as one ECMAScript module. Rejects with esbuild's messages when it cannot be bundled. */
export async function bundleWorker(options: BundleOptions): Promise<string> {
  const result = await build({
    entryPoints: [options.entry],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    minify: options.minify,
    legalComments: "none",
    logLevel: "silent",
    plugins: options.tableText === undefined ? [] : [replaceTable(options.tableText)],
  });
  const output = result.outputFiles[0];
  if (output === undefined) throw new Error(`esbuild gave no output for ${options.entry}`);
  return output.text;
}

function replaceTable(tableText: string): Plugin {
  return {
    name: "routing-table",
    setup(bundler) {
      bundler.onLoad({ filter: /[\\/]routing-table\.json$/ }, () => ({ contents: tableText, loader: "json" }));
    },
  };
}
