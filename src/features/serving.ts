import { copies } from "./copies/serve.ts";
import { corsFront } from "./cors/serve.ts";
import { create } from "./create/serve/index.ts";
import { directory } from "./directory/serve/forward.ts";
import { graphql } from "./graphql/serve/index.ts";
import { lists } from "./lists/serve/index.ts";
import { meshFront } from "./mesh/front.ts";
import { mintFront } from "./mint/front.ts";
import { places } from "./places/serve/index.ts";
import { publicIds } from "./public-ids/serve/rewrite.ts";
import { shadow } from "./shadow/serve.ts";

/** The features that serve requests, in the order in which they are asked. */
export const SERVE_FEATURES = [create, graphql, lists, places, copies, directory, publicIds, shadow];

/** The features that stand before the pages and the table. */
export const FRONT_FEATURES = [meshFront, mintFront, corsFront];
