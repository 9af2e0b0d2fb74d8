import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePorts } from "../demo/demo.ts";

/** docs/operate/deploy.md and publish.md, command by command, on a state of this test alone. */

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PAGE = ["deploy", "publish"]
  .map((name) => readFileSync(new URL(`../../../docs/operate/${name}.md`, import.meta.url), "utf8"))
  .join("\n");
const UNIT = readFileSync(join(ROOT, "src/package/templates/own-servers/deploy/waybill.service"), "utf8");
/** Those for a container engine need one; `test/package/image.slow.test.ts` makes and runs the image without. */
const BLOCKS = [...PAGE.matchAll(/^```sh\n(.*?)^```$/gms)]
  .map(([, block = ""]) => block.trim())
  .filter((block) => !block.startsWith("docker "));

const INVOICE = "0192f0c1-7a30-8005-8240-8f3b2a1c9d78";
const TOKEN = "a-token-of-this-test-alone-0123456789";
const ADMIN_TOKENS = JSON.stringify([
  { name: "test", scope: "operator", sha256: createHash("sha256").update(TOKEN).digest("hex") },
]);
const root = mkdtempSync(join(tmpdir(), "waybill-hosted-"));
const origin = createServer((request, response) => {
  if (request.url?.endsWith("/stream")) response.write("begun");
  else response.end(request.url);
});
const used = new Set<string>();
const folder = join(root, "state");
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
    .replaceAll(".waybill/served", folder)
    .replaceAll(".waybill/backup", join(root, "backup"))
    .replaceAll(".waybill/entry.json", join(root, "entry.json"))
    .replace("mkdir -p .waybill", `mkdir -p ${root}`)
    .replace("0.0.0.0:8080", `0.0.0.0:${port}`)
    .replace("build --out build", `build ${tableFile} --out ${join(root, "build")}`)
    .replace("serve build", `serve ${join(root, "build")} --stop-timeout 1`)
    .replace("npm run -s waybill -- serve", "exec node src/cli/main.ts serve")
    .replace("routing-table.json", tableFile);
}

interface Ended {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

const run = (script: string): Promise<Ended> =>
  new Promise((resolve) => {
    const env = { ...process.env, WAYBILL_TOKEN: TOKEN, WAYBILL_GATEWAY: `http://127.0.0.1:${port}` };
    execFile("bash", ["--norc", "-euo", "pipefail", "-c", script], { cwd: ROOT, env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });

async function untilTrue(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds().catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 50));
}

const ask = () =>
  fetch(`http://127.0.0.1:${port}/invoices/${INVOICE}`, {
    headers: { authorization: `Bearer ${TOKEN}`, "waybill-debug": "1" },
  });

/** Asks until a revision is in force; the region that then answers. */
async function regionAt(revision: number): Promise<string | null> {
  await untilTrue(async () => (await ask()).headers.get("waybill-table")?.startsWith(`rev=${revision};`) === true);
  return (await ask()).headers.get("waybill-region");
}

let reported = "";

async function startHosted(command = "serve build", region = "first"): Promise<void> {
  const env = { ...process.env, ADMIN_TOKENS, TABLE_REFRESH_SECONDS: "1" };
  const stdio = ["ignore", "ignore", "pipe"] as const;
  gateway = spawn("bash", ["-c", block(command, writeTable(region))], { cwd: ROOT, env, stdio: [...stdio] });
  reported = "";
  gateway.stderr?.on("data", (chunk) => (reported += chunk));
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
  await startHosted();
});

afterAll(async () => {
  if (gateway?.exitCode === null) await stopHosted();
  origin.closeAllConnections();
  origin.close();
  rmSync(root, { recursive: true });
});

const read = async (path: string) => {
  const headers = { authorization: `Bearer ${TOKEN}` };
  return (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).json();
};

