import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { durableDirectory } from "../../../src/features/directory/edge/keys.ts";
import { err } from "../../../src/ids/result.ts";
import type { Gateway } from "../../../src/ports/gateway.ts";
import { problemOf, setUp } from "../harness.ts";
import { TABLE, UUID } from "./table.ts";

const truth = durableDirectory((env as Env).DIRECTORY);
const put = (directory: string, key: string, region: string) =>
  truth.register({ directory, key, owner: "1", operation: "test", region });
const keyAt = async (directory: string, key: string) => {
  const got = await truth.get({ directory, key });
  return got.ok ? got.value : got.error;
};

beforeEach(() => reset());

const sign = async () => "signature";
const withOrigins = {
  ...TABLE,
  entities: { ...TABLE.entities, user: { path: "/users/:id", ids: [{ layout: "uuid-v7" }] } },
  withoutId: { shops: { path: ["/shops"], sources: [{ region: "eu" }] } },
};

describe("waybill-register in an origin's answer", () => {
  const world = (field: string, gateway: Partial<Gateway> = { sign }, status = 201) => {
    const counted: string[] = [];
    const counters = { count: (...labels: readonly string[]) => void counted.push(labels.join(" ")) };
    const set = setUp({
      declared: withOrigins,
      origin: () => new Response("made", { status, headers: { "waybill-register": field } }),
      gateway: { counters, ...gateway },
    });
    const updates = () => counted.filter((line) => line.startsWith("directory_updates"));
    return { ...set, updates };
  };

  it("registers keys of the entity in the region that answered, and reaches no client", async () => {
    const { request, updates } = world("slug=M%C3%BCnchen, email=Ann@Example.com;owner=user%2D7");
    const answer = await request("/users/0192f0c1-7a30-7005-8040-8f3b2a1c9d78", { method: "PUT", body: "{}" });
    expect([answer.status, answer.headers.get("waybill-register")]).toEqual([201, null]);
    const id = "0192f0c1-7a30-7005-8040-8f3b2a1c9d78";
    expect(await keyAt("slug", "münchen")).toMatchObject({ region: "us", owner: id, state: "confirmed" });
    expect(await keyAt("email", "ann@example.com")).toMatchObject({ region: "us", owner: "user-7" });
    expect(updates().toSorted()).toEqual([
      "directory_updates email register done",
      "directory_updates slug register done",
    ]);
    expect((await request("/shops/M%C3%BCnchen")).headers.get("waybill-region")).toBe("us");
  });

  // RFC 9110 §5.6.1.2, §5.6.4 and §5.6.6.
  it.each([
    ["slug=k; owner=42", "k", "42"],
    ["slug=k\t ;\towner=42", "k", "42"],
    ["slug=k;Owner=42", "k", "42"],
    [', slug="k"; owner="42" ; ,', "k", "42"],
    ['slug="k,1;2"; owner="a \\"b\\", c"', "k,1;2", 'a "b", c'],
    ["slug=k;owner=a%2Fb", "k", "a/b"],
    [`slug=k;owner=${"%C3%B6".repeat(512)}`, "k", "ö".repeat(512)],
  ])("%s is read as a list with parameters", async (field, key, owner) => {
    const { request, updates } = world(field);
    await request("/shops", { method: "POST", body: "{}" });
    expect(await keyAt("slug", key)).toMatchObject({ region: "eu", owner });
    expect(updates()).toEqual(["directory_updates slug register done"]);
  });

  it("needs an owner where the path has no ID", async () => {
    const { request, updates } = world("slug=a;owner=1, slug=b");
    await request("/shops", { method: "POST", body: "{}" });
    expect(await keyAt("slug", "a")).toMatchObject({ region: "eu", owner: "1" });
    expect(await keyAt("slug", "b")).toBeUndefined();
    expect(updates().toSorted()).toEqual([
      "directory_updates slug register done",
      "directory_updates slug register invalid",
    ]);
  });

  it("never takes a key from its owner", async () => {
    await put("slug", "a", "us");
    const { request, updates } = world("slug=a;owner=2");
    expect((await request("/shops", { method: "POST", body: "{}" })).status).toBe(201);
    expect(await keyAt("slug", "a")).toMatchObject({ region: "us", owner: "1" });
    expect(updates()).toEqual(["directory_updates slug register taken"]);
  });

  it.each([
    [
      "of an unsigned deployment",
      "slug=a;owner=1",
      { sign: undefined },
      201,
      "POST",
      "directory_updates slug register unsigned",
    ],
    ["of a failure", "slug=a;owner=1", { sign }, 422, "POST", undefined],
    ["to a read", "slug=a;owner=1", { sign }, 200, "GET", undefined],
    ["of an unknown directory", "nope=a;owner=1", { sign }, 201, "POST", "directory_updates  register invalid"],
    ["with an open quote", 'slug="a;owner=1', { sign }, 201, "POST", "directory_updates  register invalid"],
    ["of a slash", "slug=a%2Fb;owner=1", { sign }, 201, "POST", "directory_updates slug register invalid"],
    ["of a bare slash", "slug=a/b;owner=1", { sign }, 201, "POST", "directory_updates slug register invalid"],
    ["of a backslash", "slug=a%5cb;owner=1", { sign }, 201, "POST", "directory_updates slug register invalid"],
    ["of two dots", "slug=%2e.;owner=1", { sign }, 201, "POST", "directory_updates slug register invalid"],
    ["of half a surrogate", "slug=a;owner=%ED%A0%80", { sign }, 201, "POST", "directory_updates slug register invalid"],
    ["of a control character", "slug=a;owner=1%07", { sign }, 201, "POST", "directory_updates slug register invalid"],
    ["of an empty owner", 'slug=a;owner=""', { sign }, 201, "POST", "directory_updates slug register invalid"],
    [
      "of a long owner",
      `slug=a;owner=${"x".repeat(513)}`,
      { sign },
      201,
      "POST",
      "directory_updates slug register invalid",
    ],
    ["with two owners", "slug=a;owner=1;owner=2", { sign }, 201, "POST", "directory_updates  register invalid"],
    ["with another parameter", "slug=a;region=us", { sign }, 201, "POST", "directory_updates  register invalid"],
    ["with spaces around =", "slug = a;owner=1", { sign }, 201, "POST", "directory_updates  register invalid"],
    ["that is none", "slug", { sign }, 201, "POST", "directory_updates  register invalid"],
    [
      "with too many keys",
      Array(9).fill("slug=a;owner=1").join(),
      { sign },
      201,
      "POST",
      "directory_updates  register invalid",
    ],
  ] as const)("%s does nothing", async (_name, field, gateway, status, method, counted) => {
    const { request, updates } = world(field, gateway, status);
    const body = method === "POST" ? { body: "{}" } : {};
    expect((await request("/shops", { method, ...body })).status).toBe(status);
    expect(await keyAt("slug", "a")).toBeUndefined();
    expect(updates()).toEqual(counted === undefined ? [] : [counted]);
  });
});

