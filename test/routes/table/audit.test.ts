import { reset } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { err, ok } from "../../../src/ids/result.ts";
import type { Caller } from "../../../src/ports/admin.ts";
import type { Gateway } from "../../../src/ports/gateway.ts";
import type { AuthError } from "../../../src/problems/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { problemOf, setUp, slug } from "../harness.ts";

const OPERATOR: Caller = { name: "ann", scope: "operator", by: "token" };
const VIEWER: Caller = { name: "grafana", scope: "viewer", by: "token" };
const BROWSER: Caller = { name: "jane@acme.com", scope: "operator", by: "access" };

const as = (who: Caller | AuthError, gateway: Partial<Gateway> = {}) => {
  const caller = "reason" in who ? err(who) : ok(who);
  const world = setUp({ gateway: { authenticate: async () => caller, ...gateway } });
  const send = (method: string, path: string, body?: unknown, headers: HeadersInit = {}) =>
    world.request(path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  return { ...world, send };
};

const CHANGES = [
  ["publish", "PUT", "/-/table", DECLARED_TABLE],
  ["rollback", "POST", "/-/table/rollback", { to: 0 }],
  ["canary", "POST", "/-/table/canary", { table: DECLARED_TABLE, share: 5 }],
  ["promote", "POST", "/-/table/promote", {}],
  ["abort", "POST", "/-/table/abort", {}],
] as const;

interface Entry {
  readonly author: string;
  readonly action: string;
  readonly outcome: string;
}

const audit = async () =>
  (await (await as(OPERATOR).send("GET", "/-/table/audit")).json<{ entries: Entry[] }>()).entries;

/** Refusals are written down beside the answer. */
const untilAudit = (entries: readonly object[]) => vi.waitFor(async () => expect(await audit()).toMatchObject(entries));

beforeEach(() => reset());

describe.each(CHANGES)("a refused %s", (action, method, path, body) => {
  const refusals: [string, Caller, unknown, HeadersInit, string][] = [
    ["of a viewer", VIEWER, body, { "if-match": '"0"' }, "forbidden"],
    ["for another site", BROWSER, body, { "if-match": '"0"', origin: "https://evil.test" }, "forbidden"],
    ["for no revision", OPERATOR, body, {}, "precondition-required"],
    ["for revisions that are none", OPERATOR, body, { "if-match": "*" }, "malformed-request"],
    ["for an old revision", OPERATOR, body, { "if-match": '"7"' }, "stale-revision"],
  ];

  it.each(refusals)(
    "%s is in the audit, once, by the name of the caller",
    async (_, caller, sent, headers, outcome) => {
      expect(slug(await problemOf(await as(caller).send(method, path, sent, headers)))).toBe(outcome);
      await untilAudit([{ author: caller.name, action, outcome, note: "" }]);
      expect(await audit()).toHaveLength(1);
    },
  );

  it.each<AuthError>([
    { reason: "unauthenticated", why: "missing" },
    { reason: "unauthenticated", why: "wrong" },
    { reason: "authentication-unavailable" },
    { reason: "rate-limited", limit: "failed-attempts", retryAfterSeconds: 9 },
  ])("of a stranger is in the log and the counters, and never comes near the audit: %j", async (error) => {
    const counted: string[][] = [];
    const asked = vi.fn();
    const controlPlane = new Proxy({} as Gateway["controlPlane"], { get: () => asked });
    const { send, lines } = as(error, { controlPlane, counters: { count: (...event) => counted.push(event) } });
    expect(slug(await problemOf(await send(method, path, body, { "if-match": '"0"' })))).toBe(error.reason);
    expect(asked).not.toHaveBeenCalled();
    expect(lines).toMatchObject([{ method, path, outcome: error.reason }]);
    expect(counted).toEqual([["refused_callers", "why" in error ? error.why : error.reason]]);
  });
});

describe("the audit", () => {
  it.each([
    ["rollback", "/-/table/rollback", '{"to": "x"}', "malformed-request"],
    ["canary", "/-/table/canary", '{"table": {}}', "malformed-request"],
    ["promote", "/-/table/promote", "{", "malformed-request"],
    ["publish", "/-/table", " ".repeat(8 * 1024 * 1024 + 1), "body-too-large"],
  ])("has a %s whose body says nothing that could be done", async (action, path, body, outcome) => {
    const method = action === "publish" ? "PUT" : "POST";
    const answer = await as(OPERATOR).request(path, { method, body, headers: { "if-match": '"0"' } });
    expect(slug(await problemOf(answer))).toBe(outcome);
    await untilAudit([{ author: "ann", action, outcome }]);
  });

  it("has a program that never stops once, with how often it tried, beside all that others did", async () => {
    const viewer = as(VIEWER);
    await as(OPERATOR).send("PUT", "/-/table", DECLARED_TABLE, { "if-match": '"0"' });
    for (let at = 0; at < 30; at++) await viewer.send("PUT", "/-/table", DECLARED_TABLE);
    await untilAudit([
      { author: "grafana", action: "publish", outcome: "forbidden", times: 30 },
      { author: "ann", action: "publish", outcome: "done", revision: 1 },
    ]);
  });

  it("has nothing of reads, nor of methods that a page does not take", async () => {
    const viewer = as(VIEWER);
    for (const [method, path] of [
      ["GET", "/-/table/status"],
      ["GET", "/-/table/audit?limit=0"],
      ["POST", "/-/table/check"],
      ["DELETE", "/-/table"],
    ] as const) {
      await (await viewer.send(method, path)).text();
    }
    // Written down after all that went before, had there been anything.
    await viewer.send("POST", "/-/table/abort");
    await untilAudit([{ action: "abort" }]);
    expect(await audit()).toHaveLength(1);
  });

  it("never keeps a refusal waiting", async () => {
    const noteRefusal = vi.fn(() => new Promise<never>(() => undefined));
    const controlPlane = new Proxy({} as Gateway["controlPlane"], { get: () => noteRefusal });
    const { send } = as(VIEWER, { controlPlane });
    expect((await send("POST", "/-/table/abort")).status).toBe(403);
    expect(noteRefusal).toHaveBeenCalledWith({ author: "grafana", action: "abort", outcome: "forbidden" });
  });

  it("shows whom a canary served, as the history does", async () => {
    const operator = as(OPERATOR);
    await operator.send("PUT", "/-/table", DECLARED_TABLE, { "if-match": '"0"' });
    const request = { table: DECLARED_TABLE, countries: ["KZ"], note: "KZ first" };
    const started = await operator.send("POST", "/-/table/canary", request, { "if-match": '"1"' });
    expect(await started.json()).toMatchObject({ revision: 2, audience: { countries: ["KZ"] } });
    await operator.send("POST", "/-/table/abort", {}, { "if-match": '"2"' });
    const audience = { countries: ["KZ"] };
    const history = await (await operator.send("GET", "/-/table/revisions")).json<{ revisions: object[] }>();
    expect(history.revisions[0]).toMatchObject({ revision: 2, kind: "canary", note: "KZ first", audience });
    expect(history.revisions[1]).not.toHaveProperty("audience");
    expect(await audit()).toMatchObject([
      { action: "abort", revision: 2, audience },
      { action: "canary", revision: 2, audience },
      { action: "publish" },
    ]);
  });

  it("is described, with all that its entries have", async () => {
    const { paths, components } = await (await as(VIEWER).send("GET", "/-/openapi.json")).json<{
      paths: Record<
        string,
        { get: { responses: Record<string, { content: Record<string, { schema: { $ref: string } }> }> } }
      >;
      components: { schemas: Record<string, object> };
    }>();
    const schemaOf = (path: string) => {
      const { $ref } = paths[path]?.get.responses["200"]?.content["application/json"]?.schema ?? { $ref: "" };
      return components.schemas[$ref.replace("#/components/schemas/", "")];
    };
    const audience = { properties: { share: {}, countries: {}, entities: {} } };
    expect(schemaOf("/-/table/audit")).toMatchObject({
      properties: { entries: { items: { properties: { audience, times: {}, outcome: {} } } } },
    });
    expect(schemaOf("/-/table/revisions")).toMatchObject({
      properties: { revisions: { items: { $ref: "#/components/schemas/TableRevision" } } },
    });
    expect(components.schemas["TableRevision"]).toMatchObject({
      properties: { audience, kind: { enum: expect.arrayContaining(["canary"]) } },
    });
  });
});
