#!/usr/bin/env bash
# Guess: `id IN ('a', 'b')` finds the rows that `id = 'a' OR id = 'b'` finds, on a DECIMAL(28,0) column too.
# Seen: MariaDB 10.11 compares a quoted text with `=`, `BETWEEN` and `IN` of one text as a decimal, exactly. A list of two
# texts is compared as doubles: one ID of 28 digits finds its neighbours, and NOT IN loses them. With numbers it is exact.
# Why it matters to a gateway: every driver and mapper sends such IDs as texts (mysql2, mariadb, Drizzle, Knex, TypeORM), so
# that lists of entities hold strangers. Cast each: CAST(? AS DECIMAL(28,0)).
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
client=(mariadb --no-defaults --socket="$folder/socket" --user=root --skip-column-names --batch)
for _ in $(seq 100); do "${client[@]}" -e "SELECT 1" >/dev/null 2>&1 && break || sleep 0.1; done
"${client[@]}" -e "
  CREATE DATABASE ids;
  CREATE TABLE ids.invoices (id DECIMAL(28,0) PRIMARY KEY);
  INSERT INTO ids.invoices VALUES (1119204855355262683623920808), (1119204855355262683623920809), (1119204855355262683623920810)"
one=1119204855355262683623920809
for condition in "= '$one'" "= '$one' OR id = '1'" "IN ('$one')" "IN ('$one', '1')" "NOT IN ('$one', '1')" "IN ($one, 1)"; do
  echo "id $condition: $("${client[@]}" -e "SELECT count(*) FROM ids.invoices WHERE id $condition") of 3"
done | tee "$folder/seen"
"${client[@]}" -e "SELECT version()"
diff "$folder/seen" - <<'SEEN'
id = '1119204855355262683623920809': 1 of 3
id = '1119204855355262683623920809' OR id = '1': 1 of 3
id IN ('1119204855355262683623920809'): 1 of 3
id IN ('1119204855355262683623920809', '1'): 3 of 3
id NOT IN ('1119204855355262683623920809', '1'): 0 of 3
id IN (1119204855355262683623920809, 1): 1 of 3
SEEN
# Output seen: the six lines above, and 10.11.19-MariaDB-0+deb12u1
