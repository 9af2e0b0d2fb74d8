import type { PlatformFeature } from "../../../edge/feature.ts";
import { thinObject, type Wakes } from "../../../edge/thin-object.ts";
import { durableIdempotency, type IdempotencyRpc } from "./keys.ts";

/** The implementation is loaded with the first object. */
export class IdempotencyKeys extends thinObject<IdempotencyRpc & Wakes>(
  { namespace: "IDEMPOTENCY", module: "idempotency-object" },
  async () => {
    const module = await import("./object.ts");
    return (context, env) => new module.IdempotencyKeys(context, env);
  },
  { begin: true, finish: true, show: true, alarm: true },
) {}

export const idempotency = {
  name: "idempotency",
  ports: ({ env }) => ({ idempotency: durableIdempotency(env.IDEMPOTENCY) }),
} satisfies PlatformFeature;
