import type { TableFeature } from "../../../routing/feature.ts";

/** The gateways of regions. Which of them are asked is a setting of each deployment: `edge/regions.ts`. */
export const meshTable: TableFeature = {
  name: "mesh",
  region: ({ gateway }) => (gateway === undefined ? {} : { gateway: gateway.replace(/\/$/, "") }),
  plain: ({ target: { region } }) => {
    const { gateway, servers } = region;
    if (gateway === undefined) return {};
    return servers[0]?.isPeer === true ? { gateway, byGateway: true } : { gateway };
  },
};

declare module "../../../routing/table.ts" {
  interface Region {
    /** The gateway that serves it. */
    readonly gateway?: string;
  }
  interface PlainDecision {
    /** The gateway that serves the region. `byGateway`: it is asked, and not the origins. */
    readonly gateway?: string;
    readonly byGateway?: true;
  }
}
