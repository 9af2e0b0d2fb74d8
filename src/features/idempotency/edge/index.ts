import type { PlatformFeature } from "../../../edge/feature.ts";
import { thinObject, type Wakes } from "../../../edge/thin-object.ts";
import { methodsOf } from "../../../problems/loadable.ts";
import type { IdempotencyKeys as Keys } from "../port.ts";
import type { IdempotencyRpc } from "./keys.ts";

/** The implementation is loaded with the first object. */
export class IdempotencyKeys extends thinObject<IdempotencyRpc & Wakes>(
  { namespace: "IDEMPOTENCY", module: "idempotency-object" },
  async () => {
    const module = await import("./object.ts");
    return (context, env) => new module.IdempotencyKeys(context, env);
  },
  { begin: "start", finish: "prompt", show: "prompt", alarm: "platform" },
) {}

export const idempotency = {
  name: "idempotency",
  ports: ({ env }) => ({
    idempotency: methodsOf<Keys>("idempotency-keys", async () => (await import("./keys.ts")).idempotencyOf(env)),
  }),
} satisfies PlatformFeature;
