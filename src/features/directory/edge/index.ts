import type { PlatformFeature } from "../../../edge/feature.ts";
import { writeEvent } from "../../../edge/log.ts";
import { thinObject, type Wakes } from "../../../edge/thin-object.ts";
import { messageOf } from "../../../ids/result.ts";
import { loadable, methodsOf } from "../../../problems/loadable.ts";
import type { CopyLayer, CopyStore, Directory, DirectoryTruth } from "../port.ts";
import type { CopyFailure } from "./copies.ts";
import type { DirectoryRpc } from "./keys.ts";

/** The implementation is loaded with the first object. */
export class DirectoryKeys extends thinObject<DirectoryRpc & Wakes>(
  { namespace: "DIRECTORY", module: "directory-object" },
  async () => {
    const module = await import("./object.ts");
    return (context, env) => new module.DirectoryKeys(context, env);
  },
  {
    get: "prompt",
    reserve: "start",
    confirm: "prompt",
    release: "prompt",
    register: "prompt",
    reportMissing: "prompt",
    learn: "prompt",
    noteChange: "prompt",
    changesSince: "prompt",
    move: "once",
    remove: "once",
    orphans: "long",
    scan: "long",
    count: "long",
    putMany: "long",
    tryMany: "long",
    alarm: "platform",
  },
) {}

/** The layers before the objects come with the first key of a directory. */
const layers = loadable("directory", async () => {
  const [{ copyStore, edgeCopies }, { edgeDirectory }] = await Promise.all([
    import("./copies.ts"),
    import("./lookup.ts"),
  ]);
  return { copyStore, edgeCopies, edgeDirectory };
});

export const directory = {
  name: "directory",
  ports({ env, config, clock, entropy, namespace, counters }) {
    const truth = methodsOf<DirectoryTruth>("directory-keys", async () =>
      (await import("./keys.ts")).directoryOf(env, reportFailure),
    );
    let made: Directory | undefined;
    let layer: CopyLayer | undefined;
    const lookUps = async (): Promise<Directory> => {
      const { edgeCopies, edgeDirectory } = await layers.load();
      layer ??= edgeCopies({
        truth,
        kv: env.TABLE_KV,
        namespace,
        clock,
        entropy,
        retryMsMax: config.tableRefreshMs,
        // The objects are asked instead.
        report: (failure: CopyFailure) => writeEvent("directory-copy-failed", failure),
      });
      made ??= edgeDirectory({
        truth,
        copies: layer,
        clock,
        namespace,
        counters,
        // An answer under verification that the routes do not give is worth a line.
        report: (comparison) => writeEvent("directory-differs", comparison),
      });
      return made;
    };
    const copies = async (): Promise<CopyStore> =>
      (await layers.load()).copyStore(env.STATE_KV ?? env.TABLE_KV, reportFailure);
    const directory: Directory = {
      lookup: (...asked) =>
        made === undefined ? lookUps().then((loaded) => loaded.lookup(...asked)) : made.lookup(...asked),
      // It comes after a look-up.
      compared: (comparison) => made?.compared(comparison),
      forget: async (...changed) => (await lookUps()).forget(...changed),
      // Without a look-up before it nothing is known.
      forgetMany: (...changed) => made?.forgetMany(...changed),
    };
    const directoryCopies: CopyStore = {
      current: async (...asked) => (await copies()).current(...asked),
      read: async (...asked) => (await copies()).read(...asked),
      write: async (...written) => (await copies()).write(...written),
      async point(name, sha256) {
        const pointed = await (await copies()).point(name, sha256);
        if (pointed.ok) await layer?.renew(name);
        return pointed;
      },
    };
    return { directory, directoryTruth: truth, directoryCopies };
  },
} satisfies PlatformFeature;

/** An object of a directory that did not answer. */
const reportFailure = (error: unknown): void => writeEvent("directory-failed", { why: messageOf(error) });
