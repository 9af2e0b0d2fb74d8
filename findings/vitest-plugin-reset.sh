#!/usr/bin/env bash
# Guess: `reset()` of `cloudflare:test`, which "deletes all data from all attached bindings", leaves no Durable Object's storage behind.
# Seen (@cloudflare/vitest-plugin 1.5.0, vitest 5.1.1): it deletes the storage of objects in memory alone. An object that was evicted
#   just before, or that was idle for ten seconds, keeps its rows, and the next test reads them.
# Why it matters: tests of idempotency keys or of leases pass alone and fail together, or pass because of what is left.
# Exits with another status than 0 if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm pkg set type=module
npm install --silent --no-audit --no-fund --ignore-scripts @cloudflare/vitest-plugin@1.5.0 vitest@5.1.1 "node-linux-$(node -p process.arch)@24.21.0"
PATH="$PWD/node_modules/node-linux-$(node -p process.arch)/bin:$PATH"

cat >wrangler.json <<'JSON'
{
  "name": "reset",
  "main": "worker.js",
  "compatibility_date": "2026-10-20",
  "durable_objects": { "bindings": [{ "name": "OBJECTS", "class_name": "Counter" }] },
  "migrations": [{ "tag": "v1", "new_sqlite_classes": ["Counter"] }]
}
JSON

cat >worker.js <<'JS'
import { DurableObject } from "cloudflare:workers";

export class Counter extends DurableObject {
  async write() {
    await this.ctx.storage.put("a", 1);
  }
  read() {
    return this.ctx.storage.get("a");
  }
}
export default { fetch: () => new Response() };
JS

cat >vitest.config.js <<'JS'
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [cloudflareTest({ wrangler: { configPath: "./wrangler.json" } })],
  test: { testTimeout: 30_000 },
});
JS

cat >reset.test.js <<'JS'
import { evictDurableObject, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, it } from "vitest";

beforeEach(() => reset());
const object = (name) => env.OBJECTS.get(env.OBJECTS.idFromName(name));
const left = async (name) => console.log(`seen ${name}: ${(await object(name).read()) === undefined ? "nothing" : "kept"}`);

it("in memory", async () => {
  await object("in memory").write();
  await reset();
  await left("in memory");
});
it("evicted", async () => {
  await object("evicted").write();
  await evictDurableObject(object("evicted"));
  await reset();
  await left("evicted");
});
it("idle", async () => {
  await object("idle").write();
  await new Promise((resolve) => setTimeout(resolve, 12_000));
  await reset();
  await left("idle");
});
JS

export WRANGLER_SEND_METRICS=false CLOUDFLARE_CF_FETCH_ENABLED=false
seen=$(node_modules/.bin/vitest run --no-color 2>&1 | grep -E "^seen " || true)
echo "$seen"
[ "$seen" = "seen in memory: nothing
seen evicted: kept
seen idle: kept" ]
