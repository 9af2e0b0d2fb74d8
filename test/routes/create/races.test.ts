import { abortAllDurableObjects } from "cloudflare:test";
import { expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { setUp } from "../harness.ts";

const { order, person } = DECLARED_TABLE.entities;
const declared = {
  ...DECLARED_TABLE,
  entities: {
    ...DECLARED_TABLE.entities,
    order: { ...order, create: { key: { country: { header: "x-country" } }, idempotency: { keepAnswer: {} } } },
    person: { ...person, create: {} },
  },
};

const origin = () => new Response("{}", { status: 201, headers: { "content-type": "application/json" } });

const post = (key?: string): RequestInit => ({
  method: "POST",
  body: "{}",
  headers: {
    "content-type": "application/json",
    "x-country": "KZ",
    ...(key === undefined ? {} : { "idempotency-key": key }),
  },
});

const idOf = ({ headers }: Response) => headers.get("waybill-entity-id") ?? "";

it.each(["/orders", "/person"])("200 creates at once at %s have 200 IDs", async (path) => {
  const { request, seen } = setUp({ declared, origin });
  const answers = await Promise.all(Array.from({ length: 200 }, () => request(path, post())));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  const ids = answers.map(idOf);
  expect(new Set(ids).size).toBe(200);
  expect(seen.map(({ headers }) => headers.get("waybill-entity-id")).toSorted()).toEqual(ids.toSorted());
  // An LUUID's primary key is its first 12 digits.
  if (path === "/person") expect(new Set(ids.map((id) => id.slice(0, 13))).size).toBe(200);
});

it("20 keys that ten clients use at once, at four gateways, have 20 IDs, and each reaches its origin once", async () => {
  const gateways = Array.from({ length: 4 }, () => setUp({ declared, origin }));
  const byKey = new Map<string, Set<string>>();
  let refused = 0;
  const create = async (client: number, key: string): Promise<void> => {
    for (;;) {
      const answer = await gateways[client % 4]?.request("/orders", post(key));
      if (answer?.status === 201) {
        byKey.set(key, (byKey.get(key) ?? new Set()).add(idOf(answer)));
        return;
      }
      // A twin is under way: a client tries again.
      expect(answer?.status).toBe(409);
      refused++;
    }
  };
  const keys = Array.from({ length: 20 }, (_, at) => `race-${at}`);
  await Promise.all(Array.from({ length: 10 }, (_, client) => keys.map((key) => create(client, key))).flat());
  expect(byKey.size).toBe(20);
  expect([...byKey.values()].map(({ size }) => size)).toEqual(new Array(20).fill(1));
  expect(new Set([...byKey.values()].flatMap((ids) => [...ids])).size).toBe(20);
  expect(refused).toBeGreaterThan(0);
  const seen = gateways.flatMap((gateway) => gateway.seen);
  expect(seen).toHaveLength(20);
});

it("20 keys that ten clients mint with at once, at four gateways, have 20 IDs, though objects are lost", async () => {
  const gateways = Array.from({ length: 4 }, () => setUp({ declared }));
  const byKey = new Map<string, Set<string>>();
  let lost = 0;
  const mint = async (client: number, key: string): Promise<void> => {
    const body = JSON.stringify({ entity: "person" });
    for (;;) {
      const init = { method: "POST", body, headers: { "idempotency-key": key } };
      const answer = await gateways[client % 4]?.request("/mint", init);
      if (answer?.status === 201) {
        const { ids } = await answer.json<{ ids: string[] }>();
        byKey.set(key, new Set([...(byKey.get(key) ?? []), ...ids]));
        return;
      }
      expect(answer?.status).toBe(503);
      lost++;
    }
  };
  const keys = Array.from({ length: 20 }, (_, at) => `mint-race-${at}`);
  const minting = Array.from({ length: 10 }, (_, client) => keys.map((key) => mint(client, key))).flat();
  for (const one of minting.slice(0, 60).filter((_, at) => at % 20 === 0)) {
    await abortAllDurableObjects();
    await one;
  }
  await Promise.all(minting);
  expect(lost).toBeGreaterThan(0);
  expect([...byKey.values()].map(({ size }) => size)).toEqual(new Array(20).fill(1));
  const primaryKeys = [...byKey.values()].flatMap((ids) => [...ids].map((id) => id.slice(0, 13)));
  expect(new Set(primaryKeys).size).toBe(20);
});
