import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { exitOf } from "../../../src/host/child.ts";
import { type RunningBucket, startBucket } from "./bucket/bucket.ts";
import { startOrigin, writeTable } from "./serving.ts";

/** docs/operate/cluster.md, typed by a new operator: two edges and three state nodes on one machine. */

const page = readFileSync("docs/operate/cluster.md", "utf8");
const folder = mkdtempSync(join(tmpdir(), "waybill-page-"));
const programs = join(folder, "bin");
const served: { readonly child: ChildProcess; said: string }[] = [];
let bucket: RunningBucket;
let origin: Awaited<ReturnType<typeof startOrigin>>;
let ports: ReadonlyMap<string, number>;
/** An address of loopback that no connection leaves from: those of 127.0.0.1 take free ports at any time. */
const HOST = `127.78.${process.pid & 255}.${1 + ((process.pid >> 8) % 250)}`;

/** The block after `<!--run:NAME-->`, with ports that are free here, and the bucket of this test. */
function block(name: string): string {
  const [, found] = new RegExp(`<!--run:${name}-->\n\`\`\`\\w+\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
  if (found === undefined) throw new Error(`the page has no block ${name}`);
  return found
    .replace(/127\.0\.0\.1:(\d+)/g, (_, port) => `${HOST}:${ports.get(port) ?? port}`)
    .replaceAll("KEY=...", "KEY=test")
    .replace("KEY_ID=...", "KEY_ID=test")
    .replace(/(?<=aws_endpoint=)[^"]+/, bucket.url);
}

const environment = () => ({ ...process.env, PATH: `${programs}:${process.env["PATH"]}` });
/** The bucket answers meanwhile. */
async function shell(command: string) {
  const child = spawn("sh", ["-ec", command], { cwd: folder, env: environment() });
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), exitOf(child)]);
  return { status, stdout, stderr };
}

/** The commands of a block, each of which runs until it is told to stop. */
async function serveEach(text: string): Promise<void> {
  const commands = text
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => line.startsWith("waybill serve"));
  const ready = commands.map((command) => {
    const child = spawn("sh", ["-c", `exec ${command}`], { cwd: folder, env: environment(), detached: true });
    const one = { child, said: "" };
    served.push(one);
    return new Promise<void>((resolve, reject) => {
      child.stdout?.resume();
      child.stderr?.on("data", (chunk) => {
        one.said += chunk;
        if (/^ready /m.test(one.said)) resolve();
      });
      child.once("exit", (code) => reject(new Error(`${command} ended with code ${code}\n${one.said}`)));
    });
  });
  await Promise.all(ready);
}

/** Two processes of one edge need ports beside each other. */
async function freePorts(count: number): Promise<readonly number[]> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const first = await listening(0);
    const { port } = first.address() as { readonly port: number };
    const others = await Promise.allSettled(Array.from({ length: count - 1 }, (_, at) => listening(port + at + 1)));
    const open = others.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    await Promise.all([first, ...open].map((server) => once(server.close(), "close")));
    if (open.length === count - 1) return Array.from({ length: count }, (_, at) => port + at);
  }
  throw new Error(`no ${count} free ports beside each other`);
}

async function listening(port: number) {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, HOST, resolve));
  return server;
}

beforeAll(async () => {
  origin = await startOrigin();
  bucket = await startBucket({ name: "acme" });
  writeFileSync(join(folder, "routing-table.json"), readFileSync(writeTable(folder, origin.url)));
  mkdirSync(programs);
  const main = join(import.meta.dirname, "../../../src/cli/main.ts");
  const program = `#!/bin/sh\nexec '${process.execPath}' --disable-warning=ExperimentalWarning '${main}' "$@"\n`;
  writeFileSync(join(programs, "waybill"), program, { mode: 0o755 });
  const inPage = [...new Set(page.match(/(?<=127\.0\.0\.1:)\d+|\b(?:870|844|700)\d\b/g))]
    .filter((port) => port !== "8003")
    .toSorted();
  const edges = inPage.filter((port) => /^800/.test(port));
  const free = await freePorts(inPage.length + 1);
  ports = new Map(
    [...edges, "8003", ...inPage.filter((port) => !/^800/.test(port))].map((port, at) => [port, free[at] ?? 0]),
  );
});

afterAll(async () => {
  await Promise.all(
    served.map(async ({ child }) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await exitOf(child);
    }),
  );
  await bucket.stop();
  origin.server.closeAllConnections();
  origin.server.close();
  rmSync(folder, { recursive: true });
});

