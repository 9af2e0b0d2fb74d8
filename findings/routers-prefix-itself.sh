#!/usr/bin/env bash
# Guess: routers agree on "all below /one": each takes `/one/` and `/one/y`, and none takes `/one`.
# Seen: hono 4.13.19, itty-router 5.0.24 and rou3 1.0.0 take `/one` itself. find-my-way 9.10.2 (of Fastify) takes `/one/`, not `/one`.
#   path-to-regexp 9.0.0 (of Express) and radix3 1.1.2 take neither, but both take `/one//`. rou3 is radix3's successor by
#   the same authors, with the same pattern `/one/**`, and takes two paths more.
# Why it matters to a gateway: a rule copied from an origin's router sends `/admin` elsewhere than `/admin/x`, or to an origin
#   that does not serve it. Waybill's `/admin/**` takes `/admin/` and not `/admin`; a table writes both where both are meant.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts hono@4.13.19 itty-router@5.0.24 rou3@1.0.0 \
  find-my-way@9.10.2 path-to-regexp@9.0.0 radix3@1.1.2
cat >routers.mjs <<'JS'
import findMyWay from "find-my-way";
import { Hono } from "hono";
import { AutoRouter } from "itty-router";
import { match } from "path-to-regexp";
import { createRouter as createRadix3 } from "radix3";
import { addRoute, createRouter as createRou3, findRoute } from "rou3";

const hono = new Hono().get("/one/*", (c) => c.text("x"));
const itty = AutoRouter().get("/one/*", () => "x");
const fastify = findMyWay();
fastify.on("GET", "/one/*", () => undefined);
const express = match("/one/*rest");
const rou3 = createRou3();
addRoute(rou3, "GET", "/one/**", "x");
const radix3 = createRadix3({ routes: { "/one/**": { x: 1 } } });
const isOk = async (answer) => (await answer).status === 200;
const routers = {
  hono: (path) => isOk(hono.request(`http://a.test${path}`)),
  "itty-router": (path) => isOk(itty.fetch(new Request(`http://a.test${path}`))),
  rou3: (path) => findRoute(rou3, "GET", path) !== undefined,
  "find-my-way": (path) => fastify.find("GET", path) !== null,
  "path-to-regexp": (path) => express(path) !== false,
  radix3: (path) => radix3.lookup(path) !== null,
};
const lines = [];
for (const [name, takes] of Object.entries(routers)) {
  const taken = [];
  for (const path of ["/one", "/one/", "/one//", "/one/y"]) if (await takes(path)) taken.push(path);
  lines.push(`${name}: ${taken.join(" ")}`);
}
console.log(lines.join("\n"));
const SEEN = `hono: /one /one/ /one// /one/y
itty-router: /one /one/ /one// /one/y
rou3: /one /one/ /one// /one/y
find-my-way: /one/ /one// /one/y
path-to-regexp: /one// /one/y
radix3: /one// /one/y`;
process.exitCode = lines.join("\n") === SEEN ? 0 : 1;
JS
node routers.mjs
# Output seen:
#   hono: /one /one/ /one// /one/y
#   itty-router: /one /one/ /one// /one/y
#   rou3: /one /one/ /one// /one/y
#   find-my-way: /one/ /one// /one/y
#   path-to-regexp: /one// /one/y
#   radix3: /one// /one/y
