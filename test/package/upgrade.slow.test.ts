import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "./packed.ts";
import { type Gateway, historyOf, run, serve } from "./upgrade/gateway.ts";
import { MOVED, remember } from "./upgrade/remembered.ts";
import { checkOut, packedHere, type Version, versionBefore } from "./upgrade/versions.ts";
import { startWorld, tableOf, writeJson } from "./upgrade/world.ts";

/**
 * An upgrade loses nothing, and neither does the way back: the version before makes a state, this one serves it, then the version
 * before again, then this one. Takes one to three minutes; where the version before was made of other packages, it fetches them first
 * (850 MB). The version before is the last tag, or UPGRADE_FROM. Without the history of the repository the tests are skipped.
 */

const before = versionBefore();

const RANGES = "0,999,eu\n1000,1999,us\n2000,4294967295,ap\n";
const SHOPS = Array.from({ length: 300 }, (_, at) => `{"key":"shop-${at}","region":"${at % 2 ? "eu" : "us"}"}\n`);

describe.skipIf(before === undefined)(`from ${before ?? "a version that the history lacks"}`, () => {
  let root: string;
  let old: Version;
  let now: Version;
  let world: Awaited<ReturnType<typeof startWorld>>;
  const running = new Set<Gateway>();

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), "waybill-from-"));
    world = await startWorld();
    old = checkOut(before ?? "", join(root, "old"));
    now = packedHere(join(root, "new"));
    await makeTables();
    for (const [version, folder] of [
      [old, "build-old"],
      [now, "build-new"],
    ] as const)
      expect(await run(version, root, ["build", "first.json", "--out", folder])).toMatchObject({ code: 0 });
  }, 900_000);
  afterAll(() => {
    for (const gateway of running) gateway.kill();
    world.stop();
    rmSync(root, { recursive: true, force: true });
  });

  /** The pack is made by the version before. */
  async function makeTables(): Promise<void> {
    writeFileSync(join(root, "ranges.csv"), RANGES);
    writeFileSync(join(root, "shops.ndjson"), SHOPS.join(""));
    writeJson(root, "first.json", tableOf(world.url, "ap"));
    const args = ["table", "pack", "ranges.csv", "--layout", "hotguid", "--table", "first.json", "--name", "shards"];
    expect(await run(old, root, args)).toMatchObject({ code: 0 });
    const { packs } = JSON.parse(readFileSync(join(root, "first.json"), "utf8"));
    writeJson(root, "second.json", tableOf(world.url, "ap", { packs, moved: { [MOVED]: "us" } }));
    writeJson(root, "canary.json", tableOf(world.url, "eu", { packs, moved: { [MOVED]: "us" } }));
  }

  async function served<Value>(
    version: Version,
    build: string,
    work: (gateway: Gateway) => Promise<Value>,
  ): Promise<Value> {
    const settings = { OTLP_METRICS_URL: `${world.url}/v1/metrics`, OTLP_METRICS_SECONDS: "1" };
    const gateway = await serve(version, build, { folder: root, stateFolder: join(root, "state"), settings });
    running.add(gateway);
    const value = await work(gateway);
    await gateway.stop();
    running.delete(gateway);
    return value;
  }

  /** The classes of objects, with the keys by which their storage is found. */
  const namespaces = (): readonly string[] => {
    const config = readFileSync(join(root, "state/config.capnp"), "utf8");
    return [...config.matchAll(/className = "\w+", uniqueKey = "[^"]+", [^)]*/g)].map(String).toSorted();
  };

  it("history, sequences, keys, answers, counters and a canary go on over three upgrades", async () => {
    const memory = remember(world.created);
    const first = await served(old, "build-old", async (gateway) => {
      await gateway.command("table", "publish", "second.json", "--yes", "--wait", "--note", "the second");
      await gateway.command("directory", "import", "slug", "shops.ndjson");
      await gateway.command("directory", "copy", "slug");
      await memory.addAll(gateway, "a");
      await memory.choosePaths(gateway);
      const failed = await memory.failOnce(gateway);
      await gateway.command(
        "table",
        "canary",
        "canary.json",
        "--share",
        "25",
        "--yes",
        "--wait",
        "--note",
        "a quarter",
      );
      const { regions, revisions } = await memory.note(gateway);
      expect(revisions.map(({ kind }) => kind)).toEqual(["canary", "publish", "publish"]);
      expect(regions.map(([, region]) => region)).toEqual(
        // The orders that moved, an invoice, a parcel, a person, a ticket; then shops: two of the import, one reserved, one moved, none.
        ["us", "eu", "us", "us", "ap", "eu", "us", "404", "ap", "404"],
      );
      const canary = await memory.inCanary(gateway);
      expect(canary.size).toBeGreaterThan(0);
      await memory.countersGoOn(gateway);
      return { canary, failed };
    });
    const oldNamespaces = namespaces();
    expect(oldNamespaces).toHaveLength(5);

    // This command, with the build that is there.
    await served(now, "build-old", async (gateway) => {
      await memory.expectNoted(gateway);
      expect(await memory.inCanary(gateway)).toEqual(first.canary);
      await memory.mintMore(gateway);
      await memory.countersGoOn(gateway);
    });

    const grown = await served(now, "build-new", async (gateway) => {
      const { revisions, digestsOfTexts } = await memory.expectNoted(gateway);
      expect(digestsOfTexts).toEqual(revisions.map(({ digest }) => digest));
      expect(await memory.inCanary(gateway)).toEqual(first.canary);
      const { kept } = await memory.send(gateway, "/orders", "fails", { "x-attempt": "fails-once" });
      expect([kept.status, kept.id]).toEqual([201, first.failed]);
      await memory.confirm(gateway, "a-reserved");
      await memory.addAll(gateway, "b");
      const expected = String(revisions[0]?.revision);
      await gateway.command("table", "canary", "canary.json", "--share", "50", "--expect", expected, "--yes", "--wait");
      const canary = await memory.inCanary(gateway);
      expect(canary.size).toBeGreaterThan(first.canary.size);
      expect([...first.canary].filter((id) => !canary.has(id))).toEqual([]);
      while (world.pushes() < 2) await pause(100);
      await memory.note(gateway);
      await memory.countersGoOn(gateway);
      return canary;
    });
    expect(namespaces()).toEqual(oldNamespaces);

    await served(old, "build-old", async (gateway) => {
      const { revisions, digestsOfTexts } = await memory.expectNoted(gateway);
      expect(digestsOfTexts).toEqual(revisions.map(({ digest }) => digest));
      expect(await memory.inCanary(gateway)).toEqual(grown);
      await memory.confirm(gateway, "b-reserved");
      await memory.addAll(gateway, "c");
      await gateway.command("table", "promote", "--expect", String(revisions[0]?.revision), "--yes", "--wait");
      await memory.note(gateway);
      await memory.countersGoOn(gateway);
    });

    await served(now, "build-new", async (gateway) => {
      await memory.expectNoted(gateway);
      await memory.addAll(gateway, "d");
      await gateway.command("table", "rollback", "1", "--over-moves", "--yes", "--wait");
      const { inForce, revisions, texts } = await historyOf(gateway);
      expect(inForce).toBe(texts.at(-1));
      expect(revisions[0]?.digest).toBe(revisions.at(-1)?.digest);
      await memory.note(gateway);
      const counters = await memory.countersGoOn(gateway);
      expect([...counters.keys()].join("\n")).toContain("waybill_otlp_pushes_total");
      expect(memory.figures()).toMatchObject({ primaryKeys: 112, answers: 8, keys: 16, revisions: 6 });
    });
  });

  it("wrangler's configuration deploys, or is refused with what to add", async () => {
    const project = join(root, "new");
    const command = (...words: readonly string[]) => run(now, project, words);
    const former = readFileSync(join(old.sources, "wrangler.toml"), "utf8");
    const path = join(project, "wrangler.toml");
    writeFileSync(path, former);
    const regions = { eu: { origins: [{ url: "https://eu.example.com" }] } };
    const { routes: _, ...table } = tableOf("https://eu.example.com", "eu");
    writeJson(project, "routing-table.json", { ...table, regions, routes: [], default: "eu" });

    const checked = await command("config", "check", "wrangler.toml");
    const shown = await command("upgrade");
    const lacks = shown.stdout.split("\n").filter((line) => /^ {2}\S/.test(line) && !line.includes("$schema"));
    if (checked.code === 0) expect(lacks).toEqual([]);
    else {
      expect(lacks).not.toEqual([]);
      for (const lack of lacks) expect(checked.stderr).toContain(lack.trim());
      const refused = await command("deploy", "--dry-run");
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("nothing was deployed")]);
    }
    expect(await command("upgrade", "--apply")).toMatchObject({ code: 0 });
    expect(await command("config", "check", "wrangler.toml")).toMatchObject({ code: 0, stderr: "" });
    const deployed = await command("deploy", "--dry-run");
    expect([deployed.code, `${deployed.stdout}${deployed.stderr}`]).toEqual([
      0,
      expect.stringContaining("env.TABLE_KV"),
    ]);

    // Classes stay as they were made, in their order: each line is the one of a deployment that was.
    const classes = (text: string) =>
      text.split("\n").filter((line) => /^(?:tag|new_sqlite_classes|class_name) =/.test(line));
    expect(classes(readFileSync(path, "utf8"))).toEqual(classes(former));
  });

  it("what is stored has only grown", () => {
    const lines = (folder: string): readonly string[] =>
      readFileSync(join(folder, "test/contract/snapshots/storage.txt"), "utf8").trimEnd().split("\n");
    const stored = lines(ROOT);
    expect(lines(old.sources).filter((before) => !stored.some((now) => hasGrown(before, now)))).toEqual([]);
  });
});

