import { expect, test } from "vitest";
import type { TableChecks } from "../../../src/routing/check/feature.ts";
import { checkTable } from "../../../src/routing/index.ts";
import { WHOLE_BUILD } from "../../../src/routing/load.ts";
import { sampleTable } from "../tables.ts";

/** A feature reserves first segments while a table uses it: nothing else in the table has such a path. */

const planted: TableChecks = {
  name: "ping",
  schema: {},
  reserves: ({ fields }) => (fields === "minimal" ? ["ping"] : []),
};

const faultsOf = (table: object) => {
  const checked = checkTable(table, undefined, { ...WHOLE_BUILD, checks: [...WHOLE_BUILD.checks, planted] });
  return checked.ok ? [] : checked.error.map(({ kind, pointer, message }) => `${kind} ${pointer}: ${message}`);
};

const sample = sampleTable();
const order = sample.entities?.["order"];
const withOrder = (changes: object) => ({ entities: { ...sample.entities, order: { ...order, ...changes } } });

test.each([
  ["an entity", withOrder({ path: ["/orders/:id", "/ping/:id"] }), "/entities/order/path/1"],
  ["an alternative of one", withOrder({ path: "/{orders,ping}/:id" }), "/entities/order/path"],
  [
    "a path without an ID",
    { withoutId: { login: { path: "/ping/login", sources: [{ region: "eu" }] } } },
    "/withoutId/login/path",
  ],
  ["a list", withOrder({ list: { path: "/ping", items: "", order: "none" } }), "/entities/order/list/path"],
  [
    "a collection",
    withOrder({ create: { collection: "/ping/orders", key: { country: [{ header: "x-country" }] } } }),
    "/entities/order/create/collection",
  ],
  ["GraphQL", { graphql: { path: "/ping/graphql" } }, "/graphql/path"],
])("%s cannot take one", (_, changes, pointer) => {
  const table = { ...sample, ...changes };
  expect(faultsOf(table)).toEqual([]);
  const [fault = "", ...others] = faultsOf({ ...table, fields: "minimal" });
  expect(others).toEqual([]);
  expect(fault).toMatch(
    new RegExp(
      `^reserved-path ${pointer}: /ping is the gateway's own while the table uses ping; begin /ping\\S* with another segment, or remove ping\\.$`,
    ),
  );
});

test("the gateway's own segments stay its own, whatever features reserve", () => {
  const table = { ...sample, ...withOrder({ path: "/any/:id" }) };
  for (const fields of ["standard", "minimal"]) {
    expect(faultsOf({ ...table, fields })).toEqual([
      "reserved-path /entities/order/path: /any is the gateway's own; begin /any/:id with another segment.",
    ]);
  }
});

test("other paths that begin alike are free", () => {
  expect(faultsOf({ ...sample, ...withOrder({ path: "/pings/:id" }), fields: "minimal" })).toEqual([]);
});
