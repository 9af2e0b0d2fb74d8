import { describe, expect, it } from "vitest";
import { FakeClock, objectsOf, type RuntimeOptions, waybill } from "../fake-runtime.ts";
import { MemoryFiles } from "../memory-files.ts";
import { fakeDirectory } from "./fake-directory.ts";

type World = ReturnType<typeof fakeDirectory>;

const run = ({ access }: World, args: readonly string[], options: RuntimeOptions = {}) =>
  waybill(["directory", ...args], { ...access, ...options });

const ndjson = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ key: `shop-${at}`, region: at % 3 === 0 ? "ap" : "eu" }));

describe("waybill directory import", () => {
  it("imports rows once, however often it runs", async () => {
    const world = fakeDirectory();
    const files = MemoryFiles.of({ "slugs.ndjson": ndjson(rowsOf(50_000)) });
    const first = await run(world, ["import", "slug", "slugs.ndjson"], { files });
    const counts = "0 unchanged, 0 replaced, 0 conflicts, 0 faults";
    expect(first).toEqual({ code: 0, stdout: "", stderr: `slugs.ndjson: 50,000 lines: 50,000 added, ${counts}\n` });
    expect(world.entries.size).toBe(50_000);
    // Sorted by shard, so that a call has many rows of one object.
    expect(world.calls.length).toBeLessThan(300);
    const again = await run(world, ["import", "slug", "slugs.ndjson", "--json"], { files });
    expect(objectsOf(again.stdout)).toEqual([
      { lines: 50_000, added: 0, unchanged: 50_000, replaced: 0, conflicts: 0, faults: 0, dryRun: false },
    ]);
  });

  it("names conflicts and faults by the lines of the file", async () => {
    const world = fakeDirectory();
    world.entries.set("bob", { region: "ap", owner: undefined });
    const text = `${ndjson([{ key: "ada", region: "eu" }])}\n{"key":1}\n${ndjson([
      { key: "x", region: "mars" },
      { key: "bob", region: "eu" },
    ])}`;
    const files = MemoryFiles.of({ "a.ndjson": text });
    const { code, stdout } = await run(world, ["import", "slug", "a.ndjson"], { files });
    expect([code, stdout.split("\n").sort()]).toEqual([
      1,
      [
        "",
        "a.ndjson:3: Its member `key` is missing or not a string.",
        "a.ndjson:4: The table has no region mars.",
        "a.ndjson:5: key bob is there with another region than eu, or owner, or reserved; --replace overwrites it",
      ],
    ]);
    const one = { files: MemoryFiles.of({ "b.ndjson": ndjson([{ key: "bob", region: "eu" }]) }) };
    expect((await run(world, ["import", "slug", "b.ndjson"], one)).code).toBe(2);
    expect(world.entries.get("bob")?.region).toBe("ap");
    const replaced = await run(world, ["import", "slug", "b.ndjson", "--replace", "--json"], one);
    expect([replaced.code, objectsOf(replaced.stdout)[0]]).toMatchObject([0, { replaced: 1, conflicts: 0 }]);
    expect(world.entries.get("bob")?.region).toBe("eu");
  });

  it("stores the good rows, lists the first hundred faults in the order of the file, and counts the others", async () => {
    const rows = Array.from({ length: 400 }, (_, at) => ({ key: `k${at}`, region: at % 3 === 0 ? "mars" : "eu" }));
    const lines = rows.flatMap(({ region }, at) => (region === "mars" ? [at + 1] : []));
    const listed = lines.slice(0, 100).map((line) => `a.ndjson:${line}: The table has no region mars.\n`);
    const files = MemoryFiles.of({ "a.ndjson": ndjson(rows) });
    const stdout = `${listed.join("")}a.ndjson: and 34 more rows with faults\n`;
    for (const dry of [true, false]) {
      const world = fakeDirectory();
      const args = ["import", "slug", "a.ndjson", "--resume", "a.state", ...(dry ? ["--dry-run"] : [])];
      const sums = dry
        ? "266 added, 0 unchanged, 0 replaced, 0 conflicts, 134 faults; nothing was written"
        : "266 added, 0 unchanged, 0 replaced, 0 conflicts, 134 faults";
      expect(await run(world, args, { files })).toEqual({ code: 1, stdout, stderr: `a.ndjson: 400 lines: ${sums}\n` });
      expect(world.entries.size).toBe(dry ? 0 : 266);
      // Blocks with faults are read again.
      expect(files.exists("a.state")).toBe(false);
    }
  });

  it.each(["lower", undefined])("writes rows of one key in their order, by the form %s", async (form) => {
    const others = (name: string) => Array.from({ length: 21_000 }, (_, at) => ({ key: `${name}${at}`, region: "eu" }));
    const rows = [
      { key: "k", region: "eu" },
      ...others("a"),
      { key: "K", region: "ap" },
      ...others("b"),
      { key: "k", region: "eu" },
    ];
    const files = MemoryFiles.of({ "a.ndjson": ndjson(rows), "b.ndjson": ndjson(rows.slice(0, -1)) });
    const world = fakeDirectory();
    world.directory.form = form;
    const kept = await run(world, ["import", "slug", "a.ndjson"], { files });
    expect([kept.code, kept.stdout]).toEqual([
      2,
      "a.ndjson:21002: key k is there with another region than ap, or owner, or reserved; --replace overwrites it\n",
    ]);
    expect(world.entries.get("k")?.region).toBe("eu");
    expect((await run(world, ["import", "slug", "b.ndjson", "--replace"], { files })).code).toBe(0);
    expect(world.entries.get("k")?.region).toBe("ap");
    expect((await run(world, ["import", "slug", "a.ndjson", "--replace"], { files })).code).toBe(0);
    expect(world.entries.get("k")?.region).toBe("eu");
  });

  it("writes nothing in a dry run", async () => {
    const world = fakeDirectory();
    const { code, stderr } = await run(world, ["import", "slug", "-", "--dry-run"], { stdin: ndjson(rowsOf(3)) });
    expect([code, stderr]).toEqual([
      0,
      "stdin: 3 lines: 3 added, 0 unchanged, 0 replaced, 0 conflicts, 0 faults; nothing was written\n",
    ]);
    expect(world.entries.size).toBe(0);
  });

  it.each([
    ["import", "slug", "a.ndjson"],
    ["export", "slug"],
    ["stat", "slug"],
  ])("says at once that no gateway answers: %s", async (...args) => {
    const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED", syscall: "connect" });
    const clock = new FakeClock(0);
    const fetch = () => Promise.reject(new TypeError("fetch failed", { cause }));
    const files = MemoryFiles.of({ "a.ndjson": ndjson(rowsOf(2)) });
    const { code, stderr } = await run(fakeDirectory(), args, { files, fetch, clock });
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^error: no gateway answers at \S+: .*\n {2}is it running\?/),
    ]);
    expect(clock.nowMs).toBe(0);
  });

  it("repeats what breaks, and goes on from its state", async () => {
    const world = fakeDirectory();
    const files = MemoryFiles.of({ "a.ndjson": ndjson(rowsOf(30_000)) });
    const args = ["import", "slug", "a.ndjson", "--resume", "a.state"];
    world.directory.breaks.set(1, new Response("", { status: 502 }));
    world.directory.breaks.set(2, new TypeError("fetch failed", { cause: new Error("other side closed") }));
    world.state.failures = 1;
    expect((await run(world, args, { files })).code).toBe(0);
    expect(world.entries.size).toBe(30_000);
    const state = { command: "import", place: "http://gateway.localhost/-/directory/slug", file: "a.ndjson" };
    expect(JSON.parse(files.read("a.state").ok ? Buffer.from(files.bytes("a.state")).toString() : "")).toEqual({
      ...state,
      lines: 30_000,
    });
    files.write("a.state", JSON.stringify({ ...state, lines: 29_990 }));
    world.entries.clear();
    const resumed = await run(world, args, { files });
    expect(resumed.stderr).toContain("30,000 lines, 29,990 of them before: 10 added");
    expect(world.entries.size).toBe(10);
    files.write("a.state", JSON.stringify({ ...state, file: "b.ndjson", lines: 1 }));
    expect((await run(world, args, { files })).stderr).toContain("is the state of another command");
    files.write("a.state", "{}");
    expect((await run(world, args, { files })).stderr).toContain("is no state of this command");
  });

  it("reads rows again that were not written, once they are mended", async () => {
    const world = fakeDirectory();
    const args = ["import", "slug", "a.ndjson", "--resume", "a.state"];
    const files = MemoryFiles.of({
      "a.ndjson": ndjson([
        { key: "ada", region: "eu" },
        { key: "x", region: "mars" },
      ]),
    });
    expect((await run(world, args, { files })).code).toBe(1);
    files.write(
      "a.ndjson",
      ndjson([
        { key: "ada", region: "eu" },
        { key: "x", region: "eu" },
      ]),
    );
    expect((await run(world, args, { files })).stderr).toContain("1 added, 1 unchanged");
    expect(world.entries.get("x")?.region).toBe("eu");
  });

  it("ends at Ctrl-C, and goes on", async () => {
    const world = fakeDirectory();
    const files = MemoryFiles.of({ "a.ndjson": ndjson(rowsOf(60_000)) });
    const args = ["import", "slug", "a.ndjson", "--resume", "a.state"];
    const ctrlC = new AbortController();
    const fetch: typeof world.access.fetch = (...request) => {
      if (world.directory.asked.length === 1) ctrlC.abort();
      return world.access.fetch(...request);
    };
    const broken = await run(world, args, { files, fetch, interrupt: ctrlC.signal });
    expect([broken.code, broken.stderr]).toEqual([130, expect.stringContaining("run the same command again to go on")]);
    expect((await run(world, args, { files })).code).toBe(0);
    expect(world.entries.size).toBe(60_000);
  });

  it("ends where the gateway refuses", async () => {
    const world = fakeDirectory();
    const body = { type: "/-/problems/forbidden", title: "No", status: 403, detail: "No.", needs: "operator" };
    const headers = { "content-type": "application/problem+json" };
    world.directory.breaks.set(1, new Response(JSON.stringify(body), { status: 403, headers }));
    const { code, stderr } = await run(world, ["import", "slug", "-"], { stdin: ndjson(rowsOf(3)) });
    expect([code, stderr]).toEqual([1, expect.stringContaining("need an operator's token")]);
  });
});

