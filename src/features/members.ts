import type { MemberOwners } from "../routing/schema/compose.ts";

/**
 * The feature of each member of a table that is not the core's, in their order. `before`: the core's member that it precedes. A build
 * that leaves the feature out names it to those who use it.
 */
export const MEMBERS: MemberOwners = {
  table: {
    graphql: { feature: "graphql", before: "sources" },
    cors: { feature: "cors", before: "sources" },
    packs: { feature: "packs", before: "routes" },
    directory: { feature: "directory", before: "routes" },
  },
  region: {
    gateway: { feature: "mesh", before: "failover" },
  },
  entity: {
    directory: { feature: "directory", before: "any" },
    regionsInstead: { feature: "directory", before: "any" },
    public: { feature: "public-ids", before: "deadlines" },
    publicFields: { feature: "public-ids", before: "deadlines" },
    otherBodies: { feature: "public-ids", before: "deadlines" },
    readCopies: { feature: "copies" },
    idIn: { feature: "places" },
    create: { feature: "create" },
    list: { feature: "lists" },
  },
  withoutId: {
    idIn: { feature: "places", before: "sources" },
    publicFields: { feature: "public-ids", before: "deadlines" },
    otherBodies: { feature: "public-ids", before: "deadlines" },
  },
  route: {
    directory: { feature: "directory", before: "split" },
    pack: { feature: "packs", before: "canary" },
  },
};
