import { describe, expect, it } from "vitest";
import { ok } from "../../../src/ids/result.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, setUp, slug } from "../harness.ts";

/** `POST /-/explain` names a problem where the gateway refuses the request itself, and none where it does not. */

const { orderBr, orderKz } = IDS;
const BY_AT = { by: { member: "/at", type: "number" }, direction: "asc" };
const { entities } = DECLARED_TABLE;
const COUNTRY = { country: [{ header: "x-country" }, { member: "/country" }, { clientCountry: true }] };
const create = (more: object = {}) => ({ create: { key: COUNTRY, ...more } });

const DECLARED = {
  ...DECLARED_TABLE,
  entities: {
    ...entities,
    order: {
      ...entities.order,
      ...create(),
      list: {
        path: "/all-orders",
        items: "/items",
        order: BY_AT,
        next: { cursor: "/next", query: "after" },
        filters: { region: "region" },
      },
    },
    ride: { ...entities.ride, ...create({ idempotency: { required: true } }) },
    parcel: { ...entities.parcel, create: { key: { m49: { header: "x-m49" }, partition: { value: 3 } } } },
    note: {
      path: "/notes/:id",
      ids: [{ layout: "iuid", service: 9 }],
      create: { collection: "/orders/:id/notes", key: { country: { parent: "country" } } },
    },
    batch: { path: "/batches/:id", ids: [{ layout: "iuid", service: 8 }], ...create({ bulk: { array: "", max: 2 } }) },
    claimed: {
      path: "/claimed/:id",
      ids: [{ layout: "iuid", service: 7 }],
      create: { key: { country: { jwtClaim: "/country" } } },
    },
  },
  withoutId: { refund: { path: "/refunds", methods: "POST", sources: [{ header: "x-home" }] } },
  moves: { [orderKz]: { from: "us", to: "eu", state: "fenced", epoch: 1 } },
};

const JSON_TYPE = { "content-type": "application/json" };
const KZ = { "x-country": "KZ" };

interface Asked {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

const origin = () => Response.json({ items: [], next: null });
const gateway = { clientClaims: async () => ok(undefined) };

const refusals = async ({ url, method = "GET", headers = {}, body }: Asked) => {
  const init = { method, headers, ...(body === undefined ? {} : { body }) };
  const answer = await setUp({ declared: DECLARED, gateway, origin }).request(url, init);
  const isProblem = answer.headers.get("content-type")?.startsWith("application/problem+json");
  const own = isProblem === true ? slug(await answer.json()) : undefined;
  const asked = JSON.stringify({ url, method, headers, body });
  const explained = await setUp({ declared: DECLARED, gateway }).request("/-/explain", {
    method: "POST",
    headers: JSON_TYPE,
    body: asked,
  });
  expect(explained.status).toBe(200);
  const { problem } = await explained.json<{ problem?: { type: string } }>();
  return { own, explained: problem && slug(problem) };
};

describe("a refusal of the gateway is one of the explanation", () => {
  it.each<[string, Asked, string | undefined]>([
    ["a create without its key", { url: "/orders", method: "POST" }, "create-key-missing"],
    ["with its key", { url: "/orders", method: "POST", headers: KZ }, undefined],
    [
      "with an unknown country",
      { url: "/orders", method: "POST", headers: { "x-country": "XX" } },
      "create-key-invalid",
    ],
    ["by a member", { url: "/orders", method: "POST", headers: JSON_TYPE, body: '{"country":"KZ"}' }, undefined],
    [
      "of a broken body",
      { url: "/orders", method: "POST", headers: { ...KZ, ...JSON_TYPE }, body: "{" },
      "malformed-request",
    ],
    [
      "of a member twice",
      { url: "/orders", method: "POST", headers: JSON_TYPE, body: '{"country":"KZ","country":"BR"}' },
      "malformed-request",
    ],
    ["of a list", { url: "/orders", method: "POST", headers: { ...KZ, ...JSON_TYPE }, body: "[{}]" }, "create-count"],
    [
      "of lines",
      { url: "/orders", method: "POST", headers: { ...KZ, "content-type": "application/x-ndjson" }, body: "{}\n" },
      "create-count",
    ],
    ["of a batch", { url: "/batches", method: "POST", headers: { ...KZ, ...JSON_TYPE }, body: "[{},{}]" }, undefined],
    [
      "of too many",
      { url: "/batches", method: "POST", headers: { ...KZ, ...JSON_TYPE }, body: "[1,2,3]" },
      "create-count",
    ],
    ["of none", { url: "/batches", method: "POST", headers: { ...KZ, ...JSON_TYPE }, body: "[]" }, "create-count"],
    ["below a parent", { url: `/orders/${orderBr}/notes`, method: "POST" }, undefined],
    ["below a parent that moves", { url: `/orders/${orderKz}/notes`, method: "POST" }, "entity-moving"],
    ["below no parent", { url: "/orders/17/notes", method: "POST" }, "malformed-id"],
    ["without a token", { url: "/claimed", method: "POST" }, "create-key-missing"],
    ["without an idempotency key", { url: "/rides", method: "POST", headers: KZ }, "idempotency-key-missing"],
    [
      "with a broken idempotency key",
      { url: "/rides", method: "POST", headers: { ...KZ, "idempotency-key": "a,b" } },
      "idempotency-key-invalid",
    ],
    [
      "with a key out of its range",
      { url: "/parcels", method: "POST", headers: { "x-m49": "99999999" } },
      "key-out-of-range",
    ],
    ["a list", { url: "/all-orders" }, undefined],
    ["of an unknown region", { url: "/all-orders?region=mars" }, "unknown-name"],
    ["of too many", { url: "/all-orders?limit=0" }, "malformed-request"],
    ["a write to an entity that moves", { url: `/orders/${orderKz}`, method: "PUT" }, "entity-moving"],
    ["a read of it", { url: `/orders/${orderKz}` }, undefined],
    ["TRACE", { url: `/orders/${orderBr}`, method: "TRACE" }, "method-not-allowed"],
    ["no region", { url: "/refunds", method: "POST" }, "region-unknown"],
    ["another method", { url: "/refunds", method: "PUT" }, "method-not-allowed"],
    ["no entity", { url: "/nothing" }, "unrouted-path"],
    ["no ID", { url: "/orders/17" }, "malformed-id"],
  ])("%s", async (_, asked, problem) => {
    expect(await refusals(asked)).toEqual({ own: problem, explained: problem });
  });
});