it("starts by the page's commands alone, and routes with all state nodes gone", { timeout: 300_000 }, async () => {
  for (const name of ["certificates", "credentials", "token"])
    expect(await shell(block(name))).toMatchObject({ status: 0, stderr: "" });
  const tokens = await shell(`${block("tokens")}printf '%s' "$ADMIN_TOKENS"`);
  expect(JSON.parse(tokens.stdout)).toMatchObject([{ name: "me", scope: "operator" }]);
  const first = block("s1.json");
  writeFileSync(join(folder, "s1.json"), first);
  // As the page says: each node has its own ports, and the other two as peers.
  const own = ["8701", "8441", "7001"] as const;
  for (const [at, node] of [
    [2, ["8702", "8442", "7002"]],
    [3, ["8703", "8443", "7003"]],
  ] as const) {
    expect(page).toContain(node.join(", "));
    const swapped = own.reduce((text, port, index) => {
      const [mine, other] = [String(ports.get(port)), String(ports.get(node[index] ?? ""))];
      return text.replace(new RegExp(`\\b(?:${mine}|${other})\\b`, "g"), (found) => (found === mine ? other : mine));
    }, first);
    writeFileSync(join(folder, `s${at}.json`), swapped.replace("state/s1", `state/s${at}`));
  }
  const state = block("state");
  const checked = await shell(state.split("\n")[0] ?? "");
  expect([checked.status, checked.stdout]).toEqual([
    0,
    expect.stringContaining("\nok: s3://acme/waybill has conditional"),
  ]);
  expect(checked.stderr).toMatch(/^(note: the peer [\d.:]+ does not answer: connection refused\n){2}$/);
  await serveEach(state);
  const edgeFile = JSON.parse(block("e1.json"));
  const second = { name: "e2", state: "state/e2", listen: `${HOST}:${ports.get("8002")}`, processes: 2 };
  writeFileSync(join(folder, "e1.json"), JSON.stringify(edgeFile));
  writeFileSync(join(folder, "e2.json"), JSON.stringify({ ...edgeFile, ...second }));
  await serveEach(block("edges"));
  const asked = await shell(block("ask"));
  expect(asked.status).toBe(0);
  expect(asked.stdout.match(/"status": "ready"/g)).toHaveLength(2);

  const edge = `http://${HOST}:${ports.get("8001")}`;
  const create = async (key: string) => {
    const headers = { "idempotency-key": key, "x-country": "DE" };
    const response = await fetch(`${edge}/orders`, { method: "POST", headers, body: "{}" });
    return [response.status, await response.text()] as const;
  };
  const created = await create("one");
  expect(created).toEqual([201, expect.stringMatching(/^POST \/orders [0-9a-f-]{36}$/)]);
  // One node hands over what it has: the answer is the same, and no node has lost it.
  const [node, ...others] = served;
  node?.child.kill("SIGTERM");
  expect(node && (await exitOf(node.child))).toBe(0);
  expect(await create("one")).toEqual(created);
  for (const { child } of others.slice(0, 2)) child.kill("SIGKILL");
  expect((await fetch(`${edge}/orders/0192f0c1-7a30-8005-8240-8f3b2a1c9d78`)).status).toBe(200);
  expect((await create("two"))[0]).toBe(503);
});

it("names what is wrong with a bucket that it never reached", { timeout: 120_000 }, async () => {
  const { peers: _, ...alone } = JSON.parse(readFileSync(join(folder, "s1.json"), "utf8"));
  writeFileSync(join(folder, "s4.json"), JSON.stringify({ ...alone, state: "state/s4", bucket: "s3://none/waybill" }));
  const args = ["serve", "build", "--config", "s4.json"];
  const child = spawn(join(programs, "waybill"), args, { cwd: folder, env: environment(), detached: true });
  served.push({ child, said: "" });
  let said = "";
  child.stdout?.on("data", (chunk) => {
    said += chunk;
  });
  child.stderr?.resume();
  // It goes on to try, and says it once.
  await expect.poll(() => said, { timeout: 60_000 }).toMatch(/It starts again in 1 s\./);
  // A real store calls it NoSuchBucket.
  const words = "s3://none/waybill answered a list with 404 NoSuchKey: make the bucket, or correct its name.";
  expect(said.match(/The bucket, as this process sees it: [^"]*/g)).toEqual([
    `The bucket, as this process sees it: ${words}`,
  ]);
  child.kill("SIGTERM");
  await exitOf(child);
});

it.each(["--listen", "--state-listen", "--cluster-addr"])(
  "ends a node whose %s is taken, although it has peers",
  { timeout: 120_000 },
  async (option) => {
    const args = ["serve", "build", "--config", "s1.json", option, new URL(bucket.url).host];
    const child = spawn(join(programs, "waybill"), args, { cwd: folder, env: environment(), detached: true });
    served.push({ child, said: "" });
    let said = "";
    child.stderr?.on("data", (chunk) => {
      said += chunk;
    });
    child.stdout?.resume();
    expect(await exitOf(child)).toBe(1);
    expect(said).toMatch(/already in use/i);
    expect(said).toContain(`Choose another address with ${option}.`);
  },
);
