import { describe, expect, it } from "vitest";
import { durableIdempotency } from "../../../src/features/idempotency/edge/keys.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { problemOf, setUp, slug } from "../harness.ts";

const KEY = "8e03978e-40d5-43dd-bc93-6894a57f9324";
const ORDER = { entity: "order", country: "KZ", count: 2 };
const post = (body: unknown, headers: Record<string, string> = { "idempotency-key": KEY }): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

const fieldsOf = (response: Response) => Object.fromEntries(response.headers);

describe("POST /mint with an idempotency key", () => {
  it("gives a retry the same IDs, in either spelling of the key", async () => {
    const { request, lines } = setUp();
    const first = await request("/mint", post(ORDER));
    const second = await request("/mint", post(ORDER, { "idempotency-key": `"${KEY}"` }));
    expect([first.status, second.status]).toEqual([201, 201]);
    // It may come in another second.
    const date = expect.stringMatching(/ GMT$/);
    expect(fieldsOf(second)).toEqual({ ...fieldsOf(first), "idempotent-replayed": "true", date });
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    const until = Date.parse(first.headers.get("waybill-key-until") ?? "");
    expect(Math.abs(until - Date.now() - 86_400_000)).toBeLessThan(60_000);
    expect(await second.text()).toBe(await first.text());
    expect(lines.map(({ outcome, entity, region }) => [outcome, entity, region])).toEqual([
      ["own", "order", "ap"],
      ["replayed", "order", "ap"],
    ]);
  });

  it("gives it the answer that it got, a large one too, whatever type it asks for now", async () => {
    const { request } = setUp();
    const body = { layout: "hotguid", shardKey: 840, count: 1000 };
    const first = await request("/mint", post(body, { "idempotency-key": KEY, accept: "text/plain" }));
    const second = await request("/mint", post(body));
    expect(second.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await second.text()).toBe(await first.text());
    const { entries } = await (await request(`/-/idempotency/${KEY}`)).json<{ entries: { id: string }[] }>();
    expect(entries).toMatchObject([{ id: expect.stringMatching(/^[0-9a-f-]{36}$/), region: "eu" }]);
  });

  it("gives it the same IDs after the table has lost the entity", async () => {
    const first = await setUp().request("/mint", post(ORDER));
    const { order: _, ...entities } = DECLARED_TABLE.entities;
    const routes = DECLARED_TABLE.routes.filter((route) => !JSON.stringify(route).includes('"order"'));
    const later = setUp({ declared: { ...DECLARED_TABLE, entities, routes } });
    expect((await later.request("/mint", post(ORDER, {}))).status).toBe(422);
    const second = await later.request("/mint", post(ORDER));
    expect([second.status, await second.text()]).toEqual([201, await first.text()]);
  });

  it("refuses another request with the key: another body, type or query", async () => {
    const { request } = setUp();
    await request("/mint", post(ORDER));
    for (const [path, init] of [
      ["/mint", post({ ...ORDER, count: 3 })],
      ["/mint?a=1", post(ORDER)],
      ["/mint", post(ORDER, { "idempotency-key": KEY, "content-type": "text/json" })],
    ] as const) {
      const problem = await problemOf(await request(path, init));
      expect([slug(problem), problem["status"]]).toEqual(["idempotency-key-mismatch", 422]);
    }
    expect((await request("/mint", post({ ...ORDER, count: 3 }, { "idempotency-key": "another" }))).status).toBe(201);
  });

  it("keeps the keys of callers apart", async () => {
    const { request } = setUp();
    const by = (name: string) => request("/mint", post(ORDER, { "idempotency-key": KEY, authorization: name }));
    const texts = [await by("Bearer ann"), await by("Bearer bob"), await request("/mint", post(ORDER))];
    expect(new Set(await Promise.all(texts.map((response) => response.text()))).size).toBe(3);
    expect((await by("Bearer bob")).headers.get("idempotent-replayed")).toBe("true");
    const page = await (await request(`/-/idempotency/${KEY}`)).json<{ entries: { scope: string }[] }>();
    expect(page.entries.map(({ scope }) => scope.length).sort()).toEqual([0, 12, 12]);
    expect(JSON.stringify(page)).not.toContain("ann");
  });

  it("gives twins one answer", async () => {
    const { request } = setUp();
    const twins = await Promise.all(Array.from({ length: 8 }, () => request("/mint", post(ORDER))));
    expect(twins.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201));
    expect(new Set(await Promise.all(twins.map((response) => response.text()))).size).toBe(1);
    expect(twins.filter(({ headers }) => headers.has("idempotent-replayed"))).toHaveLength(7);
  });

  it("keeps nothing of a request that failed", async () => {
    const { request } = setUp();
    expect((await request("/mint", post({ entity: "order", country: "XX" }))).status).toBe(422);
    expect((await request("/mint", post(ORDER))).status).toBe(201);
  });

  it.each(["", '""', "a b", "a, b"])("refuses the key %j", async (key) => {
    const problem = await problemOf(await setUp().request("/mint", post(ORDER, { "idempotency-key": key })));
    expect([slug(problem), problem["status"]]).toEqual(["idempotency-key-invalid", 400]);
  });

  it("gives out no IDs that it cannot keep", async () => {
    let begins = 0;
    const object = {
      begin: async () => {
        if (++begins === 2) throw new Error("gone");
        return { state: "started" };
      },
    };
    const namespace = { idFromName: () => "x", get: () => object } as never;
    const { request } = setUp({ gateway: { idempotency: durableIdempotency(namespace) } });
    const answer = await request("/mint", post(ORDER));
    const problem = await problemOf(answer);
    expect([slug(problem), answer.headers.has("retry-after")]).toEqual(["idempotency-unavailable", true]);
    expect(JSON.stringify(problem)).not.toContain("gone");
  });

  it("a request without a key asks no object", async () => {
    const { request } = setUp({ gateway: { idempotency: undefined as never } });
    expect((await request("/mint", post(ORDER, {}))).status).toBe(201);
  });
});

