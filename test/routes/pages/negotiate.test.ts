import { describe, expect, it } from "vitest";
import { GRAPHQL_RESPONSE, JSON_RESPONSE } from "../../../src/features/graphql/document/answer.ts";
import { chooseCoding, chooseType, preferred, wantsLines } from "../../../src/gateway/negotiate.ts";
import { IDS, setUp } from "../harness.ts";
import { listTable, pagingOrigin } from "../lists/regions.ts";

/** Fields `accept`, and whether the client gets lines or a JSON document (RFC 9110 §12.5.1). */
const LINES: readonly (readonly [accept: string | null, isLines: boolean])[] = [
  [null, false],
  ["", false],
  ["*/*", false],
  ["application/*", false],
  ["text/html", false],
  ["application/x-ndjson", true],
  ["Application/X-NDJSON", true],
  ["application/ndjson", true],
  ["application/jsonl", true],
  ["application/x-jsonlines", true],
  ["application/x-ndjson;q=0", false],
  ["application/x-ndjson; q=0.000", false],
  ["application/x-ndjson;Q=0", false],
  ["application/x-ndjson ; q = 0", false],
  ['application/x-ndjson;q="0"', false],
  ["application/x-ndjson;q=0, */*", false],
  ["application/x-ndjson;q=0.001", true],
  ["application/x-ndjson;q=nonsense", true],
  ["application/x-ndjson;q=", true],
  ["application/x-ndjson;q=-1", false],
  ["application/x-ndjson;q=2, application/json", true],
  // By weight, not by order.
  ["application/x-ndjson;q=0.5, application/json", false],
  ["application/json;q=0.5, application/x-ndjson", true],
  ["application/json;q=0.5, application/x-ndjson;q=0.4", false],
  ["application/x-ndjson;q=0.4, application/json;q=0.5, */*;q=0.9", false],
  // The most specific range decides for a type.
  ["application/json;q=0, */*", true],
  ["*/*;q=0.1, application/x-ndjson", true],
  ["*/*, application/x-ndjson;q=0.1", false],
  ["application/*;q=0.1, application/json, */*;q=0.9", false],
  ["application/*;q=0, application/x-ndjson", true],
  ["*/*;q=0, application/x-ndjson", true],
  // Equal weights: the more specific one wins, then the client's order.
  ["*/*, application/x-ndjson", true],
  ["application/json, application/x-ndjson", false],
  ["application/x-ndjson, application/json", true],
  // Parameters: all text is UTF-8; another one fits nothing unless nothing else does.
  ["application/x-ndjson;charset=utf-8", true],
  ['application/x-ndjson;charset="UTF-8"', true],
  ["application/x-ndjson;version=2, application/json", false],
  ["application/x-ndjson;version=2", true],
  ["application/json;version=2;q=0, application/json", false],
  // Quotes, empty members, and names that only begin alike.
  ['text/html;a="x, application/x-ndjson", application/json', false],
  ['text/html;a="\\", application/x-ndjson', false],
  [", ,application/x-ndjson,", true],
  ["application/x-ndjsonp", false],
  ["x-application/x-ndjson", false],
  ["application/json-seq", false],
];

/** Fields `accept-encoding` (RFC 9110 §12.5.3). */
const CODINGS: readonly (readonly [field: string | null, coding: "gzip" | "identity"])[] = [
  [null, "identity"],
  ["", "identity"],
  ["gzip", "gzip"],
  ["GZIP", "gzip"],
  ["x-gzip", "gzip"],
  ["gzip, deflate, br, zstd", "gzip"],
  ["br", "identity"],
  ["*", "gzip"],
  ["br, *;q=0.1", "gzip"],
  ["gzip;q=0", "identity"],
  ["gzip;q=0.0", "identity"],
  ["gzip;q=0, *", "identity"],
  ["gzip; q=0.5", "gzip"],
  ["gzip;q=0.5, identity", "identity"],
  ["identity, gzip", "gzip"],
  ["identity;q=0.5, gzip;q=0.4", "identity"],
  ["identity;q=0, gzip", "gzip"],
  ["*;q=0, gzip", "gzip"],
  ["*;q=0, identity", "identity"],
  ["identity;q=0", "gzip"],
  ["*;q=0", "identity"],
  ["gzip;q=0, identity;q=0", "identity"],
  ["not-gzip, gzipped", "identity"],
];

