import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startGateway } from "../../../src/host/workerd/gateway.ts";
import { TABLE_BYTES_MAX } from "../../../src/routing/index.ts";
import { readDemoTable } from "../demo/demo.ts";

/** Every way by which a file becomes a table in force refuses the same files, before anything is done. */

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const origin = { origins: [{ url: "https://eu.example.com" }] };
const demo = readDemoTable();
const good = JSON.stringify({ ...demo, regions: { eu: origin, us: origin, ap: origin } });
const missingPack = {
  ...JSON.parse(good),
  packs: { shards: { sha256: "0".repeat(64), bytes: 500, ranges: 1, bits: 32, regions: ["eu"] } },
};

const FAULTY: readonly (readonly [string, Buffer])[] = [
  ["a key that stands twice", Buffer.from(good.replace('"regions"', '"routes":[],"regions"'))],
  [
    "octets that are not UTF-8",
    Buffer.concat([Buffer.from(`${good.slice(0, -1)},"$schema":"`), Buffer.from([0xff, 0x22, 0x7d])]),
  ],
  ["more than the largest table has", Buffer.from(good + " ".repeat(TABLE_BYTES_MAX))],
  ["a pack that is not there", Buffer.from(JSON.stringify(missingPack))],
];

let folder = "";
/** The project with a table of its own, and a wrangler that writes down what it was asked. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "waybill-files-"));
  for (const name of ["src", "routes", "package.json"])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const wrangler = join(folder, "project/node_modules/wrangler");
  mkdirSync(wrangler, { recursive: true });
  const config = readFileSync(join(ROOT, "wrangler.toml"), "utf8");
  const own = config.replace(/^command = ".*"$/m, 'command = "npx waybill prepare"');
  writeFileSync(join(folder, "project/wrangler.toml"), own);
  writeFileSync(join(wrangler, "package.json"), JSON.stringify({ version: "4.200.0", bin: { wrangler: "./w.cjs" } }));
  const asked = JSON.stringify(join(folder, "asked"));
  writeFileSync(
    join(wrangler, "w.cjs"),
    `require("node:fs").appendFileSync(${asked}, process.argv.slice(2).join(" "));`,
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = (script: string, args: readonly string[], table: Buffer) => {
  rmSync(join(folder, "asked"), { force: true });
  const cwd = join(folder, "project");
  for (const place of [folder, cwd]) writeFileSync(join(place, "routing-table.json"), table);
  const { status, stderr } = spawnSync(process.execPath, [join(folder, script), ...args], { cwd, encoding: "utf8" });
  const asked = existsSync(join(folder, "asked")) ? readFileSync(join(folder, "asked"), "utf8") : "";
  return { status, stderr, asked };
};

const WAYS: readonly (readonly [string, string, readonly string[]])[] = [
  ["waybill table check", "src/cli/main.ts", ["table", "check", "routing-table.json"]],
  ["npm run deploy", "src/cli/main.ts", ["deploy"]],
  ["wrangler deploy, which builds first", "src/host/deploy/build.ts", []],
];

describe.each(WAYS)("%s", (_, script, args) => {
  it("takes a table without faults", () => {
    expect(run(script, args, Buffer.from(good))).toMatchObject({ status: 0 });
  });

  it("takes one with comments as JSON", () => {
    const { status } = run(script, args, Buffer.from(`// why\n${good.slice(0, -1)}, /* last */ }`));
    expect(status).toBe(0);
  });

  it.each(FAULTY)("refuses %s, and does nothing", (_, table) => {
    const { status, stderr, asked } = run(script, args, table);
    expect([status, asked]).toEqual([1, ""]);
    expect(stderr).not.toBe("");
  });
});

it("a gateway is not started with a table that has a key twice", async () => {
  const stateFolder = join(folder, "started");
  const tableText = good.replace('"regions"', '"routes":[],"regions"');
  await expect(startGateway({ port: 0, tableText, stateFolder })).rejects.toThrow("is duplicated");
  expect(existsSync(stateFolder)).toBe(false);
});
