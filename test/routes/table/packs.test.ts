import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { HEADER_BYTES_MAX, PAGE_BYTES_MAX } from "../../../src/features/packs/table/format.ts";
import { packKey, pageKey } from "../../../src/features/packs/table/pack.ts";
import { err, ok } from "../../../src/ids/result.ts";
import type { Gateway } from "../../../src/ports/gateway.ts";
import { declaredOf, makePack, RANGES } from "../../edge/pages/files.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { problemOf, setUp, slug } from "../harness.ts";

const { TABLE_KV } = env as Env;

beforeEach(() => reset());

async function client(gateway: Partial<Gateway> = {}) {
  const { request } = setUp({ gateway });
  const pack = await makePack(RANGES);
  const path = `/-/table/packs/${pack.sha256}`;
  const put = (suffix: string, body: Uint8Array<ArrayBuffer>) => request(path + suffix, { method: "PUT", body });
  const refusal = async (answer: Response) => [answer.status, slug(await problemOf(answer))];
  return { ...pack, path, request, put, refusal };
}

const NOTHING = new Uint8Array();

describe("a pack under /-/table/packs", () => {
  it("comes part by part, says what is missing, and can be published at once", async () => {
    const { request, put, path, header, pages, sha256, ...pack } = await client();
    const empty = await request(path);
    expect([empty.status, await empty.json()]).toEqual([
      200,
      { sha256, header: false, pages: null, missing: null, complete: false },
    ]);
    const first = await put("", header);
    expect([first.status, await first.json()]).toEqual([
      201,
      { sha256, header: true, pages: 2, missing: [0, 1], complete: false },
    ]);
    for (const [number, page] of pages.entries()) expect((await put(`/${number}`, page)).status).toBe(201);
    for (const again of [await put("", header), await put("/1", pages[1] ?? NOTHING), await request(path)]) {
      expect([again.status, await again.json()]).toEqual([
        200,
        { sha256, header: true, pages: 2, missing: [], complete: true },
      ]);
    }
    expect(await TABLE_KV.get(packKey(sha256), "arrayBuffer")).toEqual(header.buffer);
    const shards = declaredOf({ ...pack, sha256, header, pages });
    const routes = [{ when: { layout: "hotguid" }, pack: "shards" }, ...DECLARED_TABLE.routes];
    const body = JSON.stringify({ ...DECLARED_TABLE, packs: { shards }, routes });
    const published = await request("/-/table", { method: "PUT", body, headers: { "if-match": '"0"' } });
    expect(published.status).toBe(201);
  });

  it("has its header first, and pages by the numbers that it says", async () => {
    const { put, refusal, header, pages } = await client();
    expect(await refusal(await put("/0", pages[0] ?? NOTHING))).toEqual([404, "unknown-pack"]);
    await put("", header);
    const beyond = await problemOf(await put("/2", pages[0] ?? NOTHING));
    expect(beyond).toMatchObject({ status: 404, detail: expect.stringContaining("0 to 1") });
    for (const suffix of ["/-1", "/01", "/1.0", "/x", "/", "/0/0", "/9999999999999999"]) {
      expect([suffix, ...(await refusal(await put(suffix, pages[0] ?? NOTHING)))]).toEqual([suffix, 404, "not-found"]);
    }
  });

  it("is named by a digest in lower-case hex", async () => {
    const { request, refusal, sha256 } = await client();
    for (const name of [sha256.toUpperCase(), sha256.slice(1), `${sha256}0`, "table.current", "%2e%2e"]) {
      const answer = await request(`/-/table/packs/${name}`, { method: "PUT", body: NOTHING });
      expect([400, 404]).toContain(answer.status);
      expect(await refusal(answer)).not.toContain("unknown-pack");
    }
    const deleted = await request(`/-/table/packs/${sha256}`, { method: "DELETE" });
    expect([deleted.status, deleted.headers.get("allow")]).toEqual([405, "GET, HEAD, PUT"]);
  });
});

