import * as v from "valibot";
import { err, ok, type Result } from "../../ids/result.ts";
import type { Clock, Fetch } from "../../ports.ts";
import { withTimeout } from "../in-time.ts";

export interface AccessKeysOptions {
  /** Where Access publishes its keys. */
  readonly url: string;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly subtle: Pick<typeof crypto.subtle, "importKey">;
  /** Told of every fetch that failed. */
  readonly report: (why: string) => void;
}

/** The keys that Access signs with, by their IDs. */
export interface AccessKeys {
  /** `unknown`: Access has no such key. `unavailable`: it could not be asked. */
  find(keyId: string): Promise<Result<CryptoKey, "unknown" | "unavailable">>;
}

/** Whoever sends unknown key IDs makes no more fetches than this allows. */
const FETCH_INTERVAL_MS = 60_000;

const FETCH_DEADLINE_MS = 2_000;

/** A key that Access withdraws counts no longer than this. */
const FRESH_MS = 3_600_000;

/** How long keys that were good serve while no newer ones can be fetched: Access lets a replaced key count for as long. */
const KEPT_MS = 7 * 86_400_000;

/** Access publishes two keys, with their certificates: some 10 KB. */
const BODY_BYTES_MAX = 65_536;

/** Kept of those that can be used, the first ones. */
const KEYS_MAX = 16;

const KEY_SET = v.object({ keys: v.array(v.unknown()) });

/** A key that can verify RS256, and that a token can name. */
const USABLE_KEY = v.object({ kty: v.literal("RSA"), kid: v.string(), n: v.string(), e: v.string() });

/** The keys of this isolate: fetched when they are needed, at most once a minute whatever comes, and kept through outages. */
export function accessKeys(options: AccessKeysOptions): AccessKeys {
  const { clock, report } = options;
  let keys: ReadonlyMap<string, CryptoKey> = new Map();
  let fetchedAtMs = Number.NEGATIVE_INFINITY;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let isLastGood = false;
  let running: Promise<void> = Promise.resolve();

  // A clock that was set back makes an age negative: too far away in either direction is old.
  const isWithin = (sinceMs: number, ms: number): boolean => Math.abs(clock.nowMs() - sinceMs) < ms;

  const fetchNow = async (): Promise<void> => {
    askedAtMs = clock.nowMs();
    isLastGood = false;
    const fetched = await fetchKeys(options);
    if (!fetched.ok) return report(fetched.error);
    keys = fetched.value;
    fetchedAtMs = clock.nowMs();
    isLastGood = true;
  };

  return {
    async find(keyId) {
      if (!keys.has(keyId) || !isWithin(fetchedAtMs, FRESH_MS)) {
        if (!isWithin(askedAtMs, FETCH_INTERVAL_MS)) running = fetchNow();
        // It may be another request's, and end with that one: so each waits for itself.
        await withTimeout(running, FETCH_DEADLINE_MS, () => undefined);
      }
      const key = isWithin(fetchedAtMs, KEPT_MS) ? keys.get(keyId) : undefined;
      if (key !== undefined) return ok(key);
      return err(isLastGood ? "unknown" : "unavailable");
    },
  };
}

async function fetchKeys(options: AccessKeysOptions): Promise<Result<ReadonlyMap<string, CryptoKey>, string>> {
  const leave = new AbortController();
  const timer = setTimeout(() => leave.abort(), FETCH_DEADLINE_MS);
  try {
    const response = await options.fetch(options.url, { redirect: "manual", signal: leave.signal });
    if (response.status !== 200) return err(`status ${response.status}`);
    const parsed = v.safeParse(KEY_SET, JSON.parse(await readText(response)));
    if (!parsed.success) return err("no set of keys");
    const published = parsed.output.keys;
    const keys = await usableKeys(published, options.subtle);
    return keys.size > 0 ? ok(keys) : err(`none of its ${published.length} keys is an RSA key with an ID`);
  } catch (error) {
    if (leave.signal.aborted) return err(`no answer within ${FETCH_DEADLINE_MS} ms`);
    return err(error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(timer);
  }
}

/** Throws when there is more than keys need. */
async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > BODY_BYTES_MAX) throw new Error(`more than ${BODY_BYTES_MAX} octets`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** The first ones that can be used. Others are somebody else's, and make no set wrong (RFC 7517 §5). */
async function usableKeys(
  published: readonly unknown[],
  subtle: AccessKeysOptions["subtle"],
): Promise<ReadonlyMap<string, CryptoKey>> {
  const keys = new Map<string, CryptoKey>();
  for (const one of published) {
    const key = v.safeParse(USABLE_KEY, one);
    if (!key.success || keys.size === KEYS_MAX) continue;
    const imported = await importKey(key.output, subtle).catch(() => undefined);
    if (imported !== undefined) keys.set(key.output.kid, imported);
  }
  return keys;
}

/** Whatever else the published key says, it verifies RS256 and nothing more. */
function importKey({ n, e }: v.InferOutput<typeof USABLE_KEY>, subtle: AccessKeysOptions["subtle"]) {
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  return subtle.importKey("jwk", { kty: "RSA", n, e }, algorithm, false, ["verify"]);
}
