import { describe, expect, it } from "vitest";
import { formatShortKey, groupOfClass, luuid, mintLuuid } from "../../../src/ids/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { objectsOf, type RuntimeOptions, waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";

const GROUP = groupOfClass("com.example.Person");

/** An LUUID whose random bits are a number. */
const id = (primaryKey: number, random: number, group = GROUP): string => {
  const minted = mintLuuid({ group, primaryKey }, { word: () => random });
  if (!minted.ok) throw new Error(minted.error.reason);
  return luuid.format(minted.value);
};

const lines = (...values: readonly (string | object)[]): string =>
  values.map((value) => `${typeof value === "string" ? value : JSON.stringify(value)}\n`).join("");

const EARLY = "2026-01-01T00:00:00Z";
const LATE = "2026-06-01T00:00:00+02:00";

const TABLE = {
  ...DECLARED_TABLE,
  entities: { person: DECLARED_TABLE.entities.person },
  layouts: {},
  routes: [{ when: { entity: "person" }, region: "eu" }],
  default: "eu",
};

const run = (args: readonly string[], files: Readonly<Record<string, string>>, more: RuntimeOptions = {}) => {
  const memory = tableFiles(TABLE, files);
  return waybill(["luuid", "verify", ...args], { files: memory, ...more }).then((outcome) => ({ ...outcome, memory }));
};

const SHARED = {
  "eu.ndjson": lines(id(1, 1), { id: id(9, 1), mintedAt: LATE }, { id: id(0x23122e, 1), mintedAt: LATE }),
  "us.ndjson": lines(id(2, 2), { id: id(0x23122e, 2), mintedAt: EARLY, note: "other members stay out" }, ""),
};

