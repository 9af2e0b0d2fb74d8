#!/usr/bin/env bash
# Guess: DuckDB's CSV reader makes a DOUBLE of 28 digits, since it has few types to choose from. Its JSON reader chooses HUGEINT,
# as a literal in SQL is one.
# Seen: DuckDB 1.5.6 reads 28 digits as DOUBLE from JSON too, although HUGEINT is among its choices: numbers from 2^63 to 2^64
# get it. From CSV these are DOUBLE. ObjectIds in hex whose only letter is one `e` are DOUBLE from CSV. A quoted CSV field is no exception.
# Why it matters to a gateway: exports of IDs are read back rounded, and joins then find other entities. Name the types:
# read_csv(…, types = {'id': 'DECIMAL(28,0)'}).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @duckdb/node-api@1.5.6-r.1
cat >read.cjs <<'JS'
const { writeFileSync } = require("node:fs");
const { DuckDBInstance } = require("@duckdb/node-api");
(async () => {
  const digits = "1119204855355262683623920809";
  writeFileSync("ids.csv", `digits,flake,object\n"${digits}",18446744073709551615,6920000012345678901234e5\n`);
  writeFileSync("ids.json", `{"digits":${digits},"flake":18446744073709551615}\n`);
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  const first = async (sql) => (await connection.runAndReadAll(sql)).getRows()[0].join(" ");
  const seen = [
    await first(`SELECT typeof(${digits}), typeof(18446744073709551615)`),
    await first("SELECT typeof(digits), typeof(flake), typeof(object), digits::VARCHAR FROM read_csv('ids.csv')"),
    await first("SELECT typeof(digits), typeof(flake), digits::VARCHAR FROM read_json('ids.json')"),
    await first("SELECT digits::VARCHAR FROM read_csv('ids.csv', types = {'digits': 'DECIMAL(28,0)'})"),
  ];
  console.log(seen.join("\n"));
  const wanted = [
    "HUGEINT HUGEINT",
    "DOUBLE DOUBLE DOUBLE 1.1192048553552626e+27",
    "DOUBLE HUGEINT 1.1192048553552626e+27",
    digits,
  ];
  process.exitCode = seen.join() === wanted.join() ? 0 : 1;
})();
JS
node read.cjs
# Output seen: the four lines of `wanted`
