import { expect, it } from "vitest";
import { parseClientJwt, parseMintDoor } from "../../../src/edge/auth/settings.ts";

const GOOD = { issuer: "https://login.acme.com", audience: "api", keys: "https://login.acme.com/jwks.json" };

it("reads whose tokens carry claims", () => {
  const { audience, ...rest } = GOOD;
  expect(parseClientJwt(JSON.stringify(GOOD))).toEqual({ ok: true, value: { ...rest, audiences: [audience] } });
});

const KEYS = "keys must be an https: URL";

it.each([
  [JSON.stringify({ ...GOOD, keys: "http://login.acme.com/jwks.json" }), KEYS],
  [JSON.stringify({ ...GOOD, keys: "https://" }), KEYS],
  [JSON.stringify({ ...GOOD, keys: 7 }), KEYS],
  [JSON.stringify({ ...GOOD, keys: undefined }), "keys is missing"],
  [JSON.stringify({ ...GOOD, audience: "" }), "audience must be a text of 1 to 300 characters"],
  [JSON.stringify({ ...GOOD, audience: ["api"] }), "audience must be a text of 1 to 300 characters"],
  [JSON.stringify({ ...GOOD, issuer: null }), "issuer must be a text of 1 to 300 characters"],
  [JSON.stringify({ ...GOOD, isuer: "x" }), '"isuer" is unknown'],
])("names the member of %s that is wrong", (text, why) => {
  expect(parseClientJwt(text)).toEqual({ ok: false, error: `CLIENT_JWT: ${why}` });
  expect(parseMintDoor(text)).toEqual({ ok: false, error: `MINT: ${why}` });
});

it.each(["{", "[]", "7", "null", '{"issuer":"a","issuer":"b"}', JSON.stringify([GOOD])])(
  "%s is no such object",
  (text) => {
    expect(parseClientJwt(text)).toEqual({ ok: false, error: expect.stringMatching(/^CLIENT_JWT must be JSON like /) });
  },
);
