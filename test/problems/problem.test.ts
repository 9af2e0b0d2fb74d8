import { describe, expect, it } from "vitest";
import type { StaleClientId } from "../../src/ids/index.ts";
import { type GatewayError, PROBLEM_SLUGS, problemOf } from "../../src/problems/index.ts";
import { FAULTS_MAX } from "../../src/routing/limits.ts";

const candidates = [
  {
    layout: "iuid",
    entity: "order",
    fields: {},
    mintedAt: undefined,
    for: ["fixed bits"],
    against: [],
    excluded: false,
    region: "eu",
    rule: undefined,
  },
];

/** One error per reason. A reason without an example fails the test below. */
const ERRORS: readonly GatewayError[] = [
  { reason: "unrouted-path", path: "/x" },
  { reason: "malformed-id", id: "x", faults: [{ layout: "iuid", error: { reason: "empty" } }] },
  { reason: "unknown-id", id: "x", candidates },
  { reason: "ambiguous-id", id: "x", candidates },
  { reason: "layout-mismatch", id: "x", entity: "ride", layout: "ulid", said: "xid" },
  { reason: "wrong-entity", id: "x", entity: "ride", candidates },
  {
    reason: "stale-client-id",
    id: "x",
    entity: "order",
    stale: { reason: "clock-too-far", nowMs: 9000, clientNowMs: 1000, clockSkewMaxMs: 5000 },
  },
  { reason: "unassigned-key", id: "x", entity: "order", layout: "iuid", key: { country: "9" } },
  { reason: "key-out-of-range", field: "shardKey", value: "-1", max: "4294967295" },
  { reason: "clock-behind", behindMs: 70_000, toleranceMs: 60_000 },
  { reason: "sequence-exhausted", name: "luuid-1", max: 5 },
  { reason: "sequence-unavailable", name: "luuid-1" },
  { reason: "sequence-range-refused", name: "luuid-1", least: 5 },
  { reason: "sequence-ahead", name: "mint-sonyflake", retryAfterSeconds: 12 },
  { reason: "table-unavailable", why: "the bundled table has 2 faults" },
  { reason: "public-ids-unavailable", why: "no-keys" },
  { reason: "answer-withheld", region: "eu", why: "it is a partial document" },
  { reason: "loop-detected" },
  { reason: "hop-refused", why: "late" },
  { reason: "hop-misdirected", region: "eu", why: "not-served" },
  { reason: "peers-disagree", region: "eu", why: "has a clock of its own", retryAfterMs: 2000 },
  { reason: "too-many-fields" },
  { reason: "precondition-required" },
  { reason: "stale-revision", expected: 41, current: 42, canary: undefined },
  { reason: "canary-running", canary: 43 },
  { reason: "no-canary" },
  { reason: "unknown-revision", revision: 7, why: "there is none" },
  { reason: "invalid-table", faults: [{ pointer: "/regions", kind: "schema", message: "There are none." }] },
  { reason: "unknown-pack", sha256: "0".repeat(64), why: "its header must be sent before its pages" },
  { reason: "invalid-pack", part: 3, fault: "truncated", why: "it has 7 octets of 8" },
  { reason: "control-plane-unavailable", why: "no answer within 30000 ms", outcome: "unknown" },
  { reason: "origin-unreachable", region: "eu", fault: "connection_terminated", why: "did not respond" },
  { reason: "invalid-response", region: "eu", what: "the status 600" },
  { reason: "origin-timeout", region: "eu", which: "first-byte", deadlineMs: 5 },
  { reason: "origin-open-circuit", region: "eu", retryAfterMs: 900 },
  { reason: "origins-disagree", region: "eu", why: "it names a region that is not in the table" },
  { reason: "body-too-large-to-replay", region: "eu", bytesMax: 0 },
  { reason: "entity-moving", retryAfterMs: 2000 },
  { reason: "list-cursor-invalid", why: "expired" },
  { reason: "list-incomplete", entity: "order", regions: { ap: "timeout" } },
  { reason: "cursors-unavailable" },
  { reason: "module-unavailable", module: "pages" },
  { reason: "answer-too-large", bytesMax: 10 },
  { reason: "transfer-coding-unsupported" },
  { reason: "signing-unavailable" },
  { reason: "request-timeout", idleMs: 60_000 },
  { reason: "entity-gone", id: "x", entity: "order" },
  { reason: "create-key-missing", entity: "order", field: "country", sources: ["header x-country"] },
  { reason: "create-key-invalid", entity: "order", field: "country", source: "header x-country", value: "XX" },
  { reason: "create-count", entity: "order", count: undefined, max: 5 },
  {
    reason: "ids-disagree",
    ids: [
      { place: "path", entity: "order", id: "a", region: "eu" },
      { place: "cookie o", entity: "order", region: "us" },
    ],
  },
  { reason: "id-not-in-time", withinBytes: 100, place: "member /id of the body" },
  { reason: "id-unreadable", detail: "The value is an object.", place: "member /id of the body" },
  { reason: "create-regions", entity: "order", regions: ["eu", "us"] },
  { reason: "region-unknown", path: "/login", sources: ["header x-region"] },
  { reason: "rate-limited", limit: "client", retryAfterSeconds: 10 },
  { reason: "idempotency-key-invalid" },
  { reason: "idempotency-key-missing", entity: "order" },
  { reason: "malformed-key", id: "x", entity: "shop", directory: "slug", why: "It is empty." },
  { reason: "unknown-key", id: "x", entity: "shop", directory: "slug" },
  { reason: "key-reserved", directory: "slug", key: "x", retryAfterSeconds: 7 },
  { reason: "claim-lost", directory: "slug", key: "x" },
  { reason: "key-taken", directory: "slug", key: "x" },
  { reason: "stale-key", directory: "slug", version: 7 },
  { reason: "directory-unavailable", directory: "slug", why: "failed", retryAfterSeconds: 2 },
  { reason: "directory-full", directory: "slug", key: "x" },
  { reason: "idempotency-key-in-use", retryAfterSeconds: 7 },
  { reason: "digest-mismatch" },
  { reason: "coding-not-accepted", coding: "br" },
  { reason: "idempotency-key-mismatch" },
  { reason: "idempotency-keys-exhausted", which: "keys", max: 1000, retryAfterSeconds: 60 },
  { reason: "idempotency-unavailable", why: "no answer within 5000 ms" },
  { reason: "unauthenticated", why: "wrong" },
  { reason: "forbidden", why: "scope", needs: "operator" },
  { reason: "authentication-unavailable" },
  { reason: "console-unavailable", why: "not-built" },
  { reason: "malformed-request", detail: "The body is not JSON.", pointer: "" },
  { reason: "not-found", path: "/-/x" },
  { reason: "method-not-allowed", method: "GET", allow: ["POST"] },
  { reason: "body-too-large", bytesMax: 4096 },
  { reason: "state-refused", why: "The object has rows already" },
  { reason: "unknown-name", what: "country", name: "XX", known: ["KZ"] },
  { reason: "internal-error" },
];

