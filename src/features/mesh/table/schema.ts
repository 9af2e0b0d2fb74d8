import { optional, text } from "../../../routing/schema/parts.ts";

/** The gateway of a region, as declared. */

export const gatewaySchema = optional(
  text,
  "The gateway that serves the region, such as https://eu.gateway.example.com: other gateways of the mesh ask it, and not the origins. http only inside a private network.",
);

declare module "../../../routing/schema/table.ts" {
  interface DeclaredRegion {
    gateway?: string;
  }
}
