import { describe, expect, it } from "vitest";
import { looksLikeId } from "../../../src/cli/commands/contract/findings.ts";
import { run } from "../../../src/cli/program.ts";
import type { Runtime } from "../../../src/cli/runtime.ts";
import { objectsOf, waybill } from "../fake-runtime.ts";
import { CWD, tableFiles } from "../memory-files.ts";
import { AGREEING, contract, findings, TABLE } from "./documents.ts";

describe.concurrent("waybill contract", () => {
  it("finds nothing where document and table agree", async () => {
    expect(await contract(AGREEING)).toEqual({ stdout: "", stderr: "openapi.yaml: 9 paths, 0 findings\n", code: 0 });
  });

  it.each<[what: string, edit: readonly [string, string], found: readonly string[]]>([
    [
      "an ID that no entity reads",
      ["/files/{name}:", "/invoices/{invoiceId}:"],
      ["id-without-entity /invoices/{invoiceId}", "without-id-without-operation /files/**"],
    ],
    [
      "an ID under a path that takes everything",
      ["/files/{name}:", "/files/{fileId}:"],
      ["id-without-entity /files/{fileId}"],
    ],
    [
      "an entity without an operation",
      ["/parcels/{parcel}:", "/files/{x}/y:"],
      ["entity-without-operation /parcels/:id"],
    ],
    [
      "one of an entity's paths without an operation",
      ["/v2/rides/{id}:", "/files/v2:"],
      ["entity-without-operation /v2/rides/:id"],
    ],
    [
      "a path without an ID that no operation has",
      ["  /rides:\n    get: {}\n", ""],
      ["without-id-without-operation /rides"],
    ],
    [
      "an operation that nothing routes",
      ["/files/{name}:", "/login:"],
      ["operation-unrouted /login", "without-id-without-operation /files/**"],
    ],
    ["a method that the table does not take", ["    post: {}", "    delete: {}"], ["operation-unrouted /orders"]],
    [
      "a method of OpenAPI 3.2 that the table does not take",
      ["    post: {}", "    query: {}\n    additionalOperations: { LOCK: {} }"],
      ["operation-unrouted /orders", "operation-unrouted /orders"],
    ],
    [
      "a method that the gateway refuses",
      ["/rides/{id}:\n    get", "/rides/{id}:\n    trace"],
      ["operation-unrouted /rides/{id}"],
    ],
    ["an ID at another place", ["/person/{id}:", "/person/{tenant}/{id}:"], ["id-elsewhere /person/{tenant}/{id}"]],
    [
      "literal text where the entity reads an ID",
      ["/orders/{orderId}/lines/{line_id}:", "/orders/search:"],
      ["literal-for-id /orders/search"],
    ],
    [
      "text around the ID",
      ["/orders/{orderId}/lines/{line_id}:", "/orders/{orderId}.pdf:"],
      ["literal-for-id /orders/{orderId}.pdf"],
    ],
    [
      "the gateway's own paths",
      ["/files/{name}:", "/any/{x}:"],
      ["reserved-path /any/{x}", "without-id-without-operation /files/**"],
    ],
  ])("finds %s", async (_, [from, to], found) => {
    expect(AGREEING).toContain(from);
    const document = AGREEING.replace(from, to);
    expect(await findings(document)).toEqual(found);
  });

  it.each<[what: string, edit: readonly [string, string], pointer: string, reference: string]>([
    [
      "a path of an entity",
      ["/parcels/{parcel}:\n    get: {}", '/parcels/{parcel}: { $ref: "./a.yaml#/parcel" }'],
      "/paths/~1parcels~1{parcel}",
      "./a.yaml#/parcel",
    ],
    [
      "a path without an ID",
      ["/files/{name}:\n    get: {}", '/files/{name}: { $ref: "https://a.test/a.yaml" }'],
      "/paths/~1files~1{name}",
      "https://a.test/a.yaml",
    ],
    [
      "a target that is missing",
      ["/files/{name}:\n    get: {}", '/files/{name}: { $ref: "#/none" }'],
      "/paths/~1files~1{name}",
      "#/none",
    ],
    ["an operation", ["    post: {}", '    post: { $ref: "ops/post.yaml" }'], "/paths/~1orders/post", "ops/post.yaml"],
    [
      "an operation of OpenAPI 3.2",
      ["/files/{name}:\n    get: {}", '/files/{name}:\n    query: { $ref: "q.json" }'],
      "/paths/~1files~1{name}/query",
      "q.json",
    ],
    [
      "a parameter of the path",
      [
        '    parameters: [{ $ref: "#/components/parameters/OrderId" }]',
        '    parameters: [{ $ref: "common.yaml#/OrderId" }]',
      ],
      "/paths/~1orders~1{orderId}/parameters/0",
      "common.yaml#/OrderId",
    ],
    [
      "a schema of such a parameter",
      ['{ $ref: "#/components/schemas/Id" }', '{ $ref: "common.yaml#/Id" }'],
      "/paths/~1orders~1{orderId}/parameters/0",
      "common.yaml#/Id",
    ],
  ])("names what stands in another document and is not compared: %s", async (_, [from, to], pointer, reference) => {
    expect(AGREEING).toContain(from);
    const { stdout, stderr, code } = await contract(AGREEING.replace(from, to), "--json");
    // No other finding: there may be any operation.
    expect(objectsOf(stdout)).toEqual([
      expect.objectContaining({
        kind: "reference-unread",
        pointer,
        message: expect.stringMatching(/^\S+ is not in this document/),
      }),
    ]);
    expect(stdout).toContain(reference);
    expect([stderr, code]).toEqual(["openapi.yaml: 9 paths, 1 reference not read, 1 finding\n", 2]);
  });

  it("counts the paths of a document whose operations are all references", async () => {
    const elsewhere = AGREEING.replaceAll(/(get|post|delete): \{\}/g, '$1: { $ref: "ops.yaml#/$1" }');
    const { stdout, stderr } = await contract(elsewhere, "--json");
    expect(objectsOf(stdout).every(({ kind }) => kind === "reference-unread")).toBe(true);
    expect(stderr).toBe("openapi.yaml: 9 paths, 10 references not read, 10 findings\n");
  });

  it("asks nothing of references that no path needs", async () => {
    const query = AGREEING.replace(
      "/rides:\n    get: {}",
      '/rides:\n    get: { parameters: [{ $ref: "common.yaml#/Limit" }] }',
    );
    expect(await contract(query)).toMatchObject({ stdout: "", code: 0 });
  });

  it("shows each finding with its place in both files and why a parameter is an ID", async () => {
    const { stdout, stderr, code } = await contract(AGREEING.replace("/parcels/{parcel}:", "/bills/{bill_id}:"));
    expect(stdout.split("\n")).toEqual([
      "openapi.yaml: /paths/~1bills~1{bill_id}: /bills/{bill_id}: {bill_id} looks like an ID (it is named like one), but no entity reads it: no entity routes this path (id-without-entity)",
      "routing-table.json: /entities/parcel/path: /parcels/:id: no operation has this path of parcel (entity-without-operation)",
      "",
    ]);
    expect({ stderr, code }).toEqual({ stderr: "openapi.yaml: 9 paths, 2 findings\n", code: 2 });
  });

  it("lets the user say which parameters are IDs, and which paths are meant", async () => {
    const document = AGREEING.replace("/files/{name}:", "/bills/{number}:");
    expect(await findings(document, "--id-param", "^number$")).toContain("id-without-entity /bills/{number}");
    expect(await findings(document, "--id-param", "^nothing$", "--entity-prefix", "/orders")).toEqual([
      "operation-unrouted /bills/{number}",
    ]);
    const orders = AGREEING.replace(/ {2}\/rides.*?(?=components:)/s, "");
    expect(await findings(orders, "--entity-prefix", "/orders")).toEqual([]);
    expect(await findings(orders, "--entity-prefix", "/orders/")).toEqual([]);
    expect((await findings(orders)).length).toBeGreaterThan(0);
  });

  it("refuses a prefix that no path of the table has, which would find nothing whatever the document says", async () => {
    for (const prefix of ["/order", "/nonexist"]) {
      const args = ["contract", "-", "--entity-prefix", "/rides", prefix];
      const { stdout, stderr, code } = await waybill(args, { files: tableFiles(TABLE), stdin: AGREEING });
      expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
      expect(stderr).toContain(`error: no path of routing-table.json is ${prefix} or below it`);
    }
  });

  it.each([
    ["servers: [{ url: https://api.example.com/v2 }]", "/rides/{id}", "entity-without-operation /rides/:id"],
    ["servers: [{ url: /v2 }]", "/rides/{id}", "entity-without-operation /rides/:id"],
    [
      "servers: [{ url: '/{v}', variables: { v: { default: v2 } } }]",
      "/rides/{id}",
      "entity-without-operation /rides/:id",
    ],
    ["servers: [{ url: https://a.test }, { url: https://b.test/v2 }]", "/rides/{id}", undefined],
  ])("puts the base path of %s before the paths", async (servers, path, found) => {
    const document = `openapi: 3.0.3\n${servers}\npaths: { "${path}": { get: {} } }\n`;
    expect(await findings(document, "--entity-prefix", "/rides", "/v2")).toEqual(
      [found, "without-id-without-operation /rides"].filter((each) => each !== undefined),
    );
  });

  it("reads JSON and stdin, and takes the base path from an option", async () => {
    const stdin = JSON.stringify({ openapi: "3.0.0", paths: { "/rides/{id}": { get: {} } } });
    const args = ["contract", "-", "--entity-prefix", "/v2/rides", "--base-path", "/v2"];
    const { stdout, code } = await waybill(args, { files: tableFiles(TABLE), stdin });
    expect({ stdout, code }).toEqual({ stdout: "", code: 0 });
  });

  it.each([
    ["paths: {}", "it has no `openapi` with a version"],
    ["swagger: '2.0'", "it is of version 2.0, but only 3.x is supported"],
    ["openapi: 4.0.0", "it is of version 4.0.0, but only 3.x is supported"],
    ["- openapi: 3.0.0", "it is not an object"],
    ["swagger: { toString: 1 }", "it has no `openapi` with a version"],
    ["openapi: [3.0.0", "unexpected end of the stream within a flow collection, on line 1"],
    ['{"openapi":"3.0.0","paths":{"/a":{"get":{}},"\\u002fa":{}}}', 'the key "/a" is duplicated in one object'],
    ["openapi: 3.0.0\nopenapi: 3.0.0", 'the key "openapi" is duplicated in one object, on line 2'],
    ["", "it is not an object"],
  ])("refuses %j", async (document, sentence) => {
    const { stdout, stderr, code } = await contract(document);
    expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
    expect(stderr).toContain(`error: openapi.yaml is not an OpenAPI document: ${sentence}`);
  });

  it("names the base path that nearly all paths agree under, where the servers' is another one", async () => {
    const paths = (names: readonly string[]) =>
      `paths:\n${names.map((name) => `  ${name}/{id}: { get: {} }\n`).join("")}`;
    const document = `openapi: 3.0.3\n${paths(["/orders", "/rides", "/parcels"])}`;
    const hintOf = async (text: string, ...args: readonly string[]) =>
      (await contract(text, "--json", ...args)).stderr.split("\n")[1];
    const served = `${document}servers: [{ url: https://api.example.com/api/v1 }]\n`;
    expect(await hintOf(served)).toBe(
      "hint: the base path of the document's servers is /api/v1; with --base-path / 3 of the 3 paths that disagree would agree",
    );
    expect(await hintOf(served, "--base-path", "/")).toBe("");
    expect(await hintOf(document, "--base-path", "/v9")).toContain("the base path given is /v9; with --base-path / 3");
    expect(await hintOf(`openapi: 3.0.3\n${paths(["/bills", "/stones"])}servers: [{ url: /x }]\n`)).toBe("");
    expect(await hintOf(`openapi: 3.0.3\n${paths(["/orders", "/stones"])}servers: [{ url: /x }]\n`)).toBe("");
  });

  it("finds the base path of the table's own paths, and the part of the servers' that the gateway leaves", async () => {
    const { order, ...others } = TABLE.entities;
    const files = tableFiles({ ...TABLE, entities: { ...others, order: { ...order, path: "/shop/v2/orders/:id" } } });
    const hintOf = async (servers: string) => {
      files.write("openapi.yaml", `openapi: 3.0.3\nservers: [${servers}]\npaths: { "/orders/{id}": { get: {} } }\n`);
      return (await waybill(["contract", "openapi.yaml"], { files })).stderr.split("\n")[1];
    };
    expect(await hintOf("")).toContain("is none; with --base-path /shop/v2 the path that disagrees would agree");
    expect(await hintOf("{ url: /eu/shop/v2 }")).toContain("is /eu/shop/v2; with --base-path /shop/v2 the path");
  });

  it("says so when a document that could be opened cannot be read", async () => {
    const reports: string[] = [];
    async function* chunks(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(1);
      throw new Error("EIO: i/o error, read");
    }
    const runtime = {
      readFile: () => ({ ok: true, value: new TextEncoder().encode(JSON.stringify(TABLE)) }),
      openFile: async () => ({ ok: true, value: { bytes: 0, chunks: chunks() } }),
      report: (text: string) => reports.push(text),
      version: "0.0.0",
    } as unknown as Runtime;
    expect(await run(["contract", "openapi.yaml"], runtime)).toBe(1);
    expect(reports).toEqual(["error: openapi.yaml cannot be read: EIO: i/o error, read\n"]);
  });

  it("says which file cannot be read", async () => {
    const files = tableFiles(TABLE);
    expect((await waybill(["contract", "absent.yaml"], { files })).stderr).toBe(
      `error: absent.yaml cannot be read: no such file or directory (${CWD}/absent.yaml)\n`,
    );
    expect((await waybill(["contract", "-"], {})).stderr).toContain("error: routing-table.json cannot be read: ");
    expect((await waybill(["contract", "x", "--id-param", "("], { files })).stderr).toContain("regular expression");
  });
});

describe("which parameters look like IDs", () => {
  const is = (name: string, format?: string) => looksLikeId({ name, format }) !== undefined;

  it.each([
    "id",
    "ID",
    "orderId",
    "orderID",
    "order_id",
    "order-id",
    "uuid",
    "guid",
    "orderUuid",
    "order2Id",
    "parent_uuid",
  ])("%s", (name) => {
    expect(is(name)).toBe(true);
  });

  it.each(["paid", "grid", "name", "Id", "identity", "idea", "valid", "orderIdea", "number", ""])(
    "%j is none",
    (name) => {
      expect(is(name)).toBe(false);
    },
  );

  it("anything whose format is one of IDs", () => {
    expect([is("x", "uuid"), is("x", "ULID"), is("x", "int64"), is("x", "date")]).toEqual([true, true, false, false]);
  });
});
