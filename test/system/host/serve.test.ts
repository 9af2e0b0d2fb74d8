import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { noBuild } from "../../../src/host/self-hosting.ts";
import { runningOn } from "../../../src/host/workerd/workerd.ts";

/** `waybill serve`: what it warns of at its start, what ends it, and what becomes of requests that still run. */

const INVOICE = "/invoices/0192f0c1-7a30-8005-8240-8f3b2a1c9d78";
const SLOW_MS = 1_500;
const root = mkdtempSync(join(tmpdir(), "waybill-signals-"));
const state = join(root, "state");
const build = join(root, "build");
const origin = createServer((request, response) => {
  if (request.url?.endsWith("/stream")) response.write("begun");
  else setTimeout(() => response.end("whole"), SLOW_MS);
});
const served: ChildProcess[] = [];

const fileAt = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

function built(table: string, folder: string, cwd?: string) {
  const args = [fileAt("src/cli/main.ts"), "build", table, "--out", folder];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", cwd });
  return [status, stderr];
}

beforeAll(async () => {
  await once(origin.listen(0, "127.0.0.1"), "listening");
  const address = origin.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  const entities = { invoice: { path: "/invoices/:id", ids: [{ layout: "iuid", service: 9 }] } };
  const table = { regions: { eu: { origins: [{ url }] } }, entities, routes: [], default: "eu" };
  writeFileSync(join(root, "table.json"), JSON.stringify(table));
  expect(built(join(root, "table.json"), build)).toEqual([0, ""]);
});

afterAll(() => {
  for (const { pid = 0, exitCode, signalCode } of served) {
    if (exitCode === null && signalCode === null) process.kill(-pid, "SIGKILL");
  }
  origin.closeAllConnections();
  origin.close();
  rmSync(root, { recursive: true });
});

/** As npm runs it in a terminal: a group of processes, of which some pass on what all of them get. */
async function serve(folder = build, stateFolder = state, settings: NodeJS.ProcessEnv = {}) {
  const args = [fileAt("src/cli/waybill.mjs"), "serve", folder, "--state", stateFolder, "--listen", "127.0.0.1:0"];
  const child = spawn(process.execPath, args, {
    detached: true,
    stdio: ["ignore", "ignore", "pipe"] as const,
    env: { ...process.env, ...settings },
  });
  served.push(child);
  const ended = once(child, "exit").then(([code]) => code);
  let printed = "";
  const url = await new Promise<string>((resolve) => {
    child.stderr?.on("data", (chunk) => {
      printed += chunk;
      const ready = /ready (http:\S+),/.exec(printed)?.[1];
      if (ready !== undefined) resolve(ready);
    });
  });
  const signal = (name: NodeJS.Signals) => process.kill(-(child.pid ?? 0), name);
  return { url, ended, signal, printed: () => printed };
}

it("lets requests that run finish at the first Ctrl-C", async () => {
  const gateway = await serve();
  const slow = fetch(gateway.url + INVOICE);
  await delay(SLOW_MS / 3);
  gateway.signal("SIGINT");
  const response = await slow;
  expect([response.status, await response.text()]).toEqual([200, "whole"]);
  expect(await gateway.ended).toBe(0);
  expect(gateway.printed()).not.toContain("cut off");
  expect(runningOn(state)).toBeUndefined();
});

it("cuts them off at the second Ctrl-C, and says after how long", async () => {
  const gateway = await serve();
  const reader = (await fetch(`${gateway.url}${INVOICE}/stream`)).body?.getReader();
  await reader?.read();
  const cut = expect(reader?.read()).rejects.toThrow();
  gateway.signal("SIGINT");
  await delay(1_200);
  expect(runningOn(state)).toBeDefined();
  gateway.signal("SIGINT");
  expect(await gateway.ended).toBe(0);
  await cut;
  expect(gateway.printed()).toContain("requests still ran after 1 s, and were cut off");
  expect(runningOn(state)).toBeUndefined();
});

it("leaves no gateway behind when its own process is killed", async () => {
  const gateway = await serve();
  gateway.signal("SIGKILL");
  await gateway.ended;
  await expect.poll(() => runningOn(state), { timeout: 5_000 }).toBeUndefined();
  await expect(fetch(gateway.url)).rejects.toThrow();
});

it("warns of a table that names the demo's origins, as the build does", async () => {
  const folder = join(root, "demo");
  const warning =
    "warning: the table names the demo's origins, which only npm start runs: " +
    "http://127.0.0.1:8788, http://127.0.0.1:8789, http://127.0.0.1:8790\n";
  expect(built(fileAt("routing-table.json"), folder)).toEqual([0, warning]);
  const gateway = await serve(folder, join(root, "demo-state"));
  expect(gateway.printed()).toContain(warning);
  gateway.signal("SIGTERM");
  expect(await gateway.ended).toBe(0);
});

