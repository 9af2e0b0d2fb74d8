import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

/** `waybill serve --table`, and states of versions whose starts and commands wrote KV themselves. */

const INVOICE = "/invoices/0192f0c1-7a30-8005-8240-8f3b2a1c9d78";
const TOKEN = "an-operator-of-this-test-alone-0123456789";
const digestOf = (text: string) => createHash("sha256").update(text).digest("hex");
const ADMIN_TOKENS = JSON.stringify([{ name: "ann", scope: "operator", sha256: digestOf(TOKEN) }]);

const root = mkdtempSync(join(tmpdir(), "waybill-start-table-"));
const build = join(root, "build");
const origin = createServer((request, response) => response.end(request.url));
const running = new Set<ChildProcess>();
let states = 0;

const fileAt = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const newState = () => join(root, `state-${states++}`);

function textOf(region: string, more: object = {}): string {
  const origins = [{ url: `http://127.0.0.1:${(origin.address() as AddressInfo).port}` }];
  const regions = { first: { origins }, second: { origins }, third: { origins } };
  const entities = { invoice: { path: "/invoices/:id", ids: [{ layout: "iuid", service: 9 }] } };
  return JSON.stringify({ regions, entities, routes: [], default: region, ...more });
}

function fileOf(region: string): string {
  const path = join(root, `${region}.json`);
  writeFileSync(path, textOf(region));
  return path;
}

