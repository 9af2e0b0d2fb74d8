import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ADMIN_TOKENS_FAULT } from "../../src/edge/auth/settings.ts";
import { SETTING_NAMES } from "../../src/edge/settings.ts";
import { sampleTable } from "../routing/tables.ts";
import { waybill } from "./fake-runtime.ts";
import { MemoryFiles } from "./memory-files.ts";

const folder = mkdtempSync(join(tmpdir(), "waybill-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The checkout's, without its variables. */
const REST = readFileSync("wrangler.toml", "utf8").replace(/^\[vars\][^[]*/m, "");

/** `text` is put in front of the bindings that this version needs; those of an environment are given too. */
const check = (text: string, ...args: readonly string[]) => {
  const path = join(folder, "wrangler.toml");
  writeFileSync(path, `${REST}\n${text}`);
  return waybill(["config", "check", path, ...args]);
};

it("finds no fault in the project's own wrangler.toml", async () => {
  const { code, stdout, stderr } = await waybill(["config", "check", "wrangler.toml"]);
  expect([code, stderr, stdout.startsWith("settings: no faults; REQUEST_LOG, CLIENT_ADDRESS")]).toEqual([0, "", true]);
});

it("names every fault, and names that are no settings", async () => {
  expect(await check('[vars]\nREQUEST_LOG = "JSON"\nREPORT_SECONDS = 10\nCLIENT_ADRESS = "socket"\n')).toEqual({
    code: 1,
    stdout: "",
    stderr:
      'error: REQUEST_LOG: must be ("off" | "json")\n' +
      "error: REPORT_SECONDS: must be a text\n" +
      "note: CLIENT_ADRESS is no setting of the gateway\n",
  });
});

it("reads an environment and its rate limits", async () => {
  const limit =
    '[[env.eu.ratelimits]]\nname = "CLIENT_RATE_LIMIT"\nnamespace_id = "1"\nsimple = { limit = 1, period = 10 }';
  const { code, stdout } = await check(`[env.eu.vars]\nREQUEST_LOG = "json"\n${limit}\n`, "--env", "eu", "--json");
  const faults = [{ setting: "RATE_LIMIT_PERIOD_SECONDS", why: expect.any(String) }];
  // Bindings of the top level are not those of an environment.
  const lacks = expect.arrayContaining([{ what: "The KV namespace TABLE_KV is missing.", isFault: true }]);
  expect([code, JSON.parse(stdout)]).toEqual([1, { faults, unknown: [], lacks }]);
});

it("reads NAME=value lines and the environment, and prints no secret", async () => {
  const files = MemoryFiles.of({ "settings.env": "ADMIN_TOKENS='[{waybill_secret},]'\nREQUEST_LOG=off\n" });
  const bad = await waybill(["config", "check", "settings.env"], { files });
  expect([bad.code, bad.stderr]).toEqual([1, expect.stringMatching(/^error: ADMIN_TOKENS must be(?!.*waybill_s)/)]);
  const env = { ORIGIN_SIGNING_KEYS: "waybill_secret" };
  const other = await waybill(["config", "check"], { env });
  expect([other.code, other.stderr]).toEqual([1, expect.stringMatching(/^error: ORIGIN_SIG(?!.*waybill_s)/)]);
  expect(await waybill(["config", "check"])).toMatchObject({ code: 0, stdout: "settings: no faults; none set\n" });
});

it("refuses lines that are no setting, and takes empty values as the host does", async () => {
  const files = MemoryFiles.of({
    "bad.env": "# a comment\n\nMINT=open\nMINT open\n",
    "good.env": "export MINT=open\nPUBLIC_ID_KEYS=\nIDLE_DEADLINE_MS=\nADMIN_TOKENS='[\n]'\n",
    "open.env": "ADMIN_TOKENS=\n",
  });
  expect(await waybill(["config", "check", "bad.env"], { files })).toMatchObject({
    code: 1,
    stderr: "error: bad.env cannot be read: line 4 is not NAME=value\n",
  });
  const good = await waybill(["config", "check", "good.env"], { files });
  expect(good.stderr).not.toMatch(/line|PUBLIC_ID_KEYS|IDLE/);
  expect((await waybill(["config", "check", "open.env"], { files })).stderr).toMatch(/^error: ADMIN_TOKENS/);
  const env = { PUBLIC_ID_KEYS: "", REQUEST_LOG: "" };
  expect(await waybill(["config", "check"], { env })).toMatchObject({ code: 0, stderr: "" });
});

it("reads lines that end in CRLF, and a byte order mark, as others", async () => {
  const read = (text: string) => waybill(["config", "check", "a.env"], { files: MemoryFiles.of({ "a.env": text }) });
  const lines = "# a\r\n\r\nMINT=open\r\nADMIN_TOKENS='[\r\n]'\r\nREQUEST_LOG=\"json\"\r\n";
  for (const text of [lines, `\uFEFF${lines}`]) {
    const { stderr } = await read(text);
    expect(stderr).toBe(`error: ${ADMIN_TOKENS_FAULT}\n`);
  }
  expect(await read("MINT=open\r\n")).toMatchObject({ code: 0, stdout: "settings: no faults; MINT set\n" });
  expect((await read("MINT=open\r\nMINT open\r\n")).stderr).toContain("line 2 is not NAME=value");
  expect((await read("MINT=open\rREQUEST_LOG=off")).stderr).toContain("line 1 is not NAME=value");
});

it.each(SETTING_NAMES.filter((name) => !/RATE_LIMIT$/.test(name)))("names %s where it is no text", async (name) => {
  for (const value of [`{ a = 1 }`, "7", "true", '["on"]']) {
    const { code, stderr } = await check(`[vars]\n${name} = ${value}\n`);
    expect([code, stderr]).toEqual([1, expect.stringMatching(new RegExp(`^error: ${name}[: ]`))]);
    expect(stderr).not.toContain("internal error");
  }
});

it("says why a file cannot be read", async () => {
  const missing = await waybill(["config", "check", "nothing.env"], { files: MemoryFiles.of({}) });
  expect(missing).toMatchObject({
    code: 1,
    stderr: "error: nothing.env cannot be read: no such file or directory (/home/ada/project/nothing.env)\n",
  });
  expect((await check("[vars\n")).stderr).toContain("cannot be read");
});

describe("a file of serve --config", () => {
  const checkFile = (text: string, ...args: readonly string[]) =>
    waybill(["config", "check", "m.json", ...args], { files: MemoryFiles.of({ "m.json": text }) });

  it("is known by its role, and each fault is named", async () => {
    const text = '{ "role": "edge", "stateNode": ["s1:8443"], "processes": "2" }';
    expect(await checkFile(text)).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "error: stateNode in m.json is no option of serve --role; write stateNodes\n" +
        "error: processes in m.json must be a whole number\n",
    });
  });

  it.each([[[]], [["--role", "edge"]]])("says where its syntax is wrong, with %j", async (args) => {
    const { code, stderr } = await checkFile('{\n  "role": "edge"\n  "name": "e1"\n}', ...args);
    expect([code, stderr]).toEqual([1, "error: m.json:3:3: A comma is missing between two entries; add it.\n"]);
  });

  it("may get its role from the command line", async () => {
    const { code, stderr } = await checkFile('{ "stateNodes": ["s1:8443"] }', "--role", "edge");
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: stateTls in m\.json is missing/)]);
    expect(await waybill(["config", "check", "--role", "edge"])).toMatchObject({ code: 64 });
  });

  it("is checked with the files that it names", async () => {
    const text = JSON.stringify({ role: "edge", stateNodes: ["s1:8443"], stateTls: "/nonexistent/tls" });
    const { code, stdout } = await checkFile(text, "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      faults: ["ca.pem", "cert.pem", "key.pem"].map((name) => ({
        why: `/nonexistent/tls/${name} cannot be read: no such file or directory`,
      })),
      notes: [],
    });
  });
});

it("holds SELF_REGIONS against the regions of a table", async () => {
  const { regions } = sampleTable();
  const key = Buffer.alloc(32, 3).toString("base64");
  const env = { GATEWAY_NAME: "eu-gw", PEER_KEYS: JSON.stringify([{ id: "a", key }]) };
  const files = () => MemoryFiles.of({ "table.json": JSON.stringify(sampleTable()) });
  const checkWith = (SELF_REGIONS: string) =>
    waybill(["config", "check", "--table", "table.json"], { env: { ...env, SELF_REGIONS }, files: files() });
  expect(await checkWith("eu,us")).toMatchObject({ code: 0, stderr: "" });
  expect(await checkWith("none")).toMatchObject({ code: 0, stderr: "" });
  expect(await checkWith("eu,mars")).toMatchObject({
    code: 1,
    stderr: `error: SELF_REGIONS names mars, and the table has ${Object.keys(regions).join(", ")}\n`,
  });
});
