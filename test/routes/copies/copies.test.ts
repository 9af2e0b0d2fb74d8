import { env } from "cloudflare:workers";
import { describe, expect, it, test } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { hmacSigner } from "../../../src/edge/origins/signer.ts";
import { durableDirectory } from "../../../src/features/directory/edge/keys.ts";
import { ok } from "../../../src/ids/result.ts";
import { verifyRequest } from "../../../src/origin/index.ts";
import { loadTable } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, problemOf, publicKeysOf, setUp, slug } from "../harness.ts";

const COPIES = { clientContinent: { NA: "us", AS: "ap" }, lagSeconds: 30, afterWriteCookie: "wrote" };
const { order } = DECLARED_TABLE.entities;
const tableWith = (copies: object = {}, more: object = {}, table: object = {}) => ({
  ...DECLARED_TABLE,
  ...table,
  entities: { ...DECLARED_TABLE.entities, order: { ...order, readCopies: { ...COPIES, ...copies }, ...more } },
});

const PATH = `/orders/${IDS.orderDe}`;
const from = (continent: string | undefined, init: RequestInit = {}): RequestInit => ({
  ...init,
  cf: { continent } as never,
});
const hosts = (seen: readonly { readonly url: string }[]) => seen.map(({ url }) => new URL(url).host.slice(0, 2));

/** Answers by region; what has no entry answers 200. */
const regions = (answers: Readonly<Record<string, () => Response>>) => ({
  declared: tableWith(),
  origin: (request: Request) => {
    const region = new URL(request.url).host.slice(0, 2);
    return answers[region]?.() ?? new Response(`from ${region}`);
  },
});

