import { Hono } from "hono";
import type { PageFeature } from "../../../routes/feature.ts";
import { contextOf, openLimited, type PageEnv, readBodyInTime } from "../../../routes/lib/http.ts";
import { limitRate } from "../../gateway/rate-limit.ts";
import type { Gateway } from "../../ports/gateway.ts";
import { openapi } from "./openapi.ts";
import { answerMany } from "./serve/answer.ts";
import { MANY_BYTES_MAX, readMany } from "./serve/request.ts";

/** `POST /any`: up to 1,000 IDs at once, each answered as `GET /any/:id` is, or only located. */
export const many = (gateway: Gateway) =>
  new Hono<PageEnv>().post("/any", async (c) => {
    const context = contextOf(c);
    const served = await openLimited(context, "client");
    if (served instanceof Response) return served;
    const body = await readBodyInTime(context, MANY_BYTES_MAX);
    if (!body.ok) return context.fail(body.error);
    const wanted = readMany(body.value, c.req.raw.headers, context.query);
    if (!wanted.ok) return context.fail(wanted.error);
    const { length } = wanted.value.ids;
    const { client, lookup } = gateway.rateLimits;
    // Each ID has the price of a request of its own, and one was counted.
    for (const [which, limit, count] of [
      ["client", client, length - 1],
      ["lookup", lookup, length],
    ] as const) {
      if (limit === undefined || count === 0) continue;
      if (limit.max !== undefined && length > limit.max) {
        return context.fail({ reason: "key-out-of-range", field: "ids", value: `${length}`, max: `${limit.max}` });
      }
      const limited = await limitRate(context, limit, which, undefined, count);
      if (limited !== undefined) return limited;
    }
    return answerMany(context, served, wanted.value);
  });

export const manyPages: PageFeature = { name: "many", pages: [many], openapi };
