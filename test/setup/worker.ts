import { reset } from "cloudflare:test";
import { afterAll, beforeEach } from "vitest";
import "../../src/control-plane/object.ts";
import "../../src/edge/metrics/object.ts";
import "../../src/edge/moving/object.ts";
import "../../src/features/directory/edge/object.ts";
import "../../src/features/idempotency/edge/object.ts";
import "../../src/features/mint/edge/object.ts";

// All files of the project share one isolate: each test starts with empty KV, caches and Durable Objects. `reset` deletes only
// objects in memory: not those that were evicted or idle for ten seconds. When the next file begins, none may be.
// The objects' modules are there before: one whose first import an object began that was deleted meanwhile is never there.
beforeEach(() => reset());
afterAll(() => reset());
