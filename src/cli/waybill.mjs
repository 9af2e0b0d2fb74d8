#!/usr/bin/env node
// The `waybill` command as npm installs it. Plain JavaScript for Node 20: src/host/run.mjs finds a Node that reads
// TypeScript and runs the command in it.
process.argv.splice(2, 0, "src/cli/main.ts");
await import("../host/run.mjs");
