import { base64urlnopad } from "@scure/base";
import { SESSION_WHOLE_MS } from "../../formats/console-api.ts";
import type { Caller, SessionTimes } from "../../ports/admin.ts";
import type { Clock } from "../../ports/gateway.ts";
import { SESSION_COOKIE } from "../../proxy/headers.ts";
import { withoutSpace } from "../../routing/lookup/values.ts";
import type { AdminToken } from "../auth/settings.ts";

/** An unused session ends after this. A support desk is left for lunch, not for longer. */
const IDLE_MS = 30 * 60_000;

/** The least time between renewals of a session: each costs a header and an encryption. */
const RENEW_MS = 5 * 60_000;

/** The most that a clock may be behind the one that began the session. */
const CLOCK_MS = 60_000;

/** A name, a nonce and two numbers need less than half of it. */
const VALUE_LENGTH_MAX = 400;

const NONCE_BYTES = 12;

type SessionCrypto = Pick<typeof crypto.subtle, "importKey" | "deriveKey" | "encrypt" | "decrypt">;

export interface SessionOptions {
  readonly tokens: readonly AdminToken[];
  /** Host of the console. A session of another deployment is none here, though both have the token. */
  readonly host: string;
  readonly clock: Clock;
  readonly subtle: SessionCrypto;
  readonly fillRandom: (bytes: Uint8Array<ArrayBuffer>) => unknown;
}

/**
 * Sessions that are sealed into their cookie, so that no isolate keeps any. The key is derived from the entry of the
 * caller's token: a change of the entry, or its end, ends its sessions and no others.
 */
export function consoleSessions({ tokens, host, clock, subtle, fillRandom }: SessionOptions) {
  const keys = new Map<string, Promise<CryptoKey>>();
  const encoder = new TextEncoder();

  const keyOf = (entry: AdminToken): Promise<CryptoKey> => {
    const known = keys.get(entry.name);
    if (known !== undefined) return known;
    const key = deriveKey(subtle, entry, host);
    keys.set(entry.name, key);
    return key;
  };

  const seal = async (name: string, { startedAtMs, untilMs }: SessionTimes): Promise<string | undefined> => {
    const entry = tokens.find((one) => one.name === name);
    if (entry === undefined) return undefined;
    const nonce = new Uint8Array(NONCE_BYTES);
    fillRandom(nonce);
    const times = encoder.encode(JSON.stringify([startedAtMs, untilMs]));
    const sealed = await subtle.encrypt({ name: "AES-GCM", iv: nonce }, await keyOf(entry), times);
    const text = base64urlnopad.encode(Uint8Array.of(...nonce, ...new Uint8Array(sealed)));
    const seconds = Math.max(0, Math.ceil((untilMs - clock.nowMs()) / 1000));
    return `${SESSION_COOKIE}=${name}.${text}; Max-Age=${seconds}; ${ATTRIBUTES}`;
  };

  const timesFrom = (startedAtMs: number): SessionTimes => ({
    startedAtMs,
    untilMs: Math.min(clock.nowMs() + IDLE_MS, startedAtMs + SESSION_WHOLE_MS),
  });

  return {
    /** The caller of a `cookie` header; `undefined` without a session that holds. */
    async read(cookies: string): Promise<Caller | undefined> {
      const value = sessionIn(cookies);
      const end = value?.lastIndexOf(".") ?? -1;
      if (value === undefined || end < 1) return undefined;
      const entry = tokens.find(({ name }) => name === value.slice(0, end));
      if (entry === undefined) return undefined;
      const times = await unseal(subtle, await keyOf(entry), value.slice(end + 1));
      const nowMs = clock.nowMs();
      if (times === undefined || nowMs >= times.untilMs || nowMs < times.startedAtMs - CLOCK_MS) return undefined;
      return { name: entry.name, scope: entry.scope, by: "session", session: times };
    },

    /** `set-cookie` of a new session, for the caller of a token. */
    open: async ({ name, by }: Caller): Promise<string | undefined> =>
      by === "token" ? seal(name, timesFrom(clock.nowMs())) : undefined,

    /** `set-cookie` of a session that was used, when it has become old enough. */
    async renew({ name, session }: Caller): Promise<string | undefined> {
      if (session === undefined) return undefined;
      const times = timesFrom(session.startedAtMs);
      return times.untilMs - session.untilMs < RENEW_MS ? undefined : seal(name, times);
    },
  };
}

const ATTRIBUTES = "Path=/; HttpOnly; Secure; SameSite=Strict";

async function deriveKey(subtle: SessionCrypto, { name, scope, sha256 }: AdminToken, host: string): Promise<CryptoKey> {
  const material = await subtle.importKey("raw", sha256, "HKDF", false, ["deriveKey"]);
  const info = new TextEncoder().encode(JSON.stringify([host, name, scope]));
  const salt = new TextEncoder().encode("waybill console session 1");
  const key = { name: "AES-GCM", length: 256 };
  return subtle.deriveKey({ name: "HKDF", hash: "SHA-256", salt, info }, material, key, false, ["encrypt", "decrypt"]);
}

/**
 * The value of the session's cookie. Two of them are none: a browser sends one. White space around it is spaces and tabs alone:
 * with others a name has no prefix for the browser, so that every host of the domain can set it. Nor is a comma an end, as it
 * may be for `cookieValues`: any host of the domain can set a cookie whose value goes on with a comma and this name.
 */
function sessionIn(cookies: string): string | undefined {
  const values = cookies
    .split(";")
    .map(withoutSpace)
    .flatMap((pair) => (pair.startsWith(`${SESSION_COOKIE}=`) ? [pair.slice(SESSION_COOKIE.length + 1)] : []));
  const [value = ""] = values;
  return values.length === 1 && value.length <= VALUE_LENGTH_MAX ? value : undefined;
}

async function unseal(subtle: SessionCrypto, key: CryptoKey, text: string): Promise<SessionTimes | undefined> {
  try {
    const bytes = base64urlnopad.decode(text);
    const iv = bytes.slice(0, NONCE_BYTES);
    const opened = await subtle.decrypt({ name: "AES-GCM", iv }, key, bytes.slice(NONCE_BYTES));
    const [startedAtMs, untilMs] = JSON.parse(new TextDecoder().decode(opened)) as readonly [number, number];
    return { startedAtMs, untilMs };
  } catch {
    // Not sealed by this key, or no such text at all.
    return undefined;
  }
}
