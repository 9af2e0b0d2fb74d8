import * as v from "valibot";
import { isKeyId, KEY_BYTES_MIN } from "../proxy/signature.ts";
import { readSecret } from "./secret.ts";

/** The first key signs; origins are to know both. */
export type SigningKeys = readonly SigningKey[];

export interface SigningKey {
  readonly id: string;
  readonly key: Uint8Array<ArrayBuffer>;
}

export const NO_SIGNING_KEYS: SigningKeys = [];

/** One in use and one that comes or goes: more would only hide that a rotation was never finished. */
const KEYS_MAX = 2;

const bytes = v.pipe(
  v.string(),
  v.base64(),
  v.transform((text) => Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0))),
  v.check(({ length }) => length >= KEY_BYTES_MIN),
);

const SECRET = v.pipe(
  v.array(v.strictObject({ id: v.pipe(v.string(), v.check(isKeyId)), key: bytes })),
  v.minLength(1),
  v.maxLength(KEYS_MAX),
  v.check((keys) => new Set(keys.map(({ id }) => id)).size === keys.length),
);

/** The keys of the secret `ORIGIN_SIGNING_KEYS`; `undefined` when they are not as they must be, without saying how: they are secret. */
export const parseSigningKeys = (text: string): SigningKeys | undefined => readSecret(SECRET, text);
