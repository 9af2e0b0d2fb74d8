#!/usr/bin/env node
// The `waybill` command as npm installs it. Plain JavaScript for Node 20: src/host/run.mjs finds a Node that reads
// TypeScript and runs the command in it; the streams are its own, and its exit code is ours.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

const runner = fileURLToPath(new URL("../host/run.mjs", import.meta.url));
const args = [runner, "src/cli/main.ts", ...process.argv.slice(2)];
const child = spawn(process.execPath, args, { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.once("exit", (code, signal) => {
  process.exitCode = code ?? 128 + constants.signals[signal];
});