describe("the page on self-hosting", () => {
  it("says truly that nobody else can read the settings", () => {
    const modes = [folder, join(folder, "config.capnp")].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600]);
  });

  it("starts the gateway on another address, and SIGTERM ends it whole", async () => {
    expect(await regionAt(1)).toBe("first");
    expect(await stopHosted()).toBe(0);
    expect(reported).not.toContain("cut off");
    await expect(ask()).rejects.toThrow();
    await startHosted();
  });

  it("cuts off a stream when the stop timeout is over, before the unit's own", async () => {
    const stream = await fetch(`http://127.0.0.1:${port}/invoices/${INVOICE}/stream`);
    const reader = stream.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("begun");
    const cut = expect(reader?.read()).rejects.toThrow();
    expect(await stopHosted()).toBe(0);
    await cut;
    expect(reported).toContain("requests still ran after 1 s, and were cut off");
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(UNIT)?.[1])).toBeGreaterThan(30);
    await startHosted();
  });

  it("shows its own pages to nobody without a token", async () => {
    const get = (path: string, headers: Record<string, string> = {}) =>
      fetch(`http://127.0.0.1:${port}${path}`, { headers });
    expect((await get("/-/metrics")).status).toBe(401);
    expect((await get("/-/metrics", { authorization: `Bearer ${TOKEN}` })).status).toBe(200);
    expect(await (await get("/-/ready")).json()).toEqual({ status: "ready" });
  });

  it("publishes a table at its start", async () => {
    await stopHosted();
    await startHosted("--table routing-table.json", "second");
    expect(await regionAt(2)).toBe("second");
    expect(await read("/-/ready")).toMatchObject({ status: "ready", revision: 2 });
    const [second, first] = [2, 1].map((revision) => ({ revision, kind: "publish", author: "start" }));
    expect(await read("/-/table/revisions")).toMatchObject({ revisions: [second, first] });
  });

  it("replays a log against the table in force", async () => {
    const { code, stdout } = await run(block("replay?new=body", writeTable("second")));
    expect([code, JSON.parse(stdout)]).toEqual([0, { summary: expect.objectContaining({ changed: 0 }) }]);
  });

  it("after an idle spell the first request is decided by the table that was published in it", async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const headers = { authorization: `Bearer ${TOKEN}`, "if-match": '"2"' };
    const body = readFileSync(writeTable("first"), "utf8");
    const published = await fetch(`http://127.0.0.1:${port}/-/table`, { method: "PUT", headers, body });
    expect(published.status).toBe(201);
    expect(published.headers.get("waybill-table")).toMatch(/^rev=3; source=memory; age=/);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const first = await ask();
    expect(first.headers.get("waybill-region")).toBe("first");
    expect(first.headers.get("waybill-table")).toMatch(/^rev=3; source=memory; age=[1-9]/);
    await stopHosted();
  });

  it("copies its state, and the copy serves the same", async () => {
    expect((await run(block("cp -a"))).code).toBe(0);
    expect(existsSync(join(root, "backup", "durable-objects"))).toBe(true);
    rmSync(folder, { recursive: true });
    renameSync(join(root, "backup"), folder);
    await startHosted();
    expect(await regionAt(3)).toBe("first");
  });

  it("puts the table of its history back where KV was emptied, before it decides a request", async () => {
    await stopHosted();
    for (const name of readdirSync(join(folder, "kv"))) rmSync(join(folder, "kv", name));
    await startHosted();
    expect((await ask()).headers.get("waybill-table")).toMatch(/^rev=3; /);
  });

  it("makes an operator's token for the commands, and its entry for the gateway", async () => {
    const made = await run(`${block("token new")}\necho "$WAYBILL_TOKEN"\necho "$ADMIN_TOKENS"`);
    expect(made).toMatchObject({ code: 0, stderr: "" });
    const [token = "", ...entries] = made.stdout.trim().split("\n");
    const sha256 = createHash("sha256").update(token).digest("hex");
    expect(JSON.parse(entries.join("\n"))).toMatchObject([{ name: "me", scope: "operator", sha256 }]);
  });

  it("has no command that was not run here", () => {
    expect([...used].sort()).toEqual([...BLOCKS].sort());
  });
});
