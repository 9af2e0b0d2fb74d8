import type { Context } from "hono";
import { problemResponse } from "./problem-response.ts";

/** Answers what is left over at one of the gateway's own paths: methods that it does not take. */
export const methodNotAllowed =
  (...allow: readonly string[]) =>
  (c: Context): Response =>
    problemResponse({ reason: "method-not-allowed", method: c.req.method, allow });
