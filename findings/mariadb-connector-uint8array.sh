#!/usr/bin/env bash
# Guess: mysql2 stumbles over the bytes of an ID as a Uint8Array, as the old `sqlstring` did; MariaDB's own connector takes them.
# Seen: mysql2, pg and better-sqlite3 take them. The connector, mariadb 3.5.4, sends the JSON text {"0":1,"1":155,…}. BINARY(16)
# refuses that as too long; a wider VARBINARY or BLOB stores it, and a condition finds no row, both without an error.
# Why it matters to a gateway: IDs in BINARY(16) are what MariaDB needs. Wrap the bytes: Buffer.from(bytes.buffer).
set -euo pipefail
if ! command -v mariadbd >/dev/null; then
  RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends mariadb-server-core mariadb-client-core >/dev/null
fi
folder=$(mktemp -d)
as=()
[ "$(id -u)" -ne 0 ] || as=(--user=root)
mariadb-install-db --no-defaults --auth-root-authentication-method=normal --skip-test-db --datadir="$folder/data" "${as[@]}" >/dev/null
mariadbd --no-defaults --datadir="$folder/data" --socket="$folder/socket" --pid-file="$folder/pid" --skip-networking "${as[@]}" 2>/dev/null &
server=$!
trap 'kill "$server"; wait "$server" || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts mariadb@3.5.4
for _ in $(seq 100); do [ ! -e socket ] || break; sleep 0.1; done
cat >send.cjs <<'JS'
const { createConnection } = require("mariadb");
(async () => {
  const connection = await createConnection({ socketPath: "socket", user: "root" });
  await connection.query("CREATE DATABASE ids");
  await connection.query("USE ids");
  await connection.query("CREATE TABLE orders (id BINARY(2) PRIMARY KEY)");
  await connection.query("CREATE TABLE copies (id VARBINARY(255))");
  const bytes = Uint8Array.of(1, 155);
  const refused = await connection.query("INSERT INTO orders VALUES (?)", [bytes]).catch(({ code }) => code);
  await connection.query("INSERT INTO orders VALUES (?)", [Buffer.from(bytes)]);
  const found = (await connection.query("SELECT id FROM orders WHERE id = ?", [bytes])).length;
  await connection.query("INSERT INTO copies VALUES (?)", [bytes]);
  const [{ stored }] = await connection.query("SELECT CONVERT(id USING utf8mb4) AS stored FROM copies");
  await connection.end();
  console.log(`BINARY(2): ${refused}; rows found: ${found}; VARBINARY(255): ${stored}`);
  const isSame = refused === "ER_DATA_TOO_LONG" && found === 0 && stored === '{"0":1,"1":155}';
  process.exitCode = isSame ? 0 : 1;
})();
JS
node send.cjs
# Output seen: BINARY(2): ER_DATA_TOO_LONG; rows found: 0; VARBINARY(255): {"0":1,"1":155}
