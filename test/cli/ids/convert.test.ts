import { describe, expect, it } from "vitest";
import { everyLayout, periodRange, textsOf } from "../../../src/ids/index.ts";
import { objectsOf, waybill } from "../fake-runtime.ts";

describe.concurrent("waybill id convert", () => {
  it.each([
    // Published texts of one ID.
    { id: "1088824355131185736905670087", to: "base62", text: "3zfAkCP7ZtzfeQYp" },
    { id: "1088824355131185736905670087", to: "hex", text: "000384A786907DB2AD82883DC7" },
    { id: "3zfAkCP7ZtzfeQYp", to: "uuid", text: "00000000-0384-a786-907d-b2ad82883dc7" },
    { id: "094954a8-622c-76ad-1b93-cdefcbdf0888", to: "longs", text: "669159101819549357,1987158290401790088" },
    { id: "6347eb00-bbaa-01cc-0201-0203d0000000", to: "hotguid-sql", text: "000000d0-0302-0102-01cc-6347eb00bbaa" },
    { id: "4d88e15b60f486e428412dc9", to: "xid", text: "9m4e2mr0ui3e8a215n4g" },
    { id: "9m4e2mr0ui3e8a215n4g", to: "object-id", text: "4d88e15b60f486e428412dc9" },
    { id: "C232AB00-9414-11EC-B3C8-9F6BDECED846", to: "uuid-v6", text: "1ec9414c-232a-6b00-b3c8-9f6bdeced846" },
    { id: "50ddda8f43d27000", from: "flake-id:hex", to: "decimal", text: "5827053801740333056" },
    { id: "01arz3ndektsv4rrffq69g5fav", from: "ulid", to: "uuid", text: "01563e3a-b5d3-d676-4c61-efb99302bd5b" },
    { id: "01563e3a-b5d3-d676-4c61-efb99302bd5b", from: "ulid:uuid", to: "ulid", text: "01ARZ3NDEKTSV4RRFFQ69G5FAV" },
    { id: "919108F752D143209BACF847DB4148A8", from: "hex", to: "uuid", text: "919108f7-52d1-4320-9bac-f847db4148a8" },
    {
      id: "018e5f3b-ff48-47cc-b5ba-d01c25cc63a7",
      from: "comb-prefix",
      to: "comb-suffix:hex",
      text: "d01c25cc63a747ccb5ba018e5f3bff48",
    },
  ])("writes $id as $to", async ({ id, from, to, text }) => {
    const args = ["id", "convert", id, "--to", to, ...(from === undefined ? [] : ["--from", from])];
    expect(await waybill(args)).toEqual({ stdout: `${text}\n`, stderr: "", code: 0 });
  });

  it("leads from every text form of every layout to every other", async () => {
    for (const layout of everyLayout.filter(({ texts }) => texts.length > 1)) {
      const range = periodRange(layout, Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 2));
      if (!range.ok) throw new Error(`${layout.name}: ${range.error.reason}`);
      const texts = Object.entries(textsOf(layout, range.value.greatest));
      const stdin = texts.map(([, text]) => `${text}\n`).join("");
      for (const [form, text] of texts) {
        const { stdout, code } = await waybill(["id", "convert", "--from", layout.name, "--to", form], { stdin });
        expect({ stdout, code }).toEqual({ stdout: `${text}\n`.repeat(texts.length), code: 0 });
      }
    }
  });

  it.each([
    ["hotguid", "hotguid-sql"],
    ["comb-prefix", "comb-suffix"],
    ["short-prefix-comb", "short-suffix-comb"],
    ["uuid-v1", "uuid-v6"],
    ["object-id", "xid"],
  ] as const)("loses nothing between %s and %s", async (a, b) => {
    const keys: Readonly<Record<string, readonly string[]>> = {
      hotguid: ["--shard-key", "208"],
      "uuid-v1": ["--field", "clockSequence=13256", "--field", "node=175280034635846"],
      "object-id": ["--field", "process=416432424676"],
    };
    const minted = await waybill(["mint", a, "--count", "20", ...(keys[a] ?? [])]);
    const there = await waybill(["id", "convert", "--from", a, "--to", b], { stdin: minted.stdout });
    const back = await waybill(["id", "convert", "--from", b, "--to", a], { stdin: there.stdout });
    expect(there.stdout).not.toBe(minted.stdout);
    expect(back).toEqual({ ...minted, code: 0 });
  });

  it("prints one JSON object per line, with the readings that were found, and the errors in their places", async () => {
    const args = ["id", "convert", "3zfAkCP7ZtzfeQYp", "x y", "--to", "decimal", "--json"];
    const { stdout, stderr, code } = await waybill(args);
    expect({ stderr, code }).toEqual({ stderr: "", code: 1 });
    expect(objectsOf(stdout)).toEqual([
      {
        text: "3zfAkCP7ZtzfeQYp",
        id: "1088824355131185736905670087",
        from: { layout: "distributed-id", text: "base62" },
        to: { layout: "distributed-id", text: "decimal" },
      },
      { text: "x y", error: { detail: '"x y" is not an ID of any layout.' } },
    ]);
  });

  it("goes on after an ID that it cannot convert", async () => {
    const { stdout, stderr, code } = await waybill(["id", "convert", "--to", "hotguid-sql"], {
      stdin: "nonsense\n6347eb00-bbaa-01cc-0201-0203d0000000\r\n",
    });
    expect({ stdout, code }).toEqual({ stdout: "000000d0-0302-0102-01cc-6347eb00bbaa\n", code: 1 });
    expect(stderr).toContain('"nonsense" is not an ID of any layout');
  });

  it("asks which is meant where two readings give two texts", async () => {
    const id = "01990f04-d900-4005-8040-02990f04d900";
    const asked = await waybill(["id", "convert", id, "--to", "short-suffix-comb"]);
    expect({ stdout: asked.stdout, code: asked.code }).toEqual({ stdout: "", code: 1 });
    expect(asked.stderr).toContain(
      "can be read in several ways; choose one with --from: short-prefix-comb:uuid gives ",
    );
    const answered = await waybill(["id", "convert", id, "--from", "short-suffix-comb", "--to", "short-prefix-comb"]);
    expect(answered).toEqual({ stdout: "02990f04-d900-4005-8040-01990f04d900\n", stderr: "", code: 0 });
  });

  it.each([
    { args: ["17", "--to", "base6"], error: '"base6" is neither a layout nor a text form; did you mean base62' },
    { args: ["17", "--to", "ulid:base6"], error: 'A ulid has no text "base6"; it has base32, uuid, hex. (--to)' },
    { args: ["17", "--to", "hex", "--from", "ulid:"], error: 'A ulid has no text ""' },
    { args: ["17", "--to", "a:b:c"], error: "more than one colon" },
    {
      args: ["17", "--to", "uuid", "--from", "ulid"],
      error: "is not a valid ulid: the text has 2 characters instead of 26.",
      code: 1,
    },
    {
      args: ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "--to", "ksuid"],
      error: "is read as ulid, and no such ID has the other text form",
      code: 1,
    },
    {
      args: ["919108f7-52d1-4320-9bac-f847db4148a8", "--from", "uuid-v7", "--to", "hex"],
      error: "is not a valid uuid-v7: version is 4, but every uuid-v7 has 7.",
      code: 1,
    },
    {
      args: ["a", "--to", "hex", "--table", "absent.json"],
      error: "absent.json cannot be read: no such file",
      code: 1,
    },
  ])("$args is an error", async ({ args, error, code: fault = 64 }) => {
    const { stdout, stderr, code } = await waybill(["id", "convert", ...args]);
    expect({ stdout, code }).toEqual({ stdout: "", code: fault });
    expect(stderr).toContain(error);
  });
});

