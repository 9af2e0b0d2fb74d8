import type { Config } from "../../../edge/config.ts";
import type { PlatformFeature } from "../../../edge/feature.ts";
import { writeEvent } from "../../../edge/log.ts";
import { loadable } from "../../../problems/loadable.ts";
import type { CompiledTable } from "../../../routing/table.ts";
import type { Mesh } from "../port.ts";

const asking = loadable("mesh-ask", () => import("../serve/ask.ts"));
const regions = loadable("mesh-regions", () => import("./regions.ts"));

/** `undefined`: the deployment is in no mesh. With an invalid setting it is in one, and makes and believes no hop. */
const meshOf = ({ selfRegions, peerKeys, gatewayName: name, faults }: Config): Mesh | undefined => {
  const invalid = faults.map(({ setting }) => setting);
  if (selfRegions === undefined && !invalid.includes("SELF_REGIONS")) return undefined;
  const isFaulty = invalid.some((setting) => /^(?:SELF_REGIONS|PEER_KEYS|GATEWAY_NAME)$/.test(setting));
  return { name, selfRegions: new Set(selfRegions), keys: isFaulty ? [] : peerKeys };
};

export const mesh = {
  name: "mesh",
  ports({ config, clock, counters }) {
    const own = meshOf(config);
    if (own === undefined) return {};
    const ports = { mesh: own, clock, counters, report: (why: object) => writeEvent("hop-refused", why) };
    return {
      mesh: own,
      misfits: ({ regions: known }: CompiledTable) =>
        [...own.selfRegions].every((name) => known.has(name)) ? [] : ["SELF_REGIONS"],
      peers: {
        ask: async (...sent) => (await asking.load()).askPeer(ports, ...sent),
        decideAnew: (...refused) => asking.loaded?.decideAnew(...refused),
      },
    };
  },
  fit(config) {
    const own = meshOf(config);
    return own && ((table, digest) => regions.run(({ fitRegions }) => fitRegions(table, digest, own)));
  },
} satisfies PlatformFeature;
