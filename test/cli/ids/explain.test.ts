import { describe, expect, it } from "vitest";
import { everyLayout, periodRange, textsOf } from "../../../src/ids/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { fakeControlPlane, GATEWAY_URL, problem } from "../fake-control-plane.ts";
import { objectsOf, waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";

const ORDER_KZ = "01990f04-d900-8005-8040-000000000001";
const ORDER_BR = "01990f04-d900-8007-8040-000000000001";
const ORDER_AQ = "01990f04-d900-80c8-8040-000000000001";
const PARCEL_EU = "6347eb00-bbaa-01cc-0201-0203d0000000";

/** The layouts that UUID text can be of, as far as its characters go. */
const UUID_LAYOUTS = everyLayout.filter(
  // Layout `uuid` reads all of it, and is meant only where it is named.
  ({ name, texts }) => name !== "uuid" && texts.some((form) => form.name === "uuid"),
);

const files = tableFiles({ ...DECLARED_TABLE, moved: { [ORDER_BR]: "eu" } });

describe.concurrent("waybill explain with a table", () => {
  it("leads from the ID over the entity and the route to the region", async () => {
    const { stdout, stderr, code } = await waybill(["explain", ORDER_KZ], { files });
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    expect(stdout).toContain(`${ORDER_KZ}\n\n  iuid → order → /routes/0 → ap   /orders/${ORDER_KZ}\n`);
    expect(stdout).toContain("  iuid of order\n    fields  mintedAt 1756893600000, version 8,");
    expect(stdout).toContain("country 5 (KZ)");
    expect(stdout).toContain("    minted  2025-09-03T10:00:00.000Z\n");
    expect(stdout).toContain("  hotguid of parcel, ruled out\n");
    expect(stdout).toMatch(/ {4}uuid +01990f04-d900-8005-8040-000000000001 +iuid\n/);
  });

  it.each([
    ["an ID that a public entity's layout can read too", "00000000-0390-6d0b-af20-551099703baf", "person", 0],
    ["an internal ID of a public entity", "1088824355131185736905670087", undefined, 1],
  ])("leads as the gateway does: %s", async (_, id, entity, code) => {
    const account = { path: "/accounts/:id", ids: [{ layout: "distributed-id" }], public: true };
    const parcels = { path: "/parcels/:id", ids: [{ layout: "hotguid" }], public: true };
    const entities = { ...DECLARED_TABLE.entities, account, parcel: parcels };
    const routes = [...DECLARED_TABLE.routes, { when: { entity: "account" }, region: "us" }];
    const publicFiles = tableFiles({ ...DECLARED_TABLE, entities, routes });
    const explained = await waybill(["explain", "--json", id], { files: publicFiles });
    expect(explained.code).toBe(code);
    const [{ decision, error }] = objectsOf(explained.stdout) as [Record<string, { entity?: string; reason?: string }>];
    expect(decision?.entity).toBe(entity);
    if (entity === undefined) expect(error?.reason).toMatch(/^(unknown|malformed)-id$/);
  });

  it.each([
    {
      id: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
      said:
        "it can be read as ulid, which routing-table.json does not allow; " +
        "`waybill explain --no-table 01ARZ3NDEKTSV4RRFFQ69G5FAV` shows its fields\n" +
        'to allow it, add { "layout": "ulid" } to the `ids` of its entity, and a route for it\n',
      layouts: ["ulid"],
    },
    {
      id: "/orders/1234567890123456789",
      said:
        "it can be read as snowflake, discord-snowflake, sharding-id, of which routing-table.json allows none; " +
        "`waybill explain --no-table 1234567890123456789` shows its fields\n" +
        'to allow the right one, add it as in { "layout": "snowflake" } to /entities/order/ids, and a route for it\n',
      layouts: ["snowflake", "discord-snowflake", "sharding-id"],
    },
    // It fits layouts of the table, and is none of them.
    { id: "019cade2-11c0-7001-8046-59ee4382dbe7", said: "it can be read as uuid-v7", layouts: ["uuid-v7"] },
  ])("names the layouts that the table lacks for $id", async ({ id, said, layouts }) => {
    const { stderr, code } = await waybill(["explain", id], { files });
    expect(code).toBe(1);
    expect(stderr).toContain(said);
    const json = await waybill(["explain", "--json", id], { files });
    expect(objectsOf(json.stdout)).toMatchObject([{ notAllowed: expect.arrayContaining(layouts) }]);
  });

  it("prints how a table declares a library's ID that it lacks", async () => {
    const { stdout, stderr, code } = await waybill(["explain", "ord_01h455vb4pex5vsknk084sn02q"], { files });
    expect(code).toBe(1);
    expect(stdout).toContain('declared in a table\'s layouts: {"like":"uuid-v7"');
    expect(stderr).not.toContain("it can be read as");
  });

  it.each(["hello-world", ORDER_AQ])("names no other layouts for %s", async (id) => {
    const { stderr } = await waybill(["explain", id], { files });
    expect(stderr).toMatch(/^error: /);
    expect(stderr).not.toContain("it can be read as");
  });

  it("names the regions with a read copy", async () => {
    const parcel = {
      ...DECLARED_TABLE.entities.parcel,
      readCopies: { clientContinent: { NA: "us", AS: "ap", EU: "eu" }, lagSeconds: 30 },
    };
    const files = tableFiles({ ...DECLARED_TABLE, entities: { ...DECLARED_TABLE.entities, parcel } });
    const { stdout } = await waybill(["explain", PARCEL_EU], { files });
    expect(stdout).toMatch(/^ {2}copies: in ap, us, for clients near them, up to 30 s behind$/m);
    const json = await waybill(["explain", "--json", PARCEL_EU], { files });
    expect(objectsOf(json.stdout)).toMatchObject([
      { decision: { readCopies: { regions: ["ap", "us"], lagSeconds: 30 } } },
    ]);
  });

  it("names the shadow of the route", async () => {
    const routes = DECLARED_TABLE.routes.map((route, index) =>
      index === 3 ? { ...route, shadow: { region: "us", percent: 0.5 } } : route,
    );
    const shadowed = tableFiles({ ...DECLARED_TABLE, routes });
    const { stdout } = await waybill(["explain", PARCEL_EU], { files: shadowed });
    expect(stdout).toMatch(/ → \/routes\/3 → eu .*\n.*\n {2}shadow: 0\.5 % of the reads are mirrored to us\n/);
    const json = await waybill(["explain", "--json", PARCEL_EU], { files: shadowed });
    expect(objectsOf(json.stdout)).toMatchObject([{ decision: { shadow: { region: "us", percent: 0.5 } } }]);
  });

  it("takes a URL and a path, also of a short key", async () => {
    for (const text of [
      `https://api.example.com/orders/${ORDER_KZ}/events?limit=20#top`,
      `/orders/${ORDER_KZ}`,
      `/any/${ORDER_KZ}/events`,
      `HTTP://localhost:8080/-/ids/${ORDER_KZ}`,
    ]) {
      const { stdout, code } = await waybill(["explain", text], { files });
      expect([stdout.split("\n")[2], code]).toEqual([`  iuid → order → /routes/0 → ap   /orders/${ORDER_KZ}`, 0]);
    }
    for (const text of ["/person/17", "https://api.example.com/person/17"]) {
      const { stdout, code } = await waybill(["explain", text], { files });
      expect([stdout.split("\n")[2], code]).toEqual(["  luuid-short → person → /routes/5 → eu   /person/17", 0]);
    }
    const alone = await waybill(["explain", "17"], { files });
    expect(alone.code).toBe(1);
    expect(alone.stdout).toContain("luuid-short of person, ruled out");
    expect(alone.stderr).toContain("it may be a short key: explain /person/17\n");
    const astray = await waybill(["explain", "https://api.example.com/nowhere/17", `/rides/${ORDER_KZ}`], { files });
    expect(astray.code).toBe(1);
    expect(astray.stderr.match(/^error: .*$/gm)).toEqual([
      "error: No entity of the routing table matches this path.",
      expect.stringContaining(ORDER_KZ),
    ]);
  });

  it("shows the rule by its text and line, and of an ID in capitals the entry that the table has", async () => {
    const { stdout } = await waybill(["explain", ORDER_BR.toUpperCase()], { files });
    expect(stdout).toContain(`→ /moved/${ORDER_BR} → eu `);
    const lines = new TextDecoder().decode(files.bytes("routing-table.json")).split("\n");
    const line = lines.findIndex((each) => each.includes(`"${ORDER_BR}"`)) + 1;
    expect(stdout).toContain(`\n  routing-table.json:${line}  "eu"\n`);
    const json = await waybill(["explain", "--json", ORDER_KZ], { files });
    expect(objectsOf(json.stdout)).toMatchObject([
      { declared: { pointer: "/routes/0", source: "routing-table.json", value: DECLARED_TABLE.routes[0] } },
    ]);
  });

  it("asks a running gateway, and shows what an origin said there", async () => {
    const plane = fakeControlPlane(DECLARED_TABLE);
    const [local] = objectsOf((await waybill(["explain", "--json", ORDER_KZ], { files })).stdout) as [object];
    plane.override = ({ url, headers }) =>
      url === `/-/ids/${ORDER_KZ}` && headers.get("authorization") !== null
        ? {
            headers: { "waybill-table": "rev=1; source=memory; age=3" },
            body: { ...local, learned: { region: "us" }, tableCanary },
          }
        : undefined;
    const tableCanary = {
      decides: false,
      revision: 2,
      inForce: 1,
      audience: { share: 5 },
      takesFrom: 61.5,
      otherwise: { region: "ap\u0007" },
    };
    const args = ["explain", `/orders/${ORDER_KZ}`, "--gateway", GATEWAY_URL];
    const { stdout, stderr, code } = await waybill(args, plane.access);
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    expect(stdout).toContain('\n  revision 1:1  {"when":{');
    expect(stdout).toContain("\n  learned: an origin said with a 421 that it is in us; requests go there first\n");
    expect(stdout).toContain(
      "\n  canary: revision 1 (in force) decides; revision 2 (canary) has 5 % of the IDs, this one from 61.5 %, and would lead to ap\\u{7}\n",
    );
    plane.override = ({ url }) => (url.startsWith("/-/ids/") ? problem(429, "rate-limited", "Too many.") : undefined);
    expect(await waybill(args, plane.access)).toMatchObject({ stderr: expect.stringContaining("Too many."), code: 1 });
  });

  it("does not call an ID ambiguous that no route takes", async () => {
    const both = tableFiles({
      regions: { eu: { origins: [{ url: "https://eu.example.com" }] } },
      entities: {
        parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] },
        person: { path: "/person/:id", ids: [{ layout: "hotguid-sql" }] },
      },
      routes: [{ when: { layout: "hotguid", shardKey: 7 }, region: "eu" }],
    });
    const id = "6347eb00-bbaa-01cc-0201-0203d0000070";
    const { stdout, stderr, code } = await waybill(["explain", id], { files: both });
    expect([stdout.includes("the text is ambiguous"), code]).toEqual([stderr.includes("can be read"), 1]);
    const unassigned = await waybill(["explain", id, "--layout", "hotguid"], { files: both });
    expect(unassigned.stderr).toContain("No route matches this hotguid");
    expect(unassigned.stdout).not.toContain("ambiguous");
  });

  it("names the moved entry and the SQL form", async () => {
    const { stdout, code } = await waybill(["id", "explain", ORDER_BR, PARCEL_EU], { files });
    expect(code).toBe(0);
    expect(stdout).toContain(`  iuid → order → /moved/${ORDER_BR} → eu `);
    expect(stdout).toContain("  hotguid → parcel → /routes/3 → eu ");
    expect(stdout).toMatch(/ {4}hotguid-sql +000000d0-0302-0102-01cc-6347eb00bbaa +hotguid\n/);
  });

  it("prints one JSON object per line, the failed ones too, in the order of the IDs", async () => {
    const { stdout, stderr, code } = await waybill(["explain", "--json", ORDER_AQ, "?17", ORDER_KZ], { files });
    expect({ stderr, code }).toEqual({ stderr: "", code: 1 });
    const [aq, short, kz, ...rest] = objectsOf(stdout);
    expect(rest).toEqual([]);
    expect(aq).toMatchObject({
      text: ORDER_AQ,
      error: { reason: "unassigned-key", entity: "order", layout: "iuid", key: { country: "200" } },
    });
    expect(aq).not.toHaveProperty("decision");
    expect(short).toMatchObject({
      text: "?17",
      candidates: [],
      error: { reason: "malformed-id", detail: '"?17" is not an ID of any layout allowed here.' },
    });
    expect(kz).toMatchObject({
      decision: { entity: "order", layout: "iuid", region: "ap", rule: { kind: "route", index: 0 } },
    });
    expect(kz).not.toHaveProperty("error");
  });

  it("says on stderr why an ID leads nowhere, and goes on with the next", async () => {
    const { stdout, stderr, code } = await waybill(["explain", "nonsense", ORDER_AQ, ORDER_KZ], { files });
    expect(code).toBe(1);
    expect(stderr).toContain('error: "nonsense" is not an ID of any layout allowed here.\n');
    expect(stderr).toContain("  iuid, luuid, hotguid: character 1 is not allowed there\n");
    expect(stderr).toContain('error: No route matches this iuid of "order"');
    expect(stderr).toContain("Its key: country 200, service 1");
    expect(stdout).toContain("/routes/0 → ap");
  });

  it.each([
    { name: "arguments left out", args: [] },
    { name: "a hyphen", args: ["-"] },
  ])("reads stdin for $name, with either line end and without the last one", async ({ args }) => {
    const stdin = `${ORDER_KZ}\n\n${ORDER_BR}\r\n${PARCEL_EU}`;
    const { stdout, code } = await waybill(["explain", "--json", ...args], { files, stdin });
    expect(code).toBe(0);
    expect(objectsOf(stdout).map(({ text }) => text)).toEqual([ORDER_KZ, ORDER_BR, PARCEL_EU]);
  });

  it("trims nothing", async () => {
    const { stdout, code } = await waybill(["explain", "--json"], { files, stdin: `${ORDER_KZ} \n` });
    expect(code).toBe(1);
    expect(objectsOf(stdout)).toMatchObject([{ text: `${ORDER_KZ} `, error: { reason: "malformed-id" } }]);
  });

  it("shows no control character of an ID to the terminal", async () => {
    const { stdout, stderr, code } = await waybill(["explain", "\u001b[2Jx\u202e"], { files });
    expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
    expect(stderr).toContain('"\\u{1b}[2Jx\\u{202e}" is not an ID');
  });

  it("refuses a line that is too long, and an empty stdin", async () => {
    const long = await waybill(["explain"], { files, stdin: `${ORDER_KZ}\n${"9".repeat(70_000)}` });
    expect(long.code).toBe(1);
    expect(long.stderr).toBe("error: line 2 of stdin is too long for an ID\n");
    expect(await waybill(["explain"], { files })).toEqual({ stdout: "", stderr: "error: stdin has no ID\n", code: 1 });
  });

  it("does not go on without a table that is there and faulty", async () => {
    const faulty = tableFiles({ ...DECLARED_TABLE, default: "mars" });
    const { stdout, stderr, code } = await waybill(["explain", ORDER_KZ], { files: faulty });
    expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
    expect(stderr).toMatch(/^routing-table.json:\d+:3: \/default: .*"mars"/);
    expect(stderr).toContain("error: routing-table.json is not a valid routing table: 1 fault\n");
  });

  it("colours the bits of each field, and only when it may", async () => {
    const coloured = await waybill(["explain", ORDER_KZ], { files, isColoured: true });
    const esc = "\u001b[";
    expect(coloured.stdout).toContain(`01990f04  ${esc}36m0${esc}39m`);
    expect(coloured.stdout).toContain(`${esc}32mcountry${esc}39m`);
    const plain = await waybill(["explain", ORDER_KZ], { files });
    expect(plain.stdout).not.toContain("\u001b");
  });
});

