import { listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { objectName } from "../../../src/features/directory/edge/keys.ts";
import { movedDirectory } from "../../../src/features/directory/pages/moved.ts";
import { LIST_NAME } from "../../../src/features/mint/edge/sequences.ts";
import { mintPages } from "../../../src/features/mint/pages.ts";
import { problemOf, setUp, slug } from "../harness.ts";

const { SEQUENCES, TRAFFIC, TABLE_TRUTH } = env as Env;

const ONE = "1".repeat(64);
const OTHER = "2".repeat(64);
const { request } = setUp();

const hexOf = async (text: string): Promise<string> => {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
};
const idOf = (name: string): string => SEQUENCES.idFromName(name).toString();
const at = (name: string, more = ""): string => `/-/state/objects/sequences/${idOf(name)}${more}`;
const step = (path: string, body: object) => request(path, { method: "POST", body: JSON.stringify(body) });
const put = (name: string, number: number, lines: string, id = ONE) =>
  request(`${at(name)}/rows/${number}?import=${id}`, { method: "PUT", body: lines });
const whyOf = async (response: Response) => {
  const problem = await problemOf(response);
  return [problem["status"], slug(problem), problem["detail"]];
};
const stepOf = async (response: Response) => ((await response.json()) as { readonly step?: string }).step;
const reserve = async (name: string, count = 1) =>
  await SEQUENCES.get(SEQUENCES.idFromName(name)).reserve(count, 1_000_000);

const HEAD = '{"table":"sequence","columns":["id","next","is_timed"]}\n';
const TABLES = [{ table: "sequence", columns: ["id", "next", "is_timed"] }];

/** An import of one sequence, up to a step. */
async function importTo(name: string, next: number, last: "claim" | "rows" | "verify" | "release", id = ONE) {
  const rows = `${HEAD}[0,${next},0]\n`;
  const answers = [await step(at(name, "/claim"), { import: id })];
  if (last !== "claim") answers.push(await put(name, 0, rows, id));
  const sha256 = await hexOf(rows);
  const tables = TABLES;
  if (last === "verify" || last === "release")
    answers.push(await step(at(name, "/verify"), { import: id, tables, sha256, alarm: null }));
  if (last === "release") answers.push(await step(at(name, "/release"), { import: id }));
  return Promise.all(answers.map(async (answer) => (answer.ok ? await stepOf(answer) : await whyOf(answer))));
}

// Those that were idle for ten seconds in a file before: `reset` did not know of them.
beforeAll(async () => {
  for (const id of await listDurableObjectIds(SEQUENCES))
    await runInDurableObject(SEQUENCES.get(id), (_, { storage }) => storage.deleteAll());
});

describe("an export over HTTP", () => {
  it("lists the objects, sequences by their use", async () => {
    await reserve("luuid-7");
    const inventory = (await (await request("/-/state")).json()) as {
      readonly parts: readonly { readonly part: string; readonly objects: readonly object[] }[];
    };
    expect(inventory.parts.map(({ part, objects }) => [part, objects.length])).toEqual([
      ["tables", 1],
      ["idempotency", 64],
      ["directory", 257],
      ["metrics", 1],
      ["sequences", 1],
    ]);
    expect(inventory.parts.at(-1)?.objects).toEqual([{ id: idOf("luuid-7"), name: "luuid-7" }]);
  });

  it("names the objects as those who call them", () => {
    expect(movedDirectory.objects).toEqual(Array.from({ length: 257 }, (_, shard) => objectName(shard)));
    expect(mintPages.moved?.part?.objects).toEqual({ listedBy: LIST_NAME });
  });

  it("gives rows, page by page", async () => {
    await reserve("luuid-7", 64);
    const page = await request(at("luuid-7"));
    expect(await page.text()).toBe(
      `{"table":"interleaved","columns":["id","first","part","parts"]}\n${HEAD}[0,65,0]\n`,
    );
    const shown = JSON.parse(page.headers.get("waybill-page") ?? "");
    expect(shown).toMatchObject({ rows: 1, alarm: null });
    const from = encodeURIComponent(JSON.stringify({ table: "sequence", after: [-1] }));
    expect(await (await request(`${at("luuid-7")}?from=${from}`)).text()).toBe("[0,65,0]\n");
  });

  it.each([
    ["no cursor", "x", 400, "malformed-request"],
    ["another table", '{"table":"sqlite_schema","after":[1]}', 409, "state-refused"],
    ["another key", '{"table":"sequence","after":[1,2]}', 409, "state-refused"],
  ])("refuses to begin at %s", async (_, from, status, reason) => {
    const answer = await request(`${at("luuid-7")}?from=${encodeURIComponent(from)}`);
    expect((await whyOf(answer)).slice(0, 2)).toEqual([status, reason]);
  });

  it("refuses objects that there are not", async () => {
    expect((await whyOf(await request(`/-/state/objects/nothing/${ONE}`)))[1]).toBe("not-found");
    expect((await whyOf(await request("/-/state/objects/sequences/x")))[1]).toBe("not-found");
    // An ID of another namespace, and one of no name that the part has.
    expect((await whyOf(await request(`/-/state/objects/sequences/${ONE}`)))[1]).toBe("state-refused");
    expect((await whyOf(await request(`/-/state/objects/directory/${idOf("keys-0")}`)))[1]).toBe("state-refused");
  });

  it("is a state node's: an edge says so", async () => {
    const edge = setUp({ gateway: { moving: async () => undefined } });
    for (const path of ["/-/state", at("luuid-7"), "/-/state/values"])
      expect(await whyOf(await edge.request(path))).toEqual([
        409,
        "state-refused",
        expect.stringContaining("An edge keeps no state"),
      ]);
  });

  it("gives no value of KV but those of packs and copies", async () => {
    await (env as Env).TABLE_KV.put("table.current", "{}");
    expect((await whyOf(await request("/-/state/values/table.current")))[1]).toBe("not-found");
    const answer = await request("/-/state/values/table.current", { method: "PUT", body: "{}" });
    expect((await whyOf(answer))[1]).toBe("not-found");
  });
});

describe("an import over HTTP", () => {
  it("goes through its steps, and the sequence goes on", async () => {
    expect(await importTo("luuid-7", 500, "release")).toEqual(["claimed", "claimed", "whole", "done"]);
    expect(await reserve("luuid-7")).toMatchObject({ first: 500 });
    // The list has it, though it gave no number here before.
    const again = await importTo("luuid-7", 500, "claim");
    expect(again).toEqual(["done"]);
  });

  it("lists a sequence that only was imported", async () => {
    await importTo("luuid-8", 500, "release");
    expect(await (await request("/-/state")).text()).toContain(idOf("luuid-8"));
  });

  it("serves nothing before its end", async () => {
    await reserve("luuid-8");
    await importTo("luuid-7", 500, "rows");
    expect(String(await reserve("luuid-7").catch((error: unknown) => error))).toContain("being imported");
    expect((await whyOf(await request(at("luuid-7"))))[2]).toContain("is being imported");
    await importTo("luuid-7", 500, "verify");
    expect(String(await reserve("luuid-7").catch((error: unknown) => error))).toContain("being imported");
    expect(await reserve("luuid-8")).toMatchObject({ first: 2 });
  });

  it("begins anew in an object that is claimed, and takes each part once", async () => {
    await importTo("luuid-7", 400, "rows");
    expect(await importTo("luuid-7", 500, "rows")).toEqual(["claimed", "claimed"]);
    expect(await stepOf(await put("luuid-7", 0, "anything"))).toBe("claimed");
    expect((await whyOf(await put("luuid-7", 2, HEAD)))[2]).toContain("part 1 of the rows was not sent");
    await importTo("luuid-7", 500, "release");
    expect(await reserve("luuid-7")).toMatchObject({ first: 500 });
  });

  it("writes into no object with contents", async () => {
    await reserve("luuid-7");
    expect(await importTo("luuid-7", 500, "claim")).toEqual([
      [409, "state-refused", expect.stringContaining("has contents")],
    ]);
    expect(await reserve("luuid-7")).toMatchObject({ first: 2 });
  });

  it("and no other import has the object", async () => {
    await importTo("luuid-7", 500, "rows");
    expect(await importTo("luuid-7", 500, "claim", OTHER)).toEqual([
      [409, "state-refused", expect.stringContaining("another file is being imported")],
    ]);
    expect((await whyOf(await put("luuid-7", 1, HEAD, OTHER)))[1]).toBe("state-refused");
    expect(await stepOf(await step(at("luuid-7", "/discard"), { import: OTHER }))).toBe("claimed");
    await importTo("luuid-7", 500, "release");
    expect(await importTo("luuid-7", 500, "claim", OTHER)).toEqual([
      [409, "state-refused", expect.stringContaining("has contents")],
    ]);
  });

  it("is given up as if it had not been", async () => {
    await importTo("luuid-7", 500, "verify");
    expect(await stepOf(await step(at("luuid-7", "/discard"), { import: ONE }))).toBe("empty");
    expect(await reserve("luuid-7")).toMatchObject({ first: 1 });
    expect(await stepOf(await step(at("luuid-7", "/discard"), { import: ONE }))).toBe("used");
  });

  it.each([
    ["a table that there is not", '{"table":"keys","columns":["id"]}\n["x"]\n', 'no table "keys"'],
    ["an internal table", '{"table":"sqlite_sequence","columns":["name"]}\n["x"]\n', "no table"],
    ["the import's own table", '{"table":"waybill_import","columns":["id"]}\n[1]\n', "no table"],
    [
      "a column that there is not",
      '{"table":"sequence","columns":["id","next","more"]}\n[0,1,2]\n',
      'no column "more"',
    ],
    ["a column twice", '{"table":"sequence","columns":["id","next","next"]}\n[0,1,2]\n', "is there twice"],
    ["no key", '{"table":"sequence","columns":["next"]}\n[1]\n', "needs its column id"],
    ["a text for a number", `${HEAD}[0,"5",0]\n`, "sequence.next is not INTEGER"],
    ["a part of a number", `${HEAD}[0,1.5,0]\n`, "is not INTEGER"],
    ["a number that is not exact", `${HEAD}[0,9007199254740993,0]\n`, "is not INTEGER"],
    ["nothing where something must be", `${HEAD}[0,null,0]\n`, "is not INTEGER"],
    ["a key of null", `${HEAD}[null,5,0]\n`, "is not INTEGER"],
    ["bytes for a number", `${HEAD}[0,{"base64":"AA=="},0]\n`, "is not INTEGER"],
    ["too few values", `${HEAD}[0,5]\n`, "has not 3 values"],
    ["a row that a constraint refuses", `${HEAD}[1,5,0]\n`, "SQLite refuses"],
    ["a row twice", `${HEAD}[0,5,0]\n[0,5,0]\n`, "SQLite refuses"],
    ["rows without a table", "[0,5,0]\n", "before the name of their table"],
    ["a line of another kind", `${HEAD}7\n`, "neither a table nor a row"],
    ["a cut line", `${HEAD}[0,5`, "neither a table nor a row"],
    ["a quote in a name", '{"table":"sequence","columns":["id\\" --","next"]}\n[0,5]\n', "no column"],
  ])("refuses %s, and writes none of the part", async (_, lines, why) => {
    await importTo("luuid-7", 1, "claim");
    expect(await whyOf(await put("luuid-7", 0, lines))).toEqual([409, "state-refused", expect.stringContaining(why)]);
    const digest = await step(at("luuid-7", "/digest"), { tables: TABLES });
    expect(await digest.json()).toMatchObject({ rows: 0 });
    // The object takes the right rows yet.
    expect(await importTo("luuid-7", 77, "release")).toEqual(["claimed", "claimed", "whole", "done"]);
    expect(await reserve("luuid-7")).toMatchObject({ first: 77 });
  });

  it("is not whole with other rows than those of the file", async () => {
    await importTo("luuid-7", 500, "rows");
    const body = { import: ONE, tables: TABLES, sha256: await hexOf(`${HEAD}[0,501,0]\n`), alarm: null };
    expect((await whyOf(await step(at("luuid-7", "/verify"), body)))[2]).toContain("differ from those of the file");
    expect((await whyOf(await step(at("luuid-7", "/release"), { import: ONE })))[2]).toContain("not verified");
  });

  it.each([
    ["no JSON", "claim", "{"],
    ["no digest of an import", "claim", '{"import":"x"}'],
    ["no tables", "verify", JSON.stringify({ import: ONE, sha256: ONE, alarm: null })],
    ["an alarm of another kind", "verify", JSON.stringify({ import: ONE, tables: [], sha256: ONE, alarm: "now" })],
  ])("refuses a request with %s", async (_, name, body) => {
    const answer = await request(at("luuid-7", `/${name}`), { method: "POST", body });
    expect((await whyOf(answer)).slice(0, 2)).toEqual([400, "malformed-request"]);
  });

  it("of an earlier version has fewer columns", async () => {
    const rows = '{"table":"sequence","columns":["id","next"]}\n[0,90]\n';
    await step(at("luuid-7", "/claim"), { import: ONE });
    await put("luuid-7", 0, rows);
    const tables = [{ table: "sequence", columns: ["id", "next"] }];
    await step(at("luuid-7", "/verify"), { import: ONE, tables, sha256: await hexOf(rows), alarm: null });
    expect(await stepOf(await step(at("luuid-7", "/release"), { import: ONE }))).toBe("done");
    expect(await reserve("luuid-7")).toMatchObject({ first: 90 });
  });

  it("replaces figures and events, and the table of a start alone", async () => {
    const ids = { metrics: TRAFFIC.idFromName("all").toString(), tables: TABLE_TRUTH.idFromName("table").toString() };
    const traffic = TRAFFIC.get(TRAFFIC.idFromName("all"));
    await traffic.report({ sums: new Map([["requests_total", 3]]), origins: [] });
    await traffic.totals();
    await runInDurableObject(traffic, (_, { storage: { sql } }) => {
      sql.exec("INSERT INTO events (ms, event) VALUES (1, '{}')");
      sql.exec("INSERT INTO watched (key, state) VALUES ('a', '{}')");
      sql.exec("INSERT INTO deliveries (event, tries, since_ms, due_ms) VALUES (1, 0, 1, 1)");
    });
    const claimed = await step(`/-/state/objects/metrics/${ids.metrics}/claim`, { import: ONE });
    expect(await stepOf(claimed)).toBe("claimed");
    const publish = await request("/-/table", {
      method: "PUT",
      headers: { "if-match": '"0"' },
      body: await (await request("/-/table")).text(),
    });
    expect(publish.status).toBe(201);
    const refused = await step(`/-/state/objects/tables/${ids.tables}/claim`, { import: ONE });
    expect((await whyOf(refused))[2]).toContain("has contents");
  });
});
