import { createExecutionContext, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { ControlPlaneRpc, Env } from "../../../src/edge/env.ts";
import { State } from "../../../src/worker/objects.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";

const own = env as Env;
const state = () => new State(createExecutionContext(), { ...own, NODE_VERSION: "9.9.9" });
const ask = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  (state() as unknown as { fetch(request: Request): Promise<Response> }).fetch(
    new Request(`http://state${path}`, { method, headers }),
  );
const truth = () => own.TABLE_TRUTH.get(own.TABLE_TRUTH.idFromName("table")) as unknown as ControlPlaneRpc;
const publish = async (expectedRevision: number) => {
  const text = JSON.stringify({ ...DECLARED_TABLE, default: expectedRevision % 2 === 0 ? "eu" : "us" });
  const made = await truth().publish({ expectedRevision, author: "a", note: "" }, new TextEncoder().encode(text));
  if (!made.ok) throw new Error(JSON.stringify(made.error));
  return made.value;
};
const DIGEST = "a".repeat(64);
const REPORT = { name: "edge-1.eu", revision: 3, change: 4, version: "1.0.0", processes: 2, ageMs: 0 };

beforeEach(() => reset());

describe("calls of edges", () => {
  it("reach the object of a name, by the methods of its class", async () => {
    const first = await state().call("SEQUENCES", "luuid-7", "reserve", [64, 1_000_000]);
    expect(first).toEqual({ first: 1, isReserved: true, step: 1 });
    // An edge would have to call it.
    expect(Symbol.dispose in (first as object)).toBe(false);
    const second = await state().call("SEQUENCES", "luuid-7", "reserve", [64, 1_000_000]);
    expect(second).toMatchObject({ first: 65 });
    expect(await state().call("SEQUENCES", "luuid-8", "reserve", [64, 1_000_000])).toMatchObject({ first: 1 });
  });

  it.each([
    ["an unknown namespace", "TABLE_KV", "n", "get", []],
    ["a member of the environment that is none", "CLIENT_ADDRESS", "n", "reserve", []],
    ["a method of another class", "SEQUENCES", "n", "begin", []],
    ["a method that the platform calls", "IDEMPOTENCY", "keys-1", "alarm", []],
    ["a name of the prototype", "SEQUENCES", "n", "constructor", []],
    ["the prototype's namespace", "__proto__", "n", "reserve", []],
    ["no name", "SEQUENCES", "", "reserve", [1, 2]],
    ["a long name", "SEQUENCES", "n".repeat(513), "reserve", [1, 2]],
    ["many arguments", "SEQUENCES", "n", "reserve", [1, 2, 3, 4, 5, 6, 7, 8, 9]],
    ["large arguments", "SEQUENCES", "n", "reserve", [new Uint8Array(2 ** 24 + 1)]],
    ["a large text in a map", "TRAFFIC", "all", "report", [{ sums: new Map([["n".repeat(2 ** 23), 1]]) }]],
    ["a function", "SEQUENCES", "n", "reserve", [() => 1]],
  ])("are refused: %s", async (_, namespace, name, method, values) => {
    await expect(state().call(namespace, name, method, values)).rejects.toThrow(/no such method|not a name|too many/);
  });
});

describe("values that edges write", () => {
  it("are the copies of directories alone", async () => {
    const key = `directory-copy.${DIGEST}.12`;
    await state().kvPut(key, new Uint8Array([1, 2]));
    expect(new Uint8Array((await state().kvGet(key)) as ArrayBuffer)).toEqual(new Uint8Array([1, 2]));
    await state().kvPut("directory.slug.current", DIGEST);
    expect(await own.TABLE_KV.get("directory.slug.current")).toBe(DIGEST);
    await state().kvPut("directory.slug.current", null);
    expect(await state().kvGet("directory.slug.current")).toBeNull();
    await state().kvPut("directory.slug.current", null);
  });

  it.each(["table.current", `table.${DIGEST}`, `pack.${DIGEST}`, "directory.slug.currents", "directory..current", "x"])(
    "are not %s",
    async (key) => {
      await expect(state().kvPut(key, "x")).rejects.toThrow("not a key");
      await expect(state().kvGet(key)).rejects.toThrow("not a key");
    },
  );
});

describe("the pointer", () => {
  it("is 404 while nothing is published, and then as in KV", async () => {
    expect((await ask("/pointer")).status).toBe(404);
    await publish(0);
    const answer = await ask("/pointer?wait=20");
    expect([answer.status, answer.headers.get("etag")]).toEqual([200, '"1.1"']);
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(await answer.text()).toBe(await own.TABLE_KV.get("table.current"));
  });

  it("is 304 after the wait, and comes at once with the next change", async () => {
    await publish(0);
    const { headers } = await ask("/pointer?wait=5");
    const tag = { "if-none-match": headers.get("etag") ?? "" };
    expect((await ask("/pointer?wait=0", tag)).status).toBe(304);
    expect((await ask("/pointer?wait=1", tag)).status).toBe(304);
    const startedAtMs = Date.now();
    const waiting = [ask("/pointer?wait=30", tag), ask("/pointer?wait=30", tag)];
    await publish(1);
    for (const answer of await Promise.all(waiting))
      expect(await answer.json()).toMatchObject({ revision: 2, change: 2 });
    expect(Date.now() - startedAtMs).toBeLessThan(20_000);
  });

  it("waits for the first publication", async () => {
    const waiting = ask("/pointer?wait=30");
    await publish(0);
    expect((await waiting).status).toBe(200);
  });

  it.each(["-1", "31", "1.5", "x", "", "1e1", "100"])("refuses to wait for %j seconds", async (wait) => {
    expect((await ask(`/pointer?wait=${wait}`)).status).toBe(400);
  });

  it("tells of the edges that asked for it", async () => {
    await publish(0);
    await ask("/pointer", { "waybill-edge": JSON.stringify(REPORT) });
    await ask("/pointer", { "waybill-edge": JSON.stringify({ ...REPORT, name: "edge-0", more: 1 }) });
    await ask("/pointer", { "waybill-edge": JSON.stringify({ ...REPORT, revision: 5 }) });
    const { edges } = await (await ask("/machines")).json<{ edges: readonly { heardAt: string }[] }>();
    expect(edges).toMatchObject([
      { ...REPORT, name: "edge-0" },
      { ...REPORT, revision: 5 },
    ]);
    expect(Date.parse(edges[0]?.heardAt ?? "")).toBeGreaterThan(0);
  });

  it.each<readonly [what: string, runs: readonly (string | undefined)[], isTwice: boolean]>([
    ["one start", ["a", "a"], false],
    ["a start after another", ["a", "b", "b"], false],
    ["three starts, one after the other", ["a", "b", "c"], false],
    ["two edges of one name", ["a", "b", "a"], true],
    ["three edges of one name", ["a", "b", "c", "a"], true],
    ["an edge of an earlier version", [undefined, "a", undefined, "a"], false],
  ])("tells of %s", async (_, runs, isTwice) => {
    await publish(0);
    for (const run of runs) await ask("/pointer", { "waybill-edge": JSON.stringify({ ...REPORT, run }) });
    const { edges } = await (await ask("/machines")).json<{ edges: readonly object[] }>();
    expect(edges).toEqual([{ ...REPORT, heardAt: expect.any(String), ...(isTwice && { isTwice }) }]);
  });

  it("has one name for the object that all nodes ask", async () => {
    const named = async () => (await (await ask("/machines")).json<{ object: string }>()).object;
    const first = await named();
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect(await named()).toBe(first);
  });

  it("tells of the nodes by which edges asked, of what is published, and of nodes that do not answer an edge", async () => {
    const before = await (await ask("/machines")).json();
    expect(before).toMatchObject({ node: { version: "9.9.9" }, nodes: [], edges: [] });
    expect(before).not.toHaveProperty("published");
    expect(before).toHaveProperty("isUnpublished", true);
    await publish(0);
    const silent = ["10.0.0.22:8443"];
    await ask("/pointer?wait=20", { "waybill-edge": JSON.stringify({ ...REPORT, node: "10.0.0.21:8443", silent }) });
    expect(await (await ask("/machines")).json()).toMatchObject({
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      published: { revision: 1, change: 1 },
      nodes: [{ address: "10.0.0.21:8443", version: "9.9.9", heardAt: expect.any(String) }],
      edges: [{ ...REPORT, silent }],
    });
  });

  it.each([
    ["no JSON", "x"],
    ["no object", "[]"],
    ["no name", JSON.stringify({ ...REPORT, name: "" })],
    ["a name with other characters", JSON.stringify({ ...REPORT, name: "a b" })],
    ["a long name", JSON.stringify({ ...REPORT, name: "n".repeat(65) })],
    ["a number that is none", JSON.stringify({ ...REPORT, revision: "3" })],
    ["a number below 0", JSON.stringify({ ...REPORT, ageMs: -1 })],
    ["a long text", JSON.stringify({ ...REPORT, more: "n".repeat(4_096) })],
    ["a start that is no name", JSON.stringify({ ...REPORT, run: "a b" })],
    ["a node that is no address", JSON.stringify({ ...REPORT, node: "a b:1" })],
    ["silent nodes that are no list", JSON.stringify({ ...REPORT, silent: "10.0.0.1:1" })],
    ["a silent node that is no address", JSON.stringify({ ...REPORT, silent: [1] })],
    ["more state nodes than an edge has", JSON.stringify({ ...REPORT, silent: Array(10).fill("10.0.0.1:1") })],
  ])("refuses a report with %s", async (_, report) => {
    expect((await ask("/pointer", { "waybill-edge": report })).status).toBe(400);
    expect(await (await ask("/machines")).json()).toMatchObject({ edges: [], nodes: [] });
  });
});

describe("values for mirrors", () => {
  it("are those of tables, packs and copies", async () => {
    const { digest } = await publish(0);
    // Whatever a pointer names is in KV before it.
    await (await ask("/pointer?wait=20")).text();
    const body = await ask(`/values/table.${digest}`);
    expect([body.status, body.headers.get("content-type")]).toEqual([200, "application/octet-stream"]);
    expect(await body.text()).toContain('"default":"eu"');
    await own.TABLE_KV.put("directory.a/b.current", DIGEST);
    expect(await (await ask(`/values/${encodeURIComponent("directory.a/b.current")}`)).text()).toBe(DIGEST);
  });

  it.each(["secret", "table.x", `table.${DIGEST}/..`, `pack.${DIGEST}`, "%", "", "table.current%00"])(
    "are 404: %j",
    async (key) => {
      await own.TABLE_KV.put("secret", "x");
      const answer = await ask(`/values/${key}`);
      expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "application/problem+json"]);
      await answer.text();
    },
  );

  it.each([
    ["/", "GET", 404],
    ["/-/table", "GET", 404],
    ["/pointer", "POST", 405],
    ["/values/table.current", "DELETE", 405],
  ])("%s by %s is %i", async (path, method, status) => {
    expect((await ask(path, {}, method)).status).toBe(status);
  });
});
