import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { NODE_OF_CLOUDFLARE, NODE_OF_PROJECTS } from "../../src/cli/commands/init/project.ts";
import { NODE_MIN } from "../../src/package/entry/node-version.ts";
import { NODE } from "../../src/package/manifests.ts";

/** All texts name the same versions of Node: those that the code checks. */

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8");
const json = (path: string) => JSON.parse(read(path));
const checkout = json("package.json").engines.node.replace(">=", "");
const wrangler = json("package-lock.json").packages["node_modules/wrangler"].engines.node;

describe("the oldest Node", () => {
  it("is one for packages and projects", () => {
    expect([NODE_MIN.join("."), NODE]).toEqual([NODE_OF_PROJECTS, `>=${NODE_OF_PROJECTS}`]);
  });

  it("is for Cloudflare no older than that of wrangler", () => {
    const [, major, minor = "0"] = /^>=(\d+)(?:\.(\d+))?/.exec(wrangler) ?? [];
    const [ownMajor, ownMinor] = NODE_OF_CLOUDFLARE.split(".").map(Number);
    expect([ownMajor, (ownMinor ?? 0) >= Number(minor)]).toEqual([Number(major), true]);
  });

  it.each([
    ["README.md", [NODE_OF_PROJECTS, NODE_OF_CLOUDFLARE, checkout]],
    ["docs/first-table.md", [NODE_OF_PROJECTS, NODE_OF_CLOUDFLARE]],
    ["docs/operate/platforms.md", [NODE_OF_PROJECTS, NODE_OF_CLOUDFLARE, checkout]],
    ["docs/operate/deploy.md", [NODE_OF_CLOUDFLARE]],
    ["docs/reference/table-library.md", [NODE_OF_PROJECTS]],
    ["src/package/readme/waybill.md", [NODE_OF_PROJECTS, NODE_OF_CLOUDFLARE]],
    ["src/package/templates/common/README.md", [NODE_OF_CLOUDFLARE]],
  ])("stands in %s", (file, versions) => {
    const named = read(file).match(/\b2\d\.\d\d\b(?! ms| s|\.)/g) ?? [];
    for (const version of versions) expect(named).toContain(version);
  });
});
