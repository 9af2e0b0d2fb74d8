import type { Endpoint, ServeFeature } from "../../../gateway/feature.ts";
import { loadable } from "../../../problems/loadable.ts";

const handler = loadable("graphql", () => import("./serve.ts"));

export const graphql: ServeFeature = {
  name: "graphql",
  needs: ["create"],
  endpoints: ({ table: { graphql: plan } }) => {
    if (plan === undefined) return undefined;
    const answer: Endpoint = (context, served) =>
      handler.run(({ serveGraphql }) => serveGraphql(context, served, plan));
    // Other spellings of its path are its own too: they are refused there.
    return { literal: new Map([[plan.path, answer]]), pattern: { paths: plan.spelling, find: () => answer } };
  },
};
