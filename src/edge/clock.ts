import type { Clock } from "../ports.ts";

/** The platform's clock. On Cloudflare it stands still between I/O. */
export const systemClock: Clock = { nowMs: () => Date.now() };
