import type { MemberOwners } from "../routing/schema/compose.ts";

/** The feature of each member of a table that is not the core's. A build that leaves the feature out names it to who uses it. */
export const MEMBERS: MemberOwners = {
  table: { cors: "cors", directory: "directory", graphql: "graphql", packs: "packs" },
  entity: {
    create: "create",
    directory: "directory",
    idIn: "places",
    list: "lists",
    otherBodies: "public-ids",
    public: "public-ids",
    publicFields: "public-ids",
    readCopies: "copies",
    regionsInstead: "directory",
  },
  withoutId: { idIn: "places", otherBodies: "public-ids", publicFields: "public-ids" },
  route: { directory: "directory", pack: "packs" },
};
