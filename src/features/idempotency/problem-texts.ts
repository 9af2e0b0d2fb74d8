import type { TextsOf } from "../../problems/feature.ts";
import type { IdempotencyKeyError } from "./problems.ts";

/** The page of each problem: pages and documents alone load it. */
export const idempotencyTexts: TextsOf<IdempotencyKeyError> = {
  "idempotency-key-invalid": {
    meaning: "`idempotency-key` is not one line of 1 to 255 visible ASCII characters, bare or as a quoted string.",
    remedy: "Send one such key, for example a UUID. Nothing was done.",
  },
  "idempotency-key-missing": {
    meaning: "The routing table requires `idempotency-key` for creates of this entity.",
    remedy: "Send a new key for each create, and the same key with each retry.",
  },
  "idempotency-key-in-use": {
    meaning: "Another request with the same key is in progress.",
    remedy: "Retry with the same key after `retry-after`.",
  },
  "idempotency-key-mismatch": {
    meaning: "The key was used with another method, target, content type or body.",
    remedy: "Use a new key for a new request; repeat a request byte for byte.",
  },
  "coding-not-accepted": {
    meaning:
      "The request was done before. Its response was kept in the content coding that the first request asked for; `accept-encoding` refuses it now, and the gateway cannot undo it.",
    remedy: "Retry with the same key and the first request's `accept-encoding`. Nothing was done again.",
  },
  "idempotency-keys-exhausted": {
    meaning: "Keys are kept until they expire. The caller, or all callers, reached the limit `max` of `which`.",
    remedy: "Wait until keys expire. Nothing was done.",
  },
  "idempotency-unavailable": {
    meaning: "The Durable Object of the key did not respond. Without it a repeated request could act twice.",
    remedy: "Retry with the same key.",
  },
};
