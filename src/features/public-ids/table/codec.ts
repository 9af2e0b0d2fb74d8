import { err, ok, type Result, type Words } from "../../../ids/index.ts";
import { bigToWords, wordsToBig } from "../../../ids/layout/words.ts";
import type { KeyRingError, NamedKey } from "../../../ids/public/index.ts";
import { decodePublic, encodePublic, keyRing, openId, sealId, sealRing } from "../../../ids/public/index.ts";
import { formatPublicText, parseBase62, parsePublicText } from "../../../ids/public/public-text.ts";
import { canBeLater } from "../../../routing/compile/overrides.ts";
import { readingsOf } from "../../../routing/layouts/fields.ts";
import { duplicateKey, parseJson } from "../../../routing/schema/json-scanner.ts";
import { isRecord, type Json } from "../../../routing/schema/records.ts";
import type { Entity } from "../../../routing/table.ts";
import type { PublicKind } from "./entities.ts";

/** The digits of base64 (RFC 4648 §4). Every start reads this secret, so it loads no library for three lines. */
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const bytesOfBase64 = (text: string): Uint8Array => {
  const digits = text.replace(/=+$/, "");
  const bits = Array.from(digits, (digit) => DIGITS.indexOf(digit).toString(2).padStart(6, "0")).join("");
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
};

/** Keys of public IDs, from a secret: the first of a list makes new texts, all of them read. */
export type PublicKeys = { readonly sealed: readonly NamedKey[]; readonly compatible: readonly NamedKey[] };

export const NO_PUBLIC_KEYS: PublicKeys = { sealed: [], compatible: [] };

/** A list of keys, or a fault that begins with its place. Names of members that do not belong there may be secret themselves. */
const keysIn = (list: keyof PublicKeys, given: unknown): Result<readonly NamedKey[], string> => {
  if (given === undefined) return ok([]);
  if (!Array.isArray(given)) return err(`${list} is no list`);
  const keys: NamedKey[] = [];
  for (const [at, entry] of given.entries()) {
    const key = keyIn(entry);
    if (!key.ok) return err(`${list}.${at}${key.error}`);
    keys.push(key.value);
  }
  return ok(keys);
};

const LIKE = ' must be like {"id": "2026", "key": "<base64>"}';

const keyIn = (given: unknown): Result<NamedKey, string> => {
  if (!isRecord(given)) return err(LIKE);
  const { id, key, ...others } = given;
  const name = textIn("id", id);
  if (!name.ok) return name;
  if (name.value === "") return err(".id is empty");
  const text = textIn("key", key);
  if (!text.ok) return text;
  if (!BASE64.test(text.value)) return err(".key is not base64");
  if (Object.keys(others).length > 0) return err(" must have no other members than id and key");
  return ok({ id: name.value, key: bytesOfBase64(text.value) });
};

const textIn = (member: string, given: unknown): Result<string, string> => {
  if (typeof given === "string") return ok(given);
  return err(`.${member}${given === undefined ? LIKE : " is no text"}`);
};

const readKeys = (json: Json): Result<PublicKeys, string> => {
  const { sealed: declaredSealed, compatible: declaredCompatible, ...others } = json;
  const sealed = keysIn("sealed", declaredSealed);
  if (!sealed.ok) return sealed;
  const compatible = keysIn("compatible", declaredCompatible);
  if (!compatible.ok) return compatible;
  if (Object.keys(others).length > 0) return err("it must have no other members than sealed and compatible");
  return ok({ sealed: sealed.value, compatible: compatible.value });
};

/** The keys of the secret `PUBLIC_ID_KEYS`, or a sentence that names the faulty entry without its content. */
export const parsePublicKeys = (text: string): Result<PublicKeys, string> => {
  const json = parseJson(text);
  if (json === undefined || json === null || Array.isArray(json)) return err("PUBLIC_ID_KEYS is not a JSON object.");
  if (duplicateKey(text) !== undefined) return err("PUBLIC_ID_KEYS has a member of one object twice.");
  const parsed: Result<PublicKeys, string> = isRecord(json) ? readKeys(json) : err(NO_OBJECT);
  if (!parsed.ok) return err(`PUBLIC_ID_KEYS: ${parsed.error}.`);
  const { sealed, compatible } = parsed.value;
  // A ring that can be made now can be made for each entity later.
  const sealRings = sealed.length === 0 ? undefined : sealRing(sealed, "probe");
  if (sealRings?.ok === false && sealRings.error.reason !== "context")
    return err(formatRing("sealed", sealed, sealRings.error));
  const keyRings = compatible.length === 0 ? undefined : keyRing(compatible);
  if (keyRings?.ok === false) return err(formatRing("compatible", compatible, keyRings.error));
  return parsed;
};

