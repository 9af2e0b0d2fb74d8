import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  countKeys,
  type ExportLine,
  exportRows,
  type ImportLine,
  type ImportOptions,
  importRows,
  parseCursor,
} from "../../../src/features/directory/serve/bulk.ts";
import { readRow } from "../../../src/features/directory/table/row.ts";
import { err, ok } from "../../../src/ids/result.ts";
import { memoryTruth } from "./memory-truth.ts";

const keyOf: ImportOptions["keyOf"] = (text) => (text === "" ? err("It is empty.") : ok(text.toLowerCase()));

async function* inChunks(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const all = async <Value>(lines: AsyncIterable<Value>): Promise<Value[]> => {
  const gathered: Value[] = [];
  for await (const line of lines) gathered.push(line);
  return gathered;
};

const ndjson = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

const run = (
  world: ReturnType<typeof memoryTruth>,
  text: string,
  options: Partial<ImportOptions> = {},
  size = 65_536,
): Promise<ImportLine[]> => {
  const regions = new Set(["eu", "ap"]);
  const base = { truth: world.truth, directory: "slug", keyOf, regions, replace: false, dryRun: false };
  return all(importRows(inChunks(text, size), { ...base, ...options }));
};

const exported = async (world: ReturnType<typeof memoryTruth>): Promise<readonly (readonly [string, string])[]> => {
  const rows: (readonly [string, string])[] = [];
  for (let cursor = { shard: 0, after: "" } as ReturnType<typeof parseCursor>; cursor !== undefined; ) {
    const lines: ExportLine[] = await all(exportRows(world.truth, "slug", cursor));
    for (const line of lines) if ("key" in line) rows.push([line.key, line.region]);
    const last = lines.at(-1);
    if (last === undefined || !("done" in last)) throw new Error("the export broke off");
    cursor = last.next === undefined ? undefined : parseCursor(last.next);
  }
  return rows;
};

const NONE = { added: 0, unchanged: 0, replaced: 0, conflicts: 0, faults: 0 };

describe("an import", () => {
  test("writes rows, leaves what is there, and reports what differs, with its line", async () => {
    const world = memoryTruth();
    const rows = ndjson([
      { key: "Ada", region: "eu" },
      { key: "bob", region: "ap", owner: "7" },
    ]);
    expect(await run(world, `${rows}\n`)).toEqual([
      { ...NONE, lines: 3, added: 2 },
      { ...NONE, lines: 3, added: 2, done: true },
    ]);
    expect(world.entries.get("ada")).toEqual({ region: "eu", owner: undefined });
    expect((await run(world, rows)).at(-1)).toEqual({ ...NONE, lines: 2, unchanged: 2, done: true });
    const other = ndjson([
      { key: "ada", region: "eu" },
      { key: "BOB", region: "eu" },
    ]);
    const conflict = await run(world, other);
    expect(conflict[0]).toEqual({ conflict: { line: 2, key: "bob" } });
    expect(conflict.at(-1)).toEqual({ ...NONE, lines: 2, unchanged: 1, conflicts: 1, done: true });
    expect(world.entries.get("bob")?.region).toBe("ap");
    expect((await run(world, other, { replace: true })).at(-1)).toMatchObject({ replaced: 1, conflicts: 0 });
    expect(world.entries.get("bob")).toEqual({ region: "eu", owner: "7" });
  });

  test("names each faulty row, writes the others, and lists a hundred", async () => {
    const world = memoryTruth();
    const text = `{"key":"a","region":"eu"}\n{\n{"key":"b","region":"mars"}\n{"key":"","region":"eu"}\n{"key":"c","region":"eu"}`;
    expect(await run(world, text)).toEqual([
      { fault: { line: 2, why: "It is no JSON object." } },
      { fault: { line: 3, why: "The table has no region mars." } },
      { fault: { line: 4, why: "It is empty." } },
      { ...NONE, lines: 5, added: 2, faults: 3 },
      { ...NONE, lines: 5, added: 2, faults: 3, done: true },
    ]);
    const lines = await run(world, `${"x\n".repeat(500)}{"key":"z","region":"eu"}`);
    expect(lines.filter((line) => "fault" in line)).toHaveLength(100);
    expect(lines.at(-1)).toEqual({ ...NONE, lines: 501, added: 1, faults: 500, done: true });
  });

  test.for([
    ['{"region":"eu"}', "Its member `key` is missing or not a string."],
    ['{"key":"a","region":7}', "Its member `region` is missing or not a string."],
    ['{"key":"a","region":"eu","owner":null}', "Its member `owner` is missing or not a string."],
    ['{"key":"a","region":"eu","regoin":"ap"}', "It has an unknown member `regoin`."],
    ["null", "It is no JSON object."],
    // RFC 8259 §4: names should be unique.
    ['{"key":"t1","key":"t2","region":"eu"}', "Its member `key` is there twice."],
    ['{"key":"t","region":"eu","regi\\u006fn":"ap"}', "Its member `region` is there twice."],
    ['{"key":"t","region":"eu","owner":"1","owner":"1"}', "Its member `owner` is there twice."],
    [`{"key":"a","region":"eu","owner":""}`, "Its owner is empty."],
    [`{"key":"a","region":"eu","owner":"${"x".repeat(513)}"}`, "Its owner has more than 512 characters."],
    [`{"key":"a","region":"eu","owner":"\\ud800"}`, "Its owner has a control character or half a surrogate pair."],
    [`{"key":"a","region":"eu","owner":"a\\u0000"}`, "Its owner has a control character or half a surrogate pair."],
    [`{"key":"a","region":"eu"${" ".repeat(16_384)}}`, "It is longer than 16384 characters."],
  ] as const)("refuses the row %s", ([text, why]) => {
    expect(readRow(text)).toEqual({ ok: false, error: why });
  });

  test("writes nothing in a dry run", async () => {
    const world = memoryTruth();
    await run(
      world,
      ndjson([
        { key: "b", region: "eu" },
        { key: "c", region: "eu" },
      ]),
    );
    const rows = ndjson([
      { key: "a", region: "eu" },
      { key: "b", region: "ap" },
      { key: "c", region: "eu" },
    ]);
    for (const replace of [false, true, false]) {
      expect((await run(world, rows, { dryRun: true, replace })).at(-1)).toMatchObject({
        ...{ lines: 3, added: 1, unchanged: 1, done: true },
        ...(replace ? { replaced: 1, conflicts: 0 } : { replaced: 0, conflicts: 1 }),
      });
    }
  });

  test("says after which line to go on, and ends all that it began", async () => {
    const world = memoryTruth();
    const rows = Array.from({ length: 65_000 }, (_, at) => ({ key: `k${at}`, region: "eu" }));
    const windows = await run(world, ndjson(rows));
    expect(windows.map((line) => "lines" in line && line.lines)).toEqual([20_000, 40_000, 60_000, 60_000]);
    expect(windows.at(-1)).toMatchObject({ done: false, why: expect.stringContaining("go on") });
    expect(world.entries.size).toBe(60_000);
    world.state.failures = 1;
    expect((await run(world, ndjson(rows.slice(60_000)))).at(-1)).toMatchObject({ lines: 0, done: false });
    expect((await run(world, ndjson(rows.slice(60_000)))).at(-1)).toMatchObject({ lines: 5_000, done: true });
    expect(world.entries.size).toBe(65_000);
    world.state.isFull = true;
    expect((await run(world, ndjson(rows.slice(0, 1)))).at(-1)).toMatchObject({
      done: false,
      why: expect.stringMatching(/^the directory is full/),
    });
  });

  test("says which lines are too long or no UTF-8, and when the body broke off", async () => {
    const world = memoryTruth();
    const base = {
      truth: world.truth,
      directory: "slug",
      keyOf,
      regions: new Set(["eu"]),
      replace: false,
      dryRun: false,
    };
    const good = new TextEncoder().encode('{"key":"a","region":"eu"}\n');
    const strange = (async function* () {
      yield good;
      yield Uint8Array.from([0xc3, 0x28, 0x0a]);
      for (let at = 0; at < 9; at++) yield new Uint8Array(20_000).fill(0x78);
      yield Uint8Array.from([0x0a]);
      yield good;
    })();
    expect(await all(importRows(strange, base))).toEqual([
      { fault: { line: 2, why: "It is not UTF-8." } },
      { fault: { line: 3, why: "It is longer than 16384 characters." } },
      { ...NONE, lines: 4, added: 1, unchanged: 1, faults: 2 },
      { ...NONE, lines: 4, added: 1, unchanged: 1, faults: 2, done: true },
    ]);
    const broken = (async function* () {
      yield good;
      throw new Error("reset");
    })();
    expect((await all(importRows(broken, base))).at(-1)).toMatchObject({
      lines: 0,
      done: false,
      why: "the body broke off",
    });
  });

  test.for([1, 1_999, 2_000, 4_001, 19_999, 25_000])(
    "rows of one key are put in their order, %i rows apart",
    async (apart) => {
      const key = (region: string) => ({ key: region === "ap" ? "K" : "k", region });
      const others = (from: number) =>
        Array.from({ length: apart - 1 }, (_, at) => ({ key: `x${from + at}`, region: "eu" }));
      const rows = [key("eu"), ...others(0), key("ap"), ...others(apart), key("eu")];
      const world = memoryTruth();
      const kept = await run(world, ndjson(rows));
      expect(kept.filter((line) => "conflict" in line)).toEqual([{ conflict: { line: apart + 1, key: "k" } }]);
      expect(kept.at(-1)).toMatchObject({ conflicts: 1, unchanged: 1 });
      expect(world.entries.get("k")?.region).toBe("eu");
      const last = await run(world, ndjson([...rows, key("ap")]), { replace: true });
      expect(last.at(-1)).toMatchObject({ replaced: 3, conflicts: 0 });
      expect(world.entries.get("k")?.region).toBe("ap");
    },
  );

  test("and export in chunks of any size give the rows back, each once", async () => {
    const texts = fc.uniqueArray(fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }), {
      selector: (text) => text.toLowerCase(),
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(texts, fc.integer({ min: 1, max: 70 }), async (keys, size) => {
        const world = memoryTruth();
        const rows = keys.map((key, at) => ({ key, region: ["eu", "ap"][at % 2] as string }));
        expect((await run(world, ndjson(rows), {}, size)).at(-1)).toMatchObject({ added: keys.length, done: true });
        const expected = rows.map(({ key, region }) => [key.toLowerCase(), region] as const);
        expect(new Map(await exported(world))).toEqual(new Map(expected));
      }),
    );
  });
});

