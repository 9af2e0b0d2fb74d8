import { expect, test } from "vitest";
import { load, sampleTable } from "../tables.ts";

const { paths } = load({
  ...sampleTable(),
  entities: {
    ...sampleTable().entities,
    note: { path: ["/notes/:id/text", "/notes/archive/:id", "/x/*/y/:id"], ids: [{ layout: "hotguid" }] },
  },
});

const matched = (path: string) => {
  const match = paths.match(path);
  return match && `${match.entity.name} ${path.slice(match.idStart, match.idEnd)}`;
};

test.each([
  ["/orders/1", "order 1"],
  ["/orders/1/", "order 1"],
  ["/orders/1/events/2", "order 1"],
  ["/orders/a%2Fb", "order a%2Fb"],
  ["/orders/1//..", "order 1"],
  ["/v2/any/rides/7", "ride 7"],
  ["/v2/%20/rides/7/x", "ride 7"],
  ["/rides/7", "ride 7"],
  ["/notes/1/text", "note 1"],
  ["/notes/archive/2", "note 2"],
  ["/notes/archive/text", "note text"],
  ["/x/1/y/2", "note 2"],
])("%s is %s", (path, expected) => {
  expect(matched(path)).toBe(expected);
});

test.each([
  "",
  "/",
  "orders/1",
  "/orders",
  "/orders/",
  "/orders//1",
  "//orders/1",
  "/Orders/1",
  "/orders%2F1",
  "/order/1",
  "/v2/rides/7",
  "/v2//rides/7",
  "/notes/1",
  "/notes/1/texts",
  "/constructor/1",
  "/__proto__/1",
])("%j is no entity's path", (path) => {
  expect(matched(path)).toBeUndefined();
});
