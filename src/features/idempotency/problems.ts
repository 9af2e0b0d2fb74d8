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
    detail: "The field idempotency-key must be one line of 1 to 255 visible ASCII characters.",
  },
  "idempotency-key-missing": {
    status: 400,
    title: "Missing idempotency key",
    detail: ({ entity }) => `A create of "${entity}" needs the field idempotency-key.`,
    members: ["entity"],
  },
  "idempotency-key-in-use": {
    status: 409,
    title: "Idempotency key in use",
    detail: "A request with this idempotency key is in progress.",
  },
  "idempotency-key-mismatch": {
    status: 422,
    title: "Idempotency key of another request",
    detail: "This idempotency key was used with another request.",
    needsNewKey: true,
  },
  "coding-not-accepted": {
    status: 406,
    title: "Kept response in another coding",
    detail: ({ coding }) => `The kept response has the content-encoding ${coding}.`,
    members: ["coding"],
  },
  "idempotency-keys-exhausted": {
    status: 429,
    title: "Too many idempotency keys",
    detail: ({ which, max }) => `At most ${max} ${which} are kept for idempotency keys.`,
    members: ["which", "max"],
  },
  "idempotency-unavailable": {
    status: 503,
    title: "Idempotency keys unavailable",
    detail: "The idempotency key can neither be looked up nor stored.",
  },
};
