#!/usr/bin/env bash
# Guess: a library that "generates GUIDs" makes UUIDs of version 4, as `System.Guid.NewGuid` does.
# Seen: guid-typescript 1.0.9 and guid 0.0.12 set neither version nor variant. One in 64 of their IDs passes as version 4.
# Why it matters to a gateway: an entity whose IDs are declared as `uuid-v4` loses 98 of 100, and a reader of any
# version 87 to 92. Such an entity is declared with layout `uuid`, which has no fixed bits.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts guid-typescript@1.0.9 guid@0.0.12
cat >count.cjs <<'JS'
const { Guid } = require("guid-typescript");
const old = require("guid");
const COUNT = 64_000;
let isSame = true;
for (const [name, make] of [["guid-typescript 1.0.9", () => Guid.create().toString()], ["guid 0.0.12", () => old.raw()]]) {
  let ofVersion4 = 0;
  let ofAnyVersion = 0;
  for (let at = 0; at < COUNT; at++) {
    const text = make();
    if (!/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text)) throw new Error(text);
    if (/^.{14}4.{4}[89ab]/i.test(text)) ofVersion4++;
    if (/^.{14}[1-8].{4}[89ab]/i.test(text)) ofAnyVersion++;
  }
  console.log(`${name}: version 4 ${((100 * ofVersion4) / COUNT).toFixed(1)} %, versions 1 to 8 ${((100 * ofAnyVersion) / COUNT).toFixed(1)} %`);
  // 1 in 64 and 1 in 8, to five standard deviations and more.
  isSame &&= Math.abs(ofVersion4 - COUNT / 64) < 200 && Math.abs(ofAnyVersion - COUNT / 8) < 500;
}
process.exitCode = isSame ? 0 : 1;
JS
node count.cjs
# Output seen:
#   guid-typescript 1.0.9: version 4 1.6 %, versions 1 to 8 12.5 %
#   guid 0.0.12: version 4 1.6 %, versions 1 to 8 12.5 %
