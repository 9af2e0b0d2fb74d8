#!/usr/bin/env bash
# Guess: what workerd decodes when it reads an answer with `content-encoding: gzip`, its DecompressionStream("gzip") decodes too.
# Seen (workerd 1.20261023.1): an answer of two gzip members (RFC 1952 §2.2: a file is a series of members) is decoded whole by
#   `fetch`, and by Node's zlib. DecompressionStream of the same runtime throws "Trailing bytes after end of compressed data".
# Why it matters: a gateway that decodes what the runtime leaves coded (`GZIP`, `x-gzip`, `gzip, gzip`) by DecompressionStream
#   refuses bodies that the same origin may send as `gzip`: files of bgzip, or parts that were compressed one by one. Here
#   src/proxy/decompress.ts tries where members end.
# Exits with another status than 0 if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund workerd@1.20261023.1

cat >worker.mjs <<'WORKER'
const read = async (name, bytes) => {
  try {
    return `${name}: ${await bytes()}`;
  } catch (error) {
    return `${name}: ${error}`;
  }
};

export default {
  async fetch(request, env) {
    const raw = await fetch(env.ORIGIN, { encodeResponseBody: "manual" });
    const lines = [
      await read("fetch", async () => (await fetch(env.ORIGIN)).text()),
      await read("DecompressionStream", () => new Response(raw.body.pipeThrough(new DecompressionStream("gzip"))).text()),
    ];
    return new Response(lines.join("\n"));
  },
};
WORKER

cat >run.mjs <<'RUN'
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { gunzipSync, gzipSync } from "node:zlib";

const body = Buffer.concat([gzipSync("one "), gzipSync("two")]);
const origin = createServer((_, response) => response.setHeader("content-encoding", "gzip").end(body));
await new Promise((resolve) => origin.listen(0, "127.0.0.1", resolve));
writeFileSync(
  "config.capnp",
  `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker", esModule = embed "worker.mjs")],
      compatibilityDate = "2026-10-20",
      bindings = [(name = "ORIGIN", text = "http://127.0.0.1:${origin.address().port}/")],
      globalOutbound = "loopback",
    )),
    (name = "loopback", network = (allow = ["local"])),
  ],
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
origin.close();
console.log(`node:zlib: ${gunzipSync(body)}\n${seen}`);
const expected = "fetch: one two\nDecompressionStream: TypeError: Trailing bytes after end of compressed data";
process.exit(seen === expected ? 0 : 1);
RUN

node run.mjs
