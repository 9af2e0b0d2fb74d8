import { describe, expect, it } from "vitest";
import { luaDecision } from "../../../src/export/lua-program.ts";
import { nativePaths } from "../../../src/export/native.ts";
import { planExport } from "../../../src/export/plan.ts";
import { checkTable } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { objectsOf, waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";

/** Commands on a table whose paths are shared by methods and hosts. */

const ORDER = "01990f04-d900-8005-8040-000000000001";
const UUID = "919108f7-52d1-4320-9bac-f847db4148a8";

const TABLE = {
  ...DECLARED_TABLE,
  entities: {
    reads: { path: "/orders/:id", methods: "GET", ids: [{ layout: "iuid", service: 1 }] },
    writes: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }] },
    box: { path: "/boxes/:id", methods: ["POST"], ids: [{ layout: "uuid-v4" }] },
    crate: { path: "/boxes/:id", methods: ["GET"], ids: [{ layout: "uuid-v4" }] },
    ride: { path: { path: "/rides/:id", below: false }, ids: [{ layout: "iuid", service: 2 }] },
    parcel: { path: "/t/parcels/:id", removePrefix: "/t", ids: [{ layout: "hotguid" }] },
    person: { path: "/:id/**", directory: "slug" },
    plain: { path: "/plain/:id", ids: [{ layout: "uuid-v7" }] },
  },
  directory: { slug: { key: { text: "lower" }, unknown: "us" } },
  layouts: { hotguid: { slices: { m49: [0, 10], partition: [10, 22] } } },
  routes: [
    { when: { entity: "reads" }, region: "eu" },
    { when: { entity: "writes" }, region: "us" },
    { when: {}, region: "ap" },
  ],
  sources: [{ region: "us" }],
  withoutId: {
    site: { path: "/site/**", hosts: ["eu.test"], sources: [{ region: "eu" }] },
    sites: { path: "/site/**", removePrefix: "/site" },
    search: { path: "/search", methods: "GET" },
    searches: { path: "/search", methods: "POST", sources: [{ region: "eu" }] },
  },
};

const run = (table: object, ...args: readonly string[]) => waybill(args, { files: tableFiles(table) });
const explained = async (...args: readonly string[]) =>
  objectsOf((await run(TABLE, "explain", ...args, "--json")).stdout)[0];