describe("waybill luuid verify", () => {
  it("says that no key is shared, and takes the same entity twice for one", async () => {
    const files = { "eu.ndjson": lines(id(1, 1), id(1, 1), id(3, 1)), "us.ndjson": lines(id(2, 1), id(1, 1, 7)) };
    const { stdout, stderr, code } = await run(["eu=eu.ndjson", "us=us.ndjson"], files);
    expect([code, stdout]).toEqual([0, ""]);
    expect(stderr).toBe("4 keys of 2 groups: 0 shared keys, 0 undecided\n");
  });

  it("keeps the key for the older entity, and gives the other one beyond the highest", async () => {
    const { stdout, code } = await run(["eu=eu.ndjson", "us=us.ndjson", "--json"], SHARED);
    const clash = {
      group: GROUP,
      primaryKey: 0x23122e,
      shortKey: "23122e",
      keeps: { region: "us", id: id(0x23122e, 2) },
      reassigned: [
        {
          region: "eu",
          id: id(0x23122e, 1),
          newId: id(0x23122f, 1),
          newPrimaryKey: 0x23122f,
          newShortKey: "23122f",
        },
      ],
    };
    expect([code, objectsOf(stdout)]).toEqual([2, [clash]]);
  });

  it("keeps it for the first region where no times are known, and takes new keys from a number, past taken ones", async () => {
    const files = {
      "eu.ndjson": lines(id(5, 1), id(101, 1)),
      "us.ndjson": lines(id(5, 2)),
      "ap.ndjson": lines(id(5, 3)),
    };
    const { stdout } = await run(["us=us.ndjson", "eu=eu.ndjson", "ap=ap.ndjson", "--from", "100", "--json"], files);
    const [clash] = objectsOf(stdout) as { keeps: object; reassigned: { region: string; newPrimaryKey: number }[] }[];
    expect(clash?.keeps).toEqual({ region: "us", id: id(5, 2) });
    expect(clash?.reassigned.map(({ region, newPrimaryKey }) => [region, newPrimaryKey])).toEqual([
      ["eu", 100],
      ["ap", 102],
    ]);
  });

  it("writes the table in which the old short key leads to its keeper and the new one to its region", async () => {
    const args = ["eu=eu.ndjson", "us=us.ndjson", "--table", "routing-table.json", "--out", "next.json"];
    const { stdout, stderr, code, memory } = await run(args, SHARED);
    expect([code, stderr]).toEqual([2, "4 keys of 1 group: 1 shared key, 0 undecided\nnext.json: 1 entry changed\n"]);
    expect(stdout).toBe(`23122e of group ${GROUP} (person)
  keeps  us  ${id(0x23122e, 2)}
  new    eu  ${id(0x23122e, 1)}  →  ${id(0x23122f, 1)}  23122f
`);
    expect(memory.json("next.json").moved).toEqual({ [id(0x23122e, 2)]: "us" });
    const explained = await waybill(["explain", "/person/23122e", "--table", "next.json"], { files: memory });
    expect(explained.stdout).toContain("luuid-short → person → /moved/");
    expect(explained.stdout).toContain("→ us");
    const shown = await waybill(["table", "diff", "routing-table.json", "next.json"], { files: memory });
    expect(shown.stdout).toContain(id(0x23122e, 2));
  });

  it("makes the old short key gone where nobody is to keep it", async () => {
    const args = [
      "eu=eu.ndjson",
      "us=us.ndjson",
      "--table",
      "routing-table.json",
      "--out",
      "next.json",
      "--old",
      "gone",
    ];
    const { code, stdout, memory } = await run([...args, "--from", "5000000"], SHARED);
    expect(code, stdout).toBe(2);
    const { gone, moved } = memory.json("next.json");
    expect(gone).toEqual({ [id(0x23122e, 1)]: { epoch: 1 }, [id(0x23122e, 2)]: { epoch: 1 } });
    expect(moved).toEqual({ [id(5_000_000, 2)]: "us" });
    expect(stdout).toContain(formatShortKey(5_000_001));
  });

  it("gives no key beyond the last one", async () => {
    const files = { "eu.ndjson": lines(id(5, 1)), "us.ndjson": lines(id(5, 2)), "ap.ndjson": lines(id(5, 3)) };
    const args = ["eu=eu.ndjson", "us=us.ndjson", "ap=ap.ndjson", "--from", String(2 ** 48 - 1)];
    const { stdout, code } = await run(args, files);
    expect([code, stdout.split("\n")[0]]).toEqual([1, `5 of group ${GROUP}: undecided: no primary key is left`]);
  });

  it.each([
    ["an id is lacking", lines({ group: GROUP, primaryKey: 5 }), "without an id"],
    ["only some have a time", lines({ id: id(5, 2), mintedAt: EARLY }), "only some"],
    ["an entity is in two regions", lines(id(5, 1), id(5, 2)), "is reported by"],
    ["a region has both", lines(id(5, 3), id(5, 4)), ""],
  ])("decides nothing where %s, and writes no table", async (_, us, why) => {
    const files = { "eu.ndjson": lines(...(why === "" ? [] : [id(5, 1)])), "us.ndjson": us };
    const args = ["eu=eu.ndjson", "us=us.ndjson", "--table", "routing-table.json", "--out", "next.json"];
    const { stdout, stderr, code, memory } = await run(args, files);
    expect([code, memory.exists("next.json")]).toEqual([1, false]);
    expect(stdout).toContain(why === "" ? "not which is older" : why);
    expect(stderr).toContain("1 undecided\nerror: next.json was not written");
  });

  it("decides nothing about a key of which the table has an entry already", async () => {
    const moved = { [id(0x23122e, 1)]: "us" };
    const files = tableFiles({ ...TABLE, moved }, SHARED);
    const args = ["eu=eu.ndjson", "us=us.ndjson", "--table", "routing-table.json"];
    const { stdout, code } = await waybill(["luuid", "verify", ...args], { files });
    expect([code, stdout.includes("undecided: the table has an entry")]).toEqual([1, true]);
  });

  it.each([
    ["no id", "nothing"],
    ['{"id":7}', "id must be a text"],
    ['{"group":4096,"primaryKey":1}', "it has no id"],
    ['{"group":1,"group":2,"primaryKey":1}', "all there once"],
    [JSON.stringify({ id: id(1, 1), primaryKey: 2 }), "is not that of its id"],
    [JSON.stringify({ id: id(1, 1), mintedAt: "2026-01-01" }), "mintedAt must be"],
    ["01990f04-d900-8005-8040-000000000001", ""],
  ])("names a faulty line: %s", async (line, why) => {
    const { stderr, code } = await run(["eu=eu.ndjson"], { "eu.ndjson": lines(id(1, 1), line) });
    expect(code).toBe(1);
    expect(stderr).toContain("error: eu.ndjson:2: ");
    if (why !== "nothing") expect(stderr).toContain(why);
  });

  it("reads a source over HTTP, and stops where it breaks off or answers something else", async () => {
    const answers: Record<string, () => Response> = {
      "https://us.test/keys": () => new Response(SHARED["us.ndjson"]),
      "https://bad.test/keys": () => new Response("", { status: 401 }),
      "https://cut.test/keys": () =>
        new Response(new ReadableStream({ pull: (controller) => controller.error(new Error("cut off")) })),
    };
    const fetch: typeof globalThis.fetch = async (url) => answers[String(url)]?.() ?? new Response("", { status: 404 });
    const good = await run(["eu=eu.ndjson", "us=https://us.test/keys"], SHARED, { fetch });
    expect([good.code, good.stdout.startsWith("23122e of")]).toEqual([2, true]);
    const bad = await run(["eu=https://bad.test/keys"], {}, { fetch });
    expect([bad.code, bad.stderr]).toEqual([1, "error: https://bad.test/keys cannot be read: it answers 401\n"]);
    const cut = await run(["eu=https://cut.test/keys"], {}, { fetch });
    expect([cut.code, cut.stderr]).toEqual([1, "error: https://cut.test/keys cannot be read: cut off\n"]);
  });

  it("does not trust a source that changes between its two readings", async () => {
    let reading = 0;
    const fetch: typeof globalThis.fetch = async () =>
      new Response(reading++ === 0 ? lines(id(5, 2)) : lines(id(5, 2), id(6, 2)));
    const { stderr, code } = await run(
      ["eu=eu.ndjson", "us=https://us.test/"],
      { "eu.ndjson": lines(id(5, 1)) },
      { fetch },
    );
    expect([code, stderr]).toEqual([1, "error: https://us.test/ changed between two readings\n"]);
  });
});