function spawnServe(state: string, args: readonly string[], env: object = {}) {
  const all = ["serve", build, "--state", state, "--listen", "127.0.0.1:0", "--stop-timeout", "1", ...args];
  const child = spawn(process.execPath, [fileAt("src/cli/main.ts"), ...all], {
    env: { ...process.env, ADMIN_TOKENS, TABLE_REFRESH_SECONDS: "1", ...env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  return child;
}

async function serve(state: string, ...args: readonly string[]) {
  const child = spawnServe(state, args);
  const ended = once(child, "close").then(([code]) => Number(code));
  let printed = "";
  let logged = "";
  child.stdout?.on("data", (chunk) => (logged += chunk));
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr?.on("data", (chunk) => {
      printed += chunk;
      const ready = /ready (http:\S+),/.exec(printed)?.[1];
      if (ready !== undefined) resolve(ready);
    });
    void ended.then((code) => reject(new Error(`ended with ${code}: ${printed}`)));
  });
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(url + path, { ...init, headers: { authorization: `Bearer ${TOKEN}`, ...init.headers } });
  return {
    child,
    ask,
    printed: () => printed,
    logged: () => logged,
    regionOf: async () => (await ask(INVOICE)).headers.get("waybill-region"),
    read: async <Value>(path: string) => (await (await ask(path)).json()) as Value,
    publish: (region: string, base: number) =>
      ask("/-/table", { method: "PUT", body: textOf(region), headers: { "if-match": `"${base}"` } }),
    stop: async () => {
      child.kill("SIGTERM");
      return ended;
    },
    kill: async () => {
      process.kill(-(child.pid ?? 0), "SIGKILL");
      await ended;
    },
  };
}

interface Revisions {
  readonly revisions: readonly object[];
}

interface Audit {
  readonly entries: readonly object[];
}

const waybill = (...args: readonly string[]) =>
  spawnSync(process.execPath, [fileAt("src/cli/main.ts"), ...args], {
    encoding: "utf8",
    env: { ...process.env, ADMIN_TOKENS },
  });

beforeAll(async () => {
  await once(origin.listen(0, "127.0.0.1"), "listening");
  expect(waybill("build", fileOf("first"), "--out", build)).toMatchObject({ status: 0 });
});

afterEach(() => {
  for (const { pid = 0, exitCode, signalCode } of running)
    if (exitCode === null && signalCode === null) process.kill(-pid, "SIGKILL");
  running.clear();
});

afterAll(() => {
  origin.closeAllConnections();
  origin.close();
  rmSync(root, { recursive: true, force: true });
});

describe("a table that a start hands over", () => {
  it("is published as the control plane publishes, before the first request, and once", async () => {
    const state = newState();
    const first = await serve(state);
    expect(first.printed()).toMatch(/, revision 1\n$/);
    expect(await first.regionOf()).toBe("first");
    const start = { author: "start", note: "The table that the gateway was started with." };
    expect(await first.read<Revisions>("/-/table/revisions")).toMatchObject({
      revisions: [{ revision: 1, kind: "publish", basedOn: 0, digest: digestOf(textOf("first")), ...start }],
    });
    expect(first.logged()).not.toContain("/-/ready");
    expect(await first.stop()).toBe(0);
    // Nobody but this start may read it, and no later one gets it.
    expect(existsSync(join(state, "start"))).toBe(false);
    expect(readFileSync(join(state, "config.capnp"), "utf8")).not.toContain("START_TABLE");

    const second = await serve(state, "--table", fileOf("second"));
    expect(second.printed()).toMatch(/, revision 2\n$/);
    expect(await second.regionOf()).toBe("second");
    expect(await second.read<Audit>("/-/table/audit")).toMatchObject({
      entries: [
        { action: "publish", revision: 2, outcome: "done", ...start },
        { action: "publish", revision: 1, outcome: "done", ...start },
      ],
    });
    // A later publication stays in force while this start lasts.
    expect((await second.publish("third", 2)).status).toBe(201);
    await expect.poll(second.regionOf, { timeout: 10_000 }).toBe("third");
    expect(await second.stop()).toBe(0);

    const without = await serve(state);
    expect(await without.regionOf()).toBe("third");
    expect(await without.stop()).toBe(0);
    const same = await serve(state, "--table", fileOf("third"));
    expect(same.printed()).toMatch(/, revision 3\n$/);
    expect((await same.read<Revisions>("/-/table/revisions")).revisions).toHaveLength(3);
    expect(await same.stop()).toBe(0);
  });

  it("ends a running canary if it differs from the table in force, and else leaves it", async () => {
    const state = newState();
    const first = await serve(state);
    const body = JSON.stringify({ table: JSON.parse(textOf("second")), share: 50 });
    const canary = await first.ask("/-/table/canary", { method: "POST", body, headers: { "if-match": '"1"' } });
    expect(canary.status).toBe(201);
    const isHeld = async () => (await first.read<{ pending: boolean }>("/-/table/status")).pending;
    await expect.poll(isHeld, { timeout: 10_000 }).toBe(false);
    await first.stop();
    const same = await serve(state, "--table", fileOf("first"));
    expect(await same.read("/-/table/status")).toMatchObject({ canary: { revision: 2 } });
    await same.stop();
    const other = await serve(state, "--table", fileOf("third"));
    expect(await other.read<object>("/-/table/status")).not.toMatchObject({ canary: { revision: 2 } });
    expect(await other.regionOf()).toBe("third");
    await other.stop();
  });

  it("that has a fault starts nothing, and changes nothing", { timeout: 30_000 }, async () => {
    const state = newState();
    const path = join(root, "faulty.json");
    writeFileSync(path, textOf("mars"));
    const { status, stderr, stdout } = waybill("serve", build, "--state", state, "--table", path);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/faulty\.json:1:\d+: \/default: .*\n(?:.*\n)*Nothing was started or published\.\n$/);
    expect(existsSync(state)).toBe(false);
    const missing = waybill("serve", build, "--state", state, "--table", join(root, "none.json"));
    expect(missing).toMatchObject({ status: 1, stderr: expect.stringContaining("none.json") });
  });

  it("that the gateway does not take ends the start with its reason, and serves no other table", async () => {
    const state = newState();
    const first = await serve(state);
    expect((await first.publish("second", 1)).status).toBe(201);
    await first.stop();
    // Its numbers are at an end.
    const pointer = JSON.stringify({ revision: 999_999_999_999_999, digest: digestOf(textOf("third")) });
    const kv = join(root, "exhausted", "kv");
    mkdirSync(kv, { recursive: true });
    writeFileSync(join(kv, `table.${digestOf(textOf("third"))}`), textOf("third"));
    writeFileSync(join(kv, "table.current"), pointer);
    const child = spawnServe(join(root, "exhausted"), ["--table", fileOf("second")]);
    let printed = "";
    child.stderr?.on("data", (chunk) => (printed += chunk));
    expect((await once(child, "close"))[0]).toBe(1);
    expect(printed).toMatch(
      /The table was not published, and the gateway is stopped: control-plane-unavailable\n {2}there is no number after .*, the last of a revision/,
    );
    expect(printed).not.toContain("ready");
  });

  it("that another build does not know is refused", { timeout: 30_000 }, async () => {
    const older = join(root, "older");
    cpSync(build, older, { recursive: true });
    rmSync(join(older, "worker"), { recursive: true });
    const classes = ["SequenceBlocks", "TrafficReports", "TableTruth", "IdempotencyKeys", "DirectoryKeys"];
    const code = `${classes.map((name) => `export class ${name} {}`).join("\n")}\nexport default { fetch: () => new Response("older") };`;
    writeFileSync(join(older, "worker.js"), code);
    const args = ["serve", older, "--state", newState(), "--listen", "127.0.0.1:0", "--table", fileOf("second")];
    const { status, stderr } = waybill(...args);
    expect([status, stderr]).toEqual([1, expect.stringContaining("Build it again with this one")]);
  });

  it("is in force or not after SIGKILL at any point of the start, and the next start ends it", {
    timeout: 120_000,
  }, async () => {
    const state = newState();
    let expected = "first";
    for (let round = 0; round < 5; round++) {
      const region = ["second", "third"][round % 2] ?? "";
      const child = spawnServe(state, ["--table", fileOf(region)]);
      const ended = once(child, "close");
      const lived = new Promise((resolve) => setTimeout(resolve, 250 + round * 190));
      await Promise.race([lived, ended]);
      process.kill(-(child.pid ?? 0), "SIGKILL");
      await ended;
      const again = await serve(state, "--table", fileOf(region));
      expected = region;
      expect(await again.regionOf()).toBe(expected);
      const { revisions } = await again.read<{ revisions: { revision: number; digest: string }[] }>(
        "/-/table/revisions",
      );
      expect(revisions.map(({ revision }) => revision)).toEqual(revisions.map((_, at) => revisions.length - at));
      // Neither start publishes what the other has.
      for (const [at, { digest }] of revisions.entries()) expect(revisions[at + 1]?.digest).not.toBe(digest);
      await again.kill();
    }
  });
});

