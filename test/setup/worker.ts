import { reset } from "cloudflare:test";
import { beforeEach } from "vitest";

// All files of the project share one isolate: each test starts with empty KV, caches and Durable Objects.
beforeEach(() => reset());
