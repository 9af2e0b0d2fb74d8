#!/usr/bin/env node
// The `waybill` command as npm installs it. Plain JavaScript for Node 20: src/host/run.mjs has it read as
// TypeScript.
process.argv.splice(2, 0, "--product", "src/cli/main.ts");
await import("../host/run.mjs");
