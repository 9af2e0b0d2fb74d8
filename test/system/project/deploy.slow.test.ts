import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { findWrangler } from "../../../src/host/deploy/wrangler.ts";
import { MAIN, scratch } from "./started.ts";

/** `waybill deploy` in a project whose wrangler writes down what it is asked. */

const root = scratch();

const tableOf = (url: string) =>
  JSON.stringify({
    regions: { eu: { origins: [{ url }] } },
    entities: { order: { path: "/orders/:id", ids: [{ layout: "iuid" }] } },
    routes: [],
    default: "eu",
  });

const GOOD = tableOf("https://eu.example.com");

const WRANGLER = `
const { appendFileSync } = require("node:fs");
const words = process.argv.slice(2);
appendFileSync("asked.txt", JSON.stringify(words) + "\\n");
if (words[0] === "secret") console.log(process.env.SECRETS ?? "[]");
process.exitCode = words[0] === "deploy" ? Number(process.env.DEPLOY_CODE ?? 0) : 0;
`;

const CONFIG = readFileSync("wrangler.toml", "utf8").replace(/^command = ".*"$/m, 'command = "npx waybill prepare"');

function project(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(root, "project-"));
  const own = {
    "routing-table.json": GOOD,
    "wrangler.toml": CONFIG,
    "node_modules/wrangler/package.json": JSON.stringify({
      name: "wrangler",
      version: "4.200.0",
      bin: { wrangler: "./bin/wrangler.cjs" },
      engines: { node: ">=20.1.2" },
    }),
    "node_modules/wrangler/bin/wrangler.cjs": WRANGLER,
    ...files,
  };
  for (const [name, text] of Object.entries(own)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

function deploy(cwd: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const options = { cwd, encoding: "utf8", env: { ...process.env, NO_COLOR: "1", ...env } } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, "deploy", ...args], options);
  const file = join(cwd, "asked.txt");
  const asked = existsSync(file)
    ? readFileSync(file, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
    : [];
  return { status, stdout, stderr, asked };
}

describe("waybill deploy", () => {
  it("hands its arguments to the project's own wrangler, and says how to publish and who may use the pages", () => {
    const args = ["--var", "A:b", "--keep-vars", "--name=edge", "--message", "a b"];
    const { status, stdout, stderr, asked } = deploy(project(), args);
    expect(asked).toEqual([
      ["deploy", ...args],
      ["secret", "list", "--format", "json", "--name=edge"],
    ]);
    expect(status).toBe(0);
    expect(stdout).toContain("waybill table publish routing-table.json");
    expect(stderr).toContain("neither ADMIN_TOKENS nor ACCESS_TEAM_DOMAIN is set");
    const { stderr: quiet } = deploy(project(), [], { SECRETS: '[{"name":"ADMIN_TOKENS","type":"secret_text"}]' });
    expect(quiet).toBe("");
  });

  it("has wrangler's exit code", () => {
    expect(deploy(project(), [], { DEPLOY_CODE: "7" })).toMatchObject({ status: 7, stdout: "" });
  });

  it.each(["http://127.0.0.1:9001", "http://localhost"])("refuses %s, and warns of it in a dry run", (url) => {
    const folder = project({ "routing-table.json": tableOf(url) });
    expect(deploy(folder)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^routing-table\.json \/regions\/eu\/origins\/0\/url: .* is a loopback address/),
      asked: [],
    });
    const dry = deploy(folder, ["--dry-run"]);
    expect(dry).toMatchObject({ status: 0, asked: [["deploy", "--dry-run"]] });
    expect(dry.stderr).toMatch(/^warning: .* is a loopback address.* A deployment is refused\.\n/);
  });

  it.each([
    ["a faulty table", { "routing-table.json": "{" }, /routing-table\.json:1:2: /],
    ["a missing one", { "routing-table.json": "" }, /routing-table\.json:1:1: /],
    [
      "a binding that is missing",
      { "wrangler.toml": CONFIG.replace('"DIRECTORY"', '"OTHER"') },
      /The binding DIRECTORY of/,
    ],
    [
      "an invalid setting",
      { "wrangler.toml": CONFIG.replace('REQUEST_LOG = "off"', 'REQUEST_LOG = "no"') },
      /REQUEST_LOG/,
    ],
    [
      "an older Node than wrangler's",
      {
        "node_modules/wrangler/package.json":
          '{ "version": "9.0.0", "bin": { "wrangler": "a" }, "engines": { "node": ">=999.1" } }',
      },
      /wrangler 9\.0\.0 needs Node 999\.1 or later, and this is/,
    ],
  ])("does not begin with %s", (_, files, words) => {
    expect(deploy(project(files))).toMatchObject({ status: 1, stderr: expect.stringMatching(words), asked: [] });
  });

  it("takes the table that the project's Worker imports, and the configuration that it is given", () => {
    const worker =
      'import { gateway } from "waybill/worker";\nimport t from "./edge.json";\nexport * from "waybill/worker/objects";\nexport default gateway(t);\n';
    const folder = project({ "worker.js": worker, "edge.json": tableOf("http://127.0.0.1:1"), "other.toml": CONFIG });
    expect(deploy(folder).stderr).toContain("edge.json /regions/eu/origins/0/url");
    const args = ["--table", "routing-table.json", "-c", "other.toml"];
    expect(deploy(folder, args)).toMatchObject({
      status: 0,
      asked: [["deploy", "-c", "other.toml"], expect.anything()],
    });
  });

  it("wants a configuration of wrangler", () => {
    expect(deploy(scratch())).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("There is no wrangler.toml here"),
    });
  });
});

it.each([
  ["20.19.0", "needs Node 22.12.0 or later, and this is 20.19.0"],
  ["22.11.9", "needs Node 22.12.0"],
  ["22.12.0", undefined],
  ["24.0.0", undefined],
])("a wrangler is started by Node %s only if it runs there", (node, why) => {
  const found = findWrangler(process.cwd(), node);
  expect(found.ok ? undefined : found.error).toEqual(why === undefined ? undefined : expect.stringContaining(why));
});
