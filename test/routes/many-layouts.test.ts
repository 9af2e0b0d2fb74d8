import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";
import { problemOf, setUp, slug } from "./harness.ts";

const declared = {
  ...DECLARED_TABLE,
  entities: {
    ...DECLARED_TABLE.entities,
    tweet: { path: "/tweets/:id", ids: [{ layout: "snowflake" }] },
    message: { path: "/messages/:id", ids: [{ layout: "discord" }, { layout: "ulid" }] },
  },
  layouts: { ...DECLARED_TABLE.layouts, discord: { like: "snowflake", epoch: "2015-01-01T00:00:00Z" } },
  routes: [
    ...DECLARED_TABLE.routes,
    { when: { entity: "tweet" }, region: "eu" },
    { when: { entity: "message" }, region: "us" },
  ],
};

const SNOWFLAKE = "1541815603606036480";

describe("the id-layout field", () => {
  it.each([
    [`/any/${SNOWFLAKE}`, "snowflake", "http://eu.test/tweets/1541815603606036480"],
    [`/any/${SNOWFLAKE}/likes?n=1`, "discord", "http://us.test/base/messages/1541815603606036480/likes?n=1"],
    [`/tweets/${SNOWFLAKE}`, "snowflake", "http://eu.test/tweets/1541815603606036480"],
    ["/any/01ARZ3NDEKTSV4RRFFQ69G5FAV", "ulid", "http://us.test/base/messages/01ARZ3NDEKTSV4RRFFQ69G5FAV"],
  ])("%s as %s goes to its origin", async (path, layout, url) => {
    const { request, seen } = setUp({ declared });
    const response = await request(path, { headers: { "id-layout": layout } });
    expect(response.headers.get("waybill-layout")).toBe(layout);
    expect(seen.map((one) => one.url)).toEqual([url]);
  });

  it.each([
    [`/any/${SNOWFLAKE}`, {}, "ambiguous-id", 409],
    [`/any/${SNOWFLAKE}`, { "id-layout": "snowfluke" }, "unknown-name", 422],
    [`/tweets/${SNOWFLAKE}`, { "id-layout": "snowfluke" }, "unknown-name", 422],
    [`/tweets/${SNOWFLAKE}`, { "id-layout": "discord" }, "wrong-entity", 422],
    [`/tweets/${SNOWFLAKE}`, { "id-layout": "ulid" }, "malformed-id", 400],
    [`/any/${SNOWFLAKE}`, { "id-layout": "ulid" }, "malformed-id", 400],
  ])("%s with %j is %s", async (path, headers, expected, status) => {
    const { request, seen, defects } = setUp({ declared });
    const response = await request(path, { headers });
    expect([slug(await problemOf(response)), response.status]).toEqual([expected, status]);
    expect([...seen, ...defects]).toEqual([]);
  });
});
