import { type Err, err, ok, type Result } from "../../../ids/result.ts";

/** Texts as keys of a directory: what is equal by the declared form is one key, and what the form does not define is refused. */

/**
 * - `nfc`: any text in Unicode's form NFC; upper and lower case differ.
 * - `lower`: the same, each code point in lower case by itself, so that no neighbour matters (no final sigma).
 * - `ascii-lower`: ASCII without spaces and control characters, A-Z in lower case.
 * - `username`: UsernameCaseMapped of RFC 8265, from left to right and without characters that need a context.
 * - `domain`: a host name in ASCII, in lower case; the `xn--` form of others.
 * - `email`: a local part as `username` with the signs of RFC 5322's atoms, and a `domain`. Upper and lower case of the local part are one.
 */
export const KEY_FORMS = ["nfc", "lower", "ascii-lower", "username", "domain", "email"] as const;
export type KeyForm = (typeof KEY_FORMS)[number];

/** Why a text is no key. It names no part of the text: keys may be e-mail addresses. */
export interface KeyFault {
  readonly reason: "malformed-key";
  readonly why: string;
}

/** Bytes of the key in UTF-8: a key of KV has no more. */
export const KEY_BYTES_MAX = 512;

const refuse = (why: string) => err<KeyFault>({ reason: "malformed-key", why });

/** The key of a text. To normalise a key gives the same key. */
export function normaliseKey(form: KeyForm, text: string): Result<string, KeyFault> {
  // Before any step that costs more for longer texts. No form makes a text shorter than a third.
  if (text.length > KEY_BYTES_MAX * 3) return refuse(TOO_LONG);
  if (unstable().test(text))
    return refuse("It has a control character, half a surrogate pair or an unassigned code point.");
  const formed = FORMS[form](text);
  if (!formed.ok) return formed;
  const key = formed.value;
  if (key === "") return refuse("It is empty.");
  if (utf8Bytes(key) > KEY_BYTES_MAX) return refuse(TOO_LONG);
  const again = FORMS[form](key);
  return again.ok && again.value === key ? formed : refuse("Its normal form is not stable; write it in that form.");
}

/**
 * No path leads to such a key: `decodeSegment` refuses it, and no URL has a segment of one or two dots (WHATWG URL §4.1). `slash`:
 * whether keys may have slashes; origins that decode them would merge empty segments and resolve those of dots.
 */
export function unreachable(key: string, slash = false): Err<KeyFault> | undefined {
  if (slash && /^[^/\\]+(?:\/[^/\\]+)+$/.test(key)) {
    const isResolved = key.split("/").some((part) => part === "." || part === "..");
    return isResolved ? refuse("A part of it between slashes is one or two dots.") : undefined;
  }
  if (slash && key.includes("/") && !key.includes("\\"))
    return refuse("It begins or ends with a slash, or has two in a row.");
  if (/[/\\]/.test(key)) return refuse("It has a slash or a backslash, so that no path leads to it.");
  return key === "." || key === ".." ? refuse("It is one or two dots, so that no path leads to it.") : undefined;
}

const TOO_LONG = `It has more than ${KEY_BYTES_MAX} bytes in UTF-8.`;

/** Classes of Unicode are read slowly: each when it is first asked for. */
const once = (make: () => RegExp) => {
  let made: RegExp | undefined;
  return (): RegExp => {
    made ??= make();
    return made;
  };
};

/** Characters that a later version of Unicode assigns may have another normal form then. */
const unstable = once(() => /[\p{Cc}\p{Cs}\p{Cn}]/u);

/** Bytes of a text without lone surrogates. */
export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    // Each half of a pair counts for two.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
  }
  return bytes;
}

const lower = (text: string): Result<string, KeyFault> => {
  let lowered = "";
  for (const character of text.normalize("NFC")) {
    const one = character.toLowerCase();
    // U+0130 alone becomes two code points, and databases do not agree on it.
    if ([...one].length > 1) return refuse("It has a letter whose lower case is two characters (U+0130).");
    lowered += one;
  }
  return ok(lowered.normalize("NFC"));
};

const asciiLower = (text: string): Result<string, KeyFault> =>
  /^[!-~]*$/.test(text) ? ok(text.toLowerCase()) : refuse("It has a character that is not visible ASCII.");

