import { Hono } from "hono";
import type { Gateway } from "../../src/ports.ts";
import type { PageEnv } from "../lib/http.ts";

export const history = (_: Gateway) => new Hono<PageEnv>();
