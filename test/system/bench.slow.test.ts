import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { compareWorkers } from "../../bench/decide/decide.bench.ts";
import { type NodeWorker, workerOf } from "../../bench/decide/worker-in-node.ts";
import { TARGETS } from "../../bench/gateway/targets.ts";
import type { Report } from "../../bench/lib/report.ts";
import { BY_PACKS_AND_SPLITS, BY_REGIONS, tryTexts } from "../../bench/misroute/misroute.bench.ts";
import { slowByPacksAndSplits } from "../../bench/misroute/oracle.ts";
import { separateTable } from "../../bench/misroute/tables.ts";
import { everyLayout } from "../../src/ids/index.ts";
import { checkTable, resolveAny, resolvePath } from "../../src/routing/index.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const MAIN = fileURLToPath(new URL("../../bench/main.ts", import.meta.url));

const bench = (...args: string[]) =>
  spawnSync(process.execPath, ["--disable-warning=ExperimentalWarning", MAIN, ...args], { encoding: "utf8" });

/** Not one assertion on a time: that the benchmark works is a test, how fast the machine is is none. */
describe("the benchmark", () => {
  it("reports what IDs cost in Node and inside workerd, with the machine and the date", () => {
    const { status, stdout, stderr } = bench("ids", "--rounds", "3", "--sample-ms", "1", "--json");
    expect(stderr).toContain("IDs inside workerd: round 3 of 3");
    expect(status).toBe(0);
    const { date, machine, sections }: Report = JSON.parse(stdout);
    expect(new Date(date).toISOString()).toBe(date);
    expect(machine).toMatchObject({ node: process.versions.node, workerd: expect.stringMatching(/^1\.\d+\.\d+$/) });
    expect(sections.map(({ title }) => title)).toEqual(["IDs in Node", "IDs inside workerd"]);
    for (const { columns, rows } of sections) {
      expect(columns).toEqual(["work", "ns", "CPU ns", "x", "compared with"]);
      expect(rows).toHaveLength(26);
      for (const [work, nanoseconds, processorNs, ratio, against] of rows) {
        expect(work).toMatch(/\S/);
        expect(nanoseconds).toEqual({ median: positive, min: positive, max: positive });
        if (process.platform === "linux") expect(processorNs).toEqual({ median: whole, min: whole, max: whole });
        if (against === null) continue;
        expect(rows.map(([name]) => name)).toContain(against);
        expect(ratio).toEqual({ median: positive, min: positive, max: positive });
      }
    }
  });

  it("reports that exported engines answer as the gateway does", () => {
    const { status, stdout, stderr } = bench(
      "exports",
      "--rounds",
      "1",
      "--sample-ms",
      "1",
      "--count",
      "400",
      "--json",
    );
    expect(status, stderr).toBe(0);
    const { sections }: Report = JSON.parse(stdout);
    for (const row of sections[0]?.rows ?? []) expect(row.at(-1)).toBe(0);
  });

  it("finds no decision of this checkout that differs from its own", () => {
    const { status, stdout, stderr } = bench("decide", "--against", ROOT, "--count", "1500", "--json");
    expect(status, stderr).toBe(0);
    const { sections }: Report = JSON.parse(stdout);
    const rows = new Map(sections[0]?.rows.map(([kind, ...counts]) => [kind, counts.map(Number)]));
    expect([...rows.keys()]).toEqual(expect.arrayContaining(["/-/ids", "/any", "create", "entity", "graphql", "list"]));
    const [all = 0, sent = 0, refused = 0, differ] = rows.get("entity") ?? [];
    expect(differ).toBe(0);
    expect(sent).toBeGreaterThan(all / 4);
    expect(refused).toBeGreaterThan(all / 10);
  });

  it("finds decisions that differ", async () => {
    const { make: before } = await workerOf(ROOT);
    const after: NodeWorker["make"] = (platform) => {
      const { default: worker } = before(platform);
      const answer = (request: Request) =>
        request.method === "HEAD" ? new Response(null, { status: 418 }) : undefined;
      return { default: { fetch: async (request, ...rest) => answer(request) ?? worker.fetch(request, ...rest) } };
    };
    const options = { rounds: 1, sampleMs: 1, count: 300, progress: () => undefined };
    const { failure } = await compareWorkers({ checkTable, before, after }, options);
    expect(failure).toMatch(/^\d+ decisions differ:\n.*"method":"HEAD".*"status":418/s);
  });

  it("reports each target of the gateway, undecided after one round", () => {
    const { status, stdout, stderr } = bench("gateway", "--rounds", "1", "--sample-ms", "1", "--json");
    expect(status, stderr).toBe(0);
    const { sections }: Report = JSON.parse(stdout);
    const titles = sections.map(({ title }) => title);
    expect(titles).toEqual(expect.arrayContaining(["Cold starts, 10 routes", "Cold starts, 1000 routes"]));
    const { rows = [], note } = sections.at(-1) ?? {};
    expect(note).toMatch(/pinned to one core/i);
    const names = rows.map(([name]) => String(name));
    expect(names).toHaveLength(new Set(names).size);
    for (const { name, target, stretch } of Object.values(TARGETS)) {
      const own = rows.filter((row) => /^[≥≤] /.test(String(row[5])) && String(row[0]).split("; ")[0] === name);
      expect(own, name).not.toEqual([]);
      for (const row of own) {
        expect(row[1], name).toHaveProperty("median");
        expect(row.slice(5)).toEqual([
          expect.stringContaining(String(target)),
          "not decided",
          expect.stringContaining(String(stretch)),
          "not decided",
        ]);
      }
    }
    for (const routes of ["ten", "1,000"]) {
      expect(names).toContain(`first answer, ${routes} routes: ms over bare, processor time`);
    }
  });

  it("reports how often a create calls the object of its key", () => {
    const { status, stdout, stderr } = bench("creates", "--rounds", "1", "--sample-ms", "1", "--json");
    expect(status, stderr).toBe(0);
    const { sections }: Report = JSON.parse(stdout);
    expect(sections[0]?.rows.map(([, calls]) => calls)).toEqual([0, 0, 0, 2, 2, 1]);
    for (const { rows } of sections.slice(1))
      for (const [, perSecond] of rows) expect(perSecond).toHaveProperty("median");
  });

  it("reports what a signature costs, beside the HMAC alone", () => {
    const { status, stdout, stderr } = bench("signature", "--rounds", "1", "--sample-ms", "1", "--json");
    expect(status, stderr).toBe(0);
    const { sections }: Report = JSON.parse(stdout);
    expect(sections.map(({ title }) => title)).toEqual(["Signatures in Node", "Signatures inside workerd"]);
    for (const { rows } of sections) {
      expect(rows.map(([work]) => work)).toEqual(["HMAC-SHA-256 alone", "sign a request", "verify a request"]);
    }
  });

  it("reports how many pages of an index IDs touch, few if they rise", () => {
    const { status, stdout, stderr } = bench("databases", "--count", "50000", "--json");
    expect(status, stderr).toBe(0);
    expect(stderr).toContain("SQLite: luuid: ");
    const { sections }: Report = JSON.parse(stdout);
    expect(sections.map(({ title }) => title.replace(/ [\d.]+$/, ""))).toEqual([
      "Databases: PostgreSQL",
      "Databases: SQLite",
    ]);
    for (const { rows } of sections) {
      const touched = new Map(rows.map(([name, pages]) => [name, Number(pages)]));
      expect(touched.get("uuid-v4")).toBeGreaterThan(100);
      expect(touched.get("iuid")).toBeLessThan(20);
      // The same bits, in the order of each engine.
      expect(touched.get("comb-suffix as uniqueidentifier")).toBe(touched.get("comb-prefix"));
    }
  });

  it("reports what a pack costs to make, load, look into and resolve by, and its memory", () => {
    const { status, stdout, stderr } = bench("packs", "--rounds", "1", "--sample-ms", "1", "--json");
    expect(status, stderr).toBe(0);
    const { sections }: Report = JSON.parse(stdout);
    const [size, encoding, node, workerd, loading] = sections;
    expect(size?.rows).toEqual([["1000000", expect.any(Number), expect.any(Number), expect.any(Number)]]);
    expect(size?.rows[0]?.[3], "MiB in memory").toBeLessThan(16);
    expect(encoding?.rows).toHaveLength(1);
    for (const section of [node, workerd]) {
      expect(section?.rows.map(([work]) => work)).toEqual([
        "pack, hit",
        "pack, miss",
        "the loop and its keys alone",
        "binary search over objects, hit",
        "Map by first key, exact keys only",
        "resolve a path by the pack",
        "resolve a path, table of one route",
        "verify and index the whole file",
        "check and compile a table, its pack included",
      ]);
    }
    expect(loading?.note).toContain("the pages alone are counted as 8.");
    expect(loading?.rows.map(([work]) => work)).toContain("first: load its pack: header and all pages");
  });

  it("reports what a directory costs to copy, import and look into, and checks each answer", () => {
    const { status, stdout, stderr } = bench(
      "directory",
      "--rounds",
      "1",
      "--sample-ms",
      "1",
      "--count",
      "20000",
      "--json",
    );
    expect(status, stderr).toBe(0);
    const { sections }: Report = JSON.parse(stdout);
    expect(sections.map(({ title }) => title)).toEqual([
      "A copy of a directory",
      "Look-ups in a copy in Node",
      "Importing a directory into its objects",
      "Look-ups inside workerd, one after the other",
      "Random keys, with 16 MB of pages in memory",
    ]);
    expect(sections[3]?.rows.map(([layer]) => layer)).toEqual(["page in memory", "page out of KV", "object"]);
  });

  it("prints the same as a table of Markdown", () => {
    const { status, stdout } = bench("ids", "--rounds", "1", "--sample-ms", "1");
    expect(status).toBe(0);
    expect(stdout).toMatch(/^# Waybill benchmark, \d{4}-\d\d-\d\dT/);
    expect(stdout).toMatch(/^\| iUID: mint and text +\| +[\d.]+ \| +[\d.]* \| +[\d.]+ \| +crypto\.randomUUID\(\) \|$/m);
  });

  it("holds the generators of DistributedIds to the published figures, and layouts to the slow reader", () => {
    const { status, stdout, stderr } = bench("distributed-id", "oracle", "--count", "4000", "--json");
    expect(status, stderr).toBe(0);
    expect(stderr).toContain("DistributedId: IDs at once, clock stopped:");
    expect(stderr).toContain("Oracle: 500 declared tables:");
    const { sections }: Report = JSON.parse(stdout);
    const [rates, order, collisions, oracle] = sections;
    expect(rates?.rows).toHaveLength(5);
    expect(order?.rows.filter(([, , falls, published]) => published !== null && falls !== published)).toEqual([]);
    expect(collisions?.rows.map(([load]) => load)).toContain("2 replicas, maximum rate");
    expect(oracle?.rows).toHaveLength(everyLayout.length + 1);
  });

  it("sends no text to a region that its layout does not name", () => {
    const { status, stdout, stderr } = bench("misroute", "--count", "4000", "--json");
    expect(status, stderr).toBe(0);
    expect(stderr).toMatch(/^Misroute, regions and .*: 4000 of 4000 texts, 0 misrouted$/m);
    expect(stderr).toMatch(/^Misroute, packs and .*: 4000 of 4000 texts, 0 misrouted$/m);
    const { sections }: Report = JSON.parse(stdout);
    expect(sections).toHaveLength(2);
    for (const { columns, rows } of sections) {
      expect(rows.length).toBeGreaterThan(everyLayout.length);
      const counts = Object.fromEntries(columns.map((name, column) => [name, Number(rows.at(-1)?.[column])]));
      expect(counts).toMatchObject({ misrouted: 0, "wrongly rejected": 0 });
      for (const outcome of ["routed", "ambiguous", "unassigned", "unknown", "malformed"]) {
        expect(counts[outcome], outcome).toBeGreaterThan(0);
      }
    }
  });

  it("notices resolvers that are wrong", () => {
    const aheadMs = 100 * 365 * 86_400_000;
    const wrong = {
      any: resolveAny,
      path: (...[table, match, path, nowMs, hint]: Parameters<typeof resolvePath>) =>
        resolvePath(table, match, path, nowMs + aheadMs, hint),
    };
    expect(tryTexts(BY_REGIONS, 2000, () => {}, wrong).failure).toMatch(
      /^".*" \((?:mutated|random|foreign)\) was routed to /,
    );
    const deaf = {
      any: resolveAny,
      path: (...[table, match, path, nowMs]: Parameters<typeof resolvePath>) => resolvePath(table, match, path, nowMs),
    };
    expect(tryTexts(BY_PACKS_AND_SPLITS, 500, () => {}, deaf).failure).toMatch(/ was routed to .*, expected nowhere$/);
    const refusing = { any: resolveAny, path: () => resolveAny(separateTable(), "", 0) };
    expect(tryTexts(BY_REGIONS, 20, () => {}, refusing).failure).toMatch(/ was routed to nowhere, expected /);
  });

  it("notices packs and splits that are read wrongly", () => {
    const beside = {
      ...BY_PACKS_AND_SPLITS,
      slow: (...[subject, words, mintedMs, key]: Parameters<typeof slowByPacksAndSplits>) =>
        slowByPacksAndSplits(subject, words, mintedMs, key === undefined ? undefined : key + 1n),
    };
    expect(tryTexts(beside, 2000, () => {}).failure).toMatch(/-(?:pack|part)-\d/);
    const mirrored = {
      ...BY_PACKS_AND_SPLITS,
      slow: (...args: Parameters<typeof slowByPacksAndSplits>) =>
        slowByPacksAndSplits(...args)?.replace(/part-(\d)/, (_, part) => `part-${1 - Number(part)}`),
    };
    expect(tryTexts(mirrored, 200, () => {}).failure).toMatch(/ was routed to .*-part-\d, expected .*-part-\d/);
  });

  it.each([
    [["orders"], 'there is no benchmark "orders"'],
    [["--rounds", "0"], '--rounds takes a whole number above 0, not "0"'],
    [["--fast"], "--fast"],
  ])("refuses %j and says how to call it", (args, complaint) => {
    const { status, stdout, stderr } = bench(...args);
    expect(status).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toContain(complaint);
    expect(stderr).toContain("usage: npm run bench");
  });
});

const positive: unknown = expect.toSatisfy((figure: unknown) => typeof figure === "number" && figure > 0);

/** The system counts in steps: a short sample may be none. */
const whole: unknown = expect.toSatisfy((figure: unknown) => typeof figure === "number" && figure >= 0);