describe("waybill luuid verify --ranges", () => {
  it("finds every key of two gateways that counted by themselves, and none where each had its part", async () => {
    const counted = (first: number, random: number): string =>
      lines(...Array.from({ length: 300 }, (_, at) => id(first + at, random)));
    const both = { "eu.ndjson": counted(1, 1), "us.ndjson": counted(1, 2) };
    const args = ["eu=eu.ndjson", "us=us.ndjson", "--ranges", "eu=0/2,us=1/2"];
    const shared = await run(args, both);
    expect([shared.code, shared.stdout.match(/ of group /g)?.length]).toEqual([2, 300]);
    expect(shared.stderr).toContain("outside: and 290 more\n");
    const apart = await run(args, { ...both, "us.ndjson": counted(2 ** 47, 2) });
    expect([apart.code, apart.stdout]).toEqual([0, ""]);
  });

  it("finds ranges that share keys, without a source", async () => {
    const good = await run(["--ranges", "eu=0/4,us=1/4,ap=3/4"], {});
    expect(good.code).toBe(0);
    const bad = await run(["--ranges", "eu=0/4,us=1/2,ap=3/4"], {});
    expect(bad.code).toBe(2);
    expect(bad.stderr).toContain("overlap: us and ap share the keys 211,106,232,532,992 to 281,474,976,710,655\n");
  });

  it("reads ranges from a first key on, beside parts of the field", async () => {
    const good = await run(["--ranges", "eu=0/4 from 5000,us=1/4 from 5000,ap=3/4 from 5000"], {});
    expect(good.code).toBe(0);
    const bad = await run(["--ranges", "eu=0/4 from 5000,us=0/2 from 6000,ap=3/4"], {});
    expect([bad.code, bad.stderr]).toEqual([
      2,
      [
        "overlap: eu and us share some keys 6,000 to 281,474,976,710,652",
        "overlap: eu and ap share some keys 211,106,232,532,992 to 281,474,976,710,652",
        "overlap: us and ap share some keys 211,106,232,532,992 to 281,474,976,710,654",
        "0 keys of 0 groups: 0 shared keys, 0 undecided",
        "",
      ].join("\n"),
    ]);
    const files = {
      "eu.ndjson": lines(id(5, 1), id(5000, 1)),
      "us.ndjson": lines(id(4999, 2), id(5005, 2), id(5006, 2)),
    };
    const args = ["eu=eu.ndjson", "us=us.ndjson", "--ranges", "eu=0/4 from 5000,us=1/4 from 5000"];
    const { stderr, code } = await run(args, files);
    expect([code, stderr.match(/outside: .*/g)]).toEqual([
      2,
      [`outside: us: key 138e of group ${GROUP} is outside its range`],
    ]);
  });

  it("finds keys outside their region's range", async () => {
    const files = { "eu.ndjson": lines(id(5, 1)), "us.ndjson": lines(id(6, 2), id(2 ** 46, 2)) };
    const { stderr, code } = await run(["eu=eu.ndjson", "us=us.ndjson", "--ranges", "eu=0/4,us=1/4"], files);
    expect([code, stderr.split("\n")[0]]).toEqual([2, `outside: us: key 6 of group ${GROUP} is outside its range`]);
  });

  it.each([
    [["--ranges", "eu=4/4"], "is not like eu=0/4"],
    [["--ranges", "eu=0/4,eu=1/4"], "is named twice"],
    [["eu=eu.ndjson", "--ranges", "us=0/4"], "has no range of eu"],
    [["eu=eu.ndjson", "--out", "next.json"], "--out needs --table"],
    [["mars=eu.ndjson", "--table", "routing-table.json"], "no region mars", 1],
    [["eu.ndjson"], "write a source as"],
    [["eu=-"], "none can be stdin"],
    [["eu=none.ndjson"], "cannot be read", 1],
    [["eu=eu.ndjson", "--old", "kept"], "It must be moved or gone."],
    [[], "no source"],
  ])("refuses %j", async (args, why, fault = 64) => {
    const { stderr, code } = await run(args, { "eu.ndjson": lines(id(1, 1)) });
    expect([code, stderr.includes(why)], stderr).toEqual([fault, true]);
  });
});
