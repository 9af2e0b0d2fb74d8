import { Hono } from "hono";
import type { PageFeature } from "../../../routes/feature.ts";
import { requireScope } from "../../../routes/lib/auth.ts";
import { contextOf, jsonResponse, type PageEnv, respond } from "../../../routes/lib/http.ts";
import { readIdempotencyKey } from "../../formats/key-field.ts";
import type { Gateway } from "../../ports/gateway.ts";
import { openapi } from "./openapi.ts";
import type { KeyEntry } from "./port.ts";

const PREFIX = "/-/idempotency/";

/** `GET /-/idempotency/:key`: what is known of a key, of all callers. Both spellings of the field are read. */
export const idempotency = (gateway: Gateway) =>
  new Hono<PageEnv>().get("/-/idempotency/:key", requireScope(gateway, "viewer"), async (c) => {
    const context = contextOf(c);
    const key = readIdempotencyKey(decoded(context.path.slice(PREFIX.length)));
    if (!key.ok || key.value === undefined) return context.fail({ reason: "idempotency-key-invalid" });
    const { value } = key;
    const shown = await gateway.idempotency.show(value);
    return respond(c, shown, (entries) => jsonResponse({ key: value, entries: entries.map(showEntry) }));
  });

/** Empty, which is no key, for what is not percent-encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

function showEntry({ scope, state, record, startedAtMs, untilMs, attempts, fingerprint, answer }: KeyEntry) {
  const times = { startedAt: new Date(startedAtMs).toISOString(), until: new Date(untilMs).toISOString() };
  return { scope, state, ...record, attempts, ...times, fingerprint, ...(answer === undefined ? {} : { answer }) };
}

export const idempotencyPages: PageFeature = {
  name: "idempotency",
  pages: [idempotency],
  openapi,
  moved: {
    part: {
      part: "idempotency",
      binding: "IDEMPOTENCY",
      order: 2,
      rows: { derived: ["totals"] },
      // As `edge/keys.ts` names them.
      objects: Array.from({ length: 64 }, (_, shard) => `keys-${shard}`),
    },
  },
};
