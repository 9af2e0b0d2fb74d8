/** Base64 of RFC 4648 section 4, for zones that know no platform. */

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const DIGIT_BITS = 6;

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The bytes of a text with its padding; `undefined` for what is no base64. */
export const bytesOfBase64 = (text: string): Uint8Array | undefined => {
  if (!BASE64.test(text)) return undefined;
  const digits = text.replace(/=+$/, "");
  const bytes = new Uint8Array(Math.floor((digits.length * DIGIT_BITS) / 8));
  let bits = 0;
  let held = 0;
  let at = 0;
  for (const digit of digits) {
    held = (held << DIGIT_BITS) | DIGITS.indexOf(digit);
    bits += DIGIT_BITS;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at++] = held >>> bits;
    held &= (1 << bits) - 1;
  }
  return bytes;
};
