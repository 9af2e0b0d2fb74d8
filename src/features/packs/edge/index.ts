import type { CallRule, StoredParts } from "../../../control-plane/feature.ts";
import type { PlatformFeature } from "../../../edge/feature.ts";
import { writeEvent } from "../../../edge/log.ts";
import type { TableOpener } from "../../../edge/table/table-gate.ts";
import { err } from "../../../ids/result.ts";
import type { Gateway } from "../../../ports/gateway.ts";
import { loadable, ModuleUnavailable } from "../../../problems/loadable.ts";
import type { Packs } from "../port.ts";
import { slotsOf } from "../table/slots.ts";
import type { edgePacks } from "./packs.ts";

const packsModule = loadable("packs", () => import("./packs.ts"));

export const packs = {
  name: "packs",
  ports: ({ env, config, clock, entropy, namespace }) => ({
    packs: packsByNeed({
      kv: env.TABLE_KV,
      namespace,
      clock,
      entropy,
      retryMsMax: config.tableRefreshMs,
      // IDs that need the pack, or a page of it, are answered 503.
      report: (failure) => writeEvent("pack-load-failed", failure),
    }),
  }),
  opener: (ports) => packHeaders(ports.packs),
} satisfies PlatformFeature<Pick<Gateway, "packs">>;

/** Made for the first table that has packs. */
function packsByNeed(options: Parameters<typeof edgePacks>[0]): Packs {
  let made: Packs | undefined;
  const loaded = async (): Promise<Packs> => {
    const module = packsModule.loaded ?? (await packsModule.load());
    made ??= module.edgePacks(options);
    return made;
  };
  return {
    open: async (table, waitMs) => (await loaded()).open(table, waitMs),
    load: async (table, missing) => (await loaded()).load(table, missing),
  };
}

/** A table is served once the header of each of its packs is verified. */
export const packHeaders = (from: Packs): TableOpener => ({
  needs: (table) => slotsOf(table).size > 0,
  async open(table, waitMs) {
    try {
      return await from.open(table, waitMs);
    } catch (error) {
      // Requests that need no pack are served, as with one that cannot be read.
      if (!(error instanceof ModuleUnavailable)) throw error;
      return err({ reason: "table-unavailable", why: error.message });
    }
  },
});

/** KV takes a part and the header behind it. Storing a part twice changes nothing. */
const UPLOAD: CallRule = { deadline: "part", isIdempotent: true };

export const storedPacks = {
  name: "packs",
  isIn: ({ packs = {} }) => Object.keys(packs).length > 0,
  calls: { packStatus: UPLOAD, putPackPart: UPLOAD },
} satisfies StoredParts;
