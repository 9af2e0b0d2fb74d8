import * as v from "valibot";
import { err, ok, type Result } from "../ids/result.ts";
import { canarySelectorSchema, REVISION_MAX } from "../routing/index.ts";

/**
 * A published table in KV: `table.current` is the pointer, the only value ever overwritten; `table.<digest>` is a body. Bodies
 * are written first, so a reader of the pointer finds them; `table.<digest>.<version>` is what a version of the code checked and
 * compiled of a body (edge/table/form-seal.ts), and may be missing. `features/packs/table/pack.ts` names the keys of packs.
 */
export const POINTER_KEY = "table.current";
export const bodyKey = (digest: string): string => `table.${digest}`;
export const formKey = (digest: string, version: string): string => `table.${digest}.${version}`;

const revision = v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(REVISION_MAX));
export const digestSchema = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

const POINTER = v.object({
  revision,
  digest: digestSchema,
  /** ISO 8601. */
  publishedAt: v.optional(v.string()),
  /** Counts changes in the control plane, canaries included; 0 from a writer without a counter. */
  change: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0)), 0),
  /** A later version may have other audiences. A canary that this version cannot read is ignored. */
  canary: v.optional(
    v.fallback(v.optional(v.object({ revision, digest: digestSchema, audience: canarySelectorSchema })), undefined),
  ),
});

export type Pointer = Readonly<v.InferOutput<typeof POINTER>>;
export type PointerCanary = NonNullable<Pointer["canary"]>;

/** The error says what is wrong. */
export function parsePointer(text: string): Result<Pointer, string> {
  const pointer = v.safeParse(v.pipe(v.string(), v.parseJson(undefined, "it is not JSON"), POINTER), text);
  return pointer.success ? ok(pointer.output) : err(pointer.issues[0].message);
}

/** A counter of 0 is left out: readers of every version take its absence for 0. */
export const formatPointer = ({ revision, digest, publishedAt, change, canary }: Pointer): string =>
  JSON.stringify({ revision, digest, publishedAt, ...(change > 0 && { change }), canary });
