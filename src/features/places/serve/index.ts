import type { ServeFeature } from "../../../gateway/feature.ts";
import { loadable } from "../../../problems/loadable.ts";

const handler = loadable("places", () => import("./serve.ts"));

export const places: ServeFeature = {
  name: "places",
  placed: ({ idIn }) =>
    idIn && ((context, served, placed) => handler.run((own) => own.serveByPlaces(context, served, placed, idIn))),
};
