#!/usr/bin/env bash
# Guess: a promise that a module makes when it is evaluated, and that never settles, may be raced with in every request, whether the module
#   is imported statically or by `import()` in a request.
# Seen (workerd 1.20261117.1): so it is for static imports, and for all with `legacy_module_registry`. With `new_module_registry`, on by default
#   at the compatibility date 2026-11-17 and off at 2026-11-10, the promise belongs to the request that first imports the module. Each later
#   request that races with it throws at once: "This promise was created by a request that has since ended", though the other promise of the
#   race would have settled.
# Why it matters: `const never = new Promise(() => {})` works for as long as a bundle is one module. Cut into parts that are loaded by need, or
#   with a later date, each request but the first throws; work under `waitUntil` does so unseen.
# Exits with another status than 0 if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund workerd@1.20261117.1

cat >early.mjs <<'MODULE'
const never = new Promise(() => {});
export const race = (work) => Promise.race([work, never]);
MODULE
cp early.mjs late.mjs

cat >worker.mjs <<'WORKER'
import * as early from "early.mjs";

export default {
  async fetch(request) {
    const isLate = new URL(request.url).pathname === "/late";
    const { race } = isLate ? await import("late.mjs") : early;
    try {
      return new Response(await race(scheduler.wait(20).then(() => "the work's value")));
    } catch (error) {
      return new Response(error.message);
    }
  },
};
WORKER

cat >run.mjs <<'RUN'
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const modules = ["worker", "early", "late"].map((name) => `(name = "${name}.mjs", esModule = embed "${name}.mjs")`);

async function ask(date, flags) {
  writeFileSync(
    "config.capnp",
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [${modules.join(", ")}],
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
  const seen = [];
  for (const path of ["/early", "/early", "/late", "/late"]) {
    const text = await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
    seen.push(`${path}: ${text.split(",", 1)[0]}`);
  }
  workerd.kill();
  console.log(`${date} ${flags.join(" ")}\n${seen.join("\n")}\n`);
  return seen.join("; ");
}

const value = "the work's value";
const ended = "This promise was created by a request that has since ended";
const good = `/early: ${value}; /early: ${value}; /late: ${value}; /late: ${value}`;
const bad = `/early: ${value}; /early: ${value}; /late: ${value}; /late: ${ended}`;
const all = [
  (await ask("2026-11-10", [])) === good,
  (await ask("2026-11-10", ["new_module_registry"])) === bad,
  (await ask("2026-11-17", [])) === bad,
  (await ask("2026-11-17", ["legacy_module_registry"])) === good,
];
process.exit(all.every((isAsSeen) => isAsSeen) ? 0 : 1);
RUN

node run.mjs
