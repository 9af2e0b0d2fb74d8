import { FORM_BYTES_MAX } from "../../formats/kv.ts";
import type { StoredForm } from "../../routing/compile/restore.ts";
import type { SigningKeys } from "../origins/signer.ts";

/**
 * The voucher of the control plane for one table: that a version of the code has checked it, with the form that this version
 * compiled. In KV beside the table: 32 bytes of HMAC-SHA-256, the length of the form's text, its text, its numbers. Nothing after
 * the HMAC: the table has no form, as it would be too large.
 */
export interface FormSeal {
  /** The version of the code that checks, stores and restores. */
  readonly version: string;
  seal(digest: string, form: StoredForm | undefined): Promise<ArrayBuffer>;
  /** `undefined`: no key of this deployment vouches for this table with this version and form. */
  open(digest: string, value: ArrayBuffer): Promise<OpenedForm | undefined>;
}

export interface OpenedForm {
  readonly form: StoredForm | undefined;
}

const MAC_BYTES = 32;
const LENGTH_BYTES = 4;
const HMAC = { name: "HMAC", hash: "SHA-256" };

/** `undefined` without a version or a key: then every published table is checked where it is loaded. */
export function formSeal(
  version: string | undefined,
  keys: SigningKeys,
  subtle: typeof crypto.subtle,
): FormSeal | undefined {
  if (version === undefined || keys.length === 0) return undefined;
  const encoder = new TextEncoder();
  let imported: Promise<readonly CryptoKey[]> | undefined;
  const keysOf = () => {
    imported ??= Promise.all(keys.map(({ key }) => macKeyOf(key, subtle)));
    return imported;
  };
  const signed = async (digest: string, body: Uint8Array<ArrayBuffer>) => {
    const head = encoder.encode(`${version}\n${digest}\n`);
    const text = new Uint8Array(head.length + MAC_BYTES);
    text.set(head);
    text.set(new Uint8Array(await subtle.digest("SHA-256", body)), head.length);
    return text;
  };
  return {
    version,
    async seal(digest, form) {
      const body = form === undefined ? new Uint8Array() : bodyOf(form, encoder);
      const [first] = await keysOf();
      const mac = await subtle.sign(HMAC.name, first as CryptoKey, await signed(digest, body));
      const value = new Uint8Array(MAC_BYTES + body.length);
      value.set(new Uint8Array(mac));
      value.set(body, MAC_BYTES);
      return value.buffer;
    },
    async open(digest, value) {
      if (value.byteLength < MAC_BYTES || value.byteLength > FORM_BYTES_MAX) return undefined;
      const mac = new Uint8Array(value, 0, MAC_BYTES);
      const body = new Uint8Array(value, MAC_BYTES);
      const text = await signed(digest, body);
      for (const key of await keysOf()) {
        if (await subtle.verify(HMAC.name, key, mac, text)) return { form: formIn(body) };
      }
      return undefined;
    },
  };
}

/** Signatures for origins, which have the same secret, are no vouchers. */
async function macKeyOf(secret: Uint8Array, subtle: typeof crypto.subtle): Promise<CryptoKey> {
  const label = new TextEncoder().encode("waybill stored table 1\n");
  const named = new Uint8Array(label.length + secret.length);
  named.set(label);
  named.set(secret, label.length);
  return subtle.importKey("raw", await subtle.digest("SHA-256", named), HMAC, false, ["sign", "verify"]);
}

function bodyOf({ text, numbers }: StoredForm, encoder: TextEncoder): Uint8Array<ArrayBuffer> {
  const bytes = encoder.encode(text);
  const body = new Uint8Array(LENGTH_BYTES + bytes.length + numbers.length);
  new DataView(body.buffer).setUint32(0, bytes.length);
  body.set(bytes, LENGTH_BYTES);
  body.set(numbers, LENGTH_BYTES + bytes.length);
  return body;
}

function formIn(body: Uint8Array): StoredForm | undefined {
  if (body.length < LENGTH_BYTES) return undefined;
  const end = LENGTH_BYTES + new DataView(body.buffer, body.byteOffset).getUint32(0);
  return { text: new TextDecoder().decode(body.subarray(LENGTH_BYTES, end)), numbers: body.subarray(end) };
}
