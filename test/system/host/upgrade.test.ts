import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";

/** The rehearsal of an upgrade: two versions, one state, and what was acknowledged before it is there after it. */

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "waybill-upgrade-"));
const state = join(root, "state");
const TOKEN = "an-operator-of-this-test-alone-0123456789";
const ADMIN_TOKENS = JSON.stringify([
  { name: "ann", scope: "operator", sha256: createHash("sha256").update(TOKEN).digest("hex") },
]);
const origin = createServer((_, response) => response.end("origin"));
const served: ChildProcess[] = [];

let url = "";
let original = "";

const tableOf = (number: number): string => JSON.stringify({ ...JSON.parse(original), default: `r${number % 3}` });

const waybill = (project: string, ...args: string[]) =>
  spawnSync(process.execPath, [join(project, "src/cli/main.ts"), ...args], { cwd: root, encoding: "utf8" });

function spawnServe(build: string, folder = state, env: object = { ADMIN_TOKENS }) {
  const args = [join(ROOT, "src/cli/main.ts"), "serve", build, "--state", folder, "--listen", "127.0.0.1:0"];
  const child = spawn(process.execPath, [...args, "--stop-timeout", "1"], {
    cwd: root,
    env: { ...process.env, REQUEST_LOG: "off", ...env },
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  served.push(child);
  return child;
}

/** Serves until it is ready; gives what it printed by then. */
async function serve(build: string, folder = state, env?: object) {
  const child = spawnServe(build, folder, env);
  let printed = "";
  const ready = new Promise<void>((resolve, reject) => {
    child.stderr?.on("data", (chunk) => {
      printed += chunk;
      const found = /ready (http:\S+),/.exec(printed)?.[1];
      if (found === undefined) return;
      url = found;
      resolve();
    });
    child.once("exit", () => reject(new Error(printed)));
  });
  await ready;
  return { child, printed: () => printed };
}

async function stop(child: ChildProcess): Promise<number | null> {
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  return (await ended)[0];
}

/** The command and workerd at once. */
async function killAll(child: ChildProcess): Promise<void> {
  const ended = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
  try {
    process.kill(-(child.pid ?? 0), "SIGKILL");
  } catch {
    // It has ended.
  }
  await ended;
}

const ask = (method: string, path: string, body?: string, headers: object = {}) =>
  fetch(url + path, {
    method,
    body: body ?? null,
    // A command keeps this process for longer than the gateway keeps a connection, whose end is not seen meanwhile.
    headers: { authorization: `Bearer ${TOKEN}`, connection: "close", ...headers },
  });

async function publish(base: number, number: number): Promise<Response> {
  return ask("PUT", "/-/table", tableOf(number), { "if-match": `"${base}"`, "waybill-note": `change%20${number}` });
}

async function mint(count: number): Promise<number[]> {
  const response = await ask("POST", "/mint", JSON.stringify({ entity: "person", count }));
  const { ids } = (await response.json()) as { readonly ids: readonly string[] };
  return ids.map((id) => Number.parseInt(id.slice(0, 13).replace("-", ""), 16));
}

interface Listed {
  readonly revisions: readonly { readonly revision: number; readonly note: string }[];
  readonly entries: readonly { readonly revision?: number }[];
}

/** All that must outlive an upgrade. */
async function kept() {
  const table = await ask("GET", "/-/table");
  const [revisions, audit] = await Promise.all(
    ["/-/table/revisions?limit=100", "/-/table/audit?limit=100"].map(async (path) => (await ask("GET", path)).json()),
  );
  const { revisions: list } = revisions as Listed;
  const { entries } = audit as Listed;
  return { etag: table.headers.get("etag"), text: await table.text(), revisions: list, entries };
}

beforeAll(async () => {
  await once(origin.listen(0, "127.0.0.1"), "listening");
  const address = origin.address();
  const origins = [{ url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}` }];
  original = JSON.stringify({
    regions: { r0: { origins }, r1: { origins }, r2: { origins } },
    entities: { person: { path: "/person/:id", ids: [{ layout: "luuid", class: "com.example.Person" }] } },
    routes: [],
    default: "r0",
  });
  writeFileSync(join(root, "first.json"), original);
  writeFileSync(join(root, "second.json"), tableOf(2));
  // Another version: its health page says so.
  for (const name of ["src", "routes", "package.json", "routing-table.json"]) {
    cpSync(join(ROOT, name), join(root, "next", name), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(root, "next/node_modules"));
  const page = join(root, "next/routes/health.ts");
  writeFileSync(page, readFileSync(page, "utf8").replace('{ status: "ok" }', '{ status: "ok", version: "next" }'));
});

afterAll(async () => {
  for (const child of served) await killAll(child);
  origin.close();
  rmSync(root, { recursive: true });
});

const version = async () => ((await (await ask("GET", "/-/health")).json()) as { version?: string }).version;

it("keeps history, audit, sequences, tokens and the table in force", { timeout: 90_000 }, async () => {
  expect(waybill(ROOT, "build", "first.json", "--out", "build/1")).toMatchObject({ status: 0, stderr: "" });
  const first = await serve("build/1");
  expect(first.printed()).toMatch(/state \S+, revision 1\n$/);
  for (const base of [1, 2, 3]) expect((await publish(base, base)).status).toBe(201);
  const keys = await mint(20);
  const before = await kept();
  expect(before.revisions.map(({ revision }) => revision)).toEqual([4, 3, 2, 1]);
  expect(before.etag).toBe('"4"');

  // A second gateway on one state would give the same numbers twice.
  const second = spawnServe("build/1");
  let refused = "";
  second.stderr?.on("data", (chunk) => (refused += chunk));
  expect((await once(second, "close"))[0]).toBe(1);
  expect(refused).toMatch(/^\S+state is the state of a running gateway \(process \d+\)/);

  const built = waybill(join(root, "next"), "build", "second.json", "--out", "build/2");
  expect(built).toMatchObject({ status: 0, stderr: "" });
  expect(await version()).toBeUndefined();
  expect(await stop(first.child)).toBe(0);

  const upgraded = await serve("build/2", state, {});
  expect(upgraded.printed()).toContain("warning: ADMIN_TOKENS was set at the last start, and is not now");
  expect((await ask("GET", "/-/table")).status).toBe(401);
  expect(await stop(upgraded.child)).toBe(0);

  const next = await serve("build/2");
  expect(await version()).toBe("next");
  expect(await kept()).toEqual(before);
  expect((await fetch(`${url}/-/table`)).status).toBe(401);
  keys.push(...(await mint(20)));
  expect(new Set(keys).size).toBe(40);
  expect(statSync(join(state, "config.capnp")).mode & 0o777).toBe(0o600);

  // A copy of the stopped state, as docs/operate/deploy.md has it, serves the same.
  expect(await stop(next.child)).toBe(0);
  cpSync(state, join(root, "restored"), { recursive: true });
  const restored = await serve("build/1", join(root, "restored"));
  expect(await kept()).toEqual(before);
  expect(await stop(restored.child)).toBe(0);
});

it("loses nothing acknowledged by SIGKILL at any point", { timeout: 90_000 }, async () => {
  const keys: number[] = [];
  const stored: number[] = [];
  let known = 0;
  for (const [round, build] of ["build/2", "build/1", "build/2", "build/1"].entries()) {
    // In the middle of a build, over one that was whole.
    const building = spawn(
      process.execPath,
      [join(ROOT, "src/cli/main.ts"), "build", "first.json", "--out", "build/1"],
      {
        cwd: root,
        stdio: "ignore",
      },
    );
    setTimeout(() => building.kill("SIGKILL"), 250 + round * 120);
    await once(building, "exit");
    // In the middle of a start.
    const starting = spawnServe(build);
    await new Promise((resolve) => setTimeout(resolve, 150 + round * 130));
    await killAll(starting);
    // In the middle of publishing and minting.
    const { child } = await serve(build);
    const { revisions, entries, etag } = await kept();
    const numbers = revisions.map(({ revision }) => revision);
    expect(numbers).toEqual(Array.from(numbers, (_, at) => (numbers[0] ?? 0) - at));
    for (const revision of stored) expect(numbers).toContain(revision);
    for (const revision of stored) expect(entries.map((entry) => entry.revision)).toContain(revision);
    known = Number(etag?.replaceAll('"', ""));
    const storedBefore = stored.length;
    const keysBefore = keys.length;
    // A busy machine may take long for the first of each.
    const killing = (async () => {
      while (stored.length === storedBefore || keys.length < keysBefore + 10) await pause(10);
      await pause(round * 35);
      await killAll(child);
    })();
    const publishing = (async () => {
      for (;;) {
        const { status } = await publish(known, known);
        if (status !== 201) throw new Error(`status ${status}`);
        known += 1;
        stored.push(known);
      }
    })();
    const minting = (async () => {
      for (;;) keys.push(...(await mint(5)));
    })();
    const ends = await Promise.allSettled([publishing, minting]);
    await killing;
    for (const end of ends) expect(String((end as PromiseRejectedResult).reason)).not.toContain("status");
  }
  expect(stored.length).toBeGreaterThan(3);
  expect(keys.length).toBeGreaterThan(20);
  await serve("build/1");
  keys.push(...(await mint(50)));
  expect(new Set(keys).size).toBe(keys.length);
  const { revisions } = await kept();
  for (const revision of stored) expect(revisions.map((each) => each.revision)).toContain(revision);
  const refused = waybill(ROOT, "serve", "build/1", "--state", state, "--listen", "127.0.0.1:0");
  expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining("is the state of a running gateway") });
});
