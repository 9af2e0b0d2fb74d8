import { base64 } from "@scure/base";

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

/** Visible ASCII: no ID has anything else. */
const VISIBLE = /^[ -~]*$/;

/** RFC 4648 §4 and §5, with padding or without. Leftover bits must be 0 (§3.5). */
function decodeBase64(text: string): string | undefined {
  const digits = text.replace(/={1,2}$/, "");
  if (digits.length < text.length && text.length % 4 !== 0) return undefined;
  // Most texts are no global IDs: a test costs less than an exception.
  if (!/^[A-Za-z0-9+/_-]+$/.test(digits)) return undefined;
  try {
    const padded = digits.padEnd(Math.ceil(digits.length / 4) * 4, "=");
    const plain = String.fromCharCode(...base64.decode(padded.replaceAll("-", "+").replaceAll("_", "/")));
    return VISIBLE.test(plain) ? plain : undefined;
  } catch {
    return undefined;
  }
}
