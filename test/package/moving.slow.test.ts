import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createReadStream, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { edgeArgs, killAll, nodeArgs, serve as serveRole } from "../system/machines/serving.ts";
import { type Gateway, gatewayAt, run, SETTINGS, serve, TOKEN } from "./upgrade/gateway.ts";
import { HERE, type Machines, machinesOf } from "./upgrade/one-machine.ts";
import { remember } from "./upgrade/remembered.ts";
import { checkOut, type Version, versionBefore } from "./upgrade/versions.ts";
import { startWorld, tableOf, writeJson } from "./upgrade/world.ts";

/**
 * The whole state of a gateway on another machine: one machine to one machine, to a state node with an edge, and back; imports that are
 * killed; 200,000 keys of a directory; the state of an earlier version. Takes four to fifteen minutes. Without the history of the
 * repository the last one is skipped, and without openssl the state node.
 */

describe("one machine to another", () => {
  const root = mkdtempSync(join(tmpdir(), "waybill-moving-"));
  const file = join(root, "waybill.state");
  let machines: Machines;
  const waybill: Machines["waybill"] = (...words) => machines.waybill(...words);

  beforeAll(async () => {
    machines = await machinesOf(root, async (one) => {
      await one.command("state", "export", "--out", join(root, "running.state"));
    });
    expect(await waybill("state", "export", "--state", "one", "--out", file)).toMatchObject({ code: 0 });
  }, 300_000);
  afterAll(() => {
    machines.kill();
    return killAll().then(() => rmSync(root, { recursive: true, force: true }));
  });

  /** The next number of the LUUIDs' sequence in an export. */
  const nextNumbers = (path: string): readonly number[] => {
    const lines = readFileSync(path, "utf8")
      .split("\n")
      .map((line) => (line === "" ? {} : JSON.parse(line)));
    return lines.flatMap((line, at) => (line.table === "sequence" ? [lines[at + 1][1] as number] : []));
  };

  it("an export is for its owner alone, and whole", async () => {
    expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
    expect(await waybill("state", "verify", file)).toMatchObject({ code: 0 });
    expect(await waybill("state", "verify", file, "--state", "one")).toMatchObject({ code: 0 });
    expect(readFileSync(file, "utf8")).toContain('{"value":"pack.');
    expect(readFileSync(file, "utf8")).toContain('{"value":"directory.slug.current"');
  });

  it("history, audit, canary, sequences, answers, directory, copies and counters go on", async () => {
    const imported = await waybill("state", "import", file, "--state", "two");
    expect(imported).toMatchObject({ code: 0, stderr: expect.stringContaining("written, read back and equal") });
    expect(await waybill("state", "verify", file, "--state", "two")).toMatchObject({ code: 0 });
    const again = await waybill("state", "import", file, "--state", "two");
    expect(again, "of what is done nothing is written").toMatchObject({ code: 0 });
    expect(await waybill("state", "export", "--state", "two", "--out", join(root, "two.state"))).toMatchObject({
      code: 0,
    });
    // Alarms wait while a state is open.
    const rowsOf = (path: string) =>
      readFileSync(path, "utf8")
        .split("\n")
        .slice(1, -2)
        .map((line) => line.replace(/"alarm":\d+/, '"alarm":1'));
    expect(rowsOf(join(root, "two.state"))).toEqual(rowsOf(file));

    const gateway = await machines.start("two");
    await machines.memory.expectNoted(gateway);
    await machines.expectCounters(gateway);
    const [next = 0] = nextNumbers(file).toSorted((a, b) => a - b);
    const minted = await gateway.ask("POST", "/mint", { entity: "person", count: 1 });
    const { ids } = (await minted.json()) as { readonly ids: readonly string[] };
    expect(Number.parseInt(ids[0]?.slice(0, 13).replace("-", "") ?? "", 16)).toBe(next);
    await machines.memory.mintMore(gateway);
    await gateway.command("table", "promote", "--expect", "3", "--yes", "--wait");
    await machines.stop(gateway);
  }, 400_000);

  it("into a running gateway that is empty; an export of a running one leaves numbers out", async () => {
    const gateway = await machines.start("three");
    await gateway.command("state", "import", join(root, "running.state"));
    // Isolates read KV each half second.
    await vi.waitFor(() => machines.memory.expectNoted(gateway), { timeout: 20_000, interval: 500 });
    await gateway.command("state", "verify", file).then((said) => expect(said).toContain("whole"));
    await machines.stop(gateway);
    const path = join(root, "three.state");
    expect(await waybill("state", "export", "--state", "three", "--out", path)).toMatchObject({ code: 0 });
    const before = nextNumbers(join(root, "running.state"));
    // The LUUIDs' alone: numbers that follow the time are ahead by themselves.
    const gaps = nextNumbers(path).map((number, at) => number - (before[at] ?? 0));
    expect(gaps.toSorted((a, b) => a - b)).toEqual([0, 1_000_000]);
  }, 400_000);

  it("a state with contents takes nothing", async () => {
    const refused = await waybill("state", "import", join(root, "running.state"), "--state", "one");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("nothing was imported") });
    expect(await waybill("state", "verify", file, "--state", "one")).toMatchObject({ code: 0 });
  });

  it("an import that is killed at any time goes on", async () => {
    const words = ["state", "import", file, "--state", "killed"];
    let kills = 0;
    for (let ms = 1_000; ; ms *= 1.2 + Math.random() / 5) {
      const child = spawn(process.execPath, [HERE.program, ...words], { cwd: root, stdio: "ignore" });
      const ended = once(child, "exit");
      const isEnded = await Promise.race([ended.then(() => true), pause(ms, false)]);
      if (!isEnded) {
        child.kill("SIGKILL");
        kills += 1;
      }
      const [code] = await ended;
      if (isEnded) {
        expect(code).toBe(0);
        break;
      }
      // Its workerd ends with it.
      await pause(300);
    }
    expect(kills).toBeGreaterThan(2);
    expect(await waybill("state", "verify", file, "--state", "killed")).toMatchObject({ code: 0 });
    const gateway = await machines.start("killed");
    await machines.memory.expectNoted(gateway);
    await machines.stop(gateway);
  }, 400_000);

  it("200,000 keys of a directory pass in bounded memory", async () => {
    const keys = Array.from(
      { length: 200_000 },
      (_, at) => `{"key":"key-${at}-${"x".repeat(40)}","region":"eu","owner":"${at}"}\n`,
    );
    writeFileSync(join(root, "many.ndjson"), keys.join(""));
    const gateway = await machines.start("many");
    await gateway.command("directory", "import", "slug", "many.ndjson");
    await machines.stop(gateway);
    const path = join(root, "many.state");
    const peaks = [
      await peakOf("state", "export", "--state", "many", "--out", path),
      await peakOf("state", "verify", path),
      await peakOf("state", "import", path, "--state", "many-2"),
    ];
    console.log(`200,000 keys, ${Math.round(statSync(path).size / 1e6)} MB: ${JSON.stringify(peaks)}`);
    // Node alone has 60 MB or so, and workerd as much.
    for (const { node, workerd } of peaks) expect(Math.max(node, workerd)).toBeLessThan(400);
    let rows = 0;
    for await (const chunk of createReadStream(path)) for (const byte of chunk as Buffer) if (byte === 10) rows += 1;
    expect(rows).toBeGreaterThan(200_000);
    const moved = await machines.start("many-2");
    const counts = JSON.parse(await moved.read("/-/directory/slug/-/counts"));
    expect(counts.total.confirmed).toBe(200_000);
    await machines.stop(moved);
  }, 400_000);

  it.skipIf(spawnSync("openssl", ["version"]).status !== 0)(
    "to a state node with an edge, and back",
    async () => {
      // The gateway that went on with the state: two that go on with one file would give the same numbers.
      const two = await machines.start("two");
      await machines.memory.note(two);
      await machines.stop(two);
      expect(await waybill("state", "export", "--state", "two", "--out", "now.state")).toMatchObject({ code: 0 });
      expect(await waybill("cluster", "certificates", "--out", "tls")).toMatchObject({ code: 0 });
      const env = { ...SETTINGS, OPEN_PAGES: "off" };
      const node = await serveRole(nodeArgs(), { cwd: root, env });
      const nodes = [`127.0.0.1:${node.statePort}`];
      const more = { WAYBILL_TOKEN: TOKEN, WAYBILL_GATEWAY: node.urls[0] ?? "" };
      const atNode = (...words: readonly string[]) => run(HERE, root, words, more);
      expect(await atNode("state", "import", "now.state")).toMatchObject({ code: 0 });
      expect(await atNode("state", "verify", "now.state")).toMatchObject({ code: 0 });
      const edge = await serveRole(edgeArgs("e1", nodes), { cwd: root, env });
      const [edgeUrl = ""] = edge.urls;
      const gateway = gatewayAt(edgeUrl, HERE, root);
      await vi.waitFor(() => machines.memory.expectNoted(gateway), { timeout: 60_000, interval: 1_000 });
      await machines.memory.mintMore(gateway);
      const refused = await run(HERE, root, ["state", "export", "--out", "edge.state", "--gateway", edgeUrl], {
        WAYBILL_TOKEN: TOKEN,
      });
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("An edge keeps no state") });
      await edge.stop();

      expect(await atNode("state", "export", "--out", "back.state")).toMatchObject({ code: 0 });
      await node.stop();
      expect(await waybill("state", "import", "back.state", "--state", "back", "--sequence-gap", "0")).toMatchObject({
        code: 0,
      });
      const back = await machines.start("back");
      await machines.memory.expectNoted(back);
      await machines.memory.mintMore(back);
      await machines.stop(back);
      expect(nextNumbers(join(root, "back.state")).length).toBe(2);
    },
    240_000,
  );

  /** The highest resident memory of a command and of its workerd, in MB. */
  async function peakOf(...words: readonly string[]) {
    const child = spawn(process.execPath, [HERE.program, ...words], { cwd: root, stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr.on("data", (chunk) => {
      said += chunk;
    });
    const startMs = Date.now();
    const ended = once(child, "exit");
    const peak = { node: 0, workerd: 0, seconds: 0 };
    const highest = (pid: number): number => {
      try {
        return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
      } catch {
        return 0;
      }
    };
    const childrenOf = (pid: number): readonly number[] =>
      (spawnSync("pgrep", ["-P", String(pid)], { encoding: "utf8" }).stdout ?? "")
        .split("\n")
        .filter(Boolean)
        .map(Number);
    for (let isEnded = false; !isEnded; ) {
      const pid = child.pid ?? 0;
      peak.node = Math.max(peak.node, Math.round(highest(pid)));
      for (const each of childrenOf(pid)) peak.workerd = Math.max(peak.workerd, Math.round(highest(each)));
      isEnded = await Promise.race([ended.then(() => true), pause(200, false)]);
    }
    const [code] = await ended;
    expect(code, said).toBe(0);
    peak.seconds = Math.round((Date.now() - startMs) / 100) / 10;
    return peak;
  }
});