it("serves the console of the build at its host", async () => {
  const gateway = await serve(build, join(root, "state-console"), { CONSOLE_HOST: "console.example.com" });
  const ask = (path: string) =>
    new Promise<string>((resolve, reject) => {
      get(gateway.url + path, { headers: { host: "console.example.com" } }, async (answer) => {
        let text = `${answer.statusCode} ${answer.headers["content-type"]}\n`;
        for await (const chunk of answer) text += chunk;
        resolve(text);
      }).on("error", reject);
    });
  const page = await ask("/-/console");
  expect(page).toMatch(/^200 text\/html/);
  const [script = ""] = /\/-\/console\/assets\/main\.\w+\.js/.exec(page) ?? [];
  expect(await ask(script)).toMatch(/^200 text\/javascript/);
  expect(await ask(INVOICE)).toMatch(/^404 /);
  gateway.signal("SIGTERM");
  expect(await gateway.ended).toBe(0);
});

it("a build replaces no folder that holds another's files", () => {
  const folder = join(root, "foreign");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), "{}");
  const why = `No build wrote ${join(folder, "package.json")}. Name another folder with --out.\nNothing was built.\n`;
  expect(built(join(root, "table.json"), folder)).toEqual([1, why]);
  const file = join(folder, "package.json");
  expect(built(join(root, "table.json"), file)).toEqual([1, why]);
  expect(readFileSync(file, "utf8")).toBe("{}");
  // A build is replaced by the next one, which has the same modules wherever the command runs.
  const modules = readdirSync(join(build, "worker"));
  expect(built(join(root, "table.json"), build, root)).toEqual([0, ""]);
  expect(readdirSync(join(build, "worker"))).toEqual(modules);
});

it("says how to listen elsewhere where the address is taken", () => {
  const { port = 0 } = origin.address() as AddressInfo;
  const args = ["serve", build, "--state", join(root, "state-taken"), "--listen", `127.0.0.1:${port}`];
  const { status, stderr } = spawnSync(process.execPath, [fileAt("src/cli/main.ts"), ...args], { encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).toBe(`Port ${port} is taken. Choose another address with --listen.\n`);
});

const TAKES = "serve takes the folder of a build";
const asTable = (path: string, word = path) =>
  `${path} is a table, and ${TAKES}. Build it, then serve the build:\n  waybill build ${word} --out build\n  waybill serve build\n` +
  `To publish it with a build that is there: \`waybill serve build --table ${word}\``;

it("says which command helps where a path is no build", () => {
  const folder = mkdtempSync(join(root, "none-"));
  const at = (name: string) => join(folder, name);
  const table = readFileSync(join(root, "table.json"), "utf8");
  const files = {
    "table.json": table,
    routes: table,
    "commented.jsonc": `// A comment.\n${table}`,
    "broken.json": "{",
    "my table's.json": table,
    "list.json": "[]",
    "notes.txt": "build",
    "tables/routing-table.json": table,
    "tables/README.md": "",
    "other/package.json": "{}",
  };
  for (const name of ["tables", "other", "empty"]) mkdirSync(at(name));
  for (const [name, text] of Object.entries(files)) writeFileSync(at(name), text);
  const isFile = (name: string) => `${at(name)} is a file, and ${TAKES}: \`waybill build --out build\` makes one`;
  const cases = {
    "table.json": asTable(at("table.json")),
    routes: asTable(at("routes")),
    "commented.jsonc": asTable(at("commented.jsonc")),
    "broken.json": asTable(at("broken.json")),
    "my table's.json": asTable(at("my table's.json"), `'${folder}/my table'\\''s.json'`),
    "list.json": isFile("list.json"),
    "notes.txt": isFile("notes.txt"),
    tables: `${at("tables")} has no build: \`waybill build ${at("tables/routing-table.json")} --out build\` makes one; then \`waybill serve build\``,
    other: `${at("other")} has no build: \`waybill build --out build\` makes one; then \`waybill serve build\``,
    empty: `${at("empty")} has no build: \`waybill build --out ${at("empty")}\` makes one`,
    absent: `${at("absent")} does not exist: \`waybill build --out ${at("absent")}\` makes a build there`,
  };
  expect(Object.keys(cases).map((name) => [name, noBuild(at(name))])).toEqual(Object.entries(cases));
  const args = [fileAt("src/cli/main.ts"), "serve", "table.json"];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", cwd: folder });
  expect([status, stderr]).toEqual([1, `${asTable("table.json")}\n`]);
});
