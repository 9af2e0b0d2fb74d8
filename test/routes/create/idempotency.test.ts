import { describe, expect, it } from "vitest";
import { fingerprintOf } from "../../../src/features/idempotency/serve/keyed-request.ts";
import { ok } from "../../../src/ids/result.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { servedBeside, tablesOf } from "../beside.ts";
import { IDS, problemOf, setUp, slug } from "../harness.ts";

const declared = (idempotency: object = {}, more: object = {}) => ({
  ...DECLARED_TABLE,
  entities: {
    ...DECLARED_TABLE.entities,
    order: {
      ...DECLARED_TABLE.entities.order,
      create: { key: { country: { header: "x-country" } }, idempotency },
    },
  },
  ...more,
});

let keys = 0;
const newKey = (): string => `key-${Date.now()}-${keys++}`;

const post = (
  key: string | undefined,
  body: string = '{"total":1}',
  more: Record<string, string> = {},
): RequestInit => ({
  method: "POST",
  body,
  headers: {
    "content-type": "application/json",
    "x-country": "KZ",
    ...(key === undefined ? {} : { "idempotency-key": key }),
    ...more,
  },
});

const idOf = (response: Response) => response.headers.get("waybill-entity-id");
const created = (headers: HeadersInit = {}) => new Response('{"made":true}', { status: 201, headers });

it("a create with a key goes to a region that only the canary's table has", async () => {
  const table = declared();
  const canary = {
    ...table,
    regions: { ...table.regions, sa: { origins: [{ url: "http://sa.test" }] } },
    routes: table.routes.map((route) =>
      "country" in route.when && route.when.country === "KZ" ? { ...route, region: "sa" } : route,
    ),
  };
  const served = servedBeside(table, canary, { countries: ["KZ"] });
  const { request, seen } = setUp({ gateway: { tables: tablesOf(served) }, origin: () => created() });
  const key = newKey();
  for (let attempt = 0; attempt < 2; attempt++) expect((await request("/orders", post(key))).status).toBe(201);
  expect(new Set(seen.map(({ url }) => new URL(url).host))).toEqual(new Set(["sa.test"]));
});

