import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
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
  writeFileSync(join(folder, "wrangler.toml"), "");
  mkdirSync(join(folder, "bin"));
  writeFileSync(
    join(folder, "bin", "wrangler"),
    `#!/bin/sh\necho "$@" >> ${join(folder, "asked")}\ncase "$3" in\nget) cat ${join(folder, "pointer")} ;;\nlist) cat ${join(folder, "keys")} ;;\nesac\n`,
    { mode: 0o755 },
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = (script: string, args: readonly string[], table: Buffer) => {
  rmSync(join(folder, "asked"), { force: true });
  writeFileSync(join(folder, "routing-table.json"), table);
  const env = { ...process.env, PATH: `${join(folder, "bin")}${delimiter}${process.env["PATH"]}` };
  const { status, stderr } = spawnSync(process.execPath, [join(folder, script), ...args], {
    cwd: folder,
    env,
    encoding: "utf8",
  });
  const asked = existsSync(join(folder, "asked")) ? readFileSync(join(folder, "asked"), "utf8") : "";
  return { status, stderr, asked };
};

const WAYS: readonly (readonly [string, string, readonly string[]])[] = [
  ["waybill table check", "src/cli/main.ts", ["table", "check", "routing-table.json"]],
  ["npm run deploy", "src/host/deploy/deploy.ts", []],
  ["npm run deploy -- --publish", "src/host/deploy/deploy.ts", ["--publish", "--revision", "9"]],
  ["wrangler deploy, which builds first", "src/host/deploy/build.ts", []],
  ["npm run publish", "src/host/publish/publish-table.ts", ["state", "routing-table.json", "--revision", "9"]],
];

describe.each(WAYS)("%s", (_, script, args) => {
  beforeAll(() => {
    mkdirSync(join(folder, "state", "kv"), { recursive: true });
    writeFileSync(join(folder, "pointer"), '{"revision":4,"digest":"","change":7,"canary":{"revision":5}}');
  });

  it("takes a table without faults", () => {
    expect(run(script, args, Buffer.from(good))).toMatchObject({ status: 0 });
    rmSync(join(folder, "state", "kv"), { recursive: true });
    mkdirSync(join(folder, "state", "kv"));
  });

  it("takes one with comments as JSON", () => {
    const { status } = run(script, args, Buffer.from(`// why\n${good.slice(0, -1)}, /* last */ }`));
    expect(status).toBe(0);
    const kv = join(folder, "state", "kv");
    const bodies = readdirSync(kv).filter((name) => name.startsWith("table.") && name !== "table.current");
    for (const name of bodies) expect(JSON.parse(readFileSync(join(kv, name), "utf8"))).toEqual(JSON.parse(good));
    expect(bodies).toHaveLength(script.endsWith("publish-table.ts") ? 1 : 0);
    rmSync(kv, { recursive: true });
    mkdirSync(kv);
  });

  it.each(FAULTY)("refuses %s, and does nothing", (_, table) => {
    const { status, stderr, asked } = run(script, args, table);
    expect([status, asked]).toEqual([1, ""]);
    expect(stderr).not.toBe("");
    expect(existsSync(join(folder, "state", "kv", "table.current"))).toBe(false);
  });
});

describe("npm run deploy -- --publish", () => {
  const publish = (revision: number) =>
    run("src/host/deploy/deploy.ts", ["--publish", "--revision", `${revision}`], Buffer.from(good));

  it("refuses a number that is not above the one in force and its canary", () => {
    writeFileSync(join(folder, "pointer"), '{"revision":4,"digest":"","change":7,"canary":{"revision":5}}');
    const { status, stderr, asked } = publish(5);
    expect([status, asked]).toEqual([1, expect.not.stringContaining(" put ")]);
    expect(stderr).toContain("6 or more");
    expect(publish(6)).toMatchObject({ status: 0, asked: expect.stringContaining("kv key put table.current") });
  });

  it("publishes first where KV has no pointer, and nothing where wrangler cannot say", () => {
    rmSync(join(folder, "pointer"));
    writeFileSync(join(folder, "keys"), "[]\n");
    expect(publish(1)).toMatchObject({ status: 0, asked: expect.stringContaining("kv key put table.current") });
    rmSync(join(folder, "keys"));
    expect(publish(1)).toMatchObject({ status: 1, asked: expect.not.stringContaining(" put ") });
  });
});

it("a gateway is not started with a table that has a key twice", async () => {
  const stateFolder = join(folder, "started");
  const tableText = good.replace('"regions"', '"routes":[],"regions"');
  await expect(startGateway({ port: 0, tableText, stateFolder })).rejects.toThrow("is duplicated");
  expect(existsSync(stateFolder)).toBe(false);
});
