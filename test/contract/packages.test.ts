import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { manifestsFor } from "../../src/package/manifests.ts";
import { sections } from "./shape.ts";

/** The packages as other programs depend on them. */

const TYPES = fileURLToPath(new URL("../../src/package/types", import.meta.url));

it("keeps the manifests: names, entries, platforms and dependencies", async () => {
  const members = ["bin", "exports", "engines", "dependencies", "peerDependencies", "peerDependenciesMeta"];
  const kept = Object.entries(manifestsFor("0.0.0")).map(([name, manifest]) => [
    name,
    Object.fromEntries(Object.entries(manifest).filter(([member]) => members.includes(member))),
  ]);
  await expect(`${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`).toMatchFileSnapshot("snapshots/packages.json");
});

it("keeps the exports whose types are written by hand", async () => {
  const files = { "waybill/worker": "worker", "waybill/worker/objects": "objects", "waybill/table": "table" };
  const names = Object.entries(files).map(([entry, file]) => {
    const text = readFileSync(join(TYPES, `${file}.d.ts`), "utf8");
    const found = [...text.matchAll(/^export (?:declare )?(\w+) (\w+)/gm)].map(([, kind, name]) => `${name}  ${kind}`);
    expect(found).not.toEqual([]);
    return [entry, found.toSorted()];
  });
  await expect(sections(Object.fromEntries(names))).toMatchFileSnapshot("snapshots/package-exports.txt");
});