describe("a create with a key", () => {
  it("gets the kept answer again", async () => {
    const origin = () =>
      created({ "content-type": "application/json", etag: '"1"', "x-more": "a", "x-other": "b", "set-cookie": "s=1" });
    const { request, seen, lines } = setUp({ declared: declared({ keepAnswer: { fields: ["X-More"] } }), origin });
    const key = newKey();
    const first = await request("/orders", post(key));
    const second = await request("/orders", post(`"${key}"`));
    expect([first.status, second.status, seen.length]).toEqual([201, 201, 1]);
    expect(idOf(second)).toBe(idOf(first));
    expect(second.headers.get("location")).toBe(first.headers.get("location"));
    expect([await first.text(), await second.text()]).toEqual(['{"made":true}', '{"made":true}']);
    expect(first.headers.get("idempotent-replayed")).toBe(null);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(["etag", "x-more", "x-other", "set-cookie"].map((name) => second.headers.get(name))).toEqual([
      '"1"',
      "a",
      null,
      null,
    ]);
    for (const response of [first, second]) {
      expect(response.headers.get("waybill-retry")).toBe("same-key");
      const until = Date.parse(response.headers.get("waybill-key-until") ?? "") - Date.now();
      expect(until).toBeGreaterThan(86_390_000);
      expect(until).toBeLessThanOrEqual(86_400_000);
    }
    expect(lines.map(({ outcome, entity, region }) => [outcome, entity, region])).toEqual([
      ["answered", "order", "ap"],
      ["replayed", "order", "ap"],
    ]);
  });

  it("asks the origin again with the same ID where nothing is kept", async () => {
    const { request, seen } = setUp({ declared: declared(), origin: () => created() });
    const key = newKey();
    const ids = [idOf(await request("/orders", post(key))), idOf(await request("/orders", post(key)))];
    expect(seen.map(({ headers }) => headers.get("waybill-entity-id"))).toEqual(ids);
    expect(new Set(ids).size).toBe(1);
  });

  it.each([401, 403, 408, 425, 429, 500, 502, 503])(
    "keeps no %i of the origin, and tries the same ID",
    async (status) => {
      let answers = 0;
      const origin = () => (answers++ === 0 ? new Response("later", { status }) : created());
      const { request, seen } = setUp({ declared: declared({ keepAnswer: {} }), origin });
      const key = newKey();
      const first = await request("/orders", post(key));
      expect([first.status, first.headers.get("waybill-retry")]).toEqual([status, "same-key"]);
      const second = await request("/orders", post(key));
      expect([second.status, idOf(second)]).toEqual([201, idOf(first)]);
      expect(new Set(seen.map(({ headers }) => headers.get("waybill-entity-id"))).size).toBe(1);
    },
  );

  it.each([400, 404, 409, 422])("keeps a %i of the origin: a corrected request needs a new key", async (status) => {
    const { request, seen } = setUp({
      declared: declared({ keepAnswer: {} }),
      origin: () => new Response("no", { status }),
    });
    const key = newKey();
    for (let at = 0; at < 2; at++) {
      const response = await request("/orders", post(key));
      expect([response.status, await response.text(), response.headers.get("waybill-retry")]).toEqual([
        status,
        "no",
        "new-key",
      ]);
    }
    expect(seen).toHaveLength(1);
  });

  it("keeps the region when the table changes, and the ID when the origin cannot be reached", async () => {
    const key = newKey();
    const down = setUp({
      declared: declared({ keepAnswer: {} }),
      origin: () => {
        throw new TypeError("connection refused");
      },
    });
    const failed = await down.request("/orders", post(key));
    const problem = await problemOf(failed);
    expect([slug(problem), problem["retry"], typeof problem["keyUntil"]]).toEqual([
      "origin-unreachable",
      "same-key",
      "string",
    ]);
    const moved = [{ when: { layout: "iuid", country: "KZ" }, region: "us" }, ...DECLARED_TABLE.routes.slice(1)];
    const after = setUp({ declared: declared({ keepAnswer: {} }, { routes: moved }), origin: () => created() });
    const response = await after.request("/orders", post(key));
    expect([response.status, idOf(response), response.headers.get("waybill-region")]).toEqual([
      201,
      idOf(failed),
      "ap",
    ]);
    expect(after.seen[0]?.url).toMatch(/^http:\/\/ap-/);
    const fresh = await after.request("/orders", post(newKey()));
    expect(fresh.headers.get("waybill-region")).toBe("us");
  });

  it("follows an entity that was moved meanwhile: its former region would make it anew", async () => {
    const key = newKey();
    const id = idOf(await setUp({ declared: declared(), origin: () => created() }).request("/orders", post(key))) ?? "";
    const after = setUp({ declared: declared({}, { moved: { [id]: "eu" } }), origin: () => created() });
    const response = await after.request("/orders", post(key));
    expect([idOf(response), response.headers.get("waybill-region")]).toEqual([id, "eu"]);
    expect(after.seen.map(({ url }) => url)).toEqual(["http://eu.test/orders"]);
  });

  it("refuses a twin that is under way, and lets it through when the first has ended", async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let reached: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const origin = async () => {
      reached();
      await held;
      return created();
    };
    const { request, seen } = setUp({ declared: declared({ keepAnswer: {} }), origin });
    const key = newKey();
    const first = request("/orders", post(key));
    await asked;
    const twin = await request("/orders", post(key));
    expect([twin.status, Number(twin.headers.get("retry-after")) > 0]).toEqual([409, true]);
    expect(await problemOf(twin)).toMatchObject({ type: "/-/problems/idempotency-key-in-use", retry: "same-key" });
    release();
    const id = idOf(await first);
    const later = await request("/orders", post(key));
    expect([idOf(later), later.headers.get("idempotent-replayed"), seen.length]).toEqual([id, "true", 1]);
  });

  it.each([
    ["body", "/orders", post(undefined, '{"total":2}')],
    ["query", "/orders?x", post(undefined)],
    ["type", "/orders", post(undefined, undefined, { "content-type": "application/merge-patch+json" })],
  ])("refuses another %s under the key before the origin is asked", async (_, path, init) => {
    const { request, seen } = setUp({ declared: declared(), origin: () => created() });
    const key = newKey();
    await request("/orders", post(key));
    const headers = { ...(init.headers as Record<string, string>), "idempotency-key": key };
    const refused = await problemOf(await request(path, { ...init, headers }));
    expect([slug(refused), refused["status"], refused["retry"]]).toEqual(["idempotency-key-mismatch", 422, "new-key"]);
    expect(seen).toHaveLength(1);
  });

  it("is another key for another caller", async () => {
    const { request, seen } = setUp({ declared: declared({ keepAnswer: {} }), origin: () => created() });
    const key = newKey();
    const ids = new Set<string | null>();
    for (const authorization of ["Bearer a", "Bearer b", ""]) {
      ids.add(idOf(await request("/orders", post(key, undefined, authorization === "" ? {} : { authorization }))));
    }
    expect([ids.size, seen.length]).toEqual([3, 3]);
  });

  it("is scoped by a verified claim where the table says so", async () => {
    const key = newKey();
    const idFor = async (sub: string | undefined, authorization: string) => {
      const { request } = setUp({
        declared: declared({ keepAnswer: {}, scope: { jwtClaim: "sub" } }),
        origin: () => created(),
        gateway: { clientClaims: async () => ok(sub === undefined ? undefined : { sub }) },
      });
      return request("/orders", post(key, undefined, { authorization }));
    };
    const [a, renewed, b] = [await idFor("a", "Bearer 1"), await idFor("a", "Bearer 2"), await idFor("b", "Bearer 3")];
    expect([idOf(renewed), idOf(b) === idOf(a)]).toEqual([idOf(a), false]);
    expect(slug(await problemOf(await idFor(undefined, "Basic 4")))).toBe("create-key-missing");
  });

  it.each(["Bearer a b", "bearer\tx", "Bearer"])(
    "has no scope and no key by what is no token: %j",
    async (authorization) => {
      const sources = { country: [{ jwtClaim: "country" }, { header: "x-country" }] };
      const order = { ...DECLARED_TABLE.entities.order, create: { key: sources } };
      const table = { ...DECLARED_TABLE, entities: { ...DECLARED_TABLE.entities, order } };
      const { request, seen } = setUp({ declared: table, gateway: { clientClaims: async () => ok(undefined) } });
      const answer = await request("/orders", post(undefined, undefined, { authorization }));
      expect([slug(await problemOf(answer)), seen]).toEqual(["unauthenticated", []]);
    },
  );

  it.each([[["a"]], [{ a: 1 }], [""], [true], [2 ** 53]])(
    "is never scoped by the claim %j, which others may share",
    async (sub) => {
      const { request, seen } = setUp({
        declared: declared({ keepAnswer: {}, scope: { jwtClaim: "sub" } }),
        gateway: { clientClaims: async () => ok({ sub }) },
      });
      expect(slug(await problemOf(await request("/orders", post(newKey()))))).toBe("create-key-invalid");
      expect(seen).toEqual([]);
    },
  );

  it("is refused with a transfer coding whose name the origin would not get", async () => {
    const { request, seen } = setUp({ declared: declared() });
    const type = { "content-type": "text/plain", "transfer-encoding": "gzip, chunked" };
    const body = new Response("a").body as ReadableStream;
    const refused = await request("/orders", { ...post(newKey(), undefined, type), body });
    expect([slug(await problemOf(refused)), seen]).toEqual(["transfer-coding-unsupported", []]);
  });

  // Until then a body that streamed was told apart by its digest alone, one that was read by its bytes.
  it.each([
    ["sha-256", "in chunks", "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:"],
    ["sha-512", "with a length", "hello"],
  ])("that a former version wrote holds: %s, %s", async (algorithm, framing, formerBody) => {
    const { request, gateway, seen } = setUp({ declared: declared(), origin: () => created() });
    const hash = new Uint8Array(await crypto.subtle.digest(algorithm.toUpperCase(), new TextEncoder().encode("hello")));
    const digest = `${algorithm}=:${btoa(String.fromCharCode(...hash))}:`;
    const payload = { method: "POST", target: "/orders", contentType: "text/plain" };
    const body = new Uint8Array(new TextEncoder().encode(formerBody));
    const fingerprint = await fingerprintOf({ ...payload, body }, gateway.subtle);
    const key = newKey();
    const call = { scope: "", key, attempt: "former", fingerprint, ttlMs: 60_000, leaseMs: 60_000 };
    const proposal = { entity: "order", id: IDS.orderKz, region: "ap", revision: 0 };
    expect(await gateway.idempotency.begin({ ...call, proposal })).toMatchObject({ value: { state: "started" } });
    await gateway.idempotency.finish(call);
    const fields = { "content-type": "text/plain", "content-digest": digest };
    const retry = (text: string): RequestInit => ({
      ...post(key, undefined, framing === "in chunks" ? fields : { ...fields, "content-length": `${text.length}` }),
      body: framing === "in chunks" ? (new Response(text).body as ReadableStream) : text,
    });
    const again = await request("/orders", retry("hello"));
    expect([again.status, idOf(again), seen.length]).toEqual([201, IDS.orderKz, 1]);
  });

  it("is needed where the table requires it, and must be well written", async () => {
    const { request, seen } = setUp({ declared: declared({ required: true }) });
    expect(slug(await problemOf(await request("/orders", post(undefined))))).toBe("idempotency-key-missing");
    for (const key of ["a b", '"', "a, b", "", "a".repeat(256)]) {
      expect(slug(await problemOf(await request("/orders", post(key))))).toBe("idempotency-key-invalid");
    }
    expect(seen).toEqual([]);
  });

  it("keeps no client waiting for a stream", async () => {
    let end: () => void = () => undefined;
    const origin = () => {
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode("a"));
          end = () => controller.close();
        },
      });
      return new Response(body, { status: 201 });
    };
    const { request, seen } = setUp({ declared: declared({ keepAnswer: {} }), origin });
    const key = newKey();
    const first = await request("/orders", post(key));
    expect((await request("/orders", post(key))).status).toBe(409);
    end();
    expect(await first.text()).toBe("a");
    await expect
      .poll(async () => (await request("/orders", post(key))).headers.get("idempotent-replayed"))
      .toBe("true");
    expect(seen).toHaveLength(1);
  });

  it("passes an answer that is too long to keep, and asks again", async () => {
    const long = "x".repeat(70_000);
    const { request, seen } = setUp({
      declared: declared({ keepAnswer: {} }),
      origin: () => new Response(long, { status: 201 }),
    });
    const key = newKey();
    const first = await request("/orders", post(key));
    const second = await request("/orders", post(key));
    expect([await first.text(), await second.text()]).toEqual([long, long]);
    expect([idOf(second), seen.length]).toEqual([idOf(first), 2]);
  });

  it("refuses a body that is too large to compare, unless its digest is said", async () => {
    const { request, seen } = setUp({ declared: declared(), origin: () => created() });
    const body = "x".repeat(1_048_577);
    const init = post(newKey(), body, { "content-type": "text/plain" });
    expect(slug(await problemOf(await request("/orders", init)))).toBe("body-too-large");
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(body)));
    const digest = { "content-digest": `sha-256=:${btoa(String.fromCharCode(...hash))}:` };
    const told = await request("/orders", { ...init, headers: { ...(init.headers as object), ...digest } });
    expect([told.status, seen[0]?.body.length]).toEqual([201, 1_048_577]);
  });

  it("creates nothing where keys cannot be had", async () => {
    const unavailable = { ok: false, error: { reason: "idempotency-unavailable", why: "test" } } as const;
    const { request, seen } = setUp({
      declared: declared(),
      gateway: {
        idempotency: { begin: async () => unavailable, finish: async () => unavailable, show: async () => unavailable },
      },
    });
    const response = await request("/orders", post(newKey()));
    expect([response.status, response.headers.has("retry-after"), seen.length]).toEqual([503, true, 0]);
    const without = await request("/orders", post(undefined));
    expect(without.status).toBe(200);
  });
});