describe("a 421", () => {
  const origin = (request: Request) =>
    new URL(request.url).host === "eu.test"
      ? new Response(null, { status: 421, headers: { "waybill-region": "us" } })
      : new Response("here");

  it("moves the key where the table says so", async () => {
    const directory = { ...TABLE.directory, slug: { key: { text: "lower" }, learnMoves: true } };
    await put("slug", "a", "eu");
    const { request } = setUp({ declared: { ...TABLE, directory }, origin });
    expect(await (await request("/shops/a")).text()).toBe("here");
    await vi.waitFor(async () => expect(await keyAt("slug", "a")).toMatchObject({ region: "us" }));
  });

  it("fills a directory that does not serve yet, with IDs of its layout", async () => {
    const old = { key: { layout: "uuid-v4" }, mode: "write-only", learnMoves: true };
    const routes = [TABLE.routes[0], { when: {}, region: "eu" }];
    const declared = { ...TABLE, directory: { ...TABLE.directory, old }, routes };
    const { request } = setUp({ declared, origin });
    expect(await (await request(`/orders/${UUID}`)).text()).toBe("here");
    await vi.waitFor(async () => expect(await keyAt("old", UUID)).toMatchObject({ region: "us", owner: UUID }));
    await (await request("/orders/0192f0c1-7a30-7005-8040-8f3b2a1c9d78")).text();
    const other = "919108f7-52d1-4320-9bac-f847db4148a9";
    await put("old", other, "eu");
    await (await request(`/any/${other}`)).text();
    await vi.waitFor(async () => expect(await keyAt("old", other)).toMatchObject({ region: "us", owner: "1" }));
  });

  it("leaves the key alone where it does not", async () => {
    await put("slug", "a", "eu");
    const { request } = setUp({ declared: TABLE, origin });
    expect(await (await request("/shops/a")).text()).toBe("here");
    expect(await keyAt("slug", "a")).toMatchObject({ region: "eu" });
  });
});