describe("waybill directory export", () => {
  it("prints what the import takes", async () => {
    const world = fakeDirectory();
    for (const { key, region } of rowsOf(25_000)) world.entries.set(key, { region, owner: "7" });
    const { code, stdout, stderr } = await run(world, ["export", "slug"]);
    expect([code, stderr]).toEqual([0, "25,000 rows\n"]);
    const other = fakeDirectory();
    await run(other, ["import", "slug", "-"], { stdin: stdout });
    expect(other.entries).toEqual(world.entries);
  });

  it("goes on from its state, part by part", async () => {
    const world = fakeDirectory();
    for (const { key, region } of rowsOf(25_000)) world.entries.set(key, { region, owner: undefined });
    const files = MemoryFiles.of({});
    const args = ["export", "slug", "--resume", "slug.state"];
    world.directory.breaks.set(2, new Response("{}", { status: 404 }));
    const first = await run(world, args, { files });
    expect(first.code).toBe(1);
    const second = await run(world, args, { files });
    expect(second.code).toBe(0);
    const keys = objectsOf(first.stdout + second.stdout).map(({ key }) => key);
    expect([keys.length, new Set(keys).size]).toEqual([25_000, 25_000]);
    expect((await run(world, args, { files })).stderr).toContain("The export is complete");
  });
});

