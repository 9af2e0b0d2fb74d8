import * as v from "valibot";
import type { Scope } from "../../auth-ports.ts";
import { readSecret } from "../secret.ts";

/** A bearer token, as the deployment knows it: by its digest alone. */
export interface AdminToken {
  /** Stands in the audit of what its bearer changes. */
  readonly name: string;
  readonly scope: Scope;
  /** SHA-256 of the token. */
  readonly digest: Uint8Array<ArrayBuffer>;
}

/** Every request is held against all of them. */
const TOKENS_MAX = 100;

const digest = v.pipe(
  v.string(),
  v.regex(/^[0-9a-fA-F]{64}$/),
  v.transform((hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))),
);

const entry = v.strictObject({
  name: v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)),
  scope: v.picklist(["viewer", "operator"]),
  sha256: digest,
});

const isDistinct = (values: readonly string[]): boolean => new Set(values).size === values.length;

const SECRET = v.pipe(
  v.array(entry),
  v.minLength(1),
  v.maxLength(TOKENS_MAX),
  v.check((entries) => isDistinct(entries.map(({ name }) => name))),
  v.check((entries) => isDistinct(entries.map(({ sha256 }) => sha256.join()))),
);

export const ADMIN_TOKENS_FAULT =
  'ADMIN_TOKENS must be JSON like [{"name": "ci", "scope": "operator", "sha256": "<64 hex digits>"}], ' +
  `1 to ${TOKENS_MAX} entries, no name and no digest twice; \`waybill token new\` makes one`;

/** The secret `ADMIN_TOKENS`; `undefined` when it is not as it must be, without saying where: it is secret. */
export function parseAdminTokens(text: string): readonly AdminToken[] | undefined {
  return readSecret(SECRET, text)?.map(({ name, scope, sha256 }) => ({ name, scope, digest: sha256 }));
}
