import * as v from "valibot";
import { keyRing, sealRing } from "../ids/public/index.ts";
import type { PublicKeys } from "./public-ids.ts";

export const NO_PUBLIC_KEYS: PublicKeys = { sealed: [], compatible: [] };

const octets = v.pipe(
  v.string(),
  v.base64(),
  v.transform((text) => Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0))),
);

const keys = v.optional(v.array(v.strictObject({ id: v.pipe(v.string(), v.minLength(1)), key: octets })), []);

const SECRET = v.strictObject({ sealed: keys, compatible: keys });

/** The keys of the secret `PUBLIC_ID_KEYS`; `undefined` when they are not as they must be, without saying how: they are secret. */
export function parsePublicKeys(text: string): PublicKeys | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  // An array has all members that may be absent.
  if (Array.isArray(json)) return undefined;
  const parsed = v.safeParse(SECRET, json);
  if (!parsed.success) return undefined;
  const { sealed, compatible } = parsed.output;
  // A ring that can be made now can be made for each entity later.
  if (sealed.length > 0 && !sealRing(sealed, "probe").ok) return undefined;
  if (compatible.length > 0 && !keyRing(compatible).ok) return undefined;
  return parsed.output;
}