describe.concurrent("waybill explain without a table", () => {
  const note = "no routing table: reading IDs by every built-in layout; no route is shown\n";

  it("tries every built-in layout and says that no route is shown", async () => {
    const { stdout, stderr, code } = await waybill(["explain", "--json", PARCEL_EU]);
    expect({ stderr, code }).toEqual({ stderr: note, code: 0 });
    const [only] = objectsOf(stdout);
    expect(only).toMatchObject({
      candidates: expect.arrayContaining([
        expect.objectContaining({ layout: "iuid", excluded: true }),
        expect.objectContaining({ layout: "luuid", excluded: true }),
        expect.objectContaining({
          layout: "hotguid",
          excluded: false,
          mintedAt: "2022-10-13T10:40:00.000Z",
          fields: { mintedAt: "1665657600", machine: "11189196", process: "258", counter: "66051", shardKey: "208" },
        }),
        expect.objectContaining({ layout: "hotguid-sql", excluded: true }),
      ]),
      forms: [{ form: "uuid" }, { form: "hex" }, { form: "hotguid-sql", text: "000000d0-0302-0102-01cc-6347eb00bbaa" }],
    });
    expect(only).not.toHaveProperty("decision");
    expect(only).not.toHaveProperty("error");
  });

  it("gives an LUUID its short key", async () => {
    const { stdout, code } = await waybill(["explain", "--no-table", "00000023-122e-6d0b-aaf4-6122922ea945"], {
      files,
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/ {4}short-key +23122e +luuid\n/);
    expect(stdout).toContain("group 3339 (d0b)");
  });

  it.each([
    {
      id: "23122e",
      reason: "unknown-id",
      candidates: [
        { layout: "flake", excluded: true },
        { layout: "luuid-short", fields: { primaryKey: "2298414" } },
      ],
    },
    { id: "01990f04d900-8005-8040-000000000001", reason: "malformed-id", candidates: [] },
    { id: "", reason: "malformed-id", candidates: [] },
    {
      id: "ffffffff-ffff-9fff-bfff-ffffffffffff",
      reason: "unknown-id",
      candidates: UUID_LAYOUTS.map(() => ({ excluded: true })),
    },
  ])("$id is no ID: $reason", async ({ id, reason, candidates }) => {
    const { stdout, code } = await waybill(["explain", "--json", id]);
    expect(code).toBe(1);
    expect(objectsOf(stdout)).toMatchObject([{ text: id, candidates, error: { reason } }]);
  });

  it.each([
    {
      text: "DC4DD2Q8DI13PJI0NBGG",
      hint: "xid almost reads it: character 1 is not allowed there; did you mean dc4dd2q8di13pji0nbgg?",
    },
    {
      text: "01ARZ3NDEKTSV4RRFFQ69G5FAV.",
      hint: "ulid almost reads it: character 27 is not allowed there; did you mean 01ARZ3NDEKTSV4RRFFQ69G5FAV?",
    },
    {
      text: "O1ARZ3NDEKTSV4RRFFQ69G5FAV",
      hint: "ulid almost reads it: character 1 is not allowed there; did you mean 01ARZ3NDEKTSV4RRFFQ69G5FAV?",
    },
    { text: "CJLD2CJXH0000QZRMN831I7RN", hint: "cuid almost reads it: " },
    { text: "nonsense", hint: "" },
  ])("shows the fault of each layout that almost reads the text: $text", async ({ text, hint }) => {
    for (const args of [
      ["explain", text],
      ["explain", "--no-table", text],
    ]) {
      const { stderr, code } = await waybill(args);
      expect(code).toBe(1);
      expect(stderr).toContain(hint);
    }
    const { stdout } = await waybill(["explain", "--json", text]);
    const [{ almost }] = objectsOf(stdout) as [{ almost: readonly { readonly layout: string }[] }];
    expect(almost.length > 0).toBe(hint !== "");
  });

  it("does so for the layouts of a table too", async () => {
    const table = {
      ...DECLARED_TABLE,
      entities: { job: { path: "/jobs/:id", ids: [{ layout: "xid" }] } },
      layouts: {},
      routes: [],
      default: "eu",
    };
    const { stderr } = await waybill(["explain", "DC4DD2Q8DI13PJI0NBGG"], { files: tableFiles(table) });
    expect(stderr).toContain("xid almost reads it: ");
  });

  it("names the fault of the text form that is nearest", async () => {
    const { stderr, code } = await waybill(["explain", "6886a1843012700", "--layout", "flake-id"]);
    expect(code).toBe(1);
    expect(stderr).toContain("flake-id: the text has 15 characters instead of 16\n");
    expect(stderr).toContain("did you mean 06886a1843012700?");
  });

  it("names the text that was probably meant", async () => {
    const { stderr, code } = await waybill(["explain", "01990f04d90080058040000000000001"]);
    expect(code).toBe(1);
    expect(stderr).toContain(`did you mean ${ORDER_KZ}?`);
  });

  it("reads each layout's least ID of 2026 in every text form, and prints all of its texts", async () => {
    const ids = everyLayout.flatMap((layout) => {
      const range = periodRange(layout, Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 2));
      if (!range.ok) return [];
      const texts = textsOf(layout, range.value.least);
      return Object.entries(texts).map(([form, text]) => ({ layout: layout.name, form, text, texts }));
    });
    expect(ids.length).toBeGreaterThan(30);
    const { stdout, code } = await waybill(["explain", "--json"], {
      stdin: ids.map(({ text }) => `${text}\n`).join(""),
    });
    expect(code).toBe(0);
    const explained = objectsOf(stdout);
    for (const [index, { layout, text, texts }] of ids.entries()) {
      const written = Object.entries(texts).map(([form, own]) => ({ layout, form, text: own }));
      expect(explained[index]).toMatchObject({
        text,
        candidates: expect.arrayContaining([
          expect.objectContaining({ layout, excluded: false, mintedAt: "2026-01-01T00:00:00.000Z" }),
        ]),
        forms: expect.arrayContaining(written),
      });
    }
  });

  it("lists the layouts that nothing tells apart, and rules the others out in a line each", async () => {
    const { stdout, code } = await waybill(["explain", "1541815603606036480"]);
    expect(code).toBe(0);
    expect(stdout).toContain("  one of snowflake, discord-snowflake, sharding-id: the text is ambiguous\n");
    expect(stdout).toMatch(/^ {2}ruled out\n {4}sonyflake +minted at 2043-10-15T12:01:53.620Z, after /m);
  });

  it("reads an ID as the layout that a hint names, whatever its time", async () => {
    const { stdout, stderr, code } = await waybill(["explain", "--json", "--layout", "ulid", `${"0".repeat(25)}1`], {
      files,
    });
    expect({ stderr, code }).toEqual({ stderr: "reading IDs only as ulid; no route is shown\n", code: 0 });
    const [only] = objectsOf(stdout);
    expect(only).toMatchObject({
      candidates: [{ layout: "ulid", excluded: false, fields: { mintedAt: "0", random: "1" } }],
      forms: [{ form: "base32" }, { form: "uuid", text: "00000000-0000-0000-0000-000000000001" }, { form: "hex" }],
    });
  });

  it.each([
    { layout: "ulid", id: "17", error: "  ulid: the text has 2 characters instead of 26\n", code: 1 },
    { layout: "uuid-v7", id: ORDER_KZ, error: "can be read, but every matching layout is excluded", code: 1 },
    { layout: "ulidd", id: "17", error: 'There is no layout "ulidd"; did you mean ulid' },
  ])("says why $id is no $layout", async ({ layout, id, error, code: fault = 64 }) => {
    const { stderr, code } = await waybill(["explain", "--layout", layout, id]);
    expect(code).toBe(fault);
    expect(stderr).toContain(error);
  });

  it.each([
    ["4d88e15b60f486e428412dc9", "xid", "9m4e2mr0ui3e8a215n4g"],
    ["C232AB00-9414-11EC-B3C8-9F6BDECED846", "uuid-v6", "1ec9414c-232a-6b00-b3c8-9f6bdeced846"],
  ])("writes %s as %s too", async (id, form, text) => {
    const { stdout } = await waybill(["explain", "--json", id]);
    expect(objectsOf(stdout)).toMatchObject([
      { forms: expect.arrayContaining([expect.objectContaining({ form, text })]) },
    ]);
  });

  it("reads another table than the one in the folder", async () => {
    const table = "/elsewhere/other.json";
    files.write(table, JSON.stringify({ ...DECLARED_TABLE, routes: [{ when: {}, region: "us" }] }));
    const { stdout } = await waybill(["explain", "--json", "--table", table, ORDER_KZ], { files });
    expect(objectsOf(stdout)).toMatchObject([{ decision: { region: "us" } }]);
  });
});

