import { reset } from "cloudflare:test";
import { afterAll, beforeEach } from "vitest";

// All files of the project share one isolate: each test starts with empty KV, caches and Durable Objects. `reset` deletes only
// objects in memory: not those that were evicted or idle for ten seconds. When the next file begins, none may be.
beforeEach(() => reset());
afterAll(() => reset());