describe("octets that are not the pack's", () => {
  it.each([
    ["of another header", async () => (await makePack(RANGES.slice(1))).header, "digest-mismatch"],
    ["of nothing", async () => NOTHING, "not-a-pack"],
    ["of a page", async () => (await makePack(RANGES)).pages[0] ?? NOTHING, "not-a-pack"],
    ["cut short", async () => (await makePack(RANGES)).header.slice(0, -8), "truncated"],
    ["of the whole file", async () => joined(await makePack(RANGES)), "trailing-octets"],
  ])("are refused as a header: %s", async (_, bytes, fault) => {
    const { put, request, path, sha256 } = await client();
    expect(await problemOf(await put("", await bytes()))).toMatchObject({
      type: "/-/problems/invalid-pack",
      status: 422,
      part: "header",
      fault,
    });
    expect(await (await request(path)).json()).toMatchObject({ header: false });
    expect(await TABLE_KV.get(packKey(sha256))).toBeNull();
  });

  it.each([
    ["of another page", async () => (await makePack(RANGES)).pages[1] ?? NOTHING, "digest-mismatch"],
    [
      "of another pack",
      async () => (await makePack([{ from: 1, to: 9, region: "us" }])).pages[0] ?? NOTHING,
      "digest-mismatch",
    ],
    ["with a bit changed", async () => flipped((await makePack(RANGES)).pages[0] ?? NOTHING), "digest-mismatch"],
    ["cut short", async () => ((await makePack(RANGES)).pages[0] ?? NOTHING).slice(0, -1), "truncated"],
    ["of nothing", async () => NOTHING, "truncated"],
    ["with more behind it", async () => new Uint8Array(1000), "trailing-octets"],
  ])("are refused as a page: %s", async (_, bytes, fault) => {
    const { put, request, path, header, sha256 } = await client();
    await put("", header);
    expect(await problemOf(await put("/0", await bytes()))).toMatchObject({
      type: "/-/problems/invalid-pack",
      status: 422,
      part: 0,
      fault,
    });
    expect(await (await request(path)).json()).toMatchObject({ missing: [0, 1], complete: false });
    expect(await TABLE_KV.get(pageKey(sha256, 0))).toBeNull();
  });

  it("are read no further than their caps", async () => {
    const { put, refusal } = await client();
    expect(await refusal(await put("", new Uint8Array(HEADER_BYTES_MAX + 1)))).toEqual([413, "body-too-large"]);
    expect(await refusal(await put("/0", new Uint8Array(PAGE_BYTES_MAX + 1)))).toEqual([413, "body-too-large"]);
  });
});

describe("those who may", () => {
  it("see are viewers, and put operators alone", async () => {
    const authenticate = async () => ok({ name: "vic", scope: "viewer", by: "token" } as const);
    const { put, request, path, header, pages, refusal } = await client({ authenticate });
    expect((await request(path)).status).toBe(200);
    expect(await refusal(await put("", header))).toEqual([403, "forbidden"]);
    expect(await refusal(await put("/0", pages[0] ?? NOTHING))).toEqual([403, "forbidden"]);
  });

  it("see nothing without a credential", async () => {
    const authenticate = async () => err({ reason: "unauthenticated", why: "missing" } as const);
    const { put, request, path, header, refusal } = await client({ authenticate });
    for (const answer of [await request(path), await put("", header), await put("/0", header)]) {
      expect(await refusal(answer)).toEqual([401, "unauthenticated"]);
    }
  });
});

