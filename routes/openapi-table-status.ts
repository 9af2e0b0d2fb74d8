import { AUDIENCE_MEMBERS } from "./openapi-table-history.ts";

/** What `GET /-/table/status` answers, as OpenAPI 3.1 describes it. */

const revision = { type: "integer", minimum: 0 };
const digest = { type: "string", pattern: "^[0-9a-f]{64}$" };
const time = { type: "string", format: "date-time" };

const canary = {
  type: ["object", "null"],
  description: "The table for some of the IDs; null where none runs.",
  required: ["revision", "digest"],
  properties: { revision, digest, ...AUDIENCE_MEMBERS },
};

export const STATUS = {
  type: "object",
  required: ["truth", "canary", "kv", "isolate", "pending", "lastError"],
  properties: {
    truth: { type: "object", required: ["revision", "digest"], properties: { revision, digest, time } },
    canary,
    kv: {
      type: ["object", "null"],
      description: "What KV shows to the object; null for nothing.",
      required: ["revision", "digest", "canary", "asked"],
      properties: { revision, digest, canary, asked: time },
    },
    isolate: {
      type: "object",
      description: "What the isolate that answers routes by.",
      required: ["revision", "source", "ageSeconds", "canary"],
      properties: {
        revision,
        digest,
        source: { enum: ["memory", "edge", "kv", "bundled"] },
        ageSeconds: { type: "integer", minimum: 0 },
        canary,
      },
    },
    pending: { type: "boolean", description: "Whether KV is still to be brought to the last change." },
    lastError: { type: ["string", "null"] },
  },
};
