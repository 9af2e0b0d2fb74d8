import type { FrontFeature } from "../../gateway/front.ts";
import { loadable } from "../../problems/loadable.ts";
import { HOP_FIELD } from "../../proxy/headers.ts";

const taking = loadable("mesh-take", () => import("./serve/take.ts"));

/** Requests of other gateways of the mesh pass none of the steps that the first gateway has made. */
export const meshFront: FrontFeature = {
  name: "mesh",
  first({ mesh }) {
    if (mesh === undefined) return undefined;
    return (context) => {
      const hop = context.request.headers.get(HOP_FIELD);
      return hop === null ? undefined : taking.load().then(({ takeHop }) => takeHop(context, mesh, hop));
    };
  },
};
