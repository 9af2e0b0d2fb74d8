import type { FrontFeature } from "../../gateway/front.ts";
import type { RequestContext } from "../../gateway/request.ts";
import { loadable } from "../../problems/loadable.ts";

const pages = loadable("mint", () => import("./pages.ts"));

const answerMint = async (context: RequestContext): Promise<Response> =>
  (pages.loaded ?? (await pages.load())).answerMint(context);

/** `POST /mint` where it is open to all. */
export const mintFront: FrontFeature = {
  name: "mint",
  answer: (context) =>
    context.path === "/mint" && context.method === "POST" && context.gateway.mintDoor === "open"
      ? answerMint(context)
      : undefined,
};
