import { IdempotencyKeys as Keys } from "../../src/features/idempotency/edge/object.ts";
import gateway from "../../src/worker.ts";

/** The gateway, which also tells how often the object of its idempotency keys was called. */

export * from "../../src/worker.ts";

let calls = 0;

export class IdempotencyKeys extends Keys {
  override begin(...call: Parameters<Keys["begin"]>): ReturnType<Keys["begin"]> {
    calls++;
    return super.begin(...call);
  }

  override finish(...call: Parameters<Keys["finish"]>): ReturnType<Keys["finish"]> {
    calls++;
    return super.finish(...call);
  }
}

export default {
  ...gateway,
  fetch: (...[request, env, context]: Parameters<typeof gateway.fetch>) =>
    request.url.endsWith("/calls") ? Response.json(calls) : gateway.fetch(request, env, context),
};
