import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { copyKey, copyPageKey } from "../../../src/features/directory/table/copy-format.ts";
import { packKey, pageKey } from "../../../src/features/packs/table/pack.ts";
import { bodyKey, formKey, POINTER_KEY } from "../../../src/formats/kv.ts";
import { loadTable } from "../../../src/routing/index.ts";
import { objectsOf, waybill } from "../fake-runtime.ts";
import { CWD, MemoryFiles, tableFiles } from "../memory-files.ts";

const files = tableFiles();

describe.concurrent("waybill table check", () => {
  it.each(["build", "build/"])("names the table in a folder that is given in its place: %s", async (folder) => {
    const files = MemoryFiles.of({ "build/routing-table.json": "{}", "build/worker/worker.js": "" });
    const { stderr, code } = await waybill(["table", "check", folder], { files });
    expect(code).toBe(1);
    expect(stderr).toMatch(/ cannot be read: .*; give the table in it, build\/routing-table\.json\n$/);
  });

  const text = { key: { text: "nfc" } };
  it.each([
    [["slugs", "Slugs"], ["/directory/Slugs: It differs from slugs in case alone"]],
    [
      ["a-B", "A-b", "A-B", "other"],
      ["/directory/A-b: It differs from a-B in case alone", "/directory/A-B: It differs from a-B in case alone"],
    ],
    [["slug", "slugs", "Slug_"], []],
  ])("refuses directories whose copies would be one file on macOS and Windows: %o", async (names, lines) => {
    const directory = Object.fromEntries(names.map((name) => [name, text]));
    const entities = { order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }] } };
    const regions = { eu: { origins: [{ url: "https://eu.example" }] } };
    const declared = { regions, entities, directory, routes: [], default: "eu" };
    const files = tableFiles(declared);
    const { stdout, code } = await waybill(["table", "check", "routing-table.json"], { files });
    const found = stdout.split("\n").filter((line) => line.includes("/directory/"));
    expect([code, found.length]).toEqual([lines.length === 0 ? 0 : 1, lines.length]);
    for (const [at, line] of lines.entries()) expect(found[at]).toContain(line);
    // A table that is in force stays so.
    expect(loadTable(declared, 1).ok).toBe(true);
  });

  it("need not look at other keys of KV: no name of a user stands in them", () => {
    const digest = "0123456789abcdef".repeat(4);
    const keys = [POINTER_KEY, bodyKey(digest), formKey(digest, digest), packKey(digest), pageKey(digest, 7)];
    for (const key of [...keys, copyKey(digest), copyPageKey(digest, 7)]) expect(key).toBe(key.toLowerCase());
  });

  it("sums a good table up in one line, with the digest under which it is published", async () => {
    const digest = createHash("sha256").update(files.bytes("routing-table.json")).digest("hex");
    const summary = await waybill(["table", "check", "routing-table.json"], { files });
    expect({ ...summary, stdout: summary.stdout.split("\n")[0] }).toEqual({
      stdout: `routing-table.json: no faults; 3 regions, 4 entities, 3 layouts, 6 routes, 0 moved; sha256 ${digest}`,
      stderr: "",
      code: 0,
    });
    const { stdout } = await waybill(["table", "check", "--json", "routing-table.json"], { files });
    expect(objectsOf(stdout)).toEqual([
      {
        file: "routing-table.json",
        regions: 3,
        entities: 4,
        layouts: 3,
        withoutId: 0,
        routes: 6,
        moved: 0,
        moving: 0,
        gone: 0,
        digest,
        ambiguities: [expect.objectContaining({ layouts: ["luuid", "hotguid"], isRefused: true })],
        unusedPacks: [],
        unusedDirectories: [],
        unusedRegions: [],
        warnings: [expect.objectContaining({ pointer: "/countries/AQ", kind: "country-without-route" })],
      },
    ]);
  });

  it("counts the paths of a table without entities", async () => {
    const regions = { eu: { origins: [{ url: "https://eu.internal.example.com" }] } };
    const app = { path: ["/", "/**"], sources: [{ region: "eu" }] };
    const alone = await waybill(["table", "check", "routing-table.json"], {
      files: tableFiles({ regions, routes: [], withoutId: { app } }),
    });
    expect(alone).toMatchObject({ code: 0, stderr: "" });
    expect(alone.stdout).toContain("1 region, 0 entities, 0 layouts, 2 paths without an ID, 0 routes, 0 moved;");
    const nothing = await waybill(["table", "check", "routing-table.json"], {
      files: tableFiles({ regions, routes: [] }),
    });
    expect(nothing.code).toBe(1);
    expect(nothing.stdout + nothing.stderr).toContain("routes nothing; add `entities`, or `withoutId`");
  });

  const eu = { origins: [{ url: "https://eu.internal.example.com" }] };
  const entities = { order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }] } };
  const slug = { key: { text: "nfc" } };
  const keyed = { shop: { path: "/shops/:id", ids: [], directory: "slug" } };
  const base = { regions: { eu }, entities, routes: [], default: "eu" };

  it.each([
    [
      { ...base, directory: { slug } },
      { unusedDirectories: ["slug"], unusedRegions: [] },
    ],
    [{ ...base, directory: { slug }, entities: { ...entities, ...keyed } }, { unusedDirectories: [] }],
    [
      {
        ...base,
        directory: { slug: { key: { layout: "iuid" } } },
        routes: [{ when: { layout: "iuid" }, directory: "slug" }],
      },
      { unusedDirectories: [] },
    ],
    [
      { ...base, regions: { eu, us: eu } },
      { unusedDirectories: [], unusedRegions: ["us"] },
    ],
    [{ ...base, regions: { eu: { ...eu, failover: ["us"] }, us: eu } }, { unusedRegions: [] }],
    [{ ...base, regions: { eu, us: eu }, routes: [{ when: { layout: "iuid" }, region: "us" }] }, { unusedRegions: [] }],
    [
      { ...base, regions: { eu, us: eu }, withoutId: { app: { path: "/", sources: [{ header: "x" }] } } },
      { unusedRegions: [] },
    ],
  ])("notes what is declared and unused: case %#", async (declared, unused) => {
    const given = tableFiles(declared);
    const json = await waybill(["table", "check", "--json", "routing-table.json"], { files: given });
    expect([json.code, objectsOf(json.stdout)[0]]).toMatchObject([0, unused]);
    const text = await waybill(["table", "check", "routing-table.json"], { files: given });
    const notes = text.stdout.split("\n").filter((line) => / is unused: |^warning: .* names region /.test(line));
    expect(notes).toHaveLength(Object.values(unused).flat().length);
  });

  it("takes routing-table.json of the folder, and says so", async () => {
    const { stdout, stderr, code } = await waybill(["table", "check"], { files });
    expect({ stderr, code }).toEqual({
      stderr: "note: no file is named, so it is routing-table.json of this folder\n",
      code: 0,
    });
    expect(stdout).toBe((await waybill(["table", "check", "routing-table.json"], { files })).stdout);
    const none = await waybill(["table", "check"], { files: MemoryFiles.of({ "other.json": "{}" }) });
    expect(none).toMatchObject({ stdout: "", code: 64 });
  });

  it("exits with 2 for a warning if --strict says so, and with 0 without one", async () => {
    expect((await waybill(["table", "check", "--strict"], { files })).code).toBe(2);
    const json = await waybill(["table", "check", "--strict", "--json"], { files });
    expect(json.code).toBe(2);
    expect(objectsOf(json.stdout)[0]).toMatchObject({
      warnings: [{ kind: "country-without-route", pointer: "/countries/AQ", line: expect.any(Number) }],
    });
    expect((await waybill(["table", "check", "--strict"], { files: tableFiles(base) })).code).toBe(0);
  });

  it("names the line of a route that an earlier one hides in part", async () => {
    const routes = [
      { when: { country: "KZ" }, region: "eu" },
      { when: { country: ["KZ", "UZ"] }, region: "eu" },
    ];
    const text = `{"regions": ${JSON.stringify({ eu })}, "countries": {"KZ": 5, "UZ": 7}, "default": "eu",
"entities": ${JSON.stringify(entities)}, // a comment
"routes": [${JSON.stringify(routes[0])},
  ${JSON.stringify(routes[1])}]}`;
    const { stdout } = await waybill(["table", "check"], { files: MemoryFiles.of({ "routing-table.json": text }) });
    expect(stdout.split("\n")[1]).toBe(
      "warning: routing-table.json:4:3: /routes/1: Its country KZ never reaches it: /routes/0 takes them first; move it up, or remove what it cannot get.",
    );
  });

  it("passes over a byte order mark, as if it were not there", async () => {
    const text = new TextDecoder().decode(files.bytes("routing-table.json"));
    const [bare, marked] = await Promise.all([
      waybill(["table", "check", "--json", "-"], { stdin: text }),
      waybill(["table", "check", "--json", "-"], { stdin: `\ufeff${text}` }),
    ]);
    expect([marked.code, marked.stdout]).toEqual([0, bare.stdout]);
  });

  it("notes which IDs no text tells apart, where, and what does", async () => {
    const { stdout } = await waybill(["table", "check", "routing-table.json"], { files });
    const [, warning, note, example, ...hints] = stdout.trimEnd().split("\n");
    expect(warning).toMatch(/^warning: routing-table\.json:\d+:\d+: \/countries\/AQ: No route takes IDs of AQ/);
    expect(note).toBe(
      "note: on /any/:id, no bit and no time tells every text of luuid from one of hotguid: rejected as ambiguous",
    );
    const [, id = ""] = /^ {2}for example ([0-9a-f-]{36})$/.exec(example ?? "") ?? [];
    expect((await waybill(["explain", id], { files })).stderr).toContain("can be read in several ways");
    expect(hints).toEqual([
      "  distinguished by path: /person/:id, /parcels/:id",
      "  distinguished by a header: id-layout: luuid or hotguid",
    ]);
  });

  it("notes that a layout named in the pattern tells, and which pattern names one", async () => {
    const path = ["/boxes/:id", { path: "/old/:id", layout: "snowflake" }];
    const box = { path, ids: [{ layout: "snowflake" }, { layout: "sonyflake" }] };
    const regions = { eu: { origins: [{ url: "http://eu.test" }] } };
    const folder = tableFiles({ regions, entities: { box }, routes: [], default: "eu" });
    const { stdout } = await waybill(["table", "check", "routing-table.json"], { files: folder });
    const hint = "  distinguished by a layout named in the pattern: snowflake or sonyflake, as /old/:id does";
    expect(stdout.split("\n")).toContain(hint);
  });

  it("notes which entities need keys for their public IDs", async () => {
    const order = { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }], public: true };
    const regions = { eu: { origins: [{ url: "http://eu.test" }] } };
    const folder = tableFiles({ regions, entities: { order }, routes: [], default: "eu" });
    const { stdout } = await waybill(["table", "check", "routing-table.json"], { files: folder });
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/^note: order: public IDs need the secret PUBLIC_ID_KEYS/);
    const noteWith = async (keys: string): Promise<string | undefined> => {
      const options = { files: folder, env: { PUBLIC_ID_KEYS: keys } };
      return (await waybill(["table", "check", "routing-table.json"], options)).stdout.trimEnd().split("\n").at(-1);
    };
    const key = { id: "a", key: Buffer.alloc(32, 7).toString("base64") };
    expect(await noteWith(JSON.stringify({ sealed: [key] }))).toMatch(/^note: order: PUBLIC_ID_KEYS .* has keys for/);
    expect(await noteWith(JSON.stringify({ compatible: [key] }))).toMatch(/^note: /);
    expect(await noteWith(JSON.stringify({ compatible: [key] }))).not.toMatch(/ has keys for/);
    expect(await noteWith("{")).toBe("note: PUBLIC_ID_KEYS is not a JSON object.");
  });

  const FAULTY = `{
  "regions": {
    "eu": { "origins": [{ "url": "http://eu.test" }] },
    "us": { "origins": [] },
    "eu": { "origins": [{ "url": "ftp://eu.test" }] }
  },
  "entities": {
    "order": {
      "path": "/orders/:id",
      "ids": [{ "layout": "iuid", "service": 1 }, { "layout": "a/b~c" }]
    }
  },
  "routes": [
    { "when": { "layout": "iuid" },
      "region": "mars" }
  ],
  "extra": true
}
`;

  it("lists all faults at once, each with its line, column, pointer and remedy", async () => {
    files.write("faulty.json", FAULTY);
    const { stdout, stderr, code } = await waybill(["table", "check", "faulty.json"], { files });
    expect(code).toBe(1);
    const lines = stdout.trimEnd().split("\n");
    expect(stderr).toBe(`faulty.json: ${lines.length} faults\n`);
    expect(lines.map((line) => line.split(": ").slice(0, 2).join(" "))).toEqual([
      "faulty.json:4:13 /regions/us/origins",
      "faulty.json:5:5 /regions/eu",
      "faulty.json:5:27 /regions/eu/origins/0/url",
      "faulty.json:10:53 /entities/order/ids/1/layout",
      "faulty.json:15:7 /routes/0/region",
      "faulty.json:17:3 /extra",
    ]);
    expect(stdout).toContain(
      '"eu" is duplicated, on lines 3 and 5, and only the last one would count; remove or rename one.',
    );
    expect(stdout).toContain("A region needs at least one origin.");
  });

  it("says that a table has at least as many faults as a report lists", async () => {
    const routes = Array.from({ length: 3_000 }, () => ({ when: { layout: "iuid" }, region: "mars" }));
    const table = files.json("routing-table.json");
    const stdin = JSON.stringify({ ...table, routes });
    const { stdout, stderr } = await waybill(["table", "check", "-"], { files, stdin });
    expect(stdout.trimEnd().split("\n").length).toBe(1_000);
    expect(stderr).toBe("stdin: at least 1,000 faults; the check stopped there\n");
    const diff = await waybill(["table", "diff", "routing-table.json", "-"], { files, stdin });
    expect(diff.stderr).toMatch(/valid routing table: at least 1,000 faults; the check stopped there\n$/);
  });

  it("names the whole path of a file that is not there", async () => {
    const { stderr, code } = await waybill(["table", "check", "../nowhere/table.json"], { files });
    const path = resolve(CWD, "../nowhere/table.json");
    expect({ stderr, code }).toEqual({
      stderr: `error: ../nowhere/table.json cannot be read: no such file or directory (${path})\n`,
      code: 1,
    });
  });

  it("gives the same faults as JSON", async () => {
    const { stdout, code } = await waybill(["table", "check", "--json", "-"], { stdin: FAULTY });
    expect(code).toBe(1);
    expect(objectsOf(stdout).slice(0, 2)).toEqual([
      {
        file: "stdin",
        line: 4,
        column: 13,
        pointer: "/regions/us/origins",
        kind: "schema",
        message: "A region needs at least one origin.",
      },
      { file: "stdin", line: 5, column: 5, pointer: "/regions/eu", kind: "syntax", message: expect.any(String) },
    ]);
  });

  it.each([
    { name: "two commas before a brace", text: '{\r\n  "regions": {},,\r\n}', place: "2:17: (whole table)" },
    { name: "a comma that is missing", text: '{\n "a": [1 2]}', place: "2:10: /a/0", says: "comma" },
    { name: "an open comment", text: '{ /* note\n"a": 1}', place: "1:3: (whole table)", says: "add `*/`" },
    { name: "a single quote", text: "{'a': 1}", place: "1:2: (whole table)" },
    { name: "an open string", text: '{"a": "x\n}', place: "1:7: /a", says: "closing quote" },
    { name: "an open object", text: '{"a": {"b": 1}', place: "1:15: /a", says: "add `}`" },
    { name: "more after the end", text: "{} {}", place: "1:4: (whole table)" },
    { name: "an unknown word", text: '{"a": yes}', place: "1:7: /a", says: '"yes" is not JSON' },
    { name: "no text", text: " \n", place: "1:1: (whole table)", says: "The file is empty" },
    { name: "a fault behind a byte order mark", text: "\ufeff{'a': 1}", place: "1:2: (whole table)" },
    { name: "two byte order marks", text: "\ufeff\ufeff{}", place: "1:1: (whole table)", says: "is not JSON" },
    {
      name: "bytes that are not UTF-8",
      text: Uint8Array.of(0x7b, 0xff, 0x7d),
      place: "1:1: (whole table)",
      says: "UTF-8",
    },
    { name: "bottomless nesting", text: "[".repeat(100_000), place: "1:257: (whole table)", says: "256 levels" },
    {
      name: "YAML",
      text: "# all\nregions:\n  eu: {}\n",
      place: "1:1: (whole table)",
      says: "YAML and TOML are not read",
    },
    { name: "YAML of two documents", text: "---\n{}", place: "1:1: (whole table)", says: "YAML and TOML are not read" },
    { name: "TOML", text: "// x\n  [regions]", place: "2:3: (whole table)", says: "TOML" },
    { name: "YAML with quotes", text: '"regions":\n  "eu": {}', place: "1:1: (whole table)", says: "begins with `{`" },
    { name: "another value", text: "[]", place: "1:1: /regions", says: "missing" },
  ])("finds $name", async ({ text, place, says }) => {
    const { stdout, stderr, code } = await waybill(["table", "check", "-"], { stdin: text });
    expect(code).toBe(1);
    expect(stdout.split("\n")[0]).toMatch(new RegExp(`^stdin:${place.replace(/[()]/g, "\\$&")}: .*\\.$`));
    expect(stdout).toContain(says ?? "");
    expect(stderr).toMatch(/^stdin: \d+ faults?\n$/);
  });

  it("shows no character of a table to a terminal that would obey it", async () => {
    const name = '"eu\\u001b]0;x\\u0007\\n\\u202e"';
    const { stdout } = await waybill(["table", "check", "-"], { stdin: `{"regions":{${name}:{"origins":[]}}}` });
    expect(stdout).toContain("/regions/eu\\u{1b}]0;x\\u{7}\\u{a}\\u{202e}");
  });

  it("shows the line of a deep duplicate key, and escapes its pointer", async () => {
    const stdin = '{"a": [0, {"x/y": 1,\n\n  "x/y": 2}]}';
    const { stdout } = await waybill(["table", "check", "-"], { stdin });
    expect(stdout).toContain('stdin:3:3: /a/1/x~1y: "x/y" is duplicated, on lines 1 and 3,');
  });

  it("refuses a text that is larger than a table may be", async () => {
    const { stdout, stderr, code } = await waybill(["table", "check", "-"], { stdin: " ".repeat(8 * 1024 * 1024 + 1) });
    expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
    expect(stderr).toContain("error: stdin cannot be read: it is larger than the 8388608 bytes");
  });
});
