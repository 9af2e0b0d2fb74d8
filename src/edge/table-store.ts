import * as v from "valibot";
import { err, ok, type Result } from "../ids/result.ts";
import { type CompiledTable, duplicateKey, loadTable, TABLE_BYTES_MAX } from "../routing/index.ts";

/**
 * The published table as KV holds it. Keys:
 * - `table.current`: the pointer, JSON `{revision, digest, publishedAt}`; the only key that is ever overwritten.
 * - `table.<digest>`: a declared table's JSON text, named by the SHA-256 of its octets in lower-case hex; written before
 *   the pointer that names it, never changed.
 */
export const POINTER_KEY = "table.current";
export const bodyKey = (digest: string): string => `table.${digest}`;

const POINTER = v.object({
  revision: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  digest: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
});

export type Pointer = v.InferOutput<typeof POINTER>;

export type LoadFailure =
  | { readonly reason: "not-published" }
  | { readonly reason: "store-failed"; readonly why: string }
  | { readonly reason: "store-slow"; readonly deadlineMs: number }
  | { readonly reason: "pointer-malformed"; readonly why: string }
  | { readonly reason: "body-missing"; readonly digest: string }
  | { readonly reason: "body-too-large"; readonly bytes: number }
  | { readonly reason: "digest-differs"; readonly digest: string; readonly actual: string }
  | { readonly reason: "table-faulty"; readonly digest: string; readonly faults: number; readonly first: string };

/** KV's shortest cache life, and one for bodies, which never change. Seconds. */
const POINTER_CACHE_SECONDS = 30;
const BODY_CACHE_SECONDS = 86_400;

export async function readPointer(kv: KVNamespace, deadlineMs: number): Promise<Result<Pointer, LoadFailure>> {
  const text = await within(kv.get(POINTER_KEY, { type: "text", cacheTtl: POINTER_CACHE_SECONDS }), deadlineMs);
  if (!text.ok) return text;
  if (text.value === null) return err({ reason: "not-published" });
  const json = parseJson(text.value);
  if (!json.ok) return err({ reason: "pointer-malformed", why: "it is not JSON" });
  const pointer = v.safeParse(POINTER, json.value);
  if (!pointer.success) return err({ reason: "pointer-malformed", why: pointer.issues[0].message });
  return ok(pointer.output);
}

/** The table that a pointer names: octets verified against their digest, then checked and compiled like any other. */
export async function readTable(
  kv: KVNamespace,
  pointer: Pointer,
  deadlineMs: number,
): Promise<Result<CompiledTable, LoadFailure>> {
  const { digest, revision } = pointer;
  const key = bodyKey(digest);
  const octets = await within(kv.get(key, { type: "arrayBuffer", cacheTtl: BODY_CACHE_SECONDS }), deadlineMs);
  if (!octets.ok) return octets;
  if (octets.value === null) return err({ reason: "body-missing", digest });
  if (octets.value.byteLength > TABLE_BYTES_MAX) {
    return err({ reason: "body-too-large", bytes: octets.value.byteLength });
  }
  const actual = await sha256(octets.value);
  if (actual !== digest) return err({ reason: "digest-differs", digest, actual });
  const declared = parseTable(octets.value);
  if (!declared.ok) return err({ reason: "table-faulty", digest, faults: 1, first: declared.error });
  const table = loadTable(declared.value, revision);
  if (table.ok) return table;
  const [first] = table.error;
  return err({
    reason: "table-faulty",
    digest,
    faults: table.error.length,
    first: first === undefined ? "" : `${first.pointer}: ${first.message}`,
  });
}

async function within<Value>(answer: Promise<Value>, deadlineMs: number): Promise<Result<Value, LoadFailure>> {
  let timer: number | null = null;
  const late = new Promise<Result<Value, LoadFailure>>((resolve) => {
    timer = setTimeout(resolve, deadlineMs, err({ reason: "store-slow", deadlineMs }));
  });
  try {
    return await Promise.race([answer.then((value) => ok(value)), late]);
  } catch (error) {
    return err({ reason: "store-failed", why: error instanceof Error ? error.message : String(error) });
  } finally {
    clearTimeout(timer);
  }
}

/** As strict as the command line is: UTF-8 without a mark in front, and no key twice. */
function parseTable(octets: ArrayBuffer): Result<unknown, string> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(octets);
  } catch {
    return err("it is not UTF-8");
  }
  const json = parseJson(text);
  if (!json.ok) return err("it is not JSON");
  const twice = duplicateKey(text);
  return twice === undefined ? json : err(`the key ${JSON.stringify(twice)} stands twice in one object`);
}

function parseJson(text: string): Result<unknown, undefined> {
  try {
    return ok(JSON.parse(text));
  } catch {
    return err(undefined);
  }
}

async function sha256(octets: ArrayBuffer): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", octets));
  return Array.from(digest, (octet) => octet.toString(16).padStart(2, "0")).join("");
}
