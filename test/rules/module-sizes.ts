import { gzipSync } from "node:zlib";
import { bundleWorker, type WorkerModule } from "../../src/host/workerd/bundle.ts";

/** The entries with what they import statically, minified and gzipped, each module by itself. A start compiles all of it. */
export const FIRST_BYTES_MAX = 102_000;

export interface ModuleSizes {
  readonly modules: readonly WorkerModule[];
  readonly firstBytes: number;
  readonly allBytes: number;
}

/** The Worker as every build has it, and how many bytes of it a start and all its parts have. */
export async function moduleSizes(): Promise<ModuleSizes> {
  const modules = await bundleWorker({ minify: true });
  const bytes = modules.map(({ code, isFirst }) => ({ isFirst, length: gzipSync(code, { level: 9 }).length }));
  const sum = (of: readonly { readonly length: number }[]): number => of.reduce((all, { length }) => all + length, 0);
  return { modules, firstBytes: sum(bytes.filter(({ isFirst }) => isFirst)), allBytes: sum(bytes) };
}