describe("the state of a version whose starts and commands wrote KV themselves", () => {
  /** As `npm run publish` of that version wrote it. */
  function putFormerly(state: string, region: string, pointer: object): void {
    const kv = join(state, "kv");
    mkdirSync(kv, { recursive: true });
    writeFileSync(join(kv, `table.${digestOf(textOf(region))}`), textOf(region));
    writeFileSync(
      join(kv, "table.current"),
      JSON.stringify({ digest: digestOf(textOf(region)), publishedAt: "2026-11-21T12:00:00.000Z", ...pointer }),
    );
  }

  it("that never asked its object serves its table, which becomes the history's first", async () => {
    const state = newState();
    putFormerly(state, "second", { revision: 3 });
    const gateway = await serve(state);
    expect(gateway.printed()).toMatch(/, revision 3\n$/);
    expect(await gateway.regionOf()).toBe("second");
    const note =
      "Found in KV, where a former version had put it. Revisions 1 to 2, used in KV before, never reached this history.";
    expect(await gateway.read<Revisions>("/-/table/revisions")).toMatchObject({
      revisions: [{ revision: 3, kind: "import", author: "kv", time: "2026-11-21T12:00:00.000Z", note }],
    });
    expect((await gateway.publish("third", 3)).status).toBe(201);
    await expect.poll(gateway.regionOf, { timeout: 10_000 }).toBe("third");
    await gateway.stop();
  });

  it("takes a table at its start as the next revision", async () => {
    const state = newState();
    putFormerly(state, "second", { revision: 3 });
    const gateway = await serve(state, "--table", fileOf("third"));
    expect(await gateway.regionOf()).toBe("third");
    expect(await gateway.read<Revisions>("/-/table/revisions")).toMatchObject({
      revisions: [
        { revision: 4, kind: "publish", author: "start" },
        { revision: 3, kind: "import" },
      ],
    });
    await gateway.stop();
    const same = newState();
    putFormerly(same, "second", { revision: 3 });
    const unchanged = await serve(same, "--table", fileOf("second"));
    expect((await unchanged.read<Revisions>("/-/table/revisions")).revisions).toMatchObject([{ revision: 3 }]);
    await unchanged.stop();
  });

  it("keeps the table of a build for an empty KV beside a history: the history puts it back before a request", async () => {
    const state = newState();
    const first = await serve(state, "--table", fileOf("second"));
    expect(await first.regionOf()).toBe("second");
    await first.stop();
    rmSync(join(state, "kv"), { recursive: true });
    const gateway = await serve(state);
    expect(await gateway.regionOf()).toBe("second");
    expect((await gateway.read<Revisions>("/-/table/revisions")).revisions).toMatchObject([{ revision: 1 }]);
    await gateway.stop();
  });
});

describe("commands that wrote KV beside the gateway", () => {
  it.each([
    [
      "npm run publish",
      "src/host/publish/publish-table.ts",
      ["state", "table.json", "--revision", "9", "--force"],
      /waybill serve BUILD .*--table/,
    ],
    [
      "npm run deploy -- --publish",
      "src/cli/main.ts",
      ["deploy", "--publish", "--revision", "9"],
      /waybill table publish/,
    ],
  ])("%s ends with 1, and says what to do instead", (_, script, args, remedy) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [fileAt(script), ...args], { encoding: "utf8" });
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("is gone");
    expect(stderr).toContain("Nothing was published.");
    expect(stderr).toMatch(remedy);
  });
});
