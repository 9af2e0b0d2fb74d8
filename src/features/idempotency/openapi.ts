import type { OpenApiPart } from "../../../routes/feature.ts";
import { pathParameter } from "../../../routes/openapi/paths.ts";
import { json, state } from "../../../routes/openapi/table.ts";

const TEXT = { type: "string" };
const text = (description: string) => ({ type: "string", description });

const KEY_ENTRY = {
  type: "object",
  required: ["scope", "state", "entity", "id", "region", "revision", "attempts", "startedAt", "until", "fingerprint"],
  properties: {
    scope: text("The first 12 hex digits of the caller's hash; empty for requests without a credential."),
    state: { type: "string", enum: ["running", "open", "done"] },
    entity: TEXT,
    id: text("The first one of a mint."),
    region: TEXT,
    revision: { type: "integer" },
    attempts: { type: "integer", minimum: 1 },
    startedAt: { type: "string", format: "date-time" },
    until: { type: "string", format: "date-time" },
    fingerprint: text("Hash of method, target, content type and body."),
    answer: {
      type: "object",
      description: "The kept one. Without it a retry asks the origin again.",
      required: ["status", "bytes"],
      properties: { status: { type: "integer" }, bytes: { type: "integer" } },
    },
  },
};

const KEY_ENTRIES = {
  type: "object",
  required: ["key", "entries"],
  properties: { key: TEXT, entries: { type: "array", items: KEY_ENTRY } },
};

export const openapi: OpenApiPart = {
  paths: {
    "/-/idempotency/{key}": state("idempotencyKey", "The state of an idempotency key, for all callers", {
      parameters: [pathParameter("key", { minLength: 1, maxLength: 512 })],
      content: json(KEY_ENTRIES),
    }),
  },
};
