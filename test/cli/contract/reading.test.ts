import { describe, expect, it } from "vitest";
import { objectsOf } from "../fake-runtime.ts";
import { AGREEING, contract, findings } from "./documents.ts";

/** JSON objects of the parts that are not compared, by reason. */
const notRead = async (document: string, ...args: readonly string[]) => {
  const { stdout, stderr, code } = await contract(document, "--json", ...args);
  const objects = stdout === "" ? [] : objectsOf(stdout);
  return { groups: objects.filter(({ kind }) => kind === "not-read"), lines: stderr.split("\n").slice(1, -1), code };
};

describe.concurrent("parts of a document that are not compared", () => {
  const path = (name: string, item = "{ get: {} }") =>
    `${AGREEING.replace("\npaths:\n", `\npaths:\n  ${name}: ${item}\n`)}`;

  it.each<[what: string, document: string, reason: string, text: string, pointer: string]>([
    ["webhooks", `${AGREEING}webhooks: { ping: { post: {} } }\n`, "webhook", "ping", "/webhooks/ping"],
    ["webhooks before OpenAPI 3.1", `${AGREEING}x-webhooks: { ping: {} }\n`, "webhook", "ping", "/x-webhooks/ping"],
    [
      "callbacks",
      AGREEING.replace("    post: {}", "    post: { callbacks: { done: { '{$url}': { post: {} } } } }"),
      "callback",
      "done",
      "/paths/~1orders/post/callbacks/done",
    ],
    ["keys without a slash", path("files/x"), "path-key", "files/x", "/paths/files~1x"],
    ["a path without an object", path("/files/x", "null"), "path-item", "/files/x", "/paths/~1files~1x"],
    ["a query", path('"/files/x?size={size}"'), "path-query", "/files/x?size={size}", "/paths/~1files~1x?size={size}"],
    ["a fragment", path('"/files/x#put"'), "path-query", "/files/x#put", "/paths/~1files~1x#put"],
    ["an ID with text", path("/files/{x_id}.pdf"), "segment", "/files/{x_id}.pdf", "/paths/~1files~1{x_id}.pdf"],
    ["two IDs", path("/files/{a_id}-{b_id}"), "segment", "/files/{a_id}-{b_id}", "/paths/~1files~1{a_id}-{b_id}"],
    [
      "a key in parentheses",
      path(`"/files/user(id='{user-id}')"`),
      "segment",
      "/files/user(id='{user-id}')",
      "/paths/~1files~1user(id='{user-id}')",
    ],
    ["many segments", path("/files/{proxy+}"), "many-segments", "/files/{proxy+}", "/paths/~1files~1{proxy+}"],
    ["many segments, as RFC 6570", path("/files/{+p}"), "many-segments", "/files/{+p}", "/paths/~1files~1{+p}"],
    ["a relative server", `${AGREEING}servers: [{ url: v1 }, { url: / }]\n`, "server", "v1", "/servers/0"],
    [
      "a server's variable",
      `${AGREEING}servers: [{ url: / }, { url: "https://a.test/{base}" }]\n`,
      "server",
      "https://a.test/{base}",
      "/servers/1",
    ],
    [
      "a server of an operation",
      AGREEING.replace("    post: {}", "    post: { servers: [{ url: ../v2 }, { url: / }] }"),
      "server",
      "../v2",
      "/paths/~1orders/post/servers/0",
    ],
  ])("are counted and named: %s", async (_, document, reason, text, pointer) => {
    const { groups, lines } = await notRead(document);
    expect(groups).toEqual([{ kind: "not-read", reason, count: 1, first: [{ pointer, text }] }]);
    expect(lines).toEqual([expect.stringMatching(/^not read: 1 .+ \(.+\): ./)]);
    expect(lines[0]).toContain(text);
  });

  it("are none in a path that is read whole, or names no ID", async () => {
    expect(await notRead(path("/files/{base}...{head}"))).toMatchObject({ groups: [], lines: [], code: 0 });
    expect(await notRead(path("x-note", "1"))).toMatchObject({ groups: [], lines: [], code: 0 });
    const served = `${AGREEING}servers: [{ url: "{endpoint}" }, { url: "{p}://{h}/" }, { url: "//a.test" }]\n`;
    expect(await notRead(served)).toMatchObject({ groups: [], lines: [], code: 0 });
  });

  it("make no finding, and the first five of many are named", async () => {
    const hooks = Array.from({ length: 1_200 }, (_, at) => `h${at}: {}`);
    const { groups, lines, code } = await notRead(`${AGREEING}webhooks: { ${hooks.join(", ")} }\n`);
    expect(code).toBe(0);
    expect(groups).toMatchObject([{ count: 1_200, first: [{ text: "h0" }, {}, {}, {}, { text: "h4" }] }]);
    expect(lines).toEqual([
      "not read: 1,200 webhooks (not compared, because the API sends them): h0, h1, h2, h3, h4, …",
    ]);
  });

  it("compares a path without its query or fragment", async () => {
    expect(await findings(path('"/bills?x={x}"'), "--entity-prefix", "/orders")).toEqual([
      "operation-unrouted /bills",
      "not-read undefined",
    ]);
  });

  it("takes the base path behind a variable for the host", async () => {
    const document = `openapi: 3.0.3\nservers: [{ url: "{endpoint}/v2" }]\npaths: { "/rides/{id}": { get: {} } }\n`;
    expect(await findings(document, "--entity-prefix", "/v2")).toEqual([]);
  });

  it.each([
    ["./a.yaml#/x", "is not in this document, so it is not compared: bundle the documents first"],
    ["#/none", "is not in this document, so it is not compared: correct the reference"],
    ["#anchor", "is not in this document, so it is not compared: correct the reference"],
    ["#/paths/~1loop", "leads back to itself, so it is not compared: correct the reference"],
  ])("says why the reference %s is not read", async (reference, why) => {
    const { stdout } = await contract(path("/loop", `{ $ref: "${reference}" }`), "--json");
    expect(objectsOf(stdout)).toEqual([expect.objectContaining({ message: `${reference} ${why}` })]);
  });
});

