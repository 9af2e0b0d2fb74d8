#!/usr/bin/env bash
# Guess: shortuuid of npm, "based on and compatible with the Python library shortuuid", writes the same text for the same UUID: 22
#   digits of base57, the most significant first.
# Seen: npm shortuuid 0.1.0 writes the least significant digit first, Python's 1.0.11 (Debian) the most significant. The texts of one
#   UUID are each other's mirror image. Each library reads most texts of the other without an error, as another UUID.
# Why it matters to a gateway: both texts have 22 characters of one alphabet, so nothing tells them apart. Services in two languages
#   that share such IDs route to two places, or do not find what the other wrote.
# Exits with another status than 0 if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts shortuuid@0.1.0
apt-get download -qq python3-shortuuid=1.0.11-2 2>/dev/null
dpkg-deb -x python3-shortuuid_*.deb debian
cat >by-npm.cjs <<'JS'
const ShortUuid = require("shortuuid");
const { randomUUID } = require("node:crypto");
const short = new ShortUuid();
for (let at = 0; at < 2000; at++) {
  const uuid = randomUUID();
  console.log(uuid, short.encode(uuid));
}
JS
cat >by-python.py <<'PY'
import sys, uuid, shortuuid

mirrored = same = other = refused = 0
for line in sys.stdin:
    text, npm = line.split()
    mirrored += shortuuid.encode(uuid.UUID(text)) == npm[::-1]
    try:
        read = str(shortuuid.decode(npm))
        same += read == text
        other += read != text
    except ValueError:
        refused += 1
print(f"of 2000: {mirrored} mirrored; Python reads of npm's {same} as the same UUID, {other} as another, and refuses {refused}")
sys.exit(0 if mirrored == 2000 and same == 0 and other > 1000 else 1)
PY
node by-npm.cjs | PYTHONPATH=debian/usr/lib/python3/dist-packages /usr/bin/python3 by-python.py
# Output seen:
#   of 2000: 2000 mirrored; Python reads of npm's 0 as the same UUID, 1592 as another, and refuses 408