describe("GET /-/idempotency/{key}", () => {
  it("shows what is known of a key", async () => {
    const { request } = setUp();
    const minted = await (await request("/mint", post(ORDER))).json<{ ids: string[] }>();
    const entry = {
      scope: "",
      state: "done",
      entity: "order",
      id: minted.ids[0],
      region: "ap",
      revision: 0,
      attempts: 1,
      startedAt: expect.stringMatching(/Z$/),
      until: expect.stringMatching(/Z$/),
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      answer: { status: 201, bytes: expect.any(Number) },
    };
    for (const key of [KEY, `%22${KEY}%22`]) {
      const page = await request(`/-/idempotency/${key}`);
      expect([page.status, await page.json()]).toEqual([200, { key: KEY, entries: [entry] }]);
    }
  });

  it("reads any key", async () => {
    const { request } = setUp();
    for (const key of ["a/b?c#d%", "..", 'two words, "one"', "\\"]) {
      const quoted = `"${key.replaceAll(/["\\]/g, "\\$&")}"`;
      await request("/mint", post(ORDER, { "idempotency-key": quoted }));
      const page = await request(`/-/idempotency/${encodeURIComponent(quoted)}`);
      expect(await page.json()).toMatchObject({ key, entries: [{ entity: "order" }] });
    }
  });

  it("an unknown key has no entries; what is no key is refused", async () => {
    const { request } = setUp();
    expect(await (await request("/-/idempotency/unknown")).json()).toEqual({ key: "unknown", entries: [] });
    for (const path of ["/-/idempotency/%zz", "/-/idempotency/a%20b"]) {
      expect(slug(await problemOf(await request(path)))).toBe("idempotency-key-invalid");
    }
    for (const path of ["/-/idempotency", "/-/idempotency/", "/-/idempotency/a/b"]) {
      expect((await request(path)).status).toBe(404);
    }
  });

  it("is for viewers", async () => {
    const { request } = setUp({
      gateway: { authenticate: async () => ({ ok: false, error: { reason: "unauthenticated", why: "missing" } }) },
    });
    expect((await request(`/-/idempotency/${KEY}`)).status).toBe(401);
  });
});
