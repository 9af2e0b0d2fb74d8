import { afterAll, beforeAll, expect, it } from "vitest";
import { readDemoTable } from "../../system/demo/demo.ts";
import { type Beside, startBeside } from "../compare.ts";
import { askAll, requestFor } from "../engines.ts";
import { describeEngines } from "./describe-engines.ts";

/** Requests that create pass through Waybill, which mints their IDs or holds them to the clock. */

const demo = readDemoTable();
const order = demo.entities["order"] as { readonly create: { readonly clientId: object } };
const TABLE = {
  ...demo,
  entities: {
    ...demo.entities,
    order: {
      ...order,
      create: { ...order.create, clientId: { ...order.create.clientId, createFlag: "x-create" } },
    },
    item: {
      path: "/items.d/:id",
      ids: [{ layout: "iuid", service: 3 }],
      create: { collection: "/orders/:id/line-items", key: { country: { parent: "country" } } },
    },
  },
};

/** Minted in DE in 2025: too old to be created now. */
const ORDER = "01991111-7a30-8009-8040-8f3b2a1c9d78";
const BODY = "content-length: 0";

describeEngines(
  (engine) => engine,
  (engine) => {
    let beside: Beside;
    beforeAll(async () => {
      beside = await startBeside(engine, TABLE);
    });
    afterAll(() => beside?.stop());

    const ask = async (method: string, target: string, ...fields: string[]) => {
      const requests = [requestFor(target, method, [BODY, ...fields])];
      const [answer, alone] = [
        (await askAll(beside.beside.port, requests))[0],
        (await askAll(beside.alone.port, requests))[0],
      ];
      const field = (name: string) => new RegExp(`\\r\\n${name}: *(\\S+)`, "i").exec(answer?.head ?? "")?.[1];
      return { status: answer?.status, alone: alone?.status, field, body: answer?.body ?? "" };
    };

    it.each([
      ["/orders", "order"],
      ["/orders?a=1", "order"],
      [`/orders/${ORDER}/line-items`, "item"],
      [`/orders/${ORDER}/line-items?a=%20`, "item"],
    ])("POST %s gets a new ID, and the client is told", async (target) => {
      const { status, field, body, alone } = await ask("POST", target, "x-country: KZ", `idempotency-key: ${target}`);
      expect(status).toBe(200);
      const id = field("waybill-entity-id") ?? "";
      expect(id).toMatch(/^[0-9a-f-]{36}$/);
      expect(id).not.toBe(ORDER);
      expect(body).toContain(`"waybill-entity-id":"${id}"`);
      expect(field("waybill-retry")).toBe("same-key");
      expect(alone).toBe(503);
    });

    it.each([["if-none-match: *"], ["If-None-Match: *"], ["x-create: 1"]])(
      "PUT with %s is held to the clock",
      async (flag) => {
        const { status, body, alone } = await ask("PUT", `/orders/${ORDER}`, flag);
        expect([status, alone]).toEqual([422, 503]);
        expect(body).toContain("/-/problems/stale-client-id");
      },
    );

    it("decides alone what creates nothing", async () => {
      for (const [method, target, field] of [
        ["PUT", `/orders/${ORDER}`, "x-other: 1"],
        ["POST", `/orders/${ORDER}/line_items`, "x-create: 1"],
        ["POST", `/orders/${ORDER}/line-items/7`, "x-create: 1"],
        ["PATCH", `/orders/${ORDER}`, "if-none-match: *"],
        ["POST", `/orders/${ORDER}`, "if-none-match: *"],
      ] as const) {
        const { status, alone } = await ask(method, target, field);
        expect([target, status, alone]).toEqual([target, 200, 200]);
      }
    });
  },
);

const { graphql: _, withoutId: __, ...rest } = demo as typeof demo & Readonly<Record<"graphql" | "withoutId", unknown>>;
const { list: ___, ...unlisted } = order as typeof order & { readonly list: unknown };

/** A table without any other path of the gateway's own. */
const CREATES_ALONE = { ...rest, entities: { ...demo.entities, order: unlisted } };

describeEngines(
  (engine) => `${engine} with a table that only creates`,
  (engine) => {
    let beside: Beside;
    beforeAll(async () => {
      beside = await startBeside(engine, CREATES_ALONE);
    });
    afterAll(() => beside?.stop());

    it.each(["GET", "HEAD", "PUT", "DELETE"])("%s on a collection is no unknown path", async (method) => {
      const requests = [requestFor("/orders", method, method === "GET" || method === "HEAD" ? [] : [BODY])];
      const [gateway, behind, alone] = await Promise.all(
        [beside.gateway, beside.beside.port, beside.alone.port].map(async (port) => (await askAll(port, requests))[0]),
      );
      expect([gateway?.status, behind?.status, alone?.status]).toEqual([405, 405, 503]);
      for (const answer of [gateway, behind]) expect(answer?.head).toMatch(/\r\nallow: POST\r\n/i);
    });
  },
);