describe("reads", () => {
  test.each<[continent: string | undefined, region: string, copy: string | null]>([
    ["NA", "us", "of=eu; lag=30"],
    ["AS", "ap", "of=eu; lag=30"],
    ["EU", "eu", null],
    [undefined, "eu", null],
  ])("from %s go to %s, and say so", async (continent, region, copy) => {
    for (const [path, method] of [
      [PATH, "GET"],
      [PATH, "HEAD"],
      [`${PATH}/events?limit=2`, "GET"],
      [`/any/${IDS.orderDe}`, "GET"],
    ] as const) {
      const counted: string[][] = [];
      const counters = { count: (...event: string[]) => void counted.push(event) };
      const { request, seen, lines } = setUp({ declared: tableWith(), gateway: { counters } });
      const answer = await request(path, from(continent, { method }));
      expect([answer.status, answer.headers.get("waybill-region")]).toEqual([200, region]);
      expect(answer.headers.get("waybill-copy")).toBe(copy);
      expect(hosts(seen)).toEqual([region]);
      const [sent] = seen;
      expect([sent?.headers.get("waybill-copy-of"), sent?.headers.get("waybill-region")]).toEqual([
        copy && "eu",
        region,
      ]);
      expect(sent?.headers.get("waybill-entity-id")).toBe(IDS.orderDe);
      expect(lines).toMatchObject([{ region, outcome: "answered", attempts: 1 }]);
      expect(counted).toEqual(copy === null ? [] : [["copy_reads", region, "answered"]]);
    }
  });

  it("go by a header where the platform knows no country", async () => {
    const declared = tableWith({ clientCountry: { MX: "us", IN: "ap" }, countryHeader: "X-Country" });
    const { request, seen } = setUp({ declared });
    const at = (country: string | undefined, header: string): RequestInit => ({
      cf: { country } as never,
      headers: { "x-country": header },
    });
    for (const init of [at(undefined, "MX"), at(undefined, "IN"), at("IN", "MX"), at(undefined, "XX")]) {
      expect((await request(PATH, init)).status).toBe(200);
    }
    expect(hosts(seen)).toEqual(["us", "ap", "ap", "eu"]);
  });

  it("of a path without an entity go to the owner of the ID beside it", async () => {
    const tracking = { path: "/tracking", idIn: [{ query: "order", entity: "order" }] };
    const { request, seen } = setUp({ declared: tableWith({}, {}, { withoutId: { tracking } }) });
    const answer = await request(`/tracking?order=${IDS.orderDe}`, from("NA"));
    expect([answer.status, hosts(seen), answer.headers.get("waybill-copy")]).toEqual([200, ["eu"], null]);
  });

  it("of an ID in a table's canary go where the canary says", async () => {
    const { gateway } = setUp({ declared: tableWith() });
    const served = await gateway.tables.load();
    if (!served.ok) throw new Error("no table");
    const loaded = loadTable(tableWith({ clientContinent: { NA: "ap" }, lagSeconds: 7 }), 2);
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
    const canary = {
      table: loaded.value,
      label: "rev=2; canary",
      matches: ({ words }: { words: readonly number[] }) => words.at(-1) === 1,
      ownsEntity: () => false,
    };
    const both = { ...served.value, canary };
    const tables = { peek: () => both, load: async () => ok(both) };
    const { request, seen } = setUp({ gateway: { tables: tables as unknown as typeof gateway.tables } });
    const labels: (string | null)[] = [];
    for (const id of [IDS.orderDe, IDS.orderDe.replace(/1$/, "2")]) {
      labels.push((await request(`/orders/${id}`, from("NA"))).headers.get("waybill-copy"));
    }
    expect([hosts(seen), labels]).toEqual([
      ["ap", "us"],
      ["of=eu; lag=7", "of=eu; lag=30"],
    ]);
  });

  it("of the owner stay there, wherever the client is", async () => {
    const { request, seen } = setUp({ declared: tableWith() });
    const answer = await request(`/orders/${IDS.orderBr}`, from("NA"));
    expect([hosts(seen), answer.headers.get("waybill-copy")]).toEqual([["us"], null]);
  });

  test.each(["standard", "full", "minimal"])("say so with %s header fields", async (fields) => {
    const { request } = setUp({ declared: tableWith({}, { fields }) });
    const answer = await request(PATH, from("NA"));
    expect([answer.headers.get("waybill-copy"), await answer.text()]).toEqual(["of=eu; lag=30", "from us.test"]);
  });

  it("say so for each of many", async () => {
    const { request } = setUp({ declared: tableWith() });
    const ids = JSON.stringify({ ids: [IDS.orderDe, IDS.orderBr] });
    const type = { "content-type": "application/json" };
    const ask = async (headers: Record<string, string>) => {
      const answer = await request("/any", from("NA", { method: "POST", body: ids, headers: { ...type, ...headers } }));
      const { results } = await answer.json<{ results: { region: string; copy?: string }[] }>();
      return results.map(({ region, copy }) => [region, copy]);
    };
    expect(await ask({})).toEqual([
      ["us", "of=eu; lag=30"],
      ["us", undefined],
    ]);
    expect(await ask({ "waybill-read": "owner" })).toEqual([
      ["eu", undefined],
      ["us", undefined],
    ]);
  });

  it("of public entities are rewritten as ever", async () => {
    const publicKeys = publicKeysOf(JSON.stringify({ sealed: [{ id: "1", key: btoa("k".repeat(32)) }] }));
    const body = () => Response.json({ id: IDS.orderDe });
    const declared = tableWith({}, { public: true, publicFields: ["/id"] });
    const { request, seen } = setUp({ declared, publicKeys, origin: body });
    const minted = await request("/mint", { method: "POST", body: JSON.stringify({ entity: "order", country: "DE" }) });
    const { ids } = await minted.json<{ ids: [string] }>();
    const answer = await request(`/orders/${ids[0]}`, from("NA"));
    expect([hosts(seen), answer.headers.get("waybill-copy")]).toEqual([["us"], "of=eu; lag=30"]);
    expect(await answer.text()).not.toContain(IDS.orderDe);
  });

  it("are not mirrored to a shadow, which is compared with the owner", async () => {
    const routes = [{ when: { layout: "iuid" }, region: "eu", shadow: { region: "ap", percent: 100 } }];
    const { request, mirrored, seen } = setUp({ declared: tableWith({}, {}, { routes }) });
    await request(PATH, from("NA"));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([hosts(seen), mirrored]).toEqual([["us"], []]);
    await request(PATH, from("EU"));
    await expect.poll(() => mirrored).toEqual(["ap match"]);
  });
});