describe("an error as a problem (RFC 9457)", () => {
  it("every reason of the catalogue has an example here", () => {
    expect(ERRORS.map(({ reason }) => reason).sort()).toEqual([...PROBLEM_SLUGS].sort());
  });

  it.each(ERRORS)("$reason has the standard members, a sentence, and survives JSON", (error) => {
    const problem = problemOf(error);
    expect(problem.type).toBe(`/-/problems/${error.reason}`);
    expect(problem.detail).toMatch(/\.$/);
    expect(JSON.parse(JSON.stringify(problem))).toMatchObject({ status: problem.status, title: problem.title });
  });

  it("an unavailable table does not reveal its cause to clients", () => {
    expect(JSON.stringify(problemOf({ reason: "table-unavailable", why: "KV says secret" }))).not.toContain("secret");
  });

  it("a stale client ID says what was expected, and what the clocks read", () => {
    const nowMs = Date.UTC(2026, 10, 22, 22, 43);
    const window = { fromMs: nowMs - 300_000, toMs: nowMs + 60_000 };
    const stale = (fault: StaleClientId) =>
      problemOf({ reason: "stale-client-id", id: "x", entity: "order", stale: fault });
    expect(
      stale({ reason: "too-old", layout: "uuid-v7", said: { mintedAtMs: nowMs - 300_001 }, window, nowMs }),
    ).toEqual({
      type: "/-/problems/stale-client-id",
      title: "Stale client ID",
      status: 422,
      detail:
        '"x" is too old: it was made at 2026-11-22T22:37:59.999Z; expected is 2026-11-22T22:38:00.000Z to 2026-11-22T22:44:00.000Z. The gateway\'s clock reads 2026-11-22T22:43:00.000Z.',
      id: "x",
      entity: "order",
      why: "too-old",
      expected: { from: "2026-11-22T22:38:00.000Z", to: "2026-11-22T22:44:00.000Z" },
      idTime: "2026-11-22T22:37:59.999Z",
      gatewayTime: "2026-11-22T22:43:00.000Z",
    });
    const ring = { from: 0xfffe, to: 4 };
    expect(
      stale({
        reason: "too-new",
        layout: "short-prefix-comb",
        said: { interval: 10 },
        window: { ...window, ring },
        nowMs,
        clientNowMs: nowMs + 1,
      }),
    ).toMatchObject({
      detail:
        "\"x\" is too new: it was made in interval 000a; expected is fffe to 0004. The client's clock reads 2026-11-22T22:43:00.001Z, the gateway's 2026-11-22T22:43:00.000Z.",
      expected: { fromInterval: "fffe", toInterval: "0004" },
      idInterval: "000a",
      gatewayTime: "2026-11-22T22:43:00.000Z",
      clientTime: "2026-11-22T22:43:00.001Z",
    });
    expect(
      stale({ reason: "clock-too-far", nowMs, clientNowMs: nowMs + 60_001, clockSkewMaxMs: 60_000 }),
    ).toMatchObject({
      why: "clock-too-far",
      expected: { from: "2026-11-22T22:42:00.000Z", to: "2026-11-22T22:44:00.000Z" },
      clientTime: "2026-11-22T22:44:00.001Z",
    });
  });

  it("a table with as many faults as a check looks for has that many at least", () => {
    const fault = { pointer: "/routes/1", kind: "schema", message: "No." } as const;
    const problem = (count: number) =>
      problemOf({ reason: "invalid-table", faults: Array.from({ length: count }, () => fault) });
    expect(problem(FAULTS_MAX)).toMatchObject({
      detail: "The table has at least 1,000 faults.",
      faultCount: FAULTS_MAX,
      more: true,
    });
    expect(problem(FAULTS_MAX - 1)).toMatchObject({ detail: "The table has 999 faults.", faultCount: 999 });
    expect(problem(FAULTS_MAX - 1)).not.toHaveProperty("more");
  });

  it("names the values that a source lists", () => {
    const error = { reason: "unknown-name", what: "region", name: "b", known: ["kz", "de"] } as const;
    expect(problemOf(error)).toMatchObject({ detail: 'The routing table has no region "b".' });
    expect(problemOf({ ...error, source: "header dc" })).toMatchObject({
      detail: 'The routing table lists no value "b" for the header dc; it lists kz, de.',
      known: ["kz", "de"],
    });
  });

  it("repeats no more of a client's text than a line", () => {
    const long = "x".repeat(10_000);
    for (const error of [
      { reason: "malformed-id", id: long, faults: [] },
      { reason: "unrouted-path", path: long },
      { reason: "layout-mismatch", id: long, entity: "ride", layout: "ulid", said: "xid" },
      { reason: "not-found", path: long },
      { reason: "unknown-name", what: "entity", name: long, known: [] },
    ] satisfies GatewayError[]) {
      expect(JSON.stringify(problemOf(error)).length).toBeLessThan(1000);
    }
  });
});