describe.concurrent("what an error leaves to say", () => {
  it("names the layout that only a time rules out", async () => {
    const { stderr } = await waybill(["explain", "--no-table", "8d5c2f00-0d5b-11d2-8f1e-00a0c91e6bf6"]);
    expect(stderr).toContain("only the time in it rules out uuid-v1; confirm with --layout uuid-v1\n");
  });

  it("ends a sentence before the next", async () => {
    const { stderr } = await waybill(["layout", "nosuch"]);
    expect(stderr).toBe('error: There is no layout "nosuch". `waybill layout --names` lists all.\n');
  });

  it("names the prefix that is missing, and counts one character as one", async () => {
    const rows = [{ field: "random", bits: 64, role: "random" }];
    const files = tableFiles({
      regions: { eu: { origins: [{ url: "http://eu.test" }] } },
      entities: { ticket: { path: "/tickets/:id", ids: [{ layout: "ticket" }, { layout: "ulid" }] } },
      layouts: { ticket: { rows, text: "hex", prefix: "tkt_" } },
      routes: [],
      default: "eu",
    });
    const { stderr } = await waybill(["explain", "1"], { files });
    expect(stderr).toContain("ticket: it must begin with tkt_\n");
    expect(stderr).toContain("ulid: the text has 1 character instead of 26\n");
    const { stdout } = await waybill(["layout", "ticket", "--table", "routing-table.json"], { files });
    expect(stdout.split("\n")[0]).toBe("ticket");
  });
});

describe.concurrent("explain --layout with a table that has the layout", () => {
  const twoKinds = tableFiles({
    regions: { eu: { origins: [{ url: "http://eu.test" }] }, us: { origins: [{ url: "http://us.test" }] } },
    entities: {
      tweet: { path: "/tweets/:id", ids: [{ layout: "snowflake" }] },
      message: { path: "/messages/:id", ids: [{ layout: "discord-snowflake" }] },
    },
    routes: [{ when: { entity: "tweet" }, region: "eu" }],
    default: "us",
  });

  it("previews what the field id-layout leads to, which the error names", async () => {
    const without = await waybill(["explain", "1541815603606036480"], { files: twoKinds });
    expect(without.stderr).toContain("send the header id-layout: snowflake or discord-snowflake, or use the path");
    const hinted = ["explain", "--json", "--layout", "discord-snowflake", "1541815603606036480"];
    const { stdout, stderr, code } = await waybill(hinted, { files: twoKinds });
    expect({ stderr, code }).toEqual({
      stderr: "reading IDs only as discord-snowflake, as with id-layout: discord-snowflake\n",
      code: 0,
    });
    expect(objectsOf(stdout)).toMatchObject([{ decision: { entity: "message", region: "us" } }]);
  });
});
