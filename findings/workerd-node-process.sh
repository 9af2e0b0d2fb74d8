#!/usr/bin/env bash
# Guess: where Node's compatibility is switched off by both flags, `no_nodejs_compat` and `no_nodejs_compat_v2`, no `node:` module can
#   be imported: "No such module".
# Seen (workerd 1.20261023.1): `node:process` is there all the same, with `env`, `exit` and `getBuiltinModule`, also at a compatibility date
#   that never granted Node's modules. `process`, `node:fs` and `node:module` are not, nor the global `process`.
# Why it matters: a library that probes for Node by `import("node:process")` takes a Worker for Node, and its next import fails. A gateway
#   whose test asks for all of Node's modules alike never passes.
# Exits with another status than 0 if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund workerd@1.20261023.1

cat >worker.mjs <<'WORKER'
const members = async (name) => {
  try {
    return `${name}: ${Object.keys((await import(name)).default).sort().join(" ")}`;
  } catch (error) {
    return `${name}: ${error.message}`;
  }
};

export default {
  async fetch() {
    const names = ["node:process", "process", "node:fs", "node:module"];
    const lines = [`global: ${typeof globalThis.process}`, ...(await Promise.all(names.map(members)))];
    return new Response(lines.join("\n"));
  },
};
WORKER

cat >run.mjs <<'RUN'
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

async function ask(date, flags) {
  writeFileSync(
    "config.capnp",
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "worker", esModule = embed "worker.mjs")],
    compatibilityDate = "${date}",
    compatibilityFlags = ${JSON.stringify(flags)},
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);`,
  );
  const stdio = ["ignore", "inherit", "inherit", "pipe"];
  const workerd = spawn("node_modules/.bin/workerd", ["serve", "--control-fd=3", "config.capnp"], { stdio });
  const port = await new Promise((resolve) =>
    createInterface({ input: workerd.stdio[3] }).on("line", (line) => resolve(JSON.parse(line).port)),
  );
  const seen = await (await fetch(`http://127.0.0.1:${port}/`)).text();
  workerd.kill();
  console.log(`${date} ${flags.join(" ")}\n${seen}\n`);
  return seen;
}

const expected = [
  "global: undefined",
  "node:process: env exit features getBuiltinModule nextTick platform",
  'process: No such module "process".',
  'node:fs: No such module "node:fs".',
  'node:module: No such module "node:module".',
].join("\n");
const all = [await ask("2026-10-20", ["no_nodejs_compat", "no_nodejs_compat_v2"]), await ask("2025-01-01", [])];
process.exit(all.every((seen) => seen === expected) ? 0 : 1);
RUN

node run.mjs