describe("a table with shared paths", () => {
  it("is checked, and owners that the method tells apart are no ambiguity", async () => {
    const { code, stdout } = await run(TABLE, "table", "check", "routing-table.json");
    expect([code, stdout]).toEqual([0, expect.stringContaining("no faults")]);
    expect(stdout).not.toContain("do not say which of");
  });

  it("explains an ID as a read, and a request by its method and host", async () => {
    expect(await explained(ORDER)).toMatchObject({ decision: { entity: "reads", region: "eu" } });
    expect(await explained(UUID)).toMatchObject({ decision: { entity: "crate" } });
    const url = ["--url", `/orders/${ORDER}`];
    expect(await explained(...url)).toMatchObject({ owner: "reads", region: "eu" });
    expect(await explained(...url, "--method", "DELETE")).toMatchObject({ owner: "writes", region: "us" });
    const preflight = ["--method", "OPTIONS", "--header", "access-control-request-method: PUT"];
    expect(await explained(...url, ...preflight)).toMatchObject({ owner: "writes", region: "us" });
    expect(await explained("--url", "http://EU.test:80/site/a")).toMatchObject({ owner: "site", region: "eu" });
    expect(await explained("--url", "http://x.test/site/a?b")).toMatchObject({
      owner: "sites",
      sent: "http://us.test/base/a?b",
    });
    expect(await explained("--url", `/boxes/${UUID}`, "--method", "PUT")).toMatchObject({
      problem: { status: 405, allow: ["POST", "GET", "HEAD"] },
    });
    const refused = await run(TABLE, "explain", "--url", `/boxes/${UUID}`, "--method", "PUT");
    expect(refused.stderr).toBe("error: PUT is not allowed here. Allowed: POST, GET, HEAD.\n");
    const { stdout } = await run(TABLE, "explain", "--url", "http://x.test/site/a");
    expect(stdout).toContain("origins get http://us.test/base/a");
  });

  it("differs by what the owners say, in words and for requests of the past", async () => {
    const after = {
      ...TABLE,
      entities: { ...TABLE.entities, reads: { ...TABLE.entities.reads, methods: ["GET", "PUT"] } },
      directory: { slug: { key: { text: "lower" } } },
      withoutId: { ...TABLE.withoutId, site: { ...TABLE.withoutId.site, hosts: ["*.eu.test"] } },
    };
    const files = tableFiles(TABLE);
    files.write("after.json", JSON.stringify(after));
    const log = [`PUT /orders/${ORDER}`, `DELETE /orders/${ORDER}`, "GET /site/a", "POST /search", "PATCH /search"];
    files.write("log", log.join("\n"));
    const diff = ["table", "diff", "routing-table.json", "after.json"];
    const { stdout } = await waybill([...diff, "--json"], { files });
    expect(objectsOf(stdout)[0]).toMatchObject({
      entities: { changed: { reads: { before: { methods: "GET" }, after: { methods: ["GET", "PUT"] } } } },
      directory: { changed: { slug: { before: { unknown: "us" } } } },
      keys: [],
    });
    expect((await waybill(diff, { files })).stdout).toMatch(/\+ reads .*"PUT"/);
    const replay = ["table", "replay", "log", "--old", "routing-table.json", "--new", "after.json", "--json"];
    const replayed = objectsOf((await waybill(replay, { files })).stdout);
    expect(replayed.map(({ method, path, verdict }) => `${method} ${path} ${verdict}`)).toEqual([
      `PUT /orders/${ORDER} changed`,
      "GET /site/a open",
    ]);
  });

  it("is held against a document method by method", async () => {
    const document = {
      openapi: "3.1.0",
      paths: {
        "/orders/{orderId}": { get: {}, delete: {} },
        "/boxes/{boxId}": { get: {}, put: {} },
        "/search": { get: {}, put: {} },
        "/site/{page}": { get: {} },
      },
    };
    const files = tableFiles({
      ...TABLE,
      entities: { ...TABLE.entities, person: { ...TABLE.entities.person, path: "/people/:id" } },
    });
    files.write("openapi.json", JSON.stringify(document));
    const { stdout } = await waybill(["contract", "openapi.json", "--json"], { files });
    const found = objectsOf(stdout).flatMap((one) =>
      "kind" in one ? [`${one["kind"]} ${one["pointer"] ?? one["path"]}`] : [],
    );
    expect(found.filter((one) => one.startsWith("operation-unrouted")).sort()).toEqual([
      "operation-unrouted /paths/~1boxes~1{boxId}/put",
      "operation-unrouted /paths/~1search/put",
    ]);
    expect(found).toContain("without-id-without-operation /search");
  });

  it("is exported where no engine has to choose, and the rest is named", () => {
    const checked = checkTable(TABLE);
    if (!checked.ok) throw new Error(JSON.stringify(checked.error));
    const plan = planExport(checked.value);
    expect(plan.forwarded.map(({ what, why }) => `${what}: ${why}`)).toEqual(
      expect.arrayContaining([
        "reads at /orders/:id: a choice by method or host",
        "writes at /orders/:id: a choice by method or host",
        "ride at /rides/:id: a pattern without the paths below",
        "parcel at /t/parcels/:id: a prefix that origins do not get",
        "person at /:id: keys of a directory",
      ]),
    );
    expect(plan.patterns.filter(({ reading }) => reading !== undefined).map(({ pattern }) => pattern)).toEqual([
      "/plain/:id",
    ]);
    expect(nativePaths(plan)).toEqual([]);
    expect(luaDecision(plan, "test")).not.toContain("reads at");
  });
});
