#!/usr/bin/env bash
# Guess: a key of uuid-apikey is the UUID in Crockford's base32: each group of seven digits is 32 bits as a number, with zeros
# in front.
# Seen: uuid-apikey 1.5.3 shifts each group's 32 bits to its start, and the last three bits are a parity. isAPIKey says true of a
# key with a wrong parity, and toUUID makes the UUID 00000NaN-… of it instead of an error.
# Why it matters to a gateway: a reader of numbers finds another entity's UUID in every key. A layout of 140 bits, with three
# parity bits behind each 32, reads them; nothing but the library can mint them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts uuid-apikey@1.5.3
cat >read.cjs <<'JS'
const keys = require("uuid-apikey");
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const key = keys.toAPIKey("01890a5d-ac96-774b-bcce-b302099a8057");
const numbers = key.split("-").map((group) => [...group].reduce((sum, digit) => sum * 32n + BigInt(DIGITS.indexOf(digit)), 0n));
const wrong = key.replace("064GMQF", "064GMQG");
const seen = [
  key,
  numbers.map((number) => number.toString(16)).join(" "),
  numbers.map((number) => (number >> 3n).toString(16)).join(" "),
  `${keys.isAPIKey(wrong)} ${keys.toUUID(wrong)}`,
];
console.log(seen.join("\n"));
const wanted = [
  "064GMQF-NJB7EJX-QK7B60N-16D80NV",
  "c4852ef 564b3ba5d 5e6759815 4cd402bb",
  "1890a5d ac96774b bcceb302 99a8057",
  "true 00000NaN-ac96-774b-bcce-b302099a8057",
];
process.exitCode = seen.join() === wanted.join() ? 0 : 1;
JS
node read.cjs
# Output seen: the four lines of `wanted`
