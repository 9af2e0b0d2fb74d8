import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planExport } from "../../../src/export/plan.ts";
import { checkTable, diffTables, loadTable } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { processorMs } from "../../fixtures/processor-ms.ts";

const withGraphql = (graphql: object, more: object = {}) => ({ ...DECLARED_TABLE, graphql, ...more });

const faultsOf = (graphql: object, more: object = {}) => {
  const checked = checkTable(withGraphql(graphql, more));
  return checked.ok ? [] : checked.error.map(({ pointer, kind }) => `${kind} ${pointer}`);
};

const path = "/graphql";
const text = "{ viewer { name } }";
const hash = createHash("sha256").update(text).digest("hex");
const { order } = DECLARED_TABLE.entities;

describe("how GraphQL is served", () => {
  it.each([
    ["the least", { path }],
    ["a path of two segments", { path: "/api/graphql" }],
    [
      "rules by field, type and alone",
      {
        path,
        ids: [
          { argument: "id", field: "order", entity: "order" },
          { argument: "id", type: "OrderId", entity: "order" },
          { argument: "orderId", entity: "order" },
        ],
      },
    ],
    ["a plural field", { path, ids: [{ argument: "ids", field: ["orders"], entity: "order", plural: true }] }],
    ["global IDs", { path, globalId: { form: "base64", types: { Order: "order" } } }],
    ["a registered document", { path, persisted: { [hash]: text } }],
    ["sources and the fields that follow them", { path, sources: [{ region: "eu" }], bySource: ["viewer"] }],
  ])("takes %s", (_, graphql) => {
    expect(faultsOf(graphql)).toEqual([]);
  });

  it.each([
    [
      "an unknown entity",
      { path, ids: [{ argument: "id", entity: "ordr" }] },
      {},
      "unknown-name /graphql/ids/0/entity",
    ],
    ["an unknown region", { path, introspection: "xx" }, {}, "unknown-name /graphql/introspection"],
    ["a source with one", { path, sources: [{ region: "xx" }] }, {}, "unknown-name /graphql/sources/0/region"],
    [
      "an unknown type's entity",
      { path, globalId: { form: "gid", types: { A: "x" } } },
      {},
      "unknown-name /graphql/globalId/types/A",
    ],
    [
      "a rule that is never asked",
      {
        path,
        ids: [
          { argument: "id", entity: "order" },
          { argument: "id", field: "a", entity: "ride" },
        ],
      },
      {},
      "unreachable-source /graphql/ids/1",
    ],
    [
      "a plural rule for all fields",
      { path, ids: [{ argument: "ids", entity: "order", plural: true }] },
      {},
      "schema /graphql/ids/0/plural",
    ],
    [
      "a wrong hash",
      { path, persisted: { ["0".repeat(64)]: text } },
      {},
      `schema /graphql/persisted/${"0".repeat(64)}`,
    ],
    ["the gateway's own path", { path: "/any/graphql" }, {}, "reserved-path /graphql/path"],
    ["an entity's path", { path: "/orders/graphql" }, {}, "path-collision /graphql/path"],
    [
      "a collection",
      { path: "/orders" },
      { entities: { ...DECLARED_TABLE.entities, order: { ...order, create: { key: { country: { value: "KZ" } } } } } },
      "path-collision /graphql/path",
    ],
    [
      "a path without an ID",
      { path },
      { withoutId: { a: { path, sources: [{ region: "eu" }] } } },
      "path-collision /graphql/path",
    ],
    ["a slash at the end", { path: "/graphql/" }, {}, "schema /graphql/path"],
    [
      "public IDs",
      { path },
      { entities: { ...DECLARED_TABLE.entities, order: { ...order, public: true } } },
      "public-ids /graphql",
    ],
    [
      "an entity of its name",
      { path },
      { entities: { ...DECLARED_TABLE.entities, graphql: { path: "/g/:id", ids: [{ layout: "iuid", service: 9 }] } } },
      "name-clash /graphql",
    ],
    ["fields by sources without any", { path, bySource: ["viewer"] }, {}, "schema /graphql/bySource"],
  ])("refuses %s", (_, graphql, more, fault) => {
    expect(faultsOf(graphql, more)).toContain(fault);
  });

  it("shows in a diff, and stays with Waybill in an export", () => {
    const load = (table: unknown) => {
      const loaded = checkTable(table);
      if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
      return loaded.value;
    };
    const before = load(DECLARED_TABLE);
    const after = load(withGraphql({ path }));
    const diff = diffTables(before, after);
    expect([diff.isEmpty, diff.graphql]).toEqual([false, { before: undefined, after: { path } }]);
    expect(loadTable(after, 1)).toMatchObject({ ok: true, value: { graphql: { path, queryType: "Query" } } });
    expect(JSON.stringify(planExport(after).forwarded)).toContain("GraphQL at /graphql");
  });
});

describe("a path that an origin may read as that of GraphQL", () => {
  const slow = (own: string, path: string): boolean => {
    const decoded = path.replace(/%([2-7][0-9A-F])/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    const read = decoded.replace(/;[^/]*/g, "").replace(/[/\\]+/g, "/");
    return (read.endsWith("/") ? read.slice(0, -1) : read).toLowerCase() === own.toLowerCase();
  };
  const own = "/Api/graph-ql.x";
  const loaded = loadTable(withGraphql({ path: own }), 1);
  const spelling = (loaded.ok && loaded.value.graphql?.spelling) || /never/;
  const piece = fc.oneof(
    fc.constantFrom(
      "/",
      "//",
      "\\",
      "%2f",
      "%2F",
      "%5c",
      ";",
      "%3B",
      ";a=1",
      "Api",
      "api",
      "graph-ql.x",
      "GRAPH%2Dql%2ex",
      "%41PI",
      "x",
      "%",
    ),
    fc.constantFrom(..."/apigrhql-.x;%"),
  );
  it("is found by one expression", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const path = `/${pieces.join("")}`;
        expect(spelling.test(path), path).toBe(slow(own, path));
      }),
      { numRuns: 2_000 },
    );
  });
  it.each([own, "/api/graph-ql.x/", "//API;a/%67raph%2dql.x;b=1", "/api%2Fgraph-ql.x"])("%s is one", (path) => {
    expect(spelling.test(path)).toBe(true);
  });
  it("is no matter of time", () => {
    const ms = processorMs(() => {
      spelling.test(`${"/;".repeat(20_000)}x`);
      spelling.test(`/api${"/".repeat(20_000)}x`);
      spelling.test(`/api/graph-ql.x${";/".repeat(20_000)}x`);
    });
    expect(ms).toBeLessThan(200);
  });
});

describe("the key of a registered document is the platform's digest of its UTF-8", () => {
  const digestOf = (document: string) => createHash("sha256").update(document).digest("hex");

  it.each(["{ a }", "{ naïve }", '{ a(text: "Łódź 🚚") }', '{ a(text: "\ud800") }', "{ a }".repeat(50)])(
    "%j",
    (document) => {
      expect(faultsOf({ path, persisted: { [digestOf(document)]: document } })).toEqual([]);
      const other = digestOf(`${document} `);
      expect(faultsOf({ path, persisted: { [other]: document } })).toEqual([`schema /graphql/persisted/${other}`]);
    },
  );
});
