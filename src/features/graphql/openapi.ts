import type { OpenApiPart } from "../../../routes/feature.ts";
import { pathItem } from "../../../routes/openapi/paths.ts";

/** The path of GraphQL that a table gives. */
export const openapi: OpenApiPart = {
  withPaths: (paths, { graphql }) =>
    graphql === undefined
      ? paths
      : {
          ...paths,
          [graphql.path]: pathItem({
            methods: ["get", "post"],
            name: graphql.entity.name,
            tag: "without-id",
            summary: "GraphQL: an operation goes to the regions of the IDs in it",
            parameters: [],
          }),
        },
};
