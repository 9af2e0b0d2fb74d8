/** How global IDs of Relay name a type and an ID. They are opaque by specification, so that the form must be declared. */
export type GlobalIdForm =
  /** `Type:id` in base64 or base64url, with padding or without. */
  | { readonly form: "base64" }
  /** `gid://app/Type/id`; parameters may follow. */
  | { readonly form: "gid" }
  /** A prefix that stands for the type, and the ID; `isCoded`: in base64url. */
  | { readonly form: "prefix"; readonly isCoded: boolean };

export interface GlobalIds {
  readonly form: GlobalIdForm;
  /** Entities by type or prefix. */
  readonly entities: ReadonlyMap<string, string>;
}

/** The entity and its ID; `undefined` for a text that is no global ID of a declared type. */
export function readGlobalId({ form, entities }: GlobalIds, text: string): { entity: string; id: string } | undefined {
  const named = form.form === "prefix" ? prefixed(text, entities, form.isCoded) : typed(form.form, text);
  if (named === undefined || named.id === "") return undefined;
  const entity = entities.get(named.type);
  return entity === undefined ? undefined : { entity, id: named.id };
}

interface Named {
  readonly type: string;
  readonly id: string;
}

/** Parameters tell objects of one entity apart, such as `?inventory_item_id=456`. */
const GID = /^gid:\/\/[^/?#]+\/([^/?#]+)\/([^/?#]+)(?:\?[^#]*)?$/;

function typed(form: "base64" | "gid", text: string): Named | undefined {
  if (form === "gid") {
    const [, type, id] = GID.exec(text) ?? [];
    return type === undefined || id === undefined ? undefined : { type, id };
  }
  const plain = decodeBase64(text);
  const colon = plain?.indexOf(":") ?? -1;
  return plain === undefined || colon < 1 ? undefined : { type: plain.slice(0, colon), id: plain.slice(colon + 1) };
}

/** The longest of several prefixes wins. */
function prefixed(text: string, entities: ReadonlyMap<string, string>, isCoded: boolean): Named | undefined {
  const type = [...entities.keys()]
    .filter((prefix) => text.startsWith(prefix))
    .reduce<string | undefined>(
      (best, each) => (best !== undefined && best.length > each.length ? best : each),
      undefined,
    );
  if (type === undefined) return undefined;
  const rest = text.slice(type.length);
  const id = isCoded ? decodeBase64(rest) : rest;
  return id === undefined ? undefined : { type, id };
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const DIGITS: ReadonlyMap<string, number> = new Map([
  ...[...ALPHABET].map((digit, at) => [digit, at] as const),
  ...(["+", "-"] as const).map((digit) => [digit, 62] as const),
  ...(["/", "_"] as const).map((digit) => [digit, 63] as const),
]);

/** RFC 4648 §4 and §5. Visible ASCII alone: no ID has anything else. Bits that are left over must be 0 (§3.5). */
function decodeBase64(text: string): string | undefined {
  const digits = text.replace(/={1,2}$/, "");
  if (digits.length % 4 === 1 || (digits.length < text.length && text.length % 4 !== 0)) return undefined;
  let plain = "";
  let pending = 0;
  let bits = 0;
  for (const digit of digits) {
    const value = DIGITS.get(digit);
    if (value === undefined) return undefined;
    pending = (pending << 6) | value;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    const code = pending >> bits;
    if (code < 0x20 || code > 0x7e) return undefined;
    plain += String.fromCharCode(code);
    pending &= (1 << bits) - 1;
  }
  return pending === 0 ? plain : undefined;
}
