import { err, ok, type Result } from "../ids/result.ts";

/** The field `idempotency-key` (draft-ietf-httpapi-idempotency-key-header-07 §2.1), as the gateway and origins read it. */

const KEY_CHARACTERS_MAX = 255;

/** A key that clients send bare: visible ASCII but for `"`, `,` and `;`, by which one could not tell a list or parameters. */
const BARE = /^[!#-+\--:<-~]+$/;

/** A String of RFC 9651 §3.3.3: only `"` and `\` are escaped. */
const STRING = /^"((?:[ !#-[\]-~]|\\["\\])+)"$/;

/**
 * The key, `undefined` where the request has none. Both spellings are one key: the quoted one of the draft, and the bare one of most
 * clients. Anything else is an error, for a request with a key must never run as one without.
 */
export function readIdempotencyKey(
  field: string | null | undefined,
): Result<string | undefined, { readonly reason: "idempotency-key-invalid" }> {
  if (field === null || field === undefined) return ok(undefined);
  const key = BARE.test(field) ? field : STRING.exec(field)?.[1]?.replaceAll(/\\(["\\])/g, "$1");
  return key === undefined || key.length > KEY_CHARACTERS_MAX ? err({ reason: "idempotency-key-invalid" }) : ok(key);
}
