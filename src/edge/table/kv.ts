import * as v from "valibot";
import { err, ok, type Result } from "../../ids/result.ts";
import {
  type CanarySelector,
  type CompiledTable,
  canarySelectorSchema,
  REVISION_MAX,
  TABLE_BYTES_MAX,
} from "../../routing/index.ts";
import { withTimeout } from "../platform.ts";
import { loadTableBytes, sha256 } from "./table-bytes.ts";

/**
 * The published table as KV holds it. Keys:
 * - `table.current`: the pointer, JSON `{revision, digest, publishedAt, change, canary}`; the only key that is ever overwritten.
 * - `table.<digest>`: a declared table's JSON text, named by the SHA-256 of its bytes in lower-case hex; written before
 *   the pointer that names it, never changed.
 */
export const POINTER_KEY = "table.current";
export const bodyKey = (digest: string): string => `table.${digest}`;

const revision = v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(REVISION_MAX));
const digest = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

const POINTER = v.object({
  revision,
  digest,
  publishedAt: v.optional(v.string()),
  /** Rises with every change of the truth, the beginning and the end of a canary too; 0 from who writes files alone. */
  change: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0)), 0),
  /** A later version may know other audiences: what this one cannot read is no canary, and no reason to refuse the table. */
  canary: v.optional(v.fallback(v.optional(v.object({ revision, digest, audience: canarySelectorSchema })), undefined)),
});

export interface Pointer {
  readonly revision: number;
  readonly digest: string;
  /** ISO 8601. */
  readonly publishedAt?: string | undefined;
  readonly change: number;
  readonly canary?: PointerCanary | undefined;
}

export interface PointerCanary {
  readonly revision: number;
  readonly digest: string;
  readonly audience: CanarySelector;
}

export type LoadFailure =
  | { readonly reason: "not-published" }
  | { readonly reason: "store-failed"; readonly why: string }
  | { readonly reason: "store-timeout"; readonly deadlineMs: number }
  | { readonly reason: "pointer-malformed"; readonly why: string }
  | { readonly reason: "body-missing"; readonly digest: string }
  | { readonly reason: "body-too-large"; readonly bytes: number }
  | { readonly reason: "digest-mismatch"; readonly digest: string; readonly actual: string }
  | { readonly reason: "table-invalid"; readonly digest: string; readonly faults: number; readonly first: string };

/**
 * KV's shortest cache life. For bodies and parts too, though they never change: a location remembers as long that there is none,
 * and one that was missing may have come. What was had is in the edge's cache, which stands before KV.
 */
export const KV_CACHE_SECONDS = 30;

export async function readPointer(kv: KVNamespace, deadlineMs: number): Promise<Result<Pointer, LoadFailure>> {
  const text = await within(() => kv.get(POINTER_KEY, { type: "text", cacheTtl: KV_CACHE_SECONDS }), deadlineMs);
  if (!text.ok) return text;
  return text.value === null ? err({ reason: "not-published" }) : parsePointer(text.value);
}

export function parsePointer(text: string): Result<Pointer, LoadFailure> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return err({ reason: "pointer-malformed", why: "it is not JSON" });
  }
  const pointer = v.safeParse(POINTER, json);
  if (!pointer.success) return err({ reason: "pointer-malformed", why: pointer.issues[0].message });
  return ok(pointer.output);
}

/** The bytes of a digest, verified. */
export async function readBody(
  kv: KVNamespace,
  digest: string,
  deadlineMs: number,
): Promise<Result<ArrayBuffer, LoadFailure>> {
  const body = await within(async () => {
    const bytes = await kv.get(bodyKey(digest), { type: "arrayBuffer", cacheTtl: KV_CACHE_SECONDS });
    return bytes === null ? err<LoadFailure>({ reason: "body-missing", digest }) : verified(bytes, digest);
  }, deadlineMs);
  return body.ok ? body.value : body;
}

export async function verified(bytes: ArrayBuffer, digest: string): Promise<Result<ArrayBuffer, LoadFailure>> {
  if (bytes.byteLength > TABLE_BYTES_MAX) return err({ reason: "body-too-large", bytes: bytes.byteLength });
  const actual = await sha256(bytes);
  return actual === digest ? ok(bytes) : err({ reason: "digest-mismatch", digest, actual });
}

/** The table of verified bytes, checked and compiled like any other. */
export function compileBody(bytes: ArrayBuffer, digest: string, revision: number): Result<CompiledTable, LoadFailure> {
  let table: ReturnType<typeof loadTableBytes>;
  try {
    table = loadTableBytes(bytes, revision);
  } catch (error) {
    // Whoever can write to the store could stop every request with a text that the compiler does not survive.
    return err({ reason: "table-invalid", digest, faults: 1, first: `the check failed: ${String(error)}` });
  }
  if (table.ok) return table;
  const [first] = table.error;
  return err({
    reason: "table-invalid",
    digest,
    faults: table.error.length,
    first: first === undefined ? "" : `${first.pointer}: ${first.message}`,
  });
}

/** A store that throws, or that never answers, is a failure like any other. */
export async function within<Value>(
  ask: () => Promise<Value>,
  deadlineMs: number,
): Promise<Result<Value, LoadFailure>> {
  try {
    return await withTimeout(
      ask().then((value) => ok(value)),
      deadlineMs,
      () => err({ reason: "store-timeout", deadlineMs }),
    );
  } catch (error) {
    return err({ reason: "store-failed", why: error instanceof Error ? error.message : String(error) });
  }
}
