import type { PlatformFeature } from "../../edge/feature.ts";

declare module "../../ports/gateway.ts" {
  interface Gateway {
    /** Secrets that cursors of lists are sealed with: the first seals, all open. */
    readonly cursorKeys: readonly Uint8Array[];
  }
}

export const lists = {
  name: "lists",
  ports: ({ config }) => ({ cursorKeys: config.secrets }),
} satisfies PlatformFeature;