/** Letters, marks and digits; the four exceptions of RFC 8264, section 9.6, that are none of these; visible ASCII. */
const identifier = once(() => /^[!-~\p{Ll}\p{Lu}\p{Lo}\p{Nd}\p{Lm}\p{Mn}\p{Mc}\u06fd\u06fe\u0f0b\u3007]*$/u);

/** Disallowed there, in section 9.6: Tajweel marks, tone marks and repeat marks of Kana. */
const DISALLOWED = /[\u0640\u07fa\u302e\u302f\u3031-\u3035\u303b]/u;

/** They are allowed beside certain others only (RFC 5892, appendix A). */
const CONTEXTUAL = /[\u00b7\u0375\u05f3\u05f4\u30fb\u0660-\u0669\u06f0-\u06f9\u200c\u200d]/u;

const OLD_HANGUL_JAMO = /[\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb]/u;

const ignorable = once(() => /[\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/u);

/** Scripts whose letters run from right to left. Their rule (RFC 5893) needs classes that JavaScript does not have. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Wide and narrow forms stand for others (RFC 8265, section 3.3.1, rule 1). */
const WIDE = /[\uff01-\uffee\u3000]/gu;

function username(text: string): Result<string, KeyFault> {
  const mapped = text.replace(WIDE, (character) => character.normalize("NFKC"));
  const cased = mapped.toLowerCase().normalize("NFC");
  if (!identifier().test(cased)) return refuse("It has a character that is no letter, digit, mark or visible ASCII.");
  if (DISALLOWED.test(cased) || OLD_HANGUL_JAMO.test(cased) || ignorable().test(cased)) {
    return refuse("It has a character that RFC 8264 does not allow in identifiers.");
  }
  if (CONTEXTUAL.test(cased)) return refuse("It has a character that RFC 8264 allows beside certain others only.");
  if (RIGHT_TO_LEFT.test(cased)) return refuse("It has letters that run from right to left.");
  for (const character of cased) {
    if (character > "~" && character.normalize("NFKC") !== character) {
      return refuse("It has a character that Unicode keeps for compatibility only.");
    }
  }
  return ok(cased);
}

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

const DOMAIN_MAX = 253;

function domain(text: string): Result<string, KeyFault> {
  if (!/^[!-~]*$/.test(text)) return refuse("Its host name is not ASCII; write its labels in the xn-- form.");
  const lowered = text.toLowerCase();
  const isName = lowered.length <= DOMAIN_MAX && lowered.split(".").every((label) => LABEL.test(label));
  return isName ? ok(lowered) : refuse("It is no host name of letters, digits and hyphens.");
}

const ATOM_SIGNS = /^[^"(),:;<>@[\\\]]+$/;

const LOCAL_BYTES_MAX = 64;

function email(text: string): Result<string, KeyFault> {
  const at = text.lastIndexOf("@");
  const local = text.slice(0, Math.max(0, at));
  if (at < 1 || !ATOM_SIGNS.test(local) || /^\.|\.\.|\.$/.test(local)) {
    return refuse("It is no address such as name@example.com without quotes and comments.");
  }
  const name = username(local);
  if (!name.ok) return name;
  if (utf8Bytes(name.value) > LOCAL_BYTES_MAX)
    return refuse(`Its part before the @ has more than ${LOCAL_BYTES_MAX} bytes.`);
  const host = domain(text.slice(at + 1));
  return host.ok ? ok(`${name.value}@${host.value}`) : host;
}

const FORMS: Readonly<Record<KeyForm, (text: string) => Result<string, KeyFault>>> = {
  nfc: (text) => ok(text.normalize("NFC")),
  lower,
  "ascii-lower": asciiLower,
  username,
  domain,
  email,
};

const ENCODED = "It has an encoded slash, backslash or NUL.";

/**
 * The text of a path's segment: percent-decoded once, as UTF-8. Refused are escapes that are none, bytes that are no UTF-8,
 * and encoded slashes and backslashes: origins do not agree where such a segment ends. `slash`: whether the table says that they
 * do about slashes.
 */
export function decodeSegment(raw: string, slash = false): Result<string, KeyFault> {
  if (raw.length > KEY_BYTES_MAX * 9) return refuse(TOO_LONG);
  if (!raw.includes("%")) return ok(raw);
  if (!slash && /%2f/i.test(raw)) return refuse(ENCODED);
  if (/%(?:5c|00)/i.test(raw)) return refuse(ENCODED);
  try {
    return ok(decodeURIComponent(raw));
  } catch {
    return refuse("Its percent-encoding is not UTF-8.");
  }
}