describe("the audit", () => {
  interface Entry {
    readonly author: string;
    readonly outcome: string;
    readonly times?: number;
  }
  const as = async (name: string, scope: "viewer" | "operator" = "operator", gateway: Partial<Gateway> = {}) =>
    client({ authenticate: async () => ok({ name, scope, by: "token" }), ...gateway });
  const audit = async () =>
    (await (await (await as("vic", "viewer")).request("/-/table/audit")).json<{ entries: Entry[] }>()).entries;
  const untilAudit = (entries: readonly object[]) =>
    vi.waitFor(async () => expect(await audit()).toEqual(entries.map((entry) => expect.objectContaining(entry))));

  it("has a pack once, by whom it became whole, however often its parts are sent", async () => {
    const ann = await as("ann");
    const bob = await as("bob");
    const { header, pages, sha256 } = ann;
    await ann.put("", header);
    await ann.put("/0", pages[0] ?? NOTHING);
    expect(await audit()).toEqual([]);
    await bob.put("/1", pages[1] ?? NOTHING);
    const whole = { author: "bob", action: "pack", outcome: "done", pack: sha256, note: "" };
    await untilAudit([whole]);
    await ann.put("", header);
    await Promise.all(pages.map((page, number) => ann.put(`/${number}`, page)));
    const other = await makePack(RANGES.slice(1));
    const put = (suffix: string, body: Uint8Array<ArrayBuffer>) =>
      ann.request(`/-/table/packs/${other.sha256}${suffix}`, { method: "PUT", body });
    await put("", other.header);
    await Promise.all([...other.pages.entries()].map(([number, page]) => put(`/${number}`, page)));
    await untilAudit([{ ...whole, author: "ann", pack: other.sha256 }, whole]);
  });

  it("has refusals of callers who are known, those that are alike once a minute", async () => {
    const operator = await as("ann");
    const viewer = await as("vic", "viewer");
    const { header, pages, sha256: pack } = operator;
    const [first = NOTHING] = pages;
    await operator.put("/0", first);
    await operator.put("", flipped(header));
    await operator.put("", header);
    for (let at = 0; at < 5; at++) await operator.put("/0", flipped(first));
    await operator.put("/0", new Uint8Array(PAGE_BYTES_MAX + 1));
    const refused = { author: "ann", action: "pack", pack };
    await untilAudit([
      { ...refused, outcome: "body-too-large" },
      { ...refused, outcome: "invalid-pack", times: 6 },
      { ...refused, outcome: "unknown-pack" },
    ]);
    for (const suffix of ["", "/0", "/1"]) await viewer.put(suffix, header);
    await vi.waitFor(async () =>
      expect((await audit())[0]).toMatchObject({ ...refused, author: "vic", outcome: "forbidden", times: 3 }),
    );
  });

  it("has nothing of strangers, nor of what is no pack's path", async () => {
    const unknown = await client({
      authenticate: async () => err({ reason: "unauthenticated", why: "missing" } as const),
    });
    const operator = await as("ann");
    for (const { put, header } of [unknown, operator]) await put("/x", header);
    await unknown.put("", unknown.header);
    await operator.request("/-/table/packs/x", { method: "PUT", body: operator.header });
    // Written down after all that went before, had there been anything.
    await operator.put("/0", operator.header);
    await untilAudit([{ author: "ann", outcome: "unknown-pack" }]);
  });
});

it("is 503 with a time to try again while KV or the object fails", async () => {
  const gone = () => Promise.resolve(err({ reason: "control-plane-unavailable", why: "KV did not take it" } as const));
  const { put, request, path, header, refusal } = await client({
    controlPlane: new Proxy({} as Gateway["controlPlane"], { get: () => gone }),
  });
  for (const answer of [await request(path), await put("", header), await put("/0", header)]) {
    expect(answer.headers.get("retry-after")).toBe("2");
    expect(await refusal(answer)).toEqual([503, "control-plane-unavailable"]);
  }
});

function joined({ header, pages }: Awaited<ReturnType<typeof makePack>>): Uint8Array<ArrayBuffer> {
  return new Uint8Array([header, ...pages].flatMap((part) => [...part]));
}

function flipped(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return bytes.map((byte, at) => (at === 3 ? byte ^ 1 : byte));
}
