import type { CallRule, StoredParts } from "../../../control-plane/feature.ts";
import type { PlatformFeature } from "../../../edge/feature.ts";
import { writeEvent } from "../../../edge/log.ts";
import type { Gateway } from "../../../ports/gateway.ts";
import { edgePacks, packHeaders } from "./packs.ts";

export const packs = {
  name: "packs",
  ports: ({ env, config, clock, entropy, namespace }) => ({
    packs: edgePacks({
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

/** KV takes a part and the header behind it. Storing a part twice changes nothing. */
const UPLOAD: CallRule = { deadline: "part", isIdempotent: true };

export const storedPacks = {
  name: "packs",
  isIn: ({ packs = {} }) => Object.keys(packs).length > 0,
  calls: { packStatus: UPLOAD, putPackPart: UPLOAD },
} satisfies StoredParts;
