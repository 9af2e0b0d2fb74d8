import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePorts } from "./demo.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/** The README and the page that it continues on. */
const PAGES = ["README.md", "docs/start.md"]
  .map((path) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8"))
  .join("\n");

/** Every command block, in order. */
const BLOCKS = [...PAGES.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) => block);

/** Expected output of a block, by a command in it. A block without an entry here fails the test. */
const SHOWS: readonly (readonly [string, readonly RegExp[]])[] = [
  [
    "create -H 'idempotency-key",
    [
      /^HTTP\/1\.1 201[\s\S]*^HTTP\/1\.1 201/m,
      /^(location: \/orders\/\S+)\s+\1\s/im,
      /"ids": \[/,
      /^data: .*"number":2/m,
      /^HTTP\/1\.1 422[\s\S]*wrong-entity/m,
    ],
  ],
  ["POST|/mint -d", [/"region": "ap"/, /^HTTP\/1\.1 200/m, /^waybill-region: ap/m, /"status": "new"/]],
  [
    "/orders?limit=2",
    [
      /"region": ?"us"[\s\S]*"region": ?"ap"/,
      /"url": "\/refunds",[\s\S]*"waybill-region": "ap"/,
      /"nodes":\[\{"id":"[^"]+","__typename":"Order"\},\{"id":"[^"]+","__typename":"Order"\}\]/,
      /"results":\[\{"index":0,[^\n]*"region":"ap"[^\n]*,\n\{"index":1,[^\n]*"region":"us"/,
      /^waybill-region: ap[\s\S]*"id": "green-tea"/im,
      /^access-control-allow-origin: http:\/\/localhost:3000/im,
    ],
  ],
  ["/-/ids/$ID", [/"layout": "iuid"/, /"region": "ap"/, /"kind": "route"/]],
  ["waybill explain", [/iuid → order/, /^[0-9a-f-]{36}$/m, /no faults/, /\+-\+-\+/]],
  [
    "table publish",
    [
      /person \(luuid\) +all +eu → us/,
      /accepted: revision 2/,
      /text of revision 1: revision 3/,
      /^3 .*rollback to 1/m,
      /^1 .*publish on 0 +start/m,
    ],
  ],
];

const state = mkdtempSync(join(tmpdir(), "waybill-readme-"));
let url = "";
let stop: () => Promise<void>;

beforeAll(async () => {
  expect(BLOCKS[0]?.trim()).toBe("npm start");
  const port = await findFreePorts();
  // A group of its own: Ctrl-C in a terminal reaches npm and all that it started.
  const env = { ...process.env, DEMO_TRAFFIC: "off", PORT: String(port), WAYBILL_STATE: state };
  const child = spawn("npm", ["start"], { cwd: ROOT, env, detached: true });
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  stop = async () => {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGINT");
    await exited;
    rmSync(state, { recursive: true });
  };
  url = await new Promise<string>((resolve, reject) => {
    const printed: string[] = [];
    child.stderr.on("data", (part: Buffer) => printed.push(part.toString()));
    createInterface({ input: child.stdout }).on("line", (line) => {
      printed.push(line);
      const ready = /^ready (\S+)$/.exec(line)?.[1];
      if (ready !== undefined) resolve(ready);
    });
    void exited.then(() => reject(new Error(printed.join("\n"))));
  });
}, 120_000);
afterAll(() => stop?.(), 30_000);

describe("the README and docs/start.md", () => {
  it("every command works as it stands and shows what it says", { timeout: 180_000 }, async () => {
    // One shell for all: the quick start's later commands use what its earlier ones set.
    let before = "";
    for (const block of BLOCKS.slice(1)) {
      const shown = SHOWS.find(([command]) => command.split("|").some((part) => block.includes(part)));
      expect(shown, block).toBeDefined();
      const output = await run(before + block);
      for (const pattern of shown?.[1] ?? []) expect(output).toMatch(pattern);
      before += block.replace(/^(?!ID=|waybill\(\)).*\n/gm, "");
    }
  });

  it("the code works as it stands", async () => {
    const [, code = ""] = /^```ts\n(.*?)^```$/ms.exec(PAGES) ?? [];
    const output = await run(`node --input-type=module-typescript -e '${code.replaceAll("'", "'\\''")}'`);
    expect(output).toContain("mintedAt: 1730616064560");
    expect(output).toContain("words: [");
  });
});

function run(script: string): Promise<string> {
  const commands = script.replaceAll("http://127.0.0.1:8787", url);
  return new Promise((resolve, reject) => {
    execFile("bash", ["--norc", "-euo", "pipefail", "-c", commands], { cwd: ROOT }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${commands}\n${stdout}\n${stderr}`));
    });
  });
}