describe("a table of SQLite has grown", () => {
  const OLD = "CREATE TABLE a (id INTEGER PRIMARY KEY, next INTEGER NOT NULL) WITHOUT ROWID";
  it.each<readonly [now: string, isGrown: boolean]>([
    [OLD, true],
    ["CREATE TABLE a ( id INTEGER PRIMARY KEY, next INTEGER NOT NULL) WITHOUT ROWID", true],
    ["CREATE TABLE a (id INTEGER PRIMARY KEY, next INTEGER NOT NULL, more INTEGER) WITHOUT ROWID", true],
    // The former version writes its own columns alone.
    ["CREATE TABLE a (id INTEGER PRIMARY KEY, next INTEGER NOT NULL, more INTEGER NOT NULL) WITHOUT ROWID", false],
    ["CREATE TABLE a (id INTEGER PRIMARY KEY, more INTEGER) WITHOUT ROWID", false],
    ["CREATE TABLE a (id INTEGER PRIMARY KEY, next INTEGER NOT NULL)", false],
    ["CREATE TABLE b (id INTEGER PRIMARY KEY, next INTEGER NOT NULL) WITHOUT ROWID", false],
  ])("%s: %j", (now, isGrown) => {
    expect(hasGrown(OLD, now)).toBe(isGrown);
  });

  it.each<readonly [now: string, isGrown: boolean]>([
    ["CREATE TABLE a (x TEXT CHECK (x > 0), y TEXT, more TEXT, PRIMARY KEY (x, y))", true],
    ["CREATE TABLE a (x TEXT CHECK (x > 0), y TEXT, more TEXT NOT NULL, PRIMARY KEY (x, y))", false],
    ["CREATE TABLE a (x TEXT CHECK (x > 0), y TEXT, PRIMARY KEY (x))", false],
    ["CREATE TABLE a (x TEXT CHECK (x > 0), y TEXT)", false],
  ])("before its key: %j", (now, isGrown) => {
    expect(hasGrown("CREATE TABLE a (x TEXT CHECK (x > 0), y TEXT, PRIMARY KEY (x, y))", now)).toBe(isGrown);
  });
});

/** A line of the snapshot is as before, or a table that has further columns, which may be NULL. */
function hasGrown(before: string, now: string): boolean {
  const [old, own] = [tableIn(before), tableIn(now)];
  if (old === undefined || own === undefined) return before === now;
  const more = own.columns.slice(old.columns.length);
  return (
    own.name === old.name &&
    own.end === old.end &&
    own.columns.startsWith(old.columns) &&
    (more === "" || (more.startsWith(", ") && !more.includes("NOT NULL")))
  );
}

function tableIn(line: string) {
  const [, name, columns = "", end] =
    /^(CREATE TABLE \S+) \((.*?)((?:, PRIMARY KEY \([^()]*\))?\)(?: WITHOUT ROWID)?)$/.exec(line) ?? [];
  return name === undefined ? undefined : { name, columns: columns.trim(), end };
}
