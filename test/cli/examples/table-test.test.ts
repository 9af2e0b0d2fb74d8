import { describe, expect, it } from "vitest";
import { CHECKOUT, sampleTable } from "../../routing/tables.ts";
import { objectsOf, waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";

const ORDER = "019e807a-ec00-8005-805e-2d8e9c7ac355";
const MOVED = "01990f04-d900-8005-8040-000000000002";
const GONE = "01990f04-d900-8005-8040-000000000003";
const UUID = "8e0b5a1c-6c3a-4b6e-9d0f-0a1b2c3d4e5f";

const sample = sampleTable();
const TABLE = {
  ...sample,
  entities: {
    ...sample.entities,
    shop: { path: "/shops/:id", directory: "slug" },
    file: { path: "/files/:id", ids: [{ layout: "uuid-v4" }] },
    note: { path: "/notes/:id", ids: [{ layout: "ulid" }], any: "redirect" },
    locale: { path: "/t/:id", hosts: ["de.example.com"], ids: [{ layout: "uuid-v7" }] },
  },
  directory: { slug: { key: { text: "lower" } }, old: { key: { layout: "uuid-v4" }, unknown: "us" } },
  routes: [
    ...sample.routes,
    { when: { layout: "uuid-v4" }, directory: "old" },
    { when: { entity: "note", mintedBefore: "2016-08-01T00:00:00Z" }, region: "us" },
    { when: { entity: ["note", "locale"] }, region: "eu" },
  ],
  moved: { [MOVED]: "us" },
  gone: { [GONE]: { epoch: 4 } },
  withoutId: { checkout: CHECKOUT },
};

const test = (examples: unknown, ...args: readonly string[]) =>
  waybill(["table", "test", ...args], { files: tableFiles(TABLE, { "examples.json": JSON.stringify(examples) }) });

const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const V7 = "019e807a-ec00-7005-805e-2d8e9c7ac355";

describe.concurrent("waybill table test", () => {
  it.each([
    { path: `/orders/${ORDER}`, region: "ap", entity: "order", route: "/routes/1" },
    { path: `/orders/${ORDER}/events?full=1`, region: "ap" },
    { path: `/any/${ORDER}`, region: "ap", entity: "order", route: "/routes/1" },
    { path: `/orders/${MOVED}`, region: "us", route: `/moved/${MOVED}` },
    { path: `/orders/${GONE}`, problem: "entity-gone", entity: "order" },
    { path: "/orders/17", problem: "malformed-id", entity: "order" },
    { path: `/rides/${ORDER}`, problem: "wrong-entity" },
    { path: "/nothing", problem: "unrouted-path" },
    { path: "/checkout", headers: { "X-Order": ORDER }, region: "ap", entity: "checkout", route: "/routes/1" },
    { path: "/checkout", body: { order: ORDER }, region: "ap", route: "/routes/1" },
    { path: "/checkout", body: `{"order":"${ORDER}"}`, region: "ap" },
    {
      path: "/checkout",
      body: { order: ORDER },
      headers: { "content-type": "text/plain" },
      problem: "id-unreadable",
    },
    { path: "/checkout", claims: { order: ORDER }, region: "ap" },
    { path: "/checkout", headers: { authorization: "Bearer x.y.z" }, problem: "authentication-unavailable" },
    { path: "/checkout", host: "us.example.com", region: "us" },
    { path: "/checkout", clientCountry: "KZ", region: "ap" },
    { path: "/checkout", problem: "region-unknown" },
    { path: "/shops/ACME", directory: { slug: { acme: "eu" } }, region: "eu", route: "/directory/slug" },
    { path: "/shops/acme", directory: { slug: { ACME: "us", other: "eu" } }, region: "us" },
    { path: "/shops/acme", directory: { slug: { acme: null } }, problem: "unknown-key" },
    { path: "/shops/acme", directory: { slug: { acme: "mars" } }, problem: "unassigned-key" },
    { path: `/files/${UUID}`, directory: { old: { [UUID]: "eu" } }, region: "eu", route: "/directory/old" },
    { path: `/files/${UUID}`, directory: { old: { [UUID.toUpperCase()]: "eu" } }, region: "eu" },
    { path: `/any/${UUID}`, directory: { old: { [UUID]: null } }, region: "us" },
    { path: `/notes/${ULID}`, region: "us" },
    { path: `/any/${ULID}`, redirect: `/notes/${ULID}`, region: "us" },
    { path: `/t/${V7}`, host: "de.example.com", region: "eu", entity: "locale" },
    { path: `/t/${V7}`, problem: "unrouted-path" },
    { path: `/t/${V7}`, host: "de.example.com", at: "2026-01-01T00:00:00Z", problem: "unknown-id" },
    { path: `/orders/${ORDER}`, headers: { "id-layout": "ulid" }, problem: "malformed-id" },
    { path: `/orders/${ORDER}`, headers: { "id-layout": "uild" }, problem: "unknown-name" },
    { path: `/orders/${ORDER}`, method: "delete", region: "ap" },
    { path: `/orders/${ORDER}`, method: "TRACE", problem: "method-not-allowed" },
  ])("as expected: %j", async (example) => {
    const { stdout, stderr, code } = await test({ examples: [example] }, "--json");
    const [found] = objectsOf(stdout);
    expect({ differences: found?.["differences"], stderr, code }).toEqual({ differences: [], stderr: "", code: 0 });
  });

  it.each([
    [{ path: `/orders/${ORDER}`, region: "us" }, ["its region is ap, not us"]],
    [
      { path: `/orders/${ORDER}`, region: "app" },
      ["its region is ap, not app", "the table has no region app; did you mean ap?"],
    ],
    [{ path: `/orders/${ORDER}`, region: "ap", route: "/routes/2" }, ["it is decided by /routes/1, not /routes/2"]],
    [{ path: `/orders/${ORDER}`, region: "ap", entity: "ride" }, ["its path belongs to order, not ride"]],
    [{ path: `/orders/${ORDER}`, problem: "unknown-id" }, ["it is not refused, not unknown-id: its region is ap"]],
    [
      { path: "/orders/17", region: "ap" },
      ["it is refused with malformed-id", '"17" is not an ID of any layout allowed here.'],
    ],
    [
      { path: "/orders/17", problem: "unknown-id" },
      ["it is refused with malformed-id, not unknown-id", '"17" is not an ID of any layout allowed here.'],
    ],
    [
      { path: "/shops/acme", directory: { slug: { other: null } }, region: "eu" },
      [
        'directory slug is asked for "acme": say its region by "directory": {"slug":{"acme":"REGION"}}, or null where it is absent',
      ],
    ],
    [
      { path: "/checkout", host: "us.example.com", region: "us", route: "/routes/0" },
      ["no entry of the table decides by an ID, not /routes/0: its region is us by host *.example.com"],
    ],
    [{ path: `/any/${ORDER}`, redirect: "/orders" }, ["it is not redirected, not /orders: its region is ap"]],
    [{ path: `/orders/${ORDER}`, lists: "order" }, ["it lists nothing, not order: its region is ap"]],
  ])("different: %j", async (example, differences) => {
    const { stdout, code } = await test({ examples: [example] }, "--json");
    expect(objectsOf(stdout)).toMatchObject([{ differences }]);
    expect(code).toBe(2);
  });

  it("prints each example, with the place that decides, and a sum", async () => {
    const examples = [
      { path: `/orders/${ORDER}`, region: "ap" },
      { name: "a moved order", path: `/orders/${MOVED}`, region: "ap" },
    ];
    const { stdout, stderr, code } = await test({ examples });
    expect(stdout.replaceAll(/json:\d+/g, "json:LINE")).toBe(
      [
        `✓ GET /orders/${ORDER} → ap (/routes/1, routing-table.json:LINE)`,
        `✗ a moved order → us (/moved/${MOVED}, routing-table.json:LINE)`,
        `    GET /orders/${MOVED}`,
        "    its region is us, not ap",
        "2 examples: 1 as expected, 1 different",
        "",
      ].join("\n"),
    );
    expect({ stderr, code }).toEqual({ stderr: "", code: 2 });
    expect((await test({ examples: examples.slice(0, 1) })).stdout).toContain("1 example, all as expected\n");
  });

  it("has a time and directories for all, and each example its own", async () => {
    const all = { at: "2026-01-01T00:00:00Z", directory: { slug: { acme: "eu", other: "us" } } };
    const examples = [
      { path: "/shops/acme", region: "eu" },
      { path: "/shops/acme", directory: { slug: { ACME: "us" } }, region: "us" },
      { path: "/shops/other", directory: { slug: { ACME: "us" } }, region: "us" },
      { path: `/t/${V7}`, host: "de.example.com", problem: "unknown-id" },
      { path: `/t/${V7}`, host: "de.example.com", at: "2026-09-01T00:00:00Z", region: "eu" },
    ];
    expect((await test({ ...all, examples }, "--json")).code).toBe(0);
  });

  it.each([
    [{}, '/examples: "examples" is missing; add it.'],
    [{ examples: [] }, "/examples: There is no example; add one."],
    [{ exmples: [{ path: "/a", region: "eu" }] }, '/exmples: "exmples" is not allowed here; write "examples"'],
    [{ examples: [{ pth: "/a", region: "eu" }] }, '/examples/0/pth: "pth" is not allowed here; write "path"'],
    [{ examples: [{ path: "/a", regoin: "eu" }] }, '/examples/0/regoin: "regoin" is not allowed here; write "region"'],
    [{ examples: [{ path: "/a" }] }, "/examples/0: It says nowhere what must happen; add `region` or `problem`"],
    [{ examples: [{ path: "/a", entity: "order" }] }, "/examples/0: It says nowhere what must happen"],
    [{ examples: [{ path: "/a", problem: "malformd-id" }] }, 'no problem type "malformd-id"; write "malformed-id".'],
    [{ examples: [{ path: "/a", problem: "nope" }] }, "docs/reference/problems.md lists all"],
    [{ examples: [{ path: "/a", problem: "unknown-id", region: "eu" }] }, "A request with a problem has no region"],
    [{ examples: [{ path: "https://x/a", region: "eu" }] }, "Write a path that begins with /"],
    [{ examples: [{ path: "/a", region: "eu", at: "2026-02-30T00:00:00Z" }] }, "There is no such day or hour"],
    [{ at: "2026-02-30T00:00:00Z", examples: [{ path: "/a", region: "eu" }] }, "/at: There is no such day or hour"],
    [{ examples: [{ path: "/a", region: "eu", at: "yesterday" }] }, "Write a time with its offset"],
    [{ examples: [{ path: "/a", region: "eu", method: "get", body: "x" }] }, "A get has no body"],
    [{ examples: [{ path: "/a", region: "eu", headers: { "x y": "1" } }] }, "Write the name of a header"],
    [{ examples: [{ path: "/a", region: "eu", headers: { x: "1\r\n2" } }] }, "A header has one line"],
    [[], "(whole file): Expected an object, found a list"],
    ["x", "Expected Object, found"],
    [{ examples: [[]] }, "/examples/0: Expected an object, found a list"],
    [{ examples: [{ path: "/a", region: "eu", headers: ["x"] }] }, "/examples/0/headers: Expected an object"],
    [{ examples: [{ path: "/a", region: "eu", directory: { slug: ["x"] } }] }, "/examples/0/directory/slug: Expected"],
  ])("a fault: %j", async (file, message) => {
    const { stdout, stderr, code } = await test(file);
    expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^examples\.json:1:\d+: .*\n(.*\n)*error: examples\.json has no valid examples: \d fault/);
    const json = await test(file, "--json");
    expect(objectsOf(json.stdout)[0]).toMatchObject({ file: "examples.json", line: 1 });
    expect(json.code).toBe(1);
  });

  it("needs both files, and reads one of them from stdin", async () => {
    const files = tableFiles(TABLE);
    const absent = await waybill(["table", "test"], { files });
    expect(absent).toMatchObject({ code: 1, stdout: "" });
    expect(absent.stderr).toContain("examples.json cannot be read: no such file");
    const stdin = JSON.stringify({ examples: [{ path: `/orders/${ORDER}`, region: "ap" }] });
    expect((await waybill(["table", "test", "-"], { files, stdin })).code).toBe(0);
    const both = await waybill(["table", "test", "-", "--table", "-"], { files, stdin });
    expect(both).toMatchObject({ code: 64, stderr: "error: only one of the table and the examples can be stdin\n" });
    const faulty = await waybill(["table", "test", "--json"], { files: tableFiles({ ...TABLE, defualt: "eu" }) });
    expect(objectsOf(faulty.stdout)).toMatchObject([{ pointer: "/defualt" }]);
  });

  it("takes comments, as the table does, and paints at a terminal", async () => {
    const text = `{ // first\n  "examples": [{ "path": "/orders/${ORDER}", "region": "us", },],\n}`;
    const files = tableFiles(TABLE, { "examples.json": text });
    const { stdout, code } = await waybill(["table", "test"], { files, isColoured: true });
    expect(code).toBe(2);
    expect(stdout).toContain("\u001b[31m✗\u001b[39m GET");
  });
});
