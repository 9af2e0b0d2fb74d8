import type { ServeFeature } from "../../../gateway/feature.ts";
import { loadable } from "../../../problems/loadable.ts";
import { ANY_PREFIX } from "../../../routing/lookup/paths.ts";

const handler = loadable("graphql", () => import("./serve.ts"));

export const graphql: ServeFeature = {
  name: "graphql",
  needs: ["create"],
  endpoint: ({ table }) => {
    const { graphql: plan } = table;
    if (plan === undefined) return undefined;
    return {
      paths: plan.spelling,
      answer: (context, served) =>
        context.path.startsWith(ANY_PREFIX)
          ? undefined
          : handler.run(({ serveGraphql }) => serveGraphql(context, served, plan)),
    };
  },
};