describe.concurrent("notations of a document", () => {
  const single = async (yaml: string) => findings(`openapi: 3.1.0\n${yaml}`, "--entity-prefix", "/rides/:id");

  it.each<[what: string, yaml: string]>([
    ["a merge key", `x: &x { get: {} }\npaths: { "/rides/{id}": { <<: *x } }`],
    ["an alias", `x: &x { get: {} }\npaths: { "/rides/{id}": *x }`],
    ["a tag of an application", `x: !Sub "a\${b}"\ny: !Join [a]\npaths: { "/rides/{id}": !Path { get: !Op {} } }`],
    ["members beside a reference", `x: { get: {} }\npaths: { "/rides/{id}": { $ref: "#/x", summary: a } }`],
    ["a directive and a document's end", `x: 1\npaths: { "/rides/{id}": { get: {} } }\n...\n`],
    ["block scalars and comments", `x: |\n  a: b\n  # c\npaths: # d\n  "/rides/{id}":\n    get:\n      {}\n`],
    ["a date and a number as keys", `x: { 2024-01-01: a, 1: b, on: c }\npaths: { "/rides/{id}": { get: {} } }`],
  ])("YAML with %s", async (_, yaml) => {
    expect(await single(yaml)).toEqual([]);
  });

  it.each([
    ['"a:b": 1\n"a:b": 2', "a:b"],
    ["a b: 1\na b: 2", "a b"],
    ["x: { 'q': 1, 'q': 2 }", "q"],
    ["1: 1\n1: 2", "1"],
  ])("names the key of %j that is duplicated", async (yaml, key) => {
    const { stderr } = await contract(`openapi: 3.0.0\n${yaml}\n`);
    expect(stderr).toContain(`the key ${JSON.stringify(key)} is duplicated in one object, on line `);
  });

  it("refuses several YAML documents in one file", async () => {
    const { stderr, code } = await contract("openapi: 3.0.0\n---\nopenapi: 3.0.0\n");
    expect(code).toBe(1);
    expect(stderr).toContain("it has 2 YAML documents, but one is read");
  });

  it.each<[what: string, schema: string]>([
    ["an allOf", `{ allOf: [{ description: a }, { $ref: "#/components/schemas/Id" }] }`],
    ["a oneOf", `{ oneOf: [{ type: integer }, { format: uuid }] }`],
    ["an anyOf in an allOf", `{ allOf: [{ anyOf: [{ $ref: "#/components/schemas/Id" }] }] }`],
    ["the side of a reference", `{ $ref: "#/components/schemas/Text", format: uuid }`],
  ])("finds a format in %s", async (_, schema) => {
    const document = AGREEING.replace(
      "/parcels/{parcel}:\n    get: {}",
      `/bills/{bill}:\n    get: { parameters: [{ name: bill, in: path, schema: ${schema} }] }`,
    ).replace("  schemas:\n", "  schemas:\n    Text: { type: string }\n");
    expect(await findings(document)).toContain("id-without-entity /bills/{bill}");
  });
});
