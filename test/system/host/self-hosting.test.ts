import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePorts } from "../demo/demo.ts";

/** docs/operate/deploy.md and publish.md, command by command, on the state that `npm start` leaves. */

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PAGE = ["deploy", "publish"]
  .map((name) => readFileSync(new URL(`../../../docs/operate/${name}.md`, import.meta.url), "utf8"))
  .join("\n");
const BLOCKS = [...PAGE.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) => block.trim());

const INVOICE = "0192f0c1-7a30-8005-8240-8f3b2a1c9d78";
const TOKEN = "a-token-of-this-test-alone-0123456789";
const ADMIN_TOKENS = JSON.stringify([
  { name: "test", scope: "viewer", sha256: createHash("sha256").update(TOKEN).digest("hex") },
]);
const root = mkdtempSync(join(tmpdir(), "waybill-hosted-"));
const origin = createServer((request, response) => response.end(request.url));
const used = new Set<string>();
let folder = "";
let port = 0;
let gateway: ChildProcess;

/** Region `first` or `second` for every ID. */
function writeTable(region: string): string {
  const address = origin.address();
  const origins = [{ url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}` }];
  const path = join(root, `${region}.json`);
  const entities = { invoice: { path: "/invoices/:id", ids: [{ layout: "iuid", service: 9 }] } };
  writeFileSync(
    path,
    JSON.stringify({ regions: { first: { origins }, second: { origins } }, entities, routes: [], default: region }),
  );
  return path;
}

/** The block of the page that holds `part`, for this run's folder, address and table. */
function block(part: string, tableFile = ""): string {
  const found = BLOCKS.find((text) => text.includes(part));
  if (found === undefined) throw new Error(`the page has no command with ${part}`);
  used.add(found);
  return found
    .replaceAll(".waybill/8787", folder)
    .replace("0.0.0.0:8080", `0.0.0.0:${port}`)
    .replace("127.0.0.1:8080", `127.0.0.1:${port}`)
    .replace("routing-table.json", tableFile);
}

interface Ended {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

const run = (script: string): Promise<Ended> =>
  new Promise((resolve) => {
    const env = { ...process.env, WAYBILL_TOKEN: TOKEN };
    execFile("bash", ["--norc", "-euo", "pipefail", "-c", script], { cwd: ROOT, env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });

async function untilTrue(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds().catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 50));
}

const ask = () => fetch(`http://127.0.0.1:${port}/invoices/${INVOICE}`);

/** Asks until a revision is in force; the region that then answers. */
async function regionAt(revision: number): Promise<string | null> {
  await untilTrue(async () => (await ask()).headers.get("waybill-table")?.startsWith(`rev=${revision};`) === true);
  return (await ask()).headers.get("waybill-region");
}

async function startHosted(): Promise<void> {
  gateway = spawn("bash", ["-c", block(" serve ")], { cwd: ROOT, stdio: "ignore" });
  await untilTrue(async () => (await ask()).status > 0);
}

async function stopHosted(): Promise<number> {
  const ended = once(gateway, "exit");
  gateway.kill("SIGTERM");
  return Number((await ended)[0]);
}

beforeAll(async () => {
  await once(origin.listen(0, "127.0.0.1"), "listening");
  port = await findFreePorts();
  folder = join(root, String(port));
  const start = spawn(process.execPath, [join(ROOT, "src/demo/start.ts"), writeTable("first")], {
    env: { ...process.env, PORT: String(port), WAYBILL_STATE: root, ADMIN_TOKENS },
  });
  const ended = once(start, "exit");
  let printed = "";
  start.stdout.on("data", (chunk) => {
    printed += chunk;
  });
  await untilTrue(async () => printed.includes("\nready "));
  start.kill("SIGTERM");
  await ended;
  // A setting is a text binding: this one makes the gateway look for new tables each second.
  const config = join(folder, "config.capnp");
  const setting = '(name = "TABLE_REFRESH_SECONDS", text = "1"),';
  writeFileSync(config, readFileSync(config, "utf8").replace("bindings = [", `bindings = [\n    ${setting}`));
}, 60_000);

afterAll(async () => {
  if (gateway?.exitCode === null) await stopHosted();
  origin.close();
  rmSync(root, { recursive: true });
});

describe("the page on self-hosting", () => {
  it("says truly that nobody else can read the settings", () => {
    const modes = [folder, join(folder, "config.capnp")].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600]);
  });

  it("tells where the binary is", async () => {
    const { stdout } = await run(BLOCKS[0] ?? "");
    used.add(BLOCKS[0] ?? "");
    expect(stdout.trim()).toBe(createRequire(import.meta.url)("workerd").default);
  });

  it("starts the gateway on another address, and SIGTERM ends it whole", async () => {
    await startHosted();
    expect(await regionAt(1)).toBe("first");
    expect(await stopHosted()).toBe(0);
    await expect(ask()).rejects.toThrow();
    await startHosted();
  });

  it("shows its own pages to nobody without a token", async () => {
    const get = (path: string, headers: Record<string, string> = {}) =>
      fetch(`http://127.0.0.1:${port}${path}`, { headers });
    expect((await get("/-/metrics")).status).toBe(401);
    expect((await get("/-/metrics", { authorization: `Bearer ${TOKEN}` })).status).toBe(200);
    expect(await (await get("/-/ready")).json()).toEqual({ status: "ready" });
  });

  it("publishes a table; after an idle spell the first request is still decided by the one before", async () => {
    expect(await regionAt(1)).toBe("first");
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const { code, stdout } = await run(block("--revision 2", writeTable("second")));
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Revision 2 is published: \S+table\.[0-9a-f]{64}\n$/)]);
    const first = await ask();
    expect(first.headers.get("waybill-region")).toBe("first");
    expect(first.headers.get("waybill-table")).toMatch(/^rev=1; source=memory; age=[1-9]/);
    expect(await regionAt(2)).toBe("second");
    expect(JSON.parse((await run(block("/-/ready"))).stdout)).toMatchObject({ status: "ready", revision: 2 });
  });

  it("publishes no faulty table, none under a revision that does not rise, and none elsewhere", async () => {
    const before = readdirSync(join(folder, "kv")).sort();
    const faulty = join(root, "faulty.json");
    writeFileSync(faulty, JSON.stringify({ regions: {}, entities: {}, routes: [{ when: {}, region: "x" }] }));
    const publish = (revision: string, table: string, where = folder) =>
      run(`npm run -s publish -- ${where} ${table} --revision ${revision}`);
    const refused = await publish("9", faulty);
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toMatch(
      /faulty\.json:1:\d+: \/regions: .*\n.*\/entities.*\n(.*\n)*Nothing was published\.\n$/,
    );
    expect((await publish("2", writeTable("first"))).stderr).toMatch(
      /^Revision 2 is published, as the table or its canary\. Use 3 or more/,
    );
    expect((await publish("9", writeTable("first"), root)).stderr).toContain("is not the KV folder of a gateway");
    for (const revision of ["0", "-1", "x", "1e3"]) {
      expect(await publish(revision, faulty)).toMatchObject({ code: 1, stderr: expect.stringMatching(/^usage: /) });
    }
    expect(readdirSync(join(folder, "kv")).sort()).toEqual(before);
  });

  it("rolls back by the old body under a higher revision, and removes what is no longer in force", async () => {
    const kv = join(folder, "kv");
    const old = readdirSync(kv).find(
      (name) =>
        /^table\.[0-9a-f]{64}$/.test(name) && readFileSync(join(kv, name), "utf8").includes('"default":"first"'),
    );
    const { code } = await run(block("--revision 3").replace("table.<digest>", old ?? ""));
    expect(code).toBe(0);
    expect(await regionAt(3)).toBe("first");
    expect((await run(block("-delete"))).code).toBe(0);
    expect(readdirSync(kv).sort()).toEqual(["table.current", old].sort());
    await stopHosted();
    await startHosted();
    expect(await regionAt(3)).toBe("first");
  });

  it("falls back on the table of the build while KV is empty", async () => {
    await stopHosted();
    for (const name of readdirSync(join(folder, "kv"))) rmSync(join(folder, "kv", name));
    await startHosted();
    expect((await ask()).headers.get("waybill-table")).toMatch(/^rev=0; source=bundled; /);
    expect((await run(block("--revision 2", writeTable("second")))).code).toBe(0);
    // A look-up that found nothing is tried again at the next refresh.
    expect(await regionAt(2)).toBe("second");
  });

  it("has no command that was not run here", () => {
    expect([...used].sort()).toEqual([...BLOCKS].sort());
  });
});
