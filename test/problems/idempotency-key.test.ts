import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fingerprintOf, refusalOf } from "../../src/features/idempotency/serve/keyed-request.ts";
import { readIdempotencyKey } from "../../src/formats/key-field.ts";
import { scopeOf } from "../../src/gateway/caller.ts";
import { err, ok } from "../../src/ids/result.ts";
import { problemOf } from "../../src/problems/index.ts";

const INVALID = err({ reason: "idempotency-key-invalid" });

describe("the field idempotency-key", () => {
  it("a request without it has no key", () => expect(readIdempotencyKey(null)).toEqual(ok(undefined)));

  it.each([
    ["8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"],
    ['"8e03978e-40d5-43dd-bc93-6894a57f9324"', "8e03978e-40d5-43dd-bc93-6894a57f9324"],
    ["a\\b", "a\\b"],
    ['"a\\\\b"', "a\\b"],
    ['"say \\"hi\\", twice; now"', 'say "hi", twice; now'],
    ["k".repeat(255), "k".repeat(255)],
    [`"${"k".repeat(255)}"`, "k".repeat(255)],
  ])("%s", (field, key) => expect(readIdempotencyKey(field)).toEqual(ok(key)));

  it.each([
    "",
    '""',
    '"',
    "a,b",
    "a, b",
    '"a", "b"',
    "a;b",
    '"a";p=1',
    "a b",
    '"a',
    'a"',
    '"a"b"',
    '"\\a"',
    '"a\\"',
    "é",
    '"é"',
    "a\tb",
    '"a\nb"',
    ":YQ==:,",
    "k".repeat(256),
    `"${"k".repeat(256)}"`,
  ])("refuses %j", (field) => expect(readIdempotencyKey(field)).toEqual(INVALID));

  it("any text is one key in both spellings, or invalid in the bare one", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii", minLength: 1, maxLength: 40 }), (text) => {
        const quoted = readIdempotencyKey(`"${text.replaceAll(/["\\]/g, "\\$&")}"`);
        expect(quoted).toEqual(/^[ -~]+$/.test(text) ? ok(text) : INVALID);
        expect([quoted, INVALID]).toContainEqual(readIdempotencyKey(/^"/.test(text) ? "" : text));
      }),
    );
  });
});

describe("whose key it is, and what for", () => {
  const by = (authorization?: string) =>
    scopeOf(new Request("http://gw.test/", { headers: authorization ? { authorization } : {} }), crypto.subtle);

  it("a credential is its hash; none is empty", async () => {
    expect(await by()).toBe("");
    expect(await by("Bearer one")).toMatch(/^[0-9a-f]{64}$/);
    expect(await by("Bearer one")).toBe(await by("Bearer one"));
    expect(await by("Bearer one")).not.toBe(await by("Bearer two"));
  });

  it("each part of a request changes its fingerprint", async () => {
    const body = new TextEncoder().encode("{}");
    const payload = { method: "POST", target: "/orders?a=1", contentType: "application/json", body };
    const payloads = [
      payload,
      { ...payload, method: "PUT" },
      { ...payload, target: "/orders?a=2" },
      { ...payload, contentType: null },
      { ...payload, contentType: "null" },
      { ...payload, body: new TextEncoder().encode("{ }") },
    ];
    const fingerprints = await Promise.all(payloads.map((one) => fingerprintOf(one, crypto.subtle)));
    expect(new Set(fingerprints).size).toBe(payloads.length);
    expect(await fingerprintOf({ ...payload }, crypto.subtle)).toBe(fingerprints[0]);
  });
});

it("a begin after which nothing may be done has its problem", () => {
  const untilMs = 5;
  const problems = [
    problemOf(refusalOf({ state: "running", retryAfterSeconds: 3, untilMs })),
    problemOf(refusalOf({ state: "mismatch", untilMs })),
    problemOf(refusalOf({ state: "full", max: 7, which: "bytes" })),
  ];
  expect(problems).toMatchObject([{ status: 409 }, { status: 422 }, { status: 429, which: "bytes", max: 7 }]);
});
