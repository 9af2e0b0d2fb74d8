// A load hook for a Node that does not read TypeScript by itself: esbuild takes the types out. `--import` runs it, once in the
// process and once in the thread that loads modules.
import { readFile } from "node:fs/promises";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

if (isMainThread) register(import.meta.url);

/** @type {import("node:module").LoadHook} */
export async function load(url, context, next) {
  if (!url.endsWith(".ts")) return next(url, context);
  const { transform } = await import("esbuild");
  const text = await readFile(fileURLToPath(url), "utf8");
  const { code } = await transform(text, { loader: "ts", target: "esnext", sourcefile: url });
  return { format: "module", source: code, shortCircuit: true };
}
