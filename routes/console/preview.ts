import { Hono, type MiddlewareHandler } from "hono";
import type { Gateway } from "../../src/ports.ts";
import type { PageEnv } from "../lib/http.ts";

export const preview = (_: Gateway, __: MiddlewareHandler) => new Hono<PageEnv>();
