import type { Context } from "hono";
import type { Gateway } from "../../src/ports/gateway.ts";
import type { Moving } from "../../src/ports/moving.ts";
import { contextOf, type PageEnv } from "../lib/http.ts";

type Answer = (c: Context<PageEnv>, moving: Moving) => Promise<Response>;
export type WithMoving = (answer: Answer) => (c: Context<PageEnv>) => Promise<Response>;

/** For pages that need the state. */
export const movingOf =
  (gateway: Gateway): WithMoving =>
  (answer) =>
  async (c) => {
    const moving = await gateway.moving();
    const why = "An edge keeps no state: the state nodes have it";
    return moving === undefined ? contextOf(c).fail({ reason: "state-refused", why }) : answer(c, moving);
  };
