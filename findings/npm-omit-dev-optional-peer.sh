#!/usr/bin/env bash
# npm: `npm ci --omit=dev` installs a dev dependency that a run-time package names as an optional peer.
#
# Guess: `--omit=dev` leaves out all that only devDependencies ask for. An optional peer is installed by nobody, so it asks for nothing.
# Seen:  typescript, listed under devDependencies alone, is installed with valibot, whose peer it optionally is: `devOptional` in the
#        lock file, which `--omit=dev` alone does not leave out. Without the entry in devDependencies it is not installed at all.
# Why it matters: an image or a checkout of a gateway by `npm ci --omit=dev` is 24 MB larger, and has a compiler in it.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
printf 'audit=false\nfund=false\nupdate-notifier=false\n' >.npmrc

installed() {
  rm -rf node_modules package-lock.json
  printf '{ "name": "x", "private": true, "dependencies": { "valibot": "1.5.0" }, "devDependencies": { %s } }\n' "$1" >package.json
  npm install --package-lock-only --ignore-scripts >/dev/null
  npm ci --omit=dev --ignore-scripts >/dev/null
  ls node_modules | tr '\n' ' '
}

with=$(installed '"typescript": "6.0.3"')
without=$(installed '')
echo "npm $(npm --version), valibot 1.5.0, typescript 6.0.3, npm ci --omit=dev"
echo "typescript in devDependencies:     $with"
echo "typescript not in devDependencies: $without"
[ "$with" = "typescript valibot " ] && [ "$without" = "valibot " ]
