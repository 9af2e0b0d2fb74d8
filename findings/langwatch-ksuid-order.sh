#!/usr/bin/env bash
# Guess: @langwatch/ksuid, "naturally sortable by creation time", makes a prefix and then a KSUID: seconds first, so that IDs sort.
# Seen (2.0.2): above the 32 bits of seconds stand 16 bits that repeat the low 16 of the same seconds (`timestamp >> 32` is
#   `timestamp >> 0` in JavaScript). IDs rise for at most 18 hours and 12 minutes, then fall back. Its own parser puts both parts
#   over each other and reads the right time; of 10,000 pairs that are a random time apart, half are in the wrong order.
# Why it matters to a gateway: ranges, partitions and cursors by such IDs take wrong rows, and a decoder of 48 or 64 bits of
#   seconds reads a year of six digits. A table reads them only with a field of 16 bits before the time (docs/reference/layouts.md).
# Exits with another status than 0 if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @langwatch/ksuid@2.0.2
cat >order.mjs <<'JS'
import { Instance, Ksuid, parse } from "@langwatch/ksuid";

const instance = new Instance(Instance.schemes.RANDOM, new Uint8Array(8));
const idAt = (seconds) => new Ksuid("prod", "user", seconds, instance, 0).toString();
const NOON = Date.UTC(2026, 0, 1, 12) / 1000;
for (const hours of [0, 6, 12, 18, 24, 30]) {
  const id = idAt(NOON + hours * 3600);
  console.log(`${String(hours).padStart(2)} h  ${id}  ${new Date(parse(id).timestamp * 1000).toISOString()}`);
}
const PAIRS = 10_000;
let state = 1;
const random = (below) => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) % below;
let wrong = 0;
for (let at = 0; at < PAIRS; at++) {
  const seconds = NOON + random(10_000_000);
  if (idAt(seconds) >= idAt(seconds + 65_536 + random(10_000_000))) wrong++;
}
console.log(`${wrong} of ${PAIRS} pairs are in the wrong order`);
process.exitCode = Math.abs(wrong / PAIRS - 0.5) < 0.05 ? 0 : 1;
JS
node order.mjs
# Output seen:
#    0 h  user_0003NQm2c27COjokJDe0Qb7SERghc  2026-01-01T12:00:00.000Z
#    6 h  user_0006ICfvjmsekGOlMLwwqSgvcmEEa  2026-01-01T18:00:00.000Z
#   12 h  user_0000MUyQHkxVqcAy44LOtIf76kjnU  2026-01-02T00:00:00.000Z
#   18 h  user_0003HGsJPViyC8kz7CeLJAEaV5HKS  2026-01-02T06:00:00.000Z
#   24 h  user_0006C2mCXGUQXfL0AKxHj1o3tPorQ  2026-01-02T12:00:00.000Z
#   30 h  user_0000GL4h5EZHe17Cs3LjlrmFNOKQK  2026-01-02T18:00:00.000Z
#   5045 of 10000 pairs are in the wrong order
