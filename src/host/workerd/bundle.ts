import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

export interface BundleOptions {
  /** Path of the Worker's main module. */
  readonly entry: string;
  /** Replaces the `routing-table.json` that the Worker imports. */
  readonly tableText?: string | undefined;
  /** Smaller and faster to start, but with unreadable stack traces. */
  readonly minify: boolean;
}

/** Absolute path of the gateway's main module. */
export const WORKER_ENTRY = fileURLToPath(new URL("../../worker.ts", import.meta.url));

/** Bundles the Worker into one ECMAScript module. Rejects with esbuild's messages. */
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
