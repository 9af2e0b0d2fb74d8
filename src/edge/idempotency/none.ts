import { err } from "../../ids/result.ts";
import type { IdempotencyKeys } from "../../ports.ts";

/** Takes no key: a request with one must not run as if it had none. */
const unavailable = async () => err({ reason: "idempotency-unavailable", why: "there is no store of keys" } as const);

export const NO_IDEMPOTENCY: IdempotencyKeys = { begin: unavailable, finish: unavailable, show: unavailable };
