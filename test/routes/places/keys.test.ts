import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { durableDirectory } from "../../../src/features/directory/edge/keys.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { TABLE, UUID } from "../directory/table.ts";
import { problemOf, setUp, slug } from "../harness.ts";

/** Keys that are looked up in a directory, in places beside the path; and sources that are not in the path either. */

const truth = durableDirectory((env as Env).DIRECTORY);
const put = (directory: string, key: string, region: string) =>
  truth.register({ directory, key, owner: "1", operation: "test", region });

const KEYED = {
  ...TABLE,
  withoutId: {
    pay: {
      path: "/pay",
      idIn: [
        { entity: "shop", query: "shop" },
        { entity: "shop", json: "/shops", list: true },
        { entity: "order", header: "x-order" },
      ],
      sources: [{ region: "eu" }],
    },
  },
};

const json = (body: unknown) => ({
  method: "POST",
  body: JSON.stringify(body),
  headers: { "content-type": "application/json" },
});

beforeEach(() => reset());

it("a key in a place is looked up as on its path", async () => {
  await put("slug", "münchen", "us");
  await put("slug", "a", "us");
  await put("slug", "b", "eu");
  await put("old", UUID, "us");
  const { request, seen } = setUp({ declared: KEYED });
  const region = async (path: string, init: RequestInit = {}) =>
    (await request(path, init)).headers.get("waybill-region");
  expect(await region("/pay?shop=M%C3%9Cnchen")).toBe("us");
  expect(seen[0]?.headers.get("waybill-entity-id")).toBe("m%C3%BCnchen");
  expect(await region("/pay", json({ shops: ["A", "münchen"] }))).toBe("us");
  expect(await region("/pay?shop=a", { headers: { "x-order": UUID } })).toBe("us");
  expect(await region("/pay?shop=b")).toBe("eu");
  const apart = await problemOf(await request("/pay?shop=a", json({ shops: ["b"] })));
  expect([slug(apart), apart["ids"]]).toEqual([
    "ids-disagree",
    [
      { place: "query parameter shop", entity: "shop", id: "a", region: "us" },
      { place: "member /shops of the body", entity: "shop", id: "b", region: "eu" },
    ],
  ]);
  const unknown = await problemOf(await request("/pay?shop=none"));
  expect([slug(unknown), unknown["place"]]).toEqual(["unknown-key", "query parameter shop"]);
  expect(slug(await problemOf(await request("/pay?shop=a%2Fb")))).toBe("malformed-key");
});

it("a host chooses a region, also the one that a trusted proxy names", async () => {
  const sources = [{ hostLabel: "*.example.com" }, { host: { "gw.test": "ap" } }];
  const declared = { ...DECLARED_TABLE, withoutId: { home: { path: "/home", sources } } };
  const hostOf = (host: string | undefined) => ({
    clientOf: () => ({ address: undefined, country: undefined, continent: undefined, ...(host && { host }) }),
  });
  const regionBy = async (host: string | undefined) =>
    (await setUp({ declared, gateway: hostOf(host) }).request("/home")).headers.get("waybill-region");
  expect(await regionBy(undefined)).toBe("ap");
  expect(await regionBy("us.example.com")).toBe("us");
  const wrong = setUp({ declared, gateway: hostOf("mars.example.com") });
  expect(slug(await problemOf(await wrong.request("/home")))).toBe("unknown-name");
});