describe("the owner is asked", () => {
  test.each<[what: string, init: RequestInit]>([
    ["for a write", { method: "PUT", body: "{}" }],
    ["for a delete", { method: "DELETE" }],
    ["for OPTIONS", { method: "OPTIONS" }],
    ["where the client wants it", { headers: { "waybill-read": "owner" } }],
    ["after the client's write", { headers: { cookie: "a=b; wrote=owner" } }],
    [
      "after a write, in a second line",
      {
        headers: [
          ["cookie", "a=b"],
          ["cookie", "wrote=owner"],
        ],
      },
    ],
    ["where the cookie is uncertain", { headers: { cookie: "a=b, wrote=owner; wrote=x" } }],
    ["for a conversation", { headers: { upgrade: "websocket" } }],
  ])("%s", async (_, init) => {
    const { request, seen } = setUp({ declared: tableWith() });
    const answer = await request(PATH, from("NA", init));
    expect([hosts(seen), answer.headers.get("waybill-copy")]).toEqual([["eu"], null]);
    expect(seen[0]?.headers.has("waybill-read")).toBe(false);
    expect(seen[0]?.headers.has("waybill-copy-of")).toBe(false);
  });

  test.each<[what: string, outcome: string, answer: () => Response]>([
    ["does not know the entity", "missing", () => new Response("no such order", { status: 404 })],
    [
      "says that it is not its own",
      "refused",
      () => new Response(null, { status: 421, headers: { "waybill-region": "ap" } }),
    ],
    ["is in trouble", "refused", () => new Response("busy", { status: 503 })],
    [
      "is down",
      "failed",
      () => {
        throw new Error("Network connection lost.");
      },
    ],
  ])("when the copy %s", async (_, outcome, answer) => {
    const counted: string[][] = [];
    const counters = { count: (...event: string[]) => void counted.push(event) };
    const { request, seen, lines } = setUp({ ...regions({ us: answer }), gateway: { counters } });
    const got = await request(PATH, from("NA"));
    expect([got.status, await got.text(), got.headers.get("waybill-region")]).toEqual([200, "from eu", "eu"]);
    expect(got.headers.get("waybill-copy")).toBeNull();
    const all = hosts(seen);
    expect([all.at(-1), new Set(all)]).toEqual(["eu", new Set(["us", "eu"])]);
    expect(lines).toMatchObject([{ region: "eu", attempts: all.length }]);
    expect(counted).toEqual([["copy_reads", "us", outcome]]);
  });

  it("and its 404 is the answer, and so is its failure", async () => {
    const missing = () => new Response(null, { status: 404 });
    const both = setUp(regions({ us: missing, eu: missing }));
    const answer = await both.request(PATH, from("NA"));
    expect([answer.status, answer.headers.get("waybill-region"), hosts(both.seen)]).toEqual([404, "eu", ["us", "eu"]]);
    const down = () => {
      throw new Error("Network connection lost.");
    };
    const none = setUp({ ...regions({ us: down, eu: down }), declared: tableWith({}, {}, NO_FAILOVER) });
    expect(slug(await problemOf(await none.request(PATH, from("NA"))))).toBe("origin-unreachable");
  });
  const NO_FAILOVER = { regions: { ...DECLARED_TABLE.regions, eu: { origins: [{ url: "http://eu.test" }] } } };

  it("for a request with the ID of another entity", async () => {
    const declared = tableWith({}, { idIn: [{ query: "with", entity: "order" }] });
    const { request, seen } = setUp({ ...regions({}), declared });
    await request(`${PATH}?with=${IDS.orderDe}`, from("NA"));
    await request(`${PATH}?with=${IDS.orderDe.replace(/1$/, "2")}`, from("NA"));
    expect(hosts(seen)).toEqual(["us", "eu"]);
  });

  it("for an ID that an origin said to have moved", async () => {
    const moved = () => new Response(null, { status: 421, headers: { "waybill-region": "ap" } });
    const { request, seen } = setUp(regions({ eu: moved }));
    await request(PATH, from("EU"));
    expect(hosts(seen)).toEqual(["eu", "ap"]);
    const answer = await request(PATH, from("NA"));
    expect([hosts(seen).at(-1), answer.headers.get("waybill-copy")]).toEqual(["ap", null]);
  });
});

