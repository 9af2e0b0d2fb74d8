import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ROOT } from "./packed.ts";
import { countersOf, type Gateway, run, serve } from "./upgrade/gateway.ts";
import { MOVED, remember } from "./upgrade/remembered.ts";
import type { Version } from "./upgrade/versions.ts";
import { startWorld, tableOf, writeJson } from "./upgrade/world.ts";

/** The whole state of a gateway on another machine: one machine to one machine, by its stopped state and over HTTP. */

const here: Version = { program: join(ROOT, "src/cli/main.ts"), sources: ROOT };
const SHOPS = Array.from({ length: 300 }, (_, at) => `{"key":"shop-${at}","region":"${at % 2 ? "eu" : "us"}"}\n`);

describe("one machine to another", () => {
  const root = mkdtempSync(join(tmpdir(), "waybill-moving-"));
  const running = new Set<Gateway>();
  const file = join(root, "waybill.state");
  let world: Awaited<ReturnType<typeof startWorld>>;
  let memory: ReturnType<typeof remember>;
  let counters: ReadonlyMap<string, number>;

  const waybill = (...words: readonly string[]) => run(here, root, words);
  const start = async (state: string): Promise<Gateway> => {
    const gateway = await serve(here, "build", { folder: root, stateFolder: join(root, state), settings: {} });
    running.add(gateway);
    return gateway;
  };
  const stop = async (gateway: Gateway): Promise<void> => {
    await gateway.stop();
    running.delete(gateway);
  };

  beforeAll(async () => {
    world = await startWorld();
    memory = remember(world.created);
    writeFileSync(join(root, "ranges.csv"), "0,999,eu\n1000,1999,us\n2000,4294967295,ap\n");
    writeFileSync(join(root, "shops.ndjson"), SHOPS.join(""));
    writeJson(root, "first.json", tableOf(world.url, "ap"));
    const pack = ["table", "pack", "ranges.csv", "--layout", "hotguid", "--table", "first.json", "--name", "shards"];
    expect(await waybill(...pack)).toMatchObject({ code: 0 });
    const { packs } = JSON.parse(readFileSync(join(root, "first.json"), "utf8"));
    writeJson(root, "second.json", tableOf(world.url, "ap", { packs, moved: { [MOVED]: "us" } }));
    writeJson(root, "canary.json", tableOf(world.url, "eu", { packs, moved: { [MOVED]: "us" } }));
    expect(await waybill("build", "first.json", "--out", "build")).toMatchObject({ code: 0 });
    const gateway = await start("one");
    await gateway.command("table", "publish", "second.json", "--yes", "--wait", "--note", "the second");
    await gateway.command("directory", "import", "slug", "shops.ndjson");
    await gateway.command("directory", "copy", "slug");
    await memory.addAll(gateway, "a");
    await memory.choosePaths(gateway);
    await gateway.command("table", "canary", "canary.json", "--share", "25", "--yes", "--wait");
    await memory.note(gateway);
    counters = await memory.countersGoOn(gateway);
    await gateway.command("state", "export", "--out", join(root, "running.state"));
    await stop(gateway);
    expect(await waybill("state", "export", "--state", "one", "--out", file)).toMatchObject({ code: 0 });
  }, 300_000);
  afterAll(() => {
    for (const gateway of running) gateway.kill();
    world.stop();
    rmSync(root, { recursive: true, force: true });
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

    const gateway = await start("two");
    await memory.expectNoted(gateway);
    const now = await countersOf(gateway);
    for (const [series, value] of counters) expect(now.get(series), series).toBeGreaterThanOrEqual(value);
    const [next = 0] = nextNumbers(file).toSorted((a, b) => a - b);
    const minted = await gateway.ask("POST", "/mint", { entity: "person", count: 1 });
    const { ids } = (await minted.json()) as { readonly ids: readonly string[] };
    expect(Number.parseInt(ids[0]?.slice(0, 13).replace("-", "") ?? "", 16)).toBe(next);
    await memory.mintMore(gateway);
    await gateway.command("table", "promote", "--expect", "3", "--yes", "--wait");
    await stop(gateway);
  }, 120_000);

  it("into a running gateway that is empty; an export of a running one leaves numbers out", async () => {
    const gateway = await start("three");
    await gateway.command("state", "import", join(root, "running.state"));
    // Isolates read KV each half second.
    await vi.waitFor(() => memory.expectNoted(gateway), { timeout: 20_000, interval: 500 });
    await gateway.command("state", "verify", file).then((said) => expect(said).toContain("whole"));
    await stop(gateway);
    const path = join(root, "three.state");
    expect(await waybill("state", "export", "--state", "three", "--out", path)).toMatchObject({ code: 0 });
    const before = nextNumbers(join(root, "running.state"));
    // The LUUIDs' alone: numbers that follow the time are ahead by themselves.
    const gaps = nextNumbers(path).map((number, at) => number - (before[at] ?? 0));
    expect(gaps.toSorted((a, b) => a - b)).toEqual([0, 1_000_000]);
  }, 120_000);

  it("a state with contents takes nothing", async () => {
    const refused = await waybill("state", "import", join(root, "running.state"), "--state", "one");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("nothing was imported") });
    expect(await waybill("state", "verify", file, "--state", "one")).toMatchObject({ code: 0 });
  });
});
