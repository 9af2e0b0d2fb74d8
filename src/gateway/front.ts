import type { Gateway } from "../ports/gateway.ts";
import type { RequestContext } from "./request.ts";

/** The part of a feature that stands before the pages and the table. */
export interface FrontFeature {
  readonly name: string;
  /** Answers a path of its own without the router of pages, which costs more than an ID. `undefined`: not this request. */
  readonly answer?: (context: RequestContext) => Promise<Response> | undefined;
  /** Takes requests before anything else looks at them. Asked once; `undefined`: the deployment has none of these. */
  readonly first?: (gateway: Gateway) => ((context: RequestContext) => Promise<Response> | undefined) | undefined;
  /** Changes an answer that is not an origin's. */
  readonly finish?: (context: RequestContext, response: Response) => Promise<Response>;
}
