import type { PlatformFeature } from "../../../edge/feature.ts";
import { writeEvent } from "../../../edge/log.ts";
import { thinObject, type Wakes } from "../../../edge/thin-object.ts";
import { type CopyFailure, copyStore, edgeCopies } from "./copies.ts";
import { type DirectoryRpc, durableDirectory } from "./keys.ts";
import { edgeDirectory } from "./lookup.ts";

/** The implementation is loaded with the first object. */
export class DirectoryKeys extends thinObject<DirectoryRpc & Wakes>(
  "directory-object",
  async () => {
    const module = await import("./object.ts");
    return (context, env) => new module.DirectoryKeys(context, env);
  },
  {
    get: true,
    reserve: true,
    confirm: true,
    release: true,
    register: true,
    move: true,
    remove: true,
    reportMissing: true,
    learn: true,
    orphans: true,
    scan: true,
    count: true,
    noteChange: true,
    changesSince: true,
    putMany: true,
    alarm: true,
  },
) {}

export const directory = {
  name: "directory",
  ports({ env, config, clock, entropy, namespace, counters }) {
    const truth = durableDirectory(env.DIRECTORY, reportFailure);
    const copies = edgeCopies({
      truth,
      kv: env.TABLE_KV,
      namespace,
      clock,
      entropy,
      retryMsMax: config.tableRefreshMs,
      // The objects are asked instead.
      report: (failure: CopyFailure) => writeEvent("directory-copy-failed", failure),
    });
    return {
      // An answer under verification that the routes do not give is worth a line.
      directory: edgeDirectory({
        truth,
        copies,
        clock,
        namespace,
        counters,
        report: (comparison) => writeEvent("directory-differs", comparison),
      }),
      directoryTruth: truth,
      directoryCopies: copyStore(env.TABLE_KV, reportFailure),
    };
  },
} satisfies PlatformFeature;

/** An object of a directory that did not answer. */
const reportFailure = (error: unknown): void =>
  writeEvent("directory-failed", { why: error instanceof Error ? error.message : String(error) });
