import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort } from "../export/engines.ts";
import { type Started, scratch, start, stopAll } from "../system/project/started.ts";
import { packOnce, ROOT } from "./packed.ts";

/**
 * docs/first-table.md as a newcomer goes: each command in turn, each file saved where the page says so, and each line that it shows
 * printed. The packages are packed; a stand-in for npm installs them without a registry.
 */

type Kind = "sh" | "json" | "text";

interface Block {
  readonly kind: Kind;
  readonly text: string;
  /** The words before it. */
  readonly before: string;
}

const PAGE = readFileSync(join(ROOT, "docs/first-table.md"), "utf8");

const BLOCKS: readonly Block[] = [...PAGE.matchAll(/(.*?)^```(\w+)\n(.*?)^```$/gms)].map(
  ([, before = "", kind = "", text = ""]) => ({ kind: kind as Kind, text, before }),
);

const SHOWN_MS_MAX = 30_000;

const folder = scratch();
const project = join(folder, "my-gateway");
const shims = join(folder, "shims");
/** Where the page's ports are here. */
const places = new Map<string, string>();
let gateway: Started | undefined;

const env = (): NodeJS.ProcessEnv => ({
  ...process.env,
  PATH: [shims, dirname(process.execPath), process.env["PATH"]].join(delimiter),
  FORCE_COLOR: undefined,
  NO_COLOR: "1",
  npm_config_offline: "true",
});

/** The page's text with the addresses of this run. */
const here = (text: string): string => [...places].reduce((all, [shown, real]) => all.replaceAll(shown, real), text);

beforeAll(async () => {
  const [waybill, , create] = await packOnce();
  for (const shown of ["http://127.0.0.1:8788", "http://127.0.0.1:8789"])
    places.set(shown, `http://127.0.0.1:${await freePort()}`);
  // As npm would install it; what it depends on are links.
  const installed = join(folder, "installed");
  mkdirSync(join(installed, ".bin"), { recursive: true });
  cpSync(waybill?.folder ?? "", join(installed, "waybill"), { recursive: true });
  for (const name of ["workerd", "@stablelib"]) symlinkSync(join(ROOT, "node_modules", name), join(installed, name));
  symlinkSync("../waybill/dist/cli/main.js", join(installed, ".bin/waybill"));
  const npm = execFileSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim();
  mkdirSync(shims);
  writeFileSync(
    join(shims, "npm"),
    [
      "#!/bin/sh",
      'case "$1 $2" in',
      `  "create waybill") name=$3; shift 4; exec '${process.execPath}' '${create?.folder}/dist/cli/main.js' "$name" "$@" ;;`,
      `  "install ") cp -R '${installed}' node_modules ;;`,
      `  *) exec '${npm}' "$@" ;;`,
      "esac",
      "",
    ].join("\n"),
  );
  for (const program of [join(shims, "npm"), join(installed, "waybill/dist/cli/main.js")]) chmodSync(program, 0o755);
}, 180_000);
afterAll(stopAll, 30_000);

/** Sets what the blocks so far have set, as in one shell. */
let kept = "";
const inShell = (commands: string, cwd: string): string => {
  const { status, stdout, stderr } = spawnSync("bash", ["--norc", "-uo", "pipefail", "-ec", commands], {
    cwd,
    env: env(),
    encoding: "utf8",
  });
  expect(status, `${commands}\n${stdout}\n${stderr}`).toBe(0);
  return `${stdout}\n${stderr}`;
};

/** A shown line as a pattern: `…` stands for anything, columns have other widths, and times differ. */
const patternOf = (line: string): RegExp =>
  new RegExp(
    here(line.trim())
      .replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")
      .replaceAll(/after \d+\\\.\d+ s/g, "after [\\d.]+ s")
      .replaceAll(/ +/g, " +")
      .replaceAll("…", ".*"),
  );

async function runCommands(text: string): Promise<string> {
  if (text.trim() !== "npm start") {
    const names = [...text.matchAll(/^(?:export )?([A-Z]\w*)=/gm)].map(([, name = ""]) => name);
    const variables = join(folder, "variables");
    const note = names.map((name) => `echo "export ${name}='$${name}'" >> '${variables}'\n`).join("");
    writeFileSync(variables, kept);
    const printed = inShell(`${kept}${here(text)}${note}`, text.startsWith("npm create") ? folder : project);
    kept = readFileSync(variables, "utf8");
    return printed;
  }
  writeFileSync(join(project, "routing-table.json"), here(readFileSync(join(project, "routing-table.json"), "utf8")));
  gateway = await start(project, ["--port", "0"], { command: ["npm", "start", "--"], env: env() });
  const { port } = new URL(gateway.url);
  places.set("http://127.0.0.1:8787", gateway.url);
  places.set("http://console.localhost:8787", `http://console.localhost:${port}`);
  return "";
}

it("each command works, and shows what the page says", { timeout: 300_000 }, async () => {
  expect(BLOCKS.length).toBeGreaterThan(20);
  let printed = "";
  for (const { kind, text, before } of BLOCKS) {
    if (kind === "sh") {
      gateway?.forget();
      printed = await runCommands(text);
    } else if (kind === "json") {
      gateway?.forget();
      printed = "";
      const [, file = ""] = /^.*\bSave \w+ as `([\w.-]+)`/s.exec(before) ?? [];
      expect(file, before).not.toBe("");
      writeFileSync(join(project, file), here(text));
    } else {
      const all = () => `${printed}\n${gateway?.output() ?? ""}`.replaceAll("\r", "");
      for (const line of text.trimEnd().split("\n"))
        await expect.poll(all, { timeout: SHOWN_MS_MAX, interval: 100 }).toMatch(patternOf(line));
    }
  }
  await gateway?.stop();
});

it("a file with a fault is a test that fails, and shows the fault alone", { timeout: 60_000 }, () => {
  writeFileSync(join(project, "examples.json"), '{ "examples": [{ "path": "/orders/17", "problem": "malformed" }] }\n');
  const { status, stdout, stderr } = spawnSync("npm", ["test"], { cwd: project, env: env(), encoding: "utf8" });
  expect([status, stderr]).toEqual([1, ""]);
  expect(stdout).toMatch(/examples\.json:1:\d+: \/examples\/0\/problem: There is no problem type "malformed"/);
  expect(stdout).not.toMatch(/node_modules\/waybill\/dist|^ +at |generatedMessage/m);
});