describe("after a write", () => {
  it("a cookie keeps the client at the owner, also when the answer was lost", async () => {
    const { request } = setUp({ declared: tableWith() });
    const answer = await request(PATH, from("NA", { method: "PUT", body: "{}" }));
    expect(answer.headers.get("set-cookie")).toBe("wrote=owner; Path=/; Max-Age=30; HttpOnly; SameSite=Lax");
    const lost = setUp(
      regions({
        eu: () => {
          throw new Error("Network connection lost.");
        },
      }),
    );
    const problem = await lost.request(PATH, from("NA", { method: "POST", body: "{}" }));
    expect([problem.status, problem.headers.get("set-cookie")?.split(";")[0]]).toEqual([502, "wrote=owner"]);
  });

  it("no read sets it, and no table without it", async () => {
    const { request } = setUp({ declared: tableWith() });
    for (const continent of ["NA", "EU"]) {
      expect((await request(PATH, from(continent))).headers.get("set-cookie")).toBeNull();
    }
    const without = setUp({ declared: tableWith({ afterWriteCookie: undefined }) });
    const answer = await without.request(PATH, from("NA", { method: "PUT", body: "{}" }));
    expect(answer.headers.get("set-cookie")).toBeNull();
  });
});

it("an ID whose region a directory says is read from the copy of its owner", async () => {
  const { DIRECTORY } = env as Env;
  const put = (key: string, region: string) =>
    durableDirectory(DIRECTORY).register({ directory: "old", key, owner: "1", operation: "test", region });
  const [inEu, inUs, made] = ["1", "2", "3"].map((at) => `919108f7-52d1-4320-9bac-f847db4148a${at}`) as [
    string,
    string,
    string,
  ];
  await put(inEu, "eu");
  await put(inUs, "us");
  const thing = { path: "/things/:id", ids: [{ layout: "uuid-v4" }], readCopies: COPIES };
  const declared = {
    ...DECLARED_TABLE,
    directory: { old: { key: { layout: "uuid-v4" } } },
    entities: { ...DECLARED_TABLE.entities, thing },
    routes: [{ when: { layout: "uuid-v4" }, directory: "old" }, ...DECLARED_TABLE.routes],
  };
  const origin = () => new Response("x", { headers: { "waybill-register": `old=${made}` } });
  const { request, seen } = setUp({ declared, origin, gateway: { sign: async () => "v1" } });
  const copies: (string | null)[] = [];
  for (const [id, continent] of [
    [inEu, "NA"],
    [inEu, "EU"],
    [inUs, "NA"],
    [inUs, "AS"],
  ] as const) {
    copies.push((await request(`/things/${id}`, from(continent))).headers.get("waybill-copy"));
  }
  expect([hosts(seen), copies]).toEqual([
    ["us", "eu", "us", "ap"],
    ["of=eu; lag=30", null, null, "of=us; lag=30"],
  ]);
  // A write's registration is known before its answer.
  await request(`/things/${inEu}`, from("NA", { method: "PUT", body: "{}" }));
  expect((await request(`/things/${made}`, from("EU"))).headers.get("waybill-region")).toBe("eu");
});

it("another word than `owner` is refused, and no origin is asked", async () => {
  const { request, seen } = setUp({ declared: tableWith() });
  for (const word of ["copy", "OWNER", "", "owner, owner"]) {
    const answer = await request(PATH, from("NA", { headers: { "waybill-read": word } }));
    expect(slug(await problemOf(answer))).toBe("malformed-request");
  }
  expect(seen).toEqual([]);
});

it("the signature says that it is a read of a copy", async () => {
  const key = { id: "k1", key: new Uint8Array(32).fill(7) };
  const clock = { nowMs: () => Date.now() };
  const sign = hmacSigner([key], crypto.subtle, clock);
  const { request, seen } = setUp({ declared: tableWith(), gateway: { sign } });
  await request(PATH, from("NA"));
  await request(PATH, from("EU"));
  const verify = async (at: number, change: (headers: Headers) => void = () => undefined) => {
    const { url = "", headers = new Headers(), method = "" } = seen[at] ?? {};
    const own = new Headers(headers);
    change(own);
    const verified = await verifyRequest({ url, headers: own, method }, { keys: [key] });
    return verified.ok ? [verified.value.region, verified.value.copyOf] : verified.error.reason;
  };
  expect(await verify(0)).toEqual(["us", "eu"]);
  expect(await verify(1)).toEqual(["eu", undefined]);
  expect(await verify(0, (headers) => headers.delete("waybill-copy-of"))).toBe("mismatch");
  expect(await verify(0, (headers) => headers.set("waybill-copy-of", "ap"))).toBe("mismatch");
  expect(await verify(1, (headers) => headers.set("waybill-copy-of", "eu"))).toBe("mismatch");
  expect(await verify(1, (headers) => headers.set("waybill-copy-of", ""))).toBe("malformed");
});
