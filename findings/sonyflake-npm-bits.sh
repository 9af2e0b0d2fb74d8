#!/usr/bin/env bash
# Guess: npm sonyflake, "a modern implementation" of Sony's, has its layout: 39 bits of 10 ms, 8 of sequence, 16 of machine.
# Seen (1.1.2): the time is in milliseconds, and by default from 1970. That needs 41 bits: each ID of a default generator has
#   65 bits, above 2^64. From Discord's epoch they have 63, and a reader of Sony's layout finds a year after 2130.
# Why it matters to a gateway: no 64-bit column or integer holds such an ID, and `BigInt.asUintN(64)` keeps another one. A reader
#   of the layout `sonyflake` routes by a wrong time; the machine is right.
# Exits with another status than 0 if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts sonyflake@1.1.2
cat >bits.mjs <<'JS'
import sonyflake from "sonyflake";

const { Epoch, Sonyflake } = sonyflake;
const SONYS_EPOCH_MS = Date.UTC(2014, 8, 1);
const bitsOf = (text) => BigInt(text).toString(2).length;
const byDefault = new Sonyflake({ machineId: 7 }).nextId();
const fromDiscord = new Sonyflake({ machineId: 7, epoch: Epoch.DISCORD }).nextId();
const bySony = new Date(SONYS_EPOCH_MS + Number(BigInt(fromDiscord) >> 24n) * 10);
console.log(`default: ${byDefault}, ${bitsOf(byDefault)} bits; in 64 bits ${BigInt.asUintN(64, BigInt(byDefault))}`);
console.log(`from Discord's epoch: ${fromDiscord}, ${bitsOf(fromDiscord)} bits; read as Sony's ${bySony.toISOString()}`);
process.exitCode = bitsOf(byDefault) === 65 && bitsOf(fromDiscord) === 63 && bySony.getUTCFullYear() > 2130 ? 0 : 1;
JS
node bits.mjs
# Output seen:
#   default: 30127929792753893383, 65 bits; in 64 bits 11681185719044341767
#   from Discord's epoch: 6303101956747493383, 63 bits; read as Sony's 2133-09-20T02:52:11.150Z
