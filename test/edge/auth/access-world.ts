import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";
import {
  type AuthenticateOptions,
  authenticator,
  type RefusedCredentials,
} from "../../../src/edge/auth/authenticate.ts";
import type { AuthSettings } from "../../../src/edge/auth/settings.ts";
import { clientReader } from "../../../src/edge/platform.ts";

/** Cloudflare Access as far as the gateway sees it: a set of keys behind one URL, and tokens that are signed with them. */

export const ISSUER = "https://acme.cloudflareaccess.com";
export const AUDIENCE = "4714c1358e65fe4b408ad6d432a5f878f08194bdb4752441fd56faefa9b2b6f2";
export const NOW_MS = Date.UTC(2026, 5, 1);
export const NOW_SECONDS = NOW_MS / 1000;

export interface TestKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  /** As Access publishes it. */
  readonly jwk: JWK;
}

export async function makeKey(kid: string): Promise<TestKey> {
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  return { kid, privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: "RS256", use: "sig" } };
}

export const goodClaims = (): JWTPayload => ({
  iss: ISSUER,
  aud: [AUDIENCE],
  email: "jane@acme.com",
  iat: NOW_SECONDS - 5,
  nbf: NOW_SECONDS - 5,
  exp: NOW_SECONDS + 600,
});

export const signWith = (key: TestKey, claims: JWTPayload = goodClaims(), header: object = {}): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: key.kid, ...header }).sign(key.privateKey);

export const NO_AUTH: AuthSettings = { openPages: false, tokens: [], access: undefined, isFaulty: false };

export const ACCESS: AuthSettings = {
  ...NO_AUTH,
  access: {
    issuer: ISSUER,
    audiences: [AUDIENCE],
    operators: ["jane@acme.com", "*@ops.acme.com"],
    support: ["desk@acme.com", "*@desk.acme.com", "joe@ops.acme.com"],
  },
};

/** Publishes the keys of `served`, which a test may change; or does what `answer` does. */
export function accessWorld(keys: readonly TestKey[], options: Partial<AuthenticateOptions> = {}) {
  const world = {
    nowMs: NOW_MS,
    keys,
    answer: async (): Promise<Response> => Response.json({ keys: world.keys.map(({ jwk }) => jwk), public_certs: [] }),
    fetched: [] as string[],
    refused: [] as RefusedCredentials[],
    keyFailures: [] as string[],
  };
  const check = authenticator({
    settings: ACCESS,
    clock: { nowMs: () => world.nowMs },
    fetch: (target) => {
      world.fetched.push(String(target));
      return world.answer();
    },
    subtle: crypto.subtle,
    reportRefused: (refused) => world.refused.push(refused),
    reportKeyFailure: (why) => world.keyFailures.push(why),
    ...options,
  });
  const clientOf = clientReader("cf-connecting-ip");
  const authenticate = (request: Request) => check({ request, client: clientOf(request) });
  /** Each from an address of its own unless said otherwise, so that no limit is in the way. */
  let last = 0;
  const present = (assertion: string, headers: Record<string, string> = {}) =>
    authenticate(
      new Request("https://gw.test/-/metrics", {
        headers: { "cf-access-jwt-assertion": assertion, "cf-connecting-ip": addressOf(++last), ...headers },
      }),
    );
  return { world, check, authenticate, present };
}

const addressOf = (index: number): string => `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
