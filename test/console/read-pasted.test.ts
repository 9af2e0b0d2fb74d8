import { describe, expect, it } from "vitest";
import { csvOf, sheetOf } from "../../src/console/lookup/list/sheet.ts";
import { nameOfPasted, PASTED_MAX, type Pasted, readOne, readPasted } from "../../src/console/lookup/read-pasted.ts";
import { bareReader, isSameAlone } from "../../src/console/lookup/reader.ts";
import { readerOfNames, readerOfTable } from "../../src/console/lookup/table-reader.ts";
import { readDemoTable } from "../system/demo/demo.ts";

const ID = "0192f0c1-7a30-8005-8040-8f3b2a1c9d78";
const OTHER = "0192f0c1-7a30-8009-8040-8f3b2a1c9d79";
const declared = readDemoTable();
const reader = readerOfTable(declared, 7) ?? bareReader;

describe("what is pasted", () => {
  it.each([
    ["an ID", ID, [ID]],
    ["an ID in a sentence's marks", `  "${ID}".`, [ID]],
    ["a URL", `https://api.example.com/orders/${ID}/events?limit=20#x`, [ID]],
    ["a path", `/orders/${ID}`, [ID]],
    ["a path of no entity", `/else/${ID}/x`, [ID]],
    ["a short key with its path", "/person/2a", ["2a"]],
    ["lines", `${ID}\r\n${OTHER}\n\n`, [ID, OTHER]],
    ["words", `${ID} ${OTHER}`, [ID, OTHER]],
    ["one line with commas", `${ID},${OTHER}`, [ID, OTHER]],
    ["a CSV with a heading", `name,id\n"Smith, J",${ID}\nMiller,${OTHER}\n`, [ID, OTHER]],
    ["a CSV without a heading", `a;${ID}\nb;${OTHER}`, [ID, OTHER]],
    ["cells with doubled quotes", `x\ty\n"say ""hi"""\t${ID}`, [ID]],
    ["two columns of IDs", `${ID},${OTHER}\n${ID},${OTHER}`, [ID, OTHER, ID, OTHER]],
    ["a broken percent-encoding", "/orders/%zz", ["%zz"]],
    ["a sentence", "This is not an ID", ["This is not an ID"]],
    ["a sentence with commas", "Hello, this is not an ID. Or is it?", ["Hello, this is not an ID. Or is it?"]],
    ["a sentence with commas about an ID", `Hello, look at ${ID}, please`, [ID]],
    ["a cell with words", "Smith 2,see page 3", ["Smith 2", "see page 3"]],
    ["keys with commas", "shop-a,shop-b,shop", ["shop-a", "shop-b", "shop"]],
    ["a sentence about an ID", `Please look at ${ID} soon`, [ID]],
    ["a wrong ID in a sentence", `Please look at ${ID}0 soon`, [`${ID}0`]],
    ["keys", "shop-a shop-b ann@example.com", ["shop-a", "shop-b", "ann@example.com"]],
    ["nothing", " \n ", []],
  ])("%s", (_, text, ids) => {
    expect(readPasted(text, reader).items.map(({ id }) => id)).toEqual(ids);
  });

  it("has a maximum, and counts what is above it", () => {
    const { items, left } = readPasted(`${ID}\n`.repeat(PASTED_MAX + 5), reader);
    expect([items.length, left]).toEqual([PASTED_MAX, 5]);
  });
});

describe("what is read in the page", () => {
  const pasted = { source: ID, id: ID, path: undefined };
  const nowMs = Date.parse("2026-11-01T00:00:00Z");

  it("with the routes: entity, region and rule", () => {
    const { decision } = reader.read(pasted, nowMs);
    expect(decision).toMatchObject({ entity: "order", region: "eu", rule: { kind: "route", index: 0 } });
  });

  it("with names alone: the entity, and never a region", () => {
    const names = readerOfNames({ revision: 7, ...declared });
    const reading = names?.read(pasted, nowMs);
    expect(reading?.decision).toBeUndefined();
    expect(reading?.candidates.find(({ excluded }) => !excluded)).toMatchObject({ entity: "order", region: undefined });
    expect(JSON.stringify(reading)).not.toContain("unknown");
  });

  it("with a table, an ID of a layout that no entity uses is still one", () => {
    const id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    for (const own of [reader, readerOfNames({ revision: 7, ...declared }) ?? bareReader]) {
      const reading = own.read({ source: id, id, path: undefined }, nowMs);
      expect(reading.candidates.map(({ layout, entity }) => [layout, entity])).toEqual([["ulid", undefined]]);
      expect(reading.decision).toBeUndefined();
    }
  });

  it("without a table: the layout", () => {
    const left = bareReader.read(pasted, nowMs).candidates.filter(({ excluded }) => !excluded);
    expect(left.map(({ layout }) => layout)).toContain("iuid");
  });
});

it("writes no formula into a CSV", () => {
  const rows = [
    ["a,b", 'say "x"', undefined],
    ["=1+1", "-2", "ok"],
  ];
  expect(csvOf(rows)).toBe('"a,b","say ""x""",\r\n"\'=1+1","\'-2",ok\r\n');
});

