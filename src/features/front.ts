import { corsFront } from "./cors/serve.ts";
import { mintFront } from "./mint/front.ts";

/** The features that stand before the pages and the table. */
export const FRONT_FEATURES = [mintFront, corsFront];