describe("accept", () => {
  it.each(LINES)("%j asks for lines: %j", (accept, isLines) => {
    expect(wantsLines(accept)).toBe(isLines);
  });

  it.each([
    [null, GRAPHQL_RESPONSE],
    ["", GRAPHQL_RESPONSE],
    ["*/*", GRAPHQL_RESPONSE],
    ["application/json", JSON_RESPONSE],
    ["application/json, application/graphql-response+json;q=0.5", JSON_RESPONSE],
    ["application/graphql-response+json, application/json;q=0.9", GRAPHQL_RESPONSE],
    ["application/graphql-response+json, application/json", GRAPHQL_RESPONSE],
    ["application/json, */*;q=0.1", JSON_RESPONSE],
    ["application/graphql-response+json;q=0, */*", JSON_RESPONSE],
    ["application/graphql-response+json;charset=utf-8", GRAPHQL_RESPONSE],
    ["text/html", undefined],
    ["*/*;q=0", undefined],
    ["multipart/mixed;deferSpec=20220824, application/json", JSON_RESPONSE],
  ])("%j on GraphQL: %j", (accept, type) => {
    expect(preferred(accept, [GRAPHQL_RESPONSE, JSON_RESPONSE])).toBe(type);
  });

  it("has offers with parameters, as Prometheus asks for them", () => {
    const asked =
      "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.4,application/json;q=0.1,*/*;q=0.3";
    expect(chooseType(asked, ["text/plain;version=0.0.4", "application/json"])).toBe("text/plain;version=0.0.4");
  });

  it("is read in linear time, quotes that never end included", () => {
    for (const text of ['"\\', "a/b;", '";q="', ",", "1"]) {
      const beganMs = performance.now();
      wantsLines(`x/y;q=${text.repeat(60_000 / text.length)}`);
      expect(performance.now() - beganMs).toBeLessThan(2_000);
    }
  });
});

describe("accept-encoding", () => {
  it.each(CODINGS)("%j is sent as %s", (field, coding) => {
    expect(chooseCoding(field)).toBe(coding);
  });
});

/** Pages with more than one type: what each is by default, and what else by `accept`. */
const PAGES: readonly (readonly [path: string, init: RequestInit, first: string, other: string])[] = [
  ["/-/problems/malformed-id", {}, "text/html", "application/json"],
  ["/-/metrics", {}, "text/plain", "application/json"],
  ["/mint", { method: "POST", body: '{"entity":"order","country":"KZ"}' }, "application/json", "text/plain"],
  [
    "/any?locate=true",
    { method: "POST", body: `["${IDS.orderKz}"]`, headers: { "content-type": "application/json" } },
    "application/json",
    "application/x-ndjson",
  ],
];

describe.each(PAGES)("%s", (path, init, first, other) => {
  it.each([
    ["*/*", "first"],
    [undefined, "first"],
    [other, "other"],
    [`${other};q=0`, "first"],
    [`${other};q=0.5, ${first}`, "first"],
    [`${first};q=0.5, ${other}`, "other"],
    [`${first};q=0, */*`, "other"],
    [`${other};q=0, ${first};q=0`, "first"],
  ])("reads accept: %s as wanting the %s", async (accept, which) => {
    const headers = new Headers(init.headers);
    if (accept !== undefined) headers.set("accept", accept);
    const response = await setUp().request(path, { ...init, headers });
    expect(response.headers.get("content-type")).toContain(which === "first" ? first : other);
    // RFC 9111 §4.1: a shared cache must not give one for the other.
    expect(response.headers.get("vary")).toBe("accept");
    expect(response.headers.get("cache-control")).toMatch(/^no-(?:store|cache)$/);
    await response.body?.cancel();
  });
});

it("a list reads accept like all other pages", async () => {
  const { request } = setUp({ declared: listTable(), origin: pagingOrigin({ eu: [], us: [], ap: [] }, 100) });
  const typeFor = async (accept: string) =>
    (await request("/orders", { headers: { accept } })).headers.get("content-type");
  expect(await typeFor("application/x-ndjson;q=0")).toBe("application/json");
  expect(await typeFor("application/x-ndjson;q=0.5, application/json")).toBe("application/json");
  expect(await typeFor("*/*;q=0.5, application/x-ndjson")).toBe("application/x-ndjson");
});