const before = versionBefore();

describe.skipIf(before === undefined)(`the state of ${before ?? "an earlier version"}`, () => {
  const root = mkdtempSync(join(tmpdir(), "waybill-moving-from-"));
  const running = new Set<Gateway>();
  let world: Awaited<ReturnType<typeof startWorld>>;
  afterAll(() => {
    for (const gateway of running) gateway.kill();
    world?.stop();
    rmSync(root, { recursive: true, force: true });
  });

  it("moves to this version, and the earlier one takes it there", async () => {
    world = await startWorld();
    const memory = remember(world.created);
    const old = checkOut(before ?? "", join(root, "old"));
    const { routes: _, ...table } = tableOf(world.url, "ap");
    writeJson(root, "first.json", { ...table, routes: [], default: "eu" });
    expect(await run(old, root, ["build", "first.json", "--out", "build-old"])).toMatchObject({ code: 0 });
    expect(await run(HERE, root, ["build", "first.json", "--out", "build"])).toMatchObject({ code: 0 });
    const served = async (
      version: Version,
      build: string,
      state: string,
      work: (gateway: Gateway) => Promise<unknown>,
    ) => {
      const gateway = await serve(version, build, { folder: root, stateFolder: join(root, state), settings: {} });
      running.add(gateway);
      await work(gateway);
      await gateway.stop();
      running.delete(gateway);
    };
    await served(old, "build-old", "one", async (gateway) => {
      await memory.addAll(gateway, "a");
      await memory.note(gateway);
    });
    expect(await run(HERE, root, ["state", "export", "--state", "one", "--out", "one.state"])).toMatchObject({
      code: 0,
    });
    // The export has changed nothing: the version that made the state goes on with it.
    await served(old, "build-old", "one", (gateway) => memory.expectNoted(gateway));
    expect(await run(HERE, root, ["state", "import", "one.state", "--state", "two"])).toMatchObject({ code: 0 });
    await served(HERE, "build", "two", async (gateway) => {
      await memory.expectNoted(gateway);
      await memory.addAll(gateway, "b");
      await memory.note(gateway);
    });
    await served(old, "build-old", "two", (gateway) => memory.expectNoted(gateway));
  }, 900_000);
});
