import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readDemoTable } from "./demo/demo.ts";
import { rawRequest, type Stack, startStack } from "./stack.ts";

/** The origin of docs/guides/origins.md, with the library as it is built, behind the real gateway. */

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const ID = "01990f04-d900-8009-8040-000000000001";
const KEYS = JSON.stringify([{ id: "2026a", key: Buffer.alloc(32, 5).toString("base64") }]);

const page = readFileSync(join(ROOT, "docs/guides/origins.md"), "utf8");
const [server = "", ...examples] = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code = ""]) => code);

let project: string;
let origin: ChildProcess;
let originPort: number;
let stack: Stack;

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), "waybill-origin-"));
  const packed = ["src/package/pack.ts", "--only", "@waybill/ids", "--out", join(project, "packed")];
  execFileSync(process.execPath, ["src/host/run.mjs", ...packed], { cwd: ROOT });
  mkdirSync(join(project, "node_modules", "@waybill"), { recursive: true });
  renameSync(join(project, "packed", "waybill-ids"), join(project, "node_modules", "@waybill", "ids"));
  writeFileSync(join(project, "origin.mjs"), server);
  const env = { ...process.env, ORIGIN_SIGNING_KEYS: KEYS, PORT: "0" };
  origin = spawn(process.execPath, ["origin.mjs"], { cwd: project, env, stdio: ["ignore", "pipe", "inherit"] });
  originPort = Number(await firstLine(origin));
  const region = { origins: [{ url: `http://127.0.0.1:${originPort}` }] };
  const lacking = { origins: [{ url: `http://127.0.0.1:${originPort}`, binding: "AP_MTLS" }] };
  const declared = { ...readDemoTable(), regions: { eu: region, us: region, ap: lacking } };
  stack = await startStack(declared, { ORIGIN_SIGNING_KEYS: KEYS, CLIENT_RATE_LIMIT: "400/3600" });
}, 120_000);
afterAll(async () => {
  await stack?.stop();
  origin?.kill();
  rmSync(project, { recursive: true, force: true });
});

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error("the example prints nothing");
  for await (const line of createInterface({ input: stdout })) return line;
  throw new Error("the example ended");
}

const printable = Array.from({ length: 0x7e - 0x20 }, (_, index) => String.fromCharCode(0x21 + index));

describe("the origin of the documentation", () => {
  it("takes what the gateway sends", async () => {
    const { status, body } = await rawRequest(stack.gateway.port, "GET", `/orders/${ID}?x=1`);
    expect([status, body]).toEqual([200, `${ID} for 127.0.0.1\n`]);
  });

  it("verifies every target that the gateway lets through, whatever the runtime makes of it", async () => {
    const targets = printable.flatMap((one) => [`/orders/${ID}/a${one}b`, `/orders/${ID}?a${one}b`]);
    const refused: string[] = [];
    let verified = 0;
    for (const target of [...targets, `/orders/${ID}/"^{}?'#`, `/orders/${ID}//%2F/%zz?`, `/orders/${ID}?`]) {
      const { status } = await rawRequest(stack.gateway.port, "GET", target);
      if (status === 200) verified++;
      else if (status !== 400) refused.push(`${target}: ${status}`);
    }
    expect(refused).toEqual([]);
    expect(verified).toBeGreaterThan(170);
  });

  it("refuses who comes past the gateway, and what was signed for another region", async () => {
    const forged = await fetch(`http://127.0.0.1:${originPort}/orders/${ID}`, { headers: { "waybill-entity-id": ID } });
    expect([forged.status, await forged.json()]).toMatchObject([401, { reason: "missing" }]);
    const other = await rawRequest(stack.gateway.port, "GET", "/orders/01990f04-d900-8007-8040-000000000001");
    expect([other.status, JSON.parse(other.body)]).toMatchObject([401, { reason: "wrong-region", region: "us" }]);
  });

  it.each(examples)("prints what its comments say: example %#", (code) => {
    const expected = [...code.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map(([, comment]) => comment);
    expect(expected.length).toBeGreaterThan(0);
    writeFileSync(join(project, "example.mjs"), code);
    const output = execFileSync(process.execPath, ["example.mjs"], { cwd: project, encoding: "utf8" });
    expect(output.trimEnd().split("\n")).toEqual(expected);
  });
});

describe("a binding that the deployment lacks", () => {
  it("is told of in the log once, and is a problem for its region alone", async () => {
    for (const _ of [1, 2]) {
      const answer = await rawRequest(stack.gateway.port, "GET", "/orders/01990f04-d900-8006-8040-000000000001");
      expect([answer.status, JSON.parse(answer.body).type]).toEqual([502, "/-/problems/origin-unreachable"]);
      expect(answer.head).toMatch(/^proxy-status: waybill; error=proxy_configuration_error$/im);
    }
    const reported = stack.gateway.lines.filter((line) => line.includes("bindings-missing"));
    expect(reported.map((line) => JSON.parse(line))).toMatchObject([{ revision: 1, bindings: ["AP_MTLS"] }]);
  });
});

describe("the limit by client, counted in workerd", () => {
  it("is passed by one client and leaves readiness alone", async () => {
    let status = 0;
    for (let sent = 0; sent < 400 && status !== 429; sent++) {
      ({ status } = await rawRequest(stack.gateway.port, "GET", "/nowhere"));
    }
    expect(status).toBe(429);
    const refused = await rawRequest(stack.gateway.port, "GET", `/orders/${ID}`);
    expect([refused.status, JSON.parse(refused.body).limit]).toEqual([429, "client"]);
    // The count begins anew with each full hour.
    const leftSeconds = 3600 - (Math.floor(Date.now() / 1000) % 3600);
    const retryAfter = Number(/^retry-after: (\d+)$/im.exec(refused.head)?.[1]);
    expect([leftSeconds, leftSeconds + 1, leftSeconds + 2]).toContain(retryAfter);
    expect((await rawRequest(stack.gateway.port, "GET", "/-/ready")).status).toBe(200);
  });
});