const NO_OBJECT = 'it must be like {"sealed": [...], "compatible": [...]}';

/** The setting, with its value if it is unset or invalid. The keys of sealed IDs can seal other things too. */
export const PUBLIC_ID_KEYS = {
  setting: "PUBLIC_ID_KEYS",
  parse: parsePublicKeys,
  none: NO_PUBLIC_KEYS,
  secretsOf: ({ sealed }: PublicKeys): readonly Uint8Array[] => sealed.map(({ key }) => key),
} as const;

const formatRing = (list: keyof PublicKeys, keys: readonly NamedKey[], error: KeyRingError): string => {
  const placeOf = (id: string): string => `${list}.${keys.findLastIndex((key) => key.id === id)}`;
  switch (error.reason) {
    case "no-keys":
      return `PUBLIC_ID_KEYS: ${list} is empty.`;
    case "too-many-keys":
      return `PUBLIC_ID_KEYS: ${list} has ${error.actual} keys, but at most ${error.max} are allowed.`;
    case "key-id":
      return `PUBLIC_ID_KEYS: ${list}.${error.index}.id must be 1 to 64 printable ASCII characters without a space.`;
    case "duplicate-key-id":
      return `PUBLIC_ID_KEYS: ${placeOf(error.id)}.id is that of an earlier key.`;
    case "duplicate-key":
      return `PUBLIC_ID_KEYS: ${placeOf(error.ids[1])}.key is an earlier one again.`;
    case "key-length":
      return `PUBLIC_ID_KEYS: ${placeOf(error.id)}.key must be the base64 of ${error.expected.join(", ")} bytes, and is that of ${error.actual}.`;
  }
};

/** Both ways between the internal and the public texts of one entity; `undefined` for what is neither. */
export interface PublicCodec<Internal = string> {
  readonly show: (internal: Internal) => string | undefined;
  readonly open: (text: string) => Internal | undefined;
}

const SEALED_BLOCKS = 4;

/** The codec of a public entity; `undefined` where there are no keys for its kind. */
export function publicCodec(entity: Entity, keys: PublicKeys): PublicCodec | undefined {
  const layout = entity.ids[0]?.enabled.layout;
  const codec = codecOf(entity, keys, layout?.fixed.mask.length ?? 0);
  return (
    codec && {
      show(internal) {
        const words = readInternal(entity, internal);
        return words && codec.show(words);
      },
      open(text) {
        const words = codec.open(text);
        // The opened words must be an ID of the layout: a key without redundancy opens every text to something.
        return words !== undefined && layout?.fits(words) ? layout.format(words) : undefined;
      },
    }
  );
}

function codecOf(entity: Entity, { sealed, compatible }: PublicKeys, count: number): PublicCodec<Words> | undefined {
  const kind = kindOf(entity);
  if (kind.as === "sealed") {
    const ring = sealRing(sealed, entity.name);
    if (!ring.ok) return undefined;
    return {
      show: (words) => whenOk(sealId(ring.value, words)),
      open: (text) => whenOk(openId(ring.value, text))?.words,
    };
  }
  const ring = keyRing(compatible);
  if (!ring.ok) return undefined;
  const { as: type, form } = kind;
  return {
    show: (words) => whenOk(encodePublic(ring.value, wordsToBig(words), { type, form })),
    open: (text) => {
      const opened = whenOk(decodePublic(ring.value, text, { type, form }));
      // One text for a value: a second spelling of the same public ID is no public ID.
      if (opened?.canonical !== text) return undefined;
      return opened.id < 1n << BigInt(32 * count) ? bigToWords(opened.id, count) : undefined;
    },
  };
}

const whenOk = <Value>(result: Result<Value, unknown>): Value | undefined => (result.ok ? result.value : undefined);

function kindOf({ name, public: kind }: Entity): PublicKind {
  if (kind === undefined) throw new Error(`entity ${name} is not public`);
  return kind;
}

/** Whether some key could have made a text of the entity: it is the one text of a value in the form of the kind. */
export function hasPublicForm(entity: Entity, text: string): boolean {
  const kind = kindOf(entity);
  if (kind.as === "sealed") return parseBase62(text, SEALED_BLOCKS).ok;
  const bits = parsePublicText(text, kind.form);
  return bits.ok && formatPublicText(bits.value, kind.form) === text;
}

/** Origins may write an ID in any text of its layout. Where two read one text, a plausible time decides, then their order. */
function readInternal({ ids }: Entity, text: string): Words | undefined {
  const enabled = ids[0]?.enabled;
  if (enabled === undefined) return undefined;
  const readings = readingsOf(enabled.layout, text).filter(({ words }) => enabled.layout.fits(words));
  return (readings.find(({ words }) => canBeLater(enabled, words)) ?? readings[0])?.words;
}