describe("an export", () => {
  test("ends its parts at a cursor, and says where to go on after a failure", async () => {
    const world = memoryTruth();
    for (let at = 0; at < 25_000; at++) world.entries.set(`k${at}`, { region: "eu", owner: undefined });
    const first = await all(exportRows(world.truth, "slug", { shard: 0, after: "" }));
    expect(first.at(-1)).toMatchObject({ done: false, next: expect.stringMatching(/^\d+:/) });
    expect(first.length).toBeLessThan(13_000);
    const rows = await exported(world);
    expect(rows.length).toBe(25_000);
    expect(new Set(rows.map(([key]) => key)).size).toBe(25_000);
    world.state.failures = 1;
    expect(await all(exportRows(world.truth, "slug", { shard: 255, after: "k1" }))).toEqual([
      { done: false, rows: 0, next: "255:k1", why: "the directory cannot be reached" },
    ]);
  });

  test("takes no cursor but its own", () => {
    expect(parseCursor("0:")).toEqual({ shard: 0, after: "" });
    expect(parseCursor("255:a:b\nc")).toEqual({ shard: 255, after: "a:b\nc" });
    for (const text of ["", "256:", "x:", "1", "-1:", "1000:"]) expect(parseCursor(text), text).toBeUndefined();
  });
});