describe("waybill directory copy", () => {
  const filled = (count: number): World => {
    const world = fakeDirectory();
    for (const { key, region } of rowsOf(count)) world.entries.set(key, { region, owner: undefined });
    return world;
  };

  it("publishes pages before the header, which stat shows and verify finds right", async () => {
    const world = filled(12_000);
    expect((await run(world, ["stat", "slug"])).stdout).toMatch(/\nno copy is in force\n$/);
    expect((await run(world, ["verify", "slug"])).stderr).toContain("no copy is in force");
    const made = await run(world, ["copy", "slug"]);
    expect(made).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        /^slug: 12,000 keys in 4 pages, 9\d\.\d kB; in force at once in a gateway of one process, within seconds in a cluster, on Cloudflare within 2 minutes\n$/,
      ),
    });
    expect(world.directory.asked.at(-1)).toMatch(/^PUT \/-\/directory\/slug\/-\/copies\/[0-9a-f]{64}$/);
    const stat = await run(world, ["stat", "slug"]);
    expect(stat.stdout).toMatch(/\ncopy [0-9a-f]{64}\n12,000 keys in 4 pages, .* kB\nas of .*, 0\.0 hours ago\n/);
    expect(stat.stdout).toMatch(/regions: (?:ap, eu|eu, ap)\n$/);
    expect(await run(world, ["verify", "slug"])).toMatchObject({ code: 0, stdout: "" });

    world.entries.set("shop-1", { region: "ap", owner: undefined });
    world.entries.set("new", { region: "ap", owner: undefined });
    world.entries.delete("shop-2");
    const verified = await run(world, ["verify", "slug"]);
    expect(verified).toMatchObject({ code: 2, stdout: "shop-1: ap, and eu in the copy\n" });
    expect(verified.stderr).toMatch(/^12,000 keys: 11,998 same, 1 moved, 1 added, 1 removed since /);
    const json = objectsOf((await run(world, ["verify", "slug", "--json"])).stdout);
    expect(json[0]).toEqual({ key: "shop-1", region: "ap", copy: "eu" });
    expect(json[1]).toMatchObject({ keys: 12_000, same: 11_998, moved: 1, added: 1, removed: 1 });

    expect((await run(world, ["copy", "slug", "--remove"])).code).toBe(0);
    expect(world.directory.current).toBeUndefined();
  });

  it("stands below the counts of the keys, which are at least so many if objects did not answer", async () => {
    const world = fakeDirectory();
    expect(await run(world, ["stat", "slug"])).toMatchObject({
      code: 0,
      stdout:
        "1,234 keys, 5 reserved\n3 orphans: 2 after their lease, 1 missing at their origins\nas of 2026-06-01T00:00:00.000Z\nno copy is in force\n",
    });
    const { total, ...counted } = world.directory.counts as { total: object };
    world.directory.counts = { ...counted, answered: 250, atLeast: total };
    const partial = await run(world, ["stat", "slug"]);
    expect(partial).toMatchObject({ code: 1, stdout: expect.stringMatching(/^at least 1,234 keys, 5 reserved\n/) });
    expect(partial.stdout).toContain("as of 2026-06-01T00:00:00.000Z, of the 250 of 256 objects that answered\n");
    const json = await run(world, ["stat", "slug", "--json"]);
    expect([json.code, JSON.parse(json.stdout)]).toMatchObject([1, { copy: null, counts: { atLeast: total } }]);
    world.directory.counts = { ...counted, answered: 256 };
    expect((await run(world, ["stat", "slug"])).stderr).toContain("gives no counts");
  });

  it("is made of a file with its time, and of each key once", async () => {
    const world = fakeDirectory();
    const files = MemoryFiles.of({ "a.ndjson": ndjson(rowsOf(10)), "b.ndjson": ndjson([...rowsOf(3), ...rowsOf(1)]) });
    const of = (...args: readonly string[]) => run(world, ["copy", "slug", "--json", ...args], { files });
    const made = await of("--from", "a.ndjson", "--at", "2026-06-01T00:00:00Z");
    expect(objectsOf(made.stdout)[0]).toMatchObject({ keys: 10, pages: 1, published: true });
    expect((await run(world, ["stat", "slug", "--json"])).stdout).toContain('"builtAt":"2026-06-01T00:00:00.000Z"');
    expect((await of("--from", "a.ndjson")).stderr).toContain("require each other");
    const asked = world.directory.asked.length;
    const dry = await of("--from", "a.ndjson", "--at", "2026-06-01T00:00:00Z", "--dry-run");
    expect(objectsOf(dry.stdout)[0]).toMatchObject({ published: false });
    const twice = await of("--from", "b.ndjson", "--at", "2026-06-01T00:00:00Z");
    expect([twice.code, twice.stderr]).toEqual([1, "error: 1 key of the rows came twice: a key must come once\n"]);
    expect(world.directory.asked.length).toBe(asked);
    expect((await of()).stderr).toContain("it has no key");
  });
});