it.each([
  "=1",
  "+1",
  "-1",
  "@SUM(A1)",
  "=cmd|' /C calc'!A0",
  " =1",
  "\t=1",
  "\r\n=1",
  '"=1',
  "\uff1d1",
  "\uff20x",
  "x;=1",
  "x,=1",
  "x\t=1",
  "x\n=1",
  "x\r=1",
  'x";"=1',
  "x; =1",
  "x|@a",
  ";;=1",
])("a spreadsheet with any separator runs nothing of the cell %j", (cell) => {
  const line = csvOf([["id", cell]]).replace(/\r\n$/, "");
  for (const separator of [",", ";", "\t", "|"]) {
    // The least careful reader: it parts at every separator and line end, and drops quotes of CSV and white space.
    for (const read of line.split(/[\r\n]/).flatMap((row) => row.split(separator))) {
      expect(read.replace(/^[\s"]+/, "")).not.toMatch(/^[=+\-@\uff1d\uff0b\uff0d\uff20]/);
    }
  }
});

it("leaves IDs as they are in a CSV", () => {
  const ids = [ID, "0ujtsYcgvSTl8PAuAdqWYSMnLOv", "cus_9s6XKzkNRiz8i3"];
  expect(csvOf([ids])).toBe(`${ids.join(",")}\r\n`);
});

describe("the place of an ID", () => {
  // A short key of a person is a Snowflake too, of another entity and region.
  const table = {
    ...declared,
    graphql: undefined,
    entities: { ...declared.entities, chirp: { path: "/chirps/:id", ids: [{ layout: "snowflake" }] } },
    routes: [{ when: { entity: "chirp" }, region: "us" }, ...declared.routes],
  };
  const text = JSON.parse(JSON.stringify(table));
  const byRoutes = readerOfTable(text, 7) ?? bareReader;
  const byNames = readerOfNames({ revision: 7, ...text }) ?? bareReader;
  const nowMs = Date.parse("2026-11-01T00:00:00Z");

  it.each([
    ["/person/1", false],
    ["https://api.example.com/person/1/letters?tab=2", false],
    ["/any/1", true],
    ["/chirps/1541815603606036480", true],
    ["/person/1541815603606036480", false],
    ["1541815603606036480", true],
    [`/orders/${ID}`, true],
    [`/rides/${ID}`, false],
    [`/else/${ID}`, true],
  ])("%s is read as alone: %s", (source, isSame) => {
    for (const own of [byRoutes, byNames]) expect(isSameAlone(own, readOne(source, own), nowMs)).toBe(isSame);
  });

  it.each(["/person/1", "/any/1", `/orders/${ID}`])("%s is never read as alone before a table is known", (source) => {
    expect(isSameAlone(bareReader, readOne(source, byNames), nowMs)).toBe(false);
  });

  it("stands in lists, and in the file of one, which is read as it was pasted", () => {
    const pasted = `/person/1\n/person/2a\nhttps://api.example.com/chirps/1541815603606036480?x=1`;
    const { items } = readPasted(pasted, byRoutes);
    expect(items.map(nameOfPasted)).toEqual(["/person/1", "/person/2a", "/chirps/1541815603606036480"]);
    const list = readPasted(pasted, byRoutes);
    const sheet = sheetOf(list, ["Entity", "Country", "Minted (UTC)", "Region"], (at) => {
      const { entity = "", region = "" } = byRoutes.read(items[at] as Pasted, nowMs).decision ?? {};
      return [entity, "", "", region];
    });
    expect(sheet.map((row) => [row[0], row[1], row[2], row.at(-1)])).toEqual([
      ["ID", "Pasted", "Entity", "Region"],
      ["1", "/person/1", "person", "eu"],
      ["2a", "/person/2a", "person", "eu"],
      ["1541815603606036480", "https://api.example.com/chirps/1541815603606036480?x=1", "chirp", "us"],
    ]);
    expect(readPasted(csvOf(sheet), byRoutes).items).toEqual(items);
  });

  it("is no column of its own where no ID has one", () => {
    const list = readPasted(`${ID}\n${OTHER}`, byRoutes);
    expect(sheetOf(list, ["Entity"], () => [""])[0]).toEqual(["ID", "Entity"]);
  });
});

describe("a table that was pasted", () => {
  const OURS = ["Region", "Problem"];
  const found = (at: number) => [`region ${at}`, ""];

  it("comes back with every column, row and heading, and ours after them", () => {
    const text = `ticket,order_id,comment\n4711,${ID},"late, again"\n4712,,no ID\n4713,/orders/${OTHER},x`;
    const list = readPasted(text, reader);
    expect([list.items.map(({ id }) => id), list.sheet?.heading?.[list.sheet.column]]).toEqual([
      [ID, OTHER],
      "order_id",
    ]);
    const sheet = sheetOf(list, OURS, found);
    expect(sheet).toEqual([
      ["ticket", "order_id", "comment", "Region", "Problem"],
      ["4711", ID, "late, again", "region 0", ""],
      ["4712", "", "no ID", "", ""],
      ["4713", `/orders/${OTHER}`, "x", "region 1", ""],
    ]);
    // Its file is pasted again: our columns are written anew, and not twice.
    const again = readPasted(csvOf(sheet), reader);
    expect(sheetOf(again, OURS, (at) => [`then ${at}`, "x"])).toEqual(
      sheet.map((row, at) => (at === 1 || at === 3 ? [...row.slice(0, 3), `then ${at === 1 ? 0 : 1}`, "x"] : row)),
    );
  });

  it("has names for columns that had none, and cells of several lines", () => {
    const list = readPasted(`a;${ID};"one\ntwo"\nb;${OTHER};c`, reader);
    expect(sheetOf(list, OURS, found)).toEqual([
      ["Column 1", "Column 2", "Column 3", "Region", "Problem"],
      ["a", ID, "one\ntwo", "region 0", ""],
      ["b", OTHER, "c", "region 1", ""],
    ]);
  });

  it("a quote that is never closed takes no other line with it", () => {
    expect(readPasted(`"see ${ID}\n${OTHER}`, reader).items.map(({ id }) => id)).toEqual([ID, OTHER]);
  });
});