describe("a count", () => {
  const clockOf = (stepMs: number) => {
    let nowMs = 1_000;
    return {
      nowMs: () => {
        nowMs += stepMs;
        return nowMs;
      },
    };
  };
  const ONE = { confirmed: 4, reserved: 3, expired: 2, missing: 1 };
  const failed = err({
    reason: "directory-unavailable",
    directory: "slug",
    retryAfterSeconds: 2,
    why: "failed",
  } as const);

  test("is of every shard, six at once", async () => {
    const asked: number[] = [];
    let waiting = 0;
    let most = 0;
    const count = async (_: string, shard: number) => {
      asked.push(shard);
      most = Math.max(most, ++waiting);
      await Promise.resolve();
      waiting--;
      return ok(ONE);
    };
    expect(await countKeys({ count }, "slug", clockOf(0))).toEqual({
      atMs: 1_000,
      shards: 256,
      answered: 256,
      counts: { confirmed: 1_024, reserved: 768, expired: 512, missing: 256 },
    });
    expect(asked).toEqual(Array.from({ length: 256 }, (_, shard) => shard));
    expect(most).toBe(6);
  });

  test("says how many shards answered where some fail, and where time is over", async () => {
    const count = async (_: string, shard: number) => (shard % 4 === 0 ? failed : ok(ONE));
    const { answered, counts } = await countKeys({ count }, "slug", clockOf(0));
    expect([answered, counts.confirmed]).toEqual([192, 768]);
    const slow = await countKeys({ count: async () => ok(ONE) }, "slug", clockOf(200));
    expect(slow.answered).toBe(49);
    expect(slow.counts.confirmed).toBe(4 * slow.answered);
  });
});
