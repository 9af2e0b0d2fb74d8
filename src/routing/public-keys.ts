import * as v from "valibot";
import { err, ok, type Result } from "../ids/index.ts";
import { type KeyRingError, keyRing, type NamedKey, sealRing } from "../ids/public/index.ts";
import { bytesOfBase64 } from "./base64.ts";

/** Keys of public IDs, from a secret: the first of a list makes new texts, all of them read. */
export interface PublicKeys {
  readonly sealed: readonly NamedKey[];
  readonly compatible: readonly NamedKey[];
}

export const NO_PUBLIC_KEYS: PublicKeys = { sealed: [], compatible: [] };

const bytes = v.pipe(
  v.string("is no text"),
  v.transform(bytesOfBase64),
  v.check((value) => value !== undefined, "is no base64"),
  v.transform((value) => value ?? new Uint8Array()),
);

const id = v.pipe(v.string("is no text"), v.minLength(1, "is empty"));

const keys = v.optional(
  v.array(v.strictObject({ id, key: bytes }, 'must be like {"id": "2026", "key": "<base64>"}'), "is no list"),
  [],
);

const SECRET = v.strictObject(
  { sealed: keys, compatible: keys },
  'must be like {"sealed": [...], "compatible": [...]}',
);

/** The keys of the secret `PUBLIC_ID_KEYS`, or a sentence that says which entry is at fault, and nothing of what stands there. */
export const parsePublicKeys = (text: string): Result<PublicKeys, string> => {
  const json = parseJson(text);
  // An array has all members that may be absent.
  if (json === undefined || Array.isArray(json)) return err("PUBLIC_ID_KEYS is no JSON object.");
  const parsed = v.safeParse(SECRET, json);
  if (!parsed.success) return err(formatIssue(parsed.issues[0]));
  const { sealed, compatible } = parsed.output;
  // A ring that can be made now can be made for each entity later.
  const sealRings = sealed.length === 0 ? undefined : sealRing(sealed, "probe");
  if (sealRings?.ok === false && sealRings.error.reason !== "context")
    return err(formatRing("sealed", sealed, sealRings.error));
  const keyRings = compatible.length === 0 ? undefined : keyRing(compatible);
  if (keyRings?.ok === false) return err(formatRing("compatible", compatible, keyRings.error));
  return ok(parsed.output);
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
};

const PLACE = /^(?:sealed|compatible)(?:\.[0-9]+(?:\.(?:id|key))?)?$/;

/** Names of members that do not belong there may themselves be secret. */
const formatIssue = (issue: v.BaseIssue<unknown>): string => {
  const path = v.getDotPath(issue) ?? "";
  if (PLACE.test(path)) return `PUBLIC_ID_KEYS: ${path} ${issue.message}.`;
  const entry = path.split(".").slice(0, 2).join(".");
  return `PUBLIC_ID_KEYS: ${PLACE.test(entry) ? entry : "it"} must have no other members than ${PLACE.test(entry) ? "id and key" : "sealed and compatible"}.`;
};

const formatRing = (list: keyof PublicKeys, keys: readonly NamedKey[], error: KeyRingError): string => {
  const placeOf = (id: string): string => `${list}.${keys.findLastIndex((key) => key.id === id)}`;
  switch (error.reason) {
    case "no-keys":
      return `PUBLIC_ID_KEYS: ${list} is empty.`;
    case "too-many-keys":
      return `PUBLIC_ID_KEYS: ${list} has ${error.actual} keys, and ${error.max} are the most.`;
    case "key-id":
      return `PUBLIC_ID_KEYS: ${list}.${error.index}.id must be 1 to 64 printable ASCII characters without a space.`;
    case "duplicate-key-id":
      return `PUBLIC_ID_KEYS: ${placeOf(error.id)}.id is that of an earlier key.`;
    case "duplicate-key":
      return `PUBLIC_ID_KEYS: ${placeOf(error.ids[1])}.key is an earlier one again.`;
    case "key-length":
      return `PUBLIC_ID_KEYS: ${placeOf(error.id)}.key must be the base64 of ${error.expected.join(", ")} octets, and is that of ${error.actual}.`;
  }
};
