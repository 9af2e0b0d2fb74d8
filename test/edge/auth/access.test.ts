import { SignJWT, UnsecuredJWT } from "jose";
import { describe, expect, it } from "vitest";
import { AUDIENCE, accessWorld, goodClaims, ISSUER, makeKey, NO_AUTH, NOW_SECONDS, signWith } from "./access-world.ts";

const key = await makeKey("2026-06");
const other = await makeKey("2026-06");

describe("a token of Cloudflare Access", () => {
  it.each([
    ["jane@acme.com", "operator"],
    ["Jane@Acme.COM", "operator"],
    ["joe@ops.acme.com", "operator"],
    ["Desk@acme.com", "support"],
    ["ann@desk.acme.com", "support"],
    ["ann@x.desk.acme.com", "viewer"],
    ["joe@acme.com", "viewer"],
    ["joe@sub.ops.acme.com", "viewer"],
    ["joe@evil.com@ops.acme.com", "viewer"],
    ["*@ops.acme.com.evil.com", "viewer"],
    // Kelvin's sign becomes k in small letters.
    ["joe@ops.acme.com\u212a", "viewer"],
  ])("of %s makes a %s", async (email, scope) => {
    const { present } = accessWorld([key]);
    const token = await signWith(key, { ...goodClaims(), email });
    expect(await present(token)).toEqual({ ok: true, value: { name: email, scope, by: "access" } });
  });

  it("of a service makes a viewer by its name", async () => {
    const { present } = accessWorld([key]);
    const { email: _, ...claims } = goodClaims();
    const token = await signWith(key, { ...claims, sub: "", common_name: "ci.access" });
    expect(await present(token)).toEqual({ ok: true, value: { name: "ci.access", scope: "viewer", by: "access" } });
  });

  it("may be up to 60 s off", async () => {
    const { present } = accessWorld([key]);
    const late = { ...goodClaims(), exp: NOW_SECONDS - 59 };
    const early = { ...goodClaims(), nbf: NOW_SECONDS + 59 };
    for (const claims of [late, early]) expect(await present(await signWith(key, claims))).toMatchObject({ ok: true });
  });

  const claimsWith = (change: object) => signWith(key, { ...goodClaims(), ...change });
  const parts = async (): Promise<readonly [string, string, string]> => {
    const [header = "", payload = "", signature = ""] = (await signWith(key)).split(".");
    return [header, payload, signature];
  };
  const encoded = (value: object): string =>
    btoa(JSON.stringify(value)).replace(/=+$/, "").replaceAll("+", "-").replaceAll("/", "_");
  const pem = async (): Promise<Uint8Array> => {
    const spki = await crypto.subtle.exportKey("spki", key.publicKey);
    const bytes = spki instanceof ArrayBuffer ? new Uint8Array(spki) : new Uint8Array();
    return new TextEncoder().encode(
      `-----BEGIN PUBLIC KEY-----\n${btoa(String.fromCharCode(...bytes))}\n-----END PUBLIC KEY-----\n`,
    );
  };

  /** Forged tokens, and why each does not count. */
  const FORGED: Readonly<Record<string, readonly [forge: () => Promise<string> | string, why: string]>> = {
    "alg none": [() => new UnsecuredJWT(goodClaims()).encode(), "another algorithm"],
    "alg none with the key's ID and a signature": [
      async () => `${encoded({ alg: "none", kid: key.kid })}.${(await parts())[1]}.${(await parts())[2]}`,
      "another algorithm",
    ],
    "HS256 with the public key as the secret": [
      async () => new SignJWT(goodClaims()).setProtectedHeader({ alg: "HS256", kid: key.kid }).sign(await pem()),
      "another algorithm",
    ],
    "the header said HS256 under the real signature": [
      async () => `${encoded({ alg: "HS256", kid: key.kid })}.${(await parts())[1]}.${(await parts())[2]}`,
      "another algorithm",
    ],
    "another audience": [() => claimsWith({ aud: ["another"] }), "claim aud"],
    "no audience": [() => claimsWith({ aud: undefined }), "claim aud"],
    "a part of the audience": [() => claimsWith({ aud: AUDIENCE.slice(0, -1) }), "claim aud"],
    "another issuer": [() => claimsWith({ iss: "https://evil.cloudflareaccess.com" }), "claim iss"],
    "an issuer with a slash": [() => claimsWith({ iss: `${ISSUER}/` }), "claim iss"],
    "no issuer": [() => claimsWith({ iss: undefined }), "claim iss"],
    expired: [() => claimsWith({ exp: NOW_SECONDS - 61 }), "expired"],
    "without an end": [() => claimsWith({ exp: undefined }), "claim exp"],
    "with an end that is no number": [() => claimsWith({ exp: "never" }), "claim exp"],
    "not yet": [() => claimsWith({ nbf: NOW_SECONDS + 61 }), "claim nbf"],
    "of nobody": [() => claimsWith({ email: undefined }), "without a name"],
    "of somebody without a name": [() => claimsWith({ email: "" }), "without a name"],
    "of a list of people": [() => claimsWith({ email: ["jane@acme.com"] }), "without a name"],
    "another key under the same ID": [() => signWith(other), "ERR_JWS_SIGNATURE_VERIFICATION_FAILED"],
    "a key of its own in the header": [
      () => signWith(other, goodClaims(), { jwk: other.jwk }),
      "ERR_JWS_SIGNATURE_VERIFICATION_FAILED",
    ],
    "an address of keys of its own": [
      () => signWith(other, goodClaims(), { jku: "https://evil.test/keys", x5u: "https://evil.test/cert" }),
      "ERR_JWS_SIGNATURE_VERIFICATION_FAILED",
    ],
    "another key ID": [() => signWith(key, goodClaims(), { kid: "another" }), "unknown key"],
    "a key ID that objects have": [() => signWith(key, goodClaims(), { kid: "__proto__" }), "unknown key"],
    "no key ID, by another key": [() => signWith(other, goodClaims(), { kid: undefined }), "unknown key"],
    "a critical extension": [
      () => `${encoded({ alg: "RS256", kid: key.kid, crit: ["x"], x: 1 })}.e30.e30`,
      "ERR_JOSE_NOT_SUPPORTED",
    ],
    "a changed payload": [
      async () => `${(await parts())[0]}.${encoded({ ...goodClaims(), email: "eve@acme.com" })}.${(await parts())[2]}`,
      "ERR_JWS_SIGNATURE_VERIFICATION_FAILED",
    ],
    "no signature": [
      async () => `${(await parts())[0]}.${(await parts())[1]}.`,
      "ERR_JWS_SIGNATURE_VERIFICATION_FAILED",
    ],
    huge: [() => claimsWith({ groups: "x".repeat(13_000) }), "too long"],
    "no token": [() => "jane@acme.com", "malformed"],
    "two parts": [async () => (await parts()).slice(0, 2).join("."), "malformed"],
    "two fields": [async () => `${await signWith(key)}, ${await signWith(key)}`, "ERR_JWS_INVALID"],
    "a header that is no object": [async () => `${btoa("[]").replace("=", "")}.e30.e30`, "malformed"],
    empty: [() => "", "malformed"],
  };

  it.each(Object.entries(FORGED))("does not count: %s", async (_, [forge, why]) => {
    const { world, present } = accessWorld([key]);
    const token = await forge();
    expect(await present(token)).toEqual({ ok: false, error: { reason: "unauthenticated", why: "wrong" } });
    expect(world.refused).toEqual([{ by: "access", why, network: "10.0.0.1" }]);
    expect(world.fetched.every((url) => url === `${ISSUER}/cdn-cgi/access/certs`)).toBe(true);
    // The token itself is in no log.
    if (token.length > 30) expect(JSON.stringify(world.refused)).not.toContain(token.slice(0, 30));
  });

  it("is not what the field with the address says", async () => {
    const { authenticate, world } = accessWorld([key]);
    const headers = {
      "cf-access-authenticated-user-email": "jane@acme.com",
      cookie: `CF_Authorization=${await signWith(key)}`,
    };
    const missing = { ok: false, error: { reason: "unauthenticated", why: "missing" } };
    expect(await authenticate(new Request("https://gw.test/", { headers }))).toEqual(missing);
    expect(world.fetched).toEqual([]);
  });

  it("does not help somebody whose authorization is wrong", async () => {
    const { present } = accessWorld([key]);
    expect(await present(await signWith(key), { authorization: "Bearer wrong" })).toMatchObject({ ok: false });
  });

  it("counts for nothing where Access is not set up", async () => {
    const { present, world } = accessWorld([key], { settings: NO_AUTH });
    const missing = { ok: false, error: { reason: "unauthenticated", why: "missing" } };
    expect(await present(await signWith(key))).toEqual(missing);
    expect(world.fetched).toEqual([]);
  });
});
