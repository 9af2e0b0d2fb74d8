#!/usr/bin/env bash
# Guess: `pipeTo` with `preventCancel: true` leaves its source readable when its receiver leaves, as the Streams Standard says
#   (ReadableStreamPipeTo, "errors must be propagated backward"). So the rest of a request's body can be read by other code.
# Seen (workerd 1.20261117.1): the lock is released, but the source is errored with the receiver's reason, and all that is left of
#   the body is lost. Node's streams give the next bytes.
# Why it matters to a gateway: an origin may answer before it has the whole body, and close. The rest must be read, or the client
#   sees a broken connection in place of the answer (RFC 9112 §9.6). So src/proxy/pump.ts carries bodies itself, at twice the price.
# Exits with another status than 0 if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund workerd@1.20261117.1

cat >pipe.mjs <<'PIPE'
/** Pipes a source of which five bytes have come, to a receiver that takes them and leaves, and reads on. */
export async function readOn(source, { readable, writable }, sendRest) {
  const piped = source.pipeTo(writable, { preventCancel: true }).catch(() => "rejected");
  const reader = readable.getReader();
  await reader.read();
  await reader.cancel();
  sendRest();
  const end = await Promise.race([piped, new Promise((resolve) => setTimeout(resolve, 2_000, "still open"))]);
  const silence = new Promise((resolve) => setTimeout(resolve, 2_000, { value: { byteLength: "no" } }));
  try {
    const { value } = await Promise.race([source.getReader().read(), silence]);
    return `pipe ${end}, source gave ${value === undefined ? "its end" : `${value.byteLength} bytes`}`;
  } catch (error) {
    return `pipe ${end}, source failed: ${error.message}`;
  }
}
PIPE

cat >worker.mjs <<'WORKER'
import { readOn } from "./pipe.mjs";

export default {
  async fetch(request) {
    return new Response(await readOn(request.body, new IdentityTransformStream(), () => undefined));
  },
};
WORKER

cat >run.mjs <<'RUN'
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { createInterface } from "node:readline";
import { readOn } from "./pipe.mjs";

const five = new TextEncoder().encode("12345");
const inNode = () => {
  let controller;
  const source = new ReadableStream({ start: (given) => (controller = given) });
  controller.enqueue(five);
  // A receiver that has left is noticed at the next bytes, and these are lost: so there are two parts more.
  const sendRest = () => [five, five].forEach((part) => controller.enqueue(part));
  return readOn(source, new TransformStream(), sendRest);
};

writeFileSync(
  "config.capnp",
  `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "worker.mjs", esModule = embed "worker.mjs"), (name = "pipe.mjs", esModule = embed "pipe.mjs")],
    compatibilityDate = "2026-11-17",
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);`,
);
const workerd = spawn("node_modules/.bin/workerd", ["serve", "--control-fd=3", "config.capnp"], { stdio: ["ignore", "inherit", "inherit", "pipe"] });
const port = await new Promise((resolve) => {
  createInterface({ input: workerd.stdio[3] }).on("line", (line) => {
    const { event, port: given } = JSON.parse(line);
    if (event === "listen") resolve(given);
  });
});
const inWorkerd = () =>
  new Promise((resolve, reject) => {
    const sent = request({ port, host: "127.0.0.1", method: "POST", headers: { "content-length": 15 } });
    sent.on("error", reject);
    sent.on("response", async (response) => {
      let text = "";
      for await (const chunk of response) text += chunk;
      resolve(text);
    });
    sent.write(five);
    setTimeout(() => sent.write(five), 300);
    setTimeout(() => sent.end(five), 600);
  });

const seen = [`Node: ${await inNode()}`, `workerd: ${await inWorkerd()}`];
workerd.kill();
console.log(seen.join("\n"));
const wanted = ["Node: pipe rejected, source gave 5 bytes", "workerd: pipe rejected, source failed: Stream was cancelled."];
process.exitCode = seen.join() === wanted.join() ? 0 : 1;
RUN
node run.mjs

# Output seen: the two lines of `wanted`
