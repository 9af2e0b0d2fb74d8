import { err, ok, type Result } from "../ids/result.ts";
import { REVISION_MAX } from "../routing/limits.ts";
import { type CanarySelector, readSelector } from "../routing/resolve/table-canary.ts";
import { parseJson } from "../routing/schema/json-scanner.ts";
import { isRecord } from "../routing/schema/records.ts";

/**
 * A published table in KV: `table.current` is the pointer, the only value ever overwritten; `table.<digest>` is a body. Bodies
 * are written first, so a reader of the pointer finds them; `table.<digest>.<version>` is what a version of the code checked and
 * compiled of a body (edge/table/form-seal.ts), and may be missing. `features/packs/table/pack.ts` names the keys of packs.
 */
export const POINTER_KEY = "table.current";
export const bodyKey = (digest: string): string => `table.${digest}`;
export const formKey = (digest: string, version: string): string => `table.${digest}.${version}`;

/** A larger form takes longer to read than to compile, and KV takes 25 MiB at most. */
export const FORM_BYTES_MAX = 16 * 1024 * 1024;

/** SHA-256 in hexadecimal digits. */
export const DIGEST = /^[0-9a-f]{64}$/;

export interface PointerCanary {
  readonly revision: number;
  readonly digest: string;
  readonly audience: CanarySelector;
}

export interface Pointer {
  readonly revision: number;
  readonly digest: string;
  /** ISO 8601. */
  readonly publishedAt?: string | undefined;
  /** Counts changes in the control plane, canaries included; 0 from a writer without a counter. */
  readonly change: number;
  readonly canary?: PointerCanary | undefined;
}

const isRevision = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 1 && value <= REVISION_MAX;

const isDigest = (value: unknown): value is string => typeof value === "string" && DIGEST.test(value);

/** The error says what is wrong. Every start reads a pointer, so that it needs no library. */
export function parsePointer(text: string): Result<Pointer, string> {
  const json = parseJson(text);
  if (json === undefined) return err(NOT_JSON);
  if (!isRecord(json)) return err("it is not an object");
  const { revision, digest, publishedAt, change = 0, canary } = json;
  if (!isRevision(revision)) return err(`revision must be a whole number from 1 to ${REVISION_MAX}`);
  if (!isDigest(digest)) return err("digest must be 64 hexadecimal digits in small letters");
  if (publishedAt !== undefined && typeof publishedAt !== "string") return err("publishedAt must be a text");
  if (typeof change !== "number" || !Number.isSafeInteger(change) || change < 0)
    return err("change must be a whole number from 0");
  return ok({
    revision,
    digest,
    publishedAt,
    change,
    canary: canaryIn(canary),
  });
}

/** A later version may have other audiences. A canary that this version cannot read is ignored. */
function canaryIn(value: unknown): PointerCanary | undefined {
  if (!isRecord(value)) return undefined;
  const { revision, digest } = value;
  const audience = readSelector(value["audience"]);
  return isRevision(revision) && isDigest(digest) && audience !== undefined
    ? { revision, digest, audience }
    : undefined;
}

/** A counter of 0 is left out: readers of every version take its absence for 0. */
export const formatPointer = ({ revision, digest, publishedAt, change, canary }: Pointer): string =>
  JSON.stringify({ revision, digest, publishedAt, ...(change > 0 && { change }), canary });

const NOT_JSON = "it is not JSON";