describe.concurrent("a way out", () => {
  it.each([
    [["8d5c2f00-0d5b-11d2-8f1e-00a0c91e6bf6", "--to", "uuid-v6"], "Only its time excludes", "--from uuid-v1:uuid."],
    [
      ["8d5c2f00-0d5b-41d2-8f1e-00a0c91e6bf6", "--to", "ulid"],
      "no such ID has the other text form.",
      "--from ulid:uuid.",
    ],
    [["8d5c2f00-0d5b-11d2-8f1e-00a0c91e6bf6", "--to", "ulid"], "Only its time", "--from ulid:uuid."],
    // `uuid` names a form of many layouts, and one layout.
    [
      ["aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee", "--from", "uuid", "--to", "hex"],
      "any layout in uuid",
      "--from uuid:uuid.",
    ],
    [["aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee", "--to", "uuid"], "not an ID of any layout", "--from uuid:uuid."],
  ])("%j: names the --from that reads it", async (args, why, way) => {
    const { stderr, code } = await waybill(["id", "convert", ...args]);
    expect(code).toBe(1);
    expect(stderr).toContain(why);
    expect(stderr.trimEnd().endsWith(way)).toBe(true);
    const from = way.replace(/^--from |\.$/g, "");
    expect((await waybill(["id", "convert", ...args, "--from", from])).code).toBe(0);
  });
});