describe("a directory that does not serve", () => {
  const declared = (mode: string) => ({
    ...TABLE,
    withoutId: { shops: { path: ["/shops/**"], sources: [{ region: "us" }] } },
    directory: { ...TABLE.directory, slug: { key: { text: "lower" }, mode }, old: { ...TABLE.directory.old, mode } },
  });

  it("write-only: the rest of the table decides, and nothing is looked up", async () => {
    await put("slug", "a", "eu");
    await put("old", UUID, "eu");
    const get = vi.fn(truth.get);
    const { request, compared } = setUp({
      declared: declared("write-only"),
      gateway: { directoryTruth: { ...truth, get } },
    });
    for (const path of ["/shops/a", `/orders/${UUID}`, `/any/${UUID}`]) {
      expect((await request(path)).headers.get("waybill-region"), path).toBe("us");
    }
    expect(get).not.toHaveBeenCalled();
    expect(compared).toEqual([]);
    expect((await request("/-/directory/slug/a")).status).toBe(200);
  });

  it("verify: the rest of the table decides, and differences are told", async () => {
    await put("slug", "a", "eu");
    await put("slug", "b", "us");
    await put("old", UUID, "eu");
    const { request, compared } = setUp({ declared: declared("verify") });
    for (const path of [
      "/shops/a",
      "/shops/b",
      "/shops/c",
      `/orders/${UUID}`,
      "/orders/0192f0c1-7a30-7005-8040-8f3b2a1c9d78",
    ]) {
      expect((await request(path)).headers.get("waybill-region"), path).toBe("us");
    }
    await vi.waitFor(() => expect(compared).toHaveLength(3));
    // Comparisons run after their answers, so their order is not fixed.
    const differs = { outcome: "differs", decided: "us", said: "eu" };
    expect(compared).toEqual(
      expect.arrayContaining([
        { ...differs, directory: "slug", entity: "shop" },
        { ...differs, directory: "old", entity: "order" },
        { directory: "slug", outcome: "unknown", entity: undefined, decided: "us", said: undefined },
      ]),
    );
  });
});

describe("a directory that fails", () => {
  const failing: Partial<Gateway> = {
    directoryTruth: {
      ...truth,
      get: async () => err({ reason: "directory-unavailable", directory: "slug", retryAfterSeconds: 2, why: "failed" }),
    },
  };

  it("is a problem of its own with retry-after", async () => {
    const { request, seen } = setUp({ declared: TABLE, gateway: failing });
    for (const path of ["/shops/a", `/orders/${UUID}`, `/any/${UUID}`, `/-/ids/${UUID}`]) {
      const answer = await request(path);
      expect(answer.headers.get("retry-after"), path).toBe("2");
      expect(await problemOf(answer), path).toMatchObject({ status: 503, type: "/-/problems/directory-unavailable" });
    }
    expect(seen).toEqual([]);
  });

  it("goes to the declared default, and says so", async () => {
    const directory = { ...TABLE.directory, slug: { key: { text: "lower" }, onFailure: { region: "us" } } };
    const { request } = setUp({ declared: { ...TABLE, directory }, gateway: failing });
    const answer = await request("/shops/a");
    expect([answer.status, answer.headers.get("waybill-region"), answer.headers.get("waybill-directory")]).toEqual([
      200,
      "us",
      "default",
    ]);
  });
});

it("a hint of another layout is refused", async () => {
  await put("slug", "a", "eu");
  const { request } = setUp({ declared: TABLE });
  expect(await problemOf(await request("/shops/a", { headers: { "id-layout": "uuid-v4" } }))).toMatchObject({
    type: "/-/problems/layout-mismatch",
  });
  expect((await request("/shops/a", { headers: { "id-layout": "text-key" } })).status).toBe(200);
});
