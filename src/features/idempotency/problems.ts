import type { ProblemsOf } from "../../problems/feature.ts";

export type IdempotencyKeyError =
  | { readonly reason: "idempotency-key-invalid" }
  | { readonly reason: "idempotency-key-missing"; readonly entity: string }
  | { readonly reason: "idempotency-key-in-use"; readonly retryAfterSeconds: number }
  | { readonly reason: "idempotency-key-mismatch" }
  | { readonly reason: "coding-not-accepted"; readonly coding: string }
  | {
      readonly reason: "idempotency-keys-exhausted";
      readonly which: "keys" | "bytes";
      readonly max: number;
      readonly retryAfterSeconds: number;
    }
  | IdempotencyError;

/** `why` is only for the log. */
export type IdempotencyError = { readonly reason: "idempotency-unavailable"; readonly why: string };

export const idempotencyProblems: ProblemsOf<IdempotencyKeyError> = {
  "idempotency-key-invalid": {
    status: 400,
    title: "Invalid idempotency key",
    meaning: "`idempotency-key` is not one line of 1 to 255 visible ASCII characters, bare or as a quoted string.",
    remedy: "Send one such key, for example a UUID. Nothing was done.",
    detail: "The field idempotency-key must be one line of 1 to 255 visible ASCII characters.",
  },
  "idempotency-key-missing": {
    status: 400,
    title: "Missing idempotency key",
    meaning: "The routing table requires `idempotency-key` for creates of this entity.",
    remedy: "Send a new key for each create, and the same key with each retry.",
    detail: ({ entity }) => `A create of "${entity}" needs the field idempotency-key.`,
    members: ["entity"],
  },
  "idempotency-key-in-use": {
    status: 409,
    title: "Idempotency key in use",
    meaning: "Another request with the same key is in progress.",
    remedy: "Retry with the same key after `retry-after`.",
    detail: "A request with this idempotency key is in progress.",
  },
  "idempotency-key-mismatch": {
    status: 422,
    title: "Idempotency key of another request",
    meaning: "The key was used with another method, target, content type or body.",
    remedy: "Use a new key for a new request; repeat a request byte for byte.",
    detail: "This idempotency key was used with another request.",
    needsNewKey: true,
  },
  "coding-not-accepted": {
    status: 406,
    title: "Kept response in another coding",
    meaning:
      "The request was done before. Its response was kept in the content coding that the first request asked for; `accept-encoding` refuses it now, and the gateway cannot undo it.",
    remedy: "Retry with the same key and the first request's `accept-encoding`. Nothing was done again.",
    detail: ({ coding }) => `The kept response has the content-encoding ${coding}.`,
    members: ["coding"],
  },
  "idempotency-keys-exhausted": {
    status: 429,
    title: "Too many idempotency keys",
    meaning: "Keys are kept until they expire. The caller, or all callers, reached the limit `max` of `which`.",
    remedy: "Wait until keys expire. Nothing was done.",
    detail: ({ which, max }) => `At most ${max} ${which} are kept for idempotency keys.`,
    members: ["which", "max"],
  },
  "idempotency-unavailable": {
    status: 503,
    title: "Idempotency keys unavailable",
    meaning: "The Durable Object of the key did not respond. Without it a repeated request could act twice.",
    remedy: "Retry with the same key.",
    detail: "The idempotency key can neither be looked up nor stored.",
  },
};
