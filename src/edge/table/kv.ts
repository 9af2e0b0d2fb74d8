import { bodyKey, POINTER_KEY, type Pointer, parsePointer } from "../../formats/kv.ts";
import { err, messageOf, ok, type Result } from "../../ids/result.ts";
import { hexOf } from "../../routing/bytes.ts";
import { type Fault, NOT_UTF8, TABLE_BYTES_MAX, type TableNames } from "../../routing/index.ts";
import { withTimeout } from "../platform.ts";

export type LoadFailure =
  | { readonly reason: "not-published" }
  | { readonly reason: "store-failed"; readonly why: string }
  | { readonly reason: "store-timeout"; readonly deadlineMs: number }
  | { readonly reason: "pointer-malformed"; readonly why: string }
  | { readonly reason: "body-missing"; readonly digest: string }
  | { readonly reason: "body-too-large"; readonly bytes: number }
  | { readonly reason: "digest-mismatch"; readonly digest: string; readonly actual: string }
  /** No voucher with a key of this deployment, or a form that does not fit; the table itself was loaded. */
  | { readonly reason: "form-refused"; readonly digest: string; readonly version: string; readonly why: string }
  | { readonly reason: "table-invalid"; readonly digest: string; readonly faults: number; readonly first: string };

type Loaded<Value> = Promise<Result<Value, LoadFailure>>;

/** KV's shortest cache TTL, also for bodies and parts: KV caches that a key is missing, and the key may exist soon. */
export const KV_CACHE_SECONDS = 30;

export async function readPointer(kv: KVNamespace, deadlineMs: number): Loaded<Pointer> {
  const text = await within(() => kv.get(POINTER_KEY, { type: "text", cacheTtl: KV_CACHE_SECONDS }), deadlineMs);
  if (!text.ok) return text;
  if (text.value === null) return err({ reason: "not-published" });
  const pointer = parsePointer(text.value);
  return pointer.ok ? pointer : err({ reason: "pointer-malformed", why: pointer.error });
}

export async function readBody(kv: KVNamespace, digest: string, deadlineMs: number): Loaded<ArrayBuffer> {
  const body = await within(async () => {
    const bytes = await kv.get(bodyKey(digest), { type: "arrayBuffer", cacheTtl: KV_CACHE_SECONDS });
    return bytes === null ? err<LoadFailure>({ reason: "body-missing", digest }) : verified(bytes, digest);
  }, deadlineMs);
  return body.ok ? body.value : body;
}

export async function verified(bytes: ArrayBuffer, digest: string): Loaded<ArrayBuffer> {
  if (bytes.byteLength > TABLE_BYTES_MAX) return err({ reason: "body-too-large", bytes: bytes.byteLength });
  const actual = await sha256(bytes);
  return actual === digest ? ok(bytes) : err({ reason: "digest-mismatch", digest, actual });
}

/** Deletes a key that may be absent: a folder as the store of keys answers 404 then, where Cloudflare's answers 200. */
export async function deleteKey(kv: KVNamespace, key: string): Promise<void> {
  try {
    await kv.delete(key);
  } catch (error) {
    // Another failure leaves the key, or the key cannot be asked either.
    if ((await kv.get(key, { type: "text" })) !== null) throw error;
  }
}

/** Turns exceptions and timeouts into failures. */
export async function within<Value>(ask: () => Promise<Value>, deadlineMs: number): Loaded<Value> {
  try {
    const answer = ask().then((value) => ok(value));
    return await withTimeout(answer, deadlineMs, () => err({ reason: "store-timeout", deadlineMs }));
  } catch (error) {
    return err({ reason: "store-failed", why: messageOf(error) });
  }
}

/** The names in a checked text, in a hundredth of the time of a check. */
export function tableNames(bytes: Bytes): TableNames {
  const text = tableText(bytes);
  const { countries = {}, entities = {} }: Record<string, object> = text.ok ? JSON.parse(text.value) : {};
  return { countries: new Set(Object.keys(countries)), entities: new Set(Object.keys(entities)) };
}

/** UTF-8; a byte order mark stays in the text. */
export function tableText(bytes: Bytes): Result<string, readonly Fault[]> {
  try {
    return ok(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return err([NOT_UTF8]);
  }
}

/** SHA-256 in lower-case hex. */
export async function sha256(bytes: Bytes): Promise<string> {
  return hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

export type Bytes = ArrayBuffer | Uint8Array;
