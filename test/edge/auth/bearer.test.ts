import { describe, expect, it } from "vitest";
import { bearerCheck } from "../../../src/edge/auth/authenticate.ts";
import { parseAdminTokens } from "../../../src/edge/auth/settings.ts";

const TOKENS = ["first", "second", "third"].map((name) => `waybill_${name.padEnd(43, "x")}`);

const hexOf = async (text: string): Promise<string> => {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
};

const entries = await Promise.all(
  TOKENS.map(async (token, index) => ({
    name: `t${index}`,
    scope: index === 1 ? "operator" : "viewer",
    sha256: await hexOf(token),
  })),
);

const parsed = parseAdminTokens(JSON.stringify(entries)) ?? [];

describe("a bearer token", () => {
  it("is that of its entry", async () => {
    const check = bearerCheck(parsed, crypto.subtle);
    expect(await Promise.all(TOKENS.map((token) => check(`Bearer ${token}`)))).toEqual([
      { ok: true, value: { name: "t0", scope: "viewer", by: "token" } },
      { ok: true, value: { name: "t1", scope: "operator", by: "token" } },
      { ok: true, value: { name: "t2", scope: "viewer", by: "token" } },
    ]);
  });

  it.each([
    ["wrong in its first character", "Bearer xaybill_"],
    ["none at all", `Bearer ${"y".repeat(51)}`],
    ...TOKENS.map((token, index) => [`entry ${index}`, `Bearer ${token}`]),
  ])("is compared by digests with every entry, whichever it is: %s", async (_, authorization = "") => {
    const compared: number[] = [];
    const check = bearerCheck(parsed, {
      digest: (algorithm: string, data: ArrayBuffer) => crypto.subtle.digest(algorithm, data),
      timingSafeEqual(a: ArrayBuffer | ArrayBufferView, b: ArrayBuffer | ArrayBufferView) {
        compared.push(a.byteLength, b.byteLength);
        return crypto.subtle.timingSafeEqual(a, b);
      },
    });
    await check(authorization.padEnd(58, "x"));
    expect(compared).toEqual([32, 32, 32, 32, 32, 32]);
  });

  it.each([
    ["", "malformed"],
    ["Bearer", "malformed"],
    ["Bearer ", "malformed"],
    [`Bearer\t${TOKENS[0]}`, "malformed"],
    [`Bearer ${TOKENS[0]}, Bearer ${TOKENS[1]}`, "malformed"],
    [`Bearer ${TOKENS[0]} ${TOKENS[1]}`, "malformed"],
    [`Basic ${btoa(`ci:${TOKENS[0]}`)}`, "malformed"],
    [`Token ${TOKENS[0]}`, "malformed"],
    [TOKENS[0] ?? "", "malformed"],
    [`Bearer ${"x".repeat(31)}`, "malformed"],
    [`Bearer ${"x".repeat(513)}`, "malformed"],
    [`Bearer ${"x".repeat(100_000)}`, "malformed"],
    [`Bearer ${TOKENS[0]}é`, "malformed"],
    [`Bearer ${TOKENS[0]?.toUpperCase()}`, "unknown"],
    [`Bearer ${TOKENS[0]}x`, "unknown"],
    [`Bearer ${TOKENS[0]}=`, "unknown"],
    [`Bearer ${TOKENS[0]?.slice(0, -1)}`, "unknown"],
    [`Bearer ${entries[0]?.sha256}`, "unknown"],
  ])("%j is %s", async (authorization, fault) => {
    expect(await bearerCheck(parsed, crypto.subtle)(authorization)).toEqual({
      ok: false,
      error: { kind: "wrong", why: fault },
    });
  });

  it.each(["bearer", "BEARER", "bEaReR"])("has its scheme in any case: %s", async (scheme) => {
    expect(await bearerCheck(parsed, crypto.subtle)(`${scheme}  ${TOKENS[1]}`)).toMatchObject({ ok: true });
  });

  it("is nobody's where there are no entries", async () => {
    expect(await bearerCheck([], crypto.subtle)(`Bearer ${TOKENS[0]}`)).toEqual({
      ok: false,
      error: { kind: "wrong", why: "unknown" },
    });
  });
});

describe("the secret ADMIN_TOKENS", () => {
  const good = { name: "ci", scope: "operator", sha256: "ab".repeat(32) };

  it("takes entries, with hex digits of either case", () => {
    const text = JSON.stringify([good, { ...good, name: "ci-2", sha256: "CD".repeat(32) }]);
    expect(parseAdminTokens(text)?.map(({ name, sha256 }) => [name, sha256[0], sha256.length])).toEqual([
      ["ci", 0xab, 32],
      ["ci-2", 0xcd, 32],
    ]);
  });

  it.each(["viewer", "operator", "mint", "directory"])("takes the scope %s", (scope) => {
    expect(parseAdminTokens(JSON.stringify([{ ...good, scope }]))).toMatchObject([{ scope }]);
  });

  it.each([
    ["no JSON", "[{"],
    ["no list", JSON.stringify(good)],
    ["nothing", "[]"],
    ["a name twice", JSON.stringify([good, { ...good, sha256: "cd".repeat(32) }])],
    ["a digest twice", JSON.stringify([good, { ...good, name: "b", sha256: "AB".repeat(32) }])],
    ["a short digest", JSON.stringify([{ ...good, sha256: "ab" }])],
    ["another scope", JSON.stringify([{ ...good, scope: "admin" }])],
    ["no scope", JSON.stringify([{ name: "ci", sha256: good.sha256 }])],
    ["an empty name", JSON.stringify([{ ...good, name: "" }])],
    ["a name like an address", JSON.stringify([{ ...good, name: "jane@acme.com" }])],
    ["a token as such", JSON.stringify([{ ...good, token: "x" }])],
    [
      "more than 100",
      JSON.stringify(
        Array.from({ length: 101 }, (_, at) => ({ ...good, name: `t${at}`, sha256: String(at).padStart(64, "0") })),
      ),
    ],
  ])("refuses %s", (_, text) => {
    expect(parseAdminTokens(text)).toBeUndefined();
  });
});
