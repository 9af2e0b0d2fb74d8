import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runningOn } from "../../src/host/workerd/workerd.ts";
import { findFreePorts } from "../system/demo/demo.ts";
import { findNode20, ROOT } from "./packed.ts";

/**
 * A fresh clone as a newcomer has it, by the npm registry: `npm start`, tests, `npm start` again. Each Node takes one to three
 * minutes, most of it downloads.
 */

const PRODUCT_MB_MAX = 250;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "waybill-clone-"));
});
// Tens of thousands of files.
afterAll(() => rmSync(folder, { recursive: true }), 300_000);

/** The environment of a user: nothing of the npm and the Node that run this test. */
function envWith(...programs: readonly string[]): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_|^INIT_CWD$|^VITEST/i.test(name));
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((each) => !each.startsWith(ROOT));
  return { ...Object.fromEntries(own), PATH: [...programs, ...path].join(delimiter) };
}

const NPM_OF_NODE_20 = "npm@10.8.2";

const machines = (): readonly (readonly [string, () => NodeJS.ProcessEnv])[] => {
  const node20 = findNode20();
  return [
    ["this Node", () => envWith(dirname(process.execPath))],
    ...(node20 === undefined ? [] : [["Node 20 and npm 10", () => envWith(npm10(), dirname(node20))] as const]),
  ];
};

function npm10(): string {
  const place = join(folder, "npm10");
  mkdirSync(place);
  execFileSync("npm", ["install", "--prefix", place, "--no-audit", "--no-fund", NPM_OF_NODE_20], { env: envWith() });
  return join(place, "node_modules/.bin");
}

/** Starts the demo, asks it, and ends npm alone, as a service manager would. Gives what was printed to stderr. */
async function start(clone: string, env: NodeJS.ProcessEnv): Promise<string> {
  const state = join(clone, "../state");
  const port = await findFreePorts();
  const child = spawn("npm", ["start"], {
    cwd: clone,
    env: { ...env, DEMO_TRAFFIC: "off", PORT: String(port), WAYBILL_STATE: state },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const errors = text(child.stderr);
  let url: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    url = /^ready (\S+)$/.exec(line)?.[1];
    if (url !== undefined) break;
  }
  if (url === undefined) throw new Error(await errors);
  child.stdout.resume();
  expect((await fetch(`${url}/-/ready`)).status).toBe(200);
  child.kill("SIGTERM");
  await expect.poll(() => runningOn(state), { timeout: 20_000 }).toBeUndefined();
  return errors;
}

const megabytes = (path: string): number =>
  Number(execFileSync("du", ["-sm", path], { encoding: "utf8" }).split("\t")[0]);

describe.each(machines())("a fresh clone with %s", (name, environment) => {
  it("installs for npm start what it needs, for tests the rest, and nothing twice", async () => {
    const env = environment();
    const clone = join(folder, name.replaceAll(" ", "-"), "waybill");
    execFileSync("git", ["clone", "--quiet", ROOT, clone]);
    const modules = join(clone, "node_modules");
    const times: string[] = [];
    const timed = async (what: string, work: () => unknown): Promise<unknown> => {
      const startedMs = performance.now();
      const result = await work();
      const seconds = Math.round((performance.now() - startedMs) / 1000);
      times.push(`${what}: ${seconds} s, ${megabytes(modules)} MB in node_modules`);
      return result;
    };

    expect(await timed("npm start", () => start(clone, env))).toContain(
      "Installing what npm start needs (nothing is installed yet).\nAbout ",
    );
    expect(megabytes(modules)).toBeLessThanOrEqual(PRODUCT_MB_MAX);
    const tools = ["vitest", "typescript", "wrangler", "miniflare", "@biomejs/biome"];
    expect(tools.filter((tool) => existsSync(join(modules, tool)))).toEqual([]);
    expect(existsSync(join(clone, ".node/node_modules"))).toBe(false);

    const someTest = ["test", "--silent", "--", "--project", "unit", "test/problems"];
    const tests = () => spawnSync("npm", someTest, { cwd: clone, env, encoding: "utf8" });
    const first = (await timed("tests", tests)) as ReturnType<typeof tests>;
    expect([first.status, first.stderr]).toEqual([
      0,
      expect.stringContaining("Installing tests and tools (not needed"),
    ]);
    expect(existsSync(join(clone, ".node/node_modules"))).toBe(name !== "this Node");
    expect(tests().stderr).not.toContain("Installing");

    expect(await timed("npm start again", () => start(clone, env))).toBe("");
    expect(tools.filter((tool) => !existsSync(join(modules, tool)))).toEqual([]);
    expect(execFileSync("git", ["status", "--porcelain"], { cwd: clone, encoding: "utf8" })).toBe("");
    process.stdout.write(`${name}\n${times.map((line) => `  ${line}\n`).join("")}`);
  });
});
