import { exportJWK, generateKeyPair } from "jose";
import { describe, expect, it } from "vitest";
import { accessWorld, goodClaims, makeKey, NOW_SECONDS, signWith, type TestKey } from "./access-world.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const first = await makeKey("k1");
const second = await makeKey("k2");

const ellipticKey = { ...(await exportJWK((await generateKeyPair("ES256")).publicKey)), kid: "e1" };

const privateKey = { ...(await exportJWK(first.privateKey)), kid: "k1" };

/** Good whenever it is shown. */
const tokenOf = (key: TestKey, header: object = {}) =>
  signWith(key, { ...goodClaims(), exp: NOW_SECONDS + 3600 * 24 * 30 }, header);
const token = await tokenOf(first);
const newToken = await tokenOf(second);
const anonymous = await tokenOf(first, { kid: undefined });
const ofSecond = await tokenOf(second, { kid: undefined });

const known = { ok: true };
const wrong = { ok: false, error: { reason: "unauthenticated" } };
const unavailable = { ok: false, error: { reason: "authentication-unavailable" } };

const failing = async (): Promise<Response> => {
  throw new TypeError("no route to host");
};

describe("the keys of Access", () => {
  it("are fetched once for an hour", async () => {
    const { world, present } = accessWorld([first]);
    for (const atMs of [0, 1, HOUR_MS - 1]) {
      world.nowMs = Date.UTC(2026, 5, 1) + atMs;
      expect(await present(token)).toMatchObject(known);
    }
    expect(world.fetched).toHaveLength(1);
    world.nowMs += 1;
    expect(await present(token)).toMatchObject(known);
    expect(world.fetched).toHaveLength(2);
  });

  it("are fetched once for all who come at once", async () => {
    const { world, present } = accessWorld([first]);
    const callers = await Promise.all(Array.from({ length: 50 }, () => present(token)));
    expect(callers.filter(({ ok }) => ok)).toHaveLength(50);
    expect(world.fetched).toHaveLength(1);
  });

  it("that are new count when they are shown, a minute after the last fetch; those withdrawn no longer", async () => {
    const { world, present } = accessWorld([first]);
    expect(await present(token)).toMatchObject(known);
    world.keys = [first, second];
    expect(await present(newToken)).toMatchObject(wrong);
    world.nowMs += MINUTE_MS;
    expect(await present(newToken)).toMatchObject(known);
    expect(await present(token)).toMatchObject(known);
    world.keys = [second];
    world.nowMs += HOUR_MS;
    expect(await present(newToken)).toMatchObject(known);
    expect(await present(token)).toMatchObject(wrong);
  });

  it("are asked for once a minute at most, whatever 10,000 unknown IDs come", async () => {
    const { world, present } = accessWorld([first]);
    const headerOf = (kid: string) => btoa(JSON.stringify({ alg: "RS256", kid })).replace(/=+$/, "");
    for (let at = 0; at < 10_000; at++) {
      // Ten minutes in all.
      world.nowMs += 60;
      expect(await present(`${headerOf(`x${at}`)}.e30.e30`)).toMatchObject(wrong);
    }
    expect(world.fetched.length).toBeGreaterThanOrEqual(10);
    expect(world.fetched.length).toBeLessThanOrEqual(11);
    expect(await present(token)).toMatchObject(known);
  });

  it("that cannot be fetched let nobody in, and are tried again after a minute", async () => {
    const { world, present } = accessWorld([first]);
    const { answer } = world;
    world.answer = failing;
    for (let at = 0; at < 100; at++) expect(await present(token)).toMatchObject(unavailable);
    expect([world.fetched.length, world.keyFailures]).toEqual([1, ["no route to host"]]);
    expect(world.refused).toEqual([]);
    world.answer = answer;
    world.nowMs += MINUTE_MS;
    expect(await present(token)).toMatchObject(known);
  });

  it("are kept through an outage, for 7 days", async () => {
    const { world, present } = accessWorld([first]);
    const startMs = world.nowMs;
    expect(await present(token)).toMatchObject(known);
    world.answer = failing;
    for (let hour = 1; hour < 7 * 24; hour++) {
      world.nowMs = startMs + hour * HOUR_MS;
      expect(await present(token)).toMatchObject(known);
      expect(await present(newToken)).toMatchObject(unavailable);
    }
    world.nowMs = startMs + 7 * DAY_MS;
    expect(await present(token)).toMatchObject(unavailable);
    expect(world.fetched.length).toBeLessThanOrEqual(7 * 24 + 1);
  });

  it("are fetched again when the clock was set back", async () => {
    const { world, present } = accessWorld([first]);
    world.nowMs += 20 * DAY_MS;
    expect(await present(token)).toMatchObject(known);
    world.nowMs -= 20 * DAY_MS;
    world.keys = [second];
    expect(await present(token)).toMatchObject(wrong);
    expect(world.fetched).toHaveLength(2);
  });

  it("are not waited for longer than a fetch of them may take", async () => {
    const { world, present } = accessWorld([first], { fetchDeadlineMs: 50 });
    world.answer = () => new Promise(() => undefined);
    const began = Date.now();
    expect(await Promise.all([present(token), present(token)])).toMatchObject([unavailable, unavailable]);
    expect(Date.now() - began).toBeLessThan(10_000);
    expect(world.fetched).toHaveLength(1);
  });

  const body = (value: unknown, init?: ResponseInit) => async () => Response.json(value, init);
  it.each([
    ["a redirection", async () => new Response(null, { status: 302, headers: { location: "https://evil.test/" } })],
    ["an error with keys", body({ keys: [first.jwk] }, { status: 500 })],
    ["no JSON", async () => new Response("<html>")],
    ["no keys", body({ keys: [] })],
    ["something else", body([first.jwk])],
    ["a secret", body({ keys: [{ kty: "oct", kid: "k1", k: "AAAA" }] })],
    ["keys for encryption alone", body({ keys: [{ ...first.jwk, use: "enc", alg: undefined }] })],
    ["private keys", body({ keys: [privateKey] })],
    ["a key that is none", body({ keys: [{ ...first.jwk, n: "!" }] })],
    ["a set that is none", body({ keys: first.jwk })],
    ["very much", body({ keys: [first.jwk], public_certs: "x".repeat(70_000) })],
  ])("are not taken from %s", async (_, answer) => {
    const { world, present } = accessWorld([first]);
    world.answer = answer;
    expect(await present(token)).toMatchObject(unavailable);
    expect(world.keyFailures).toHaveLength(1);
  });

  // RFC 7517 §5: keys that are not understood, lack members or have values out of range should be ignored.
  it.each([
    ["of an elliptic curve", ellipticKey],
    ["that is a secret", { kty: "oct", kid: "x", k: "AAAA" }],
    ["of a kind that is still to come", { kty: "ML-DSA", kid: "x" }],
    ["without an ID", { ...second.jwk, kid: undefined }],
    // RFC 7517 §4.2 to §4.4: their purpose is another.
    ["of the same ID, for encryption", { ...second.jwk, kid: "k1", use: "enc" }],
    ["of the same ID, for another algorithm", { ...second.jwk, kid: "k1", alg: "RS512" }],
    ["of the same ID, that may only sign", { ...second.jwk, kid: "k1", key_ops: ["sign"] }],
    // §4.5: keys may share an ID.
    ["of the same ID, for signatures too", { ...second.jwk, kid: "k1" }],
    ["of the same ID and another type", { ...ellipticKey, kid: "k1" }],
    ["with an ID that is no text", { ...second.jwk, kid: 7 }],
    ["without a modulus", { ...second.jwk, n: undefined }],
    ["that cannot be read", { ...second.jwk, n: "!" }],
    ["that is no key", null],
  ])("are taken from among others: one %s", async (_, other) => {
    for (const keys of [
      [first.jwk, other],
      [other, first.jwk],
    ]) {
      const { world, present } = accessWorld([]);
      world.answer = body({ keys });
      expect(await present(token)).toMatchObject(known);
      expect(world.keyFailures).toEqual([]);
    }
  });

  it("are the first 16 that can be used, of however many", async () => {
    const { world, present } = accessWorld([]);
    const others = Array.from({ length: 15 }, (_, at) => ({ ...first.jwk, kid: `x${at}` }));
    const useless = Array.from({ length: 20 }, () => ellipticKey);
    world.answer = body({ keys: [...useless, ...others, first.jwk, second.jwk] });
    expect(await present(token)).toMatchObject(known);
    expect(await present(newToken)).toMatchObject(wrong);
  });

  it("are none where none can be used, and the log says so", async () => {
    const { world, present } = accessWorld([]);
    world.answer = body({ keys: [ellipticKey, { ...first.jwk, use: "enc" }] });
    expect(await present(token)).toMatchObject(unavailable);
    expect(world.keyFailures).toEqual(["none of its 2 keys is an RSA key that verifies RS256"]);
  });

  const purposes: Readonly<Record<string, object>> = {
    "for encryption": { use: "enc", alg: undefined },
    "for another algorithm": { alg: "PS256" },
    "for wrapping keys": { use: undefined, key_ops: ["wrapKey"] },
  };
  it.each(Object.entries(purposes))("verify nothing where they are %s (RFC 8725 §3.1)", async (_, purpose) => {
    const { world, present } = accessWorld([second]);
    world.answer = body({ keys: [second.jwk, { ...first.jwk, ...purpose }] });
    expect(await present(token)).toMatchObject(wrong);
    expect(await present(newToken)).toMatchObject(known);
  });

  describe("and a token that names none (RFC 7515 §4.1.4)", () => {
    it("are tried where one alone fits, with and without an ID of its own", async () => {
      for (const kid of ["k1", undefined]) {
        const { world, present } = accessWorld([]);
        world.answer = body({ keys: [{ ...first.jwk, kid }, { ...second.jwk, use: "enc" }, ellipticKey] });
        expect(await present(anonymous)).toMatchObject(known);
        expect(await present(ofSecond)).toMatchObject(wrong);
      }
    });

    it("are not chosen from where several fit (OpenID Connect Core §10.1)", async () => {
      const { world, present } = accessWorld([first, second]);
      expect(await present(anonymous)).toMatchObject(wrong);
      expect(world.refused).toMatchObject([{ why: "no key ID, and several keys fit" }]);
    });

    it("are fetched again where the one key does not verify it, once a minute at most", async () => {
      const { world, present } = accessWorld([first]);
      expect(await present(anonymous)).toMatchObject(known);
      world.keys = [second];
      for (let at = 0; at < 5; at++) expect(await present(ofSecond)).toMatchObject(wrong);
      expect(world.fetched).toHaveLength(1);
      world.nowMs += MINUTE_MS;
      expect(await present(ofSecond)).toMatchObject(known);
      expect(await present(anonymous)).toMatchObject(wrong);
      expect(world.fetched).toHaveLength(2);
    });
  });
});
