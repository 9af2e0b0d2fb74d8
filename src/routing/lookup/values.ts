import { PLACE_IDS_MAX } from "../limits.ts";

/** Values of names in the parts of a request that are lists of pairs. Pure, and nothing is dropped that an origin would see. */

/** Whether the name of a pair, as it is sent, is the one after decoding. Nothing is decoded: a body may have thousands of pairs. */
export type NameTest = RegExp;

/** Each character of the name as it is, or escaped (application/x-www-form-urlencoded). */
export function nameTest(name: string): NameTest {
  // No text in UTF-8 has a lone surrogate.
  const characters = Array.from(name.replaceAll(/\p{Cs}/gu, "\ufffd"), (character) => {
    const own = encodeURIComponent(character);
    const escaped = (own.startsWith("%") ? own : hexOf(character)).replaceAll(/[A-F]/g, (digit) => {
      return `[${digit}${digit.toLowerCase()}]`;
    });
    if (character === " ") return `(?:\\+|${escaped})`;
    return /^[%+&=]$/.test(character) ? escaped : `(?:${character.replace(/[\\^$.*?()[\]{}|/]/, "\\$&")}|${escaped})`;
  });
  return new RegExp(`^${characters.join("")}$`, "u");
}

/** Letters of two that fold to these: the Kelvin sign and the long s. */
const LIKE: Readonly<Record<string, string>> = { k: "\u212a", s: "\u017f" };

/** The same in any case: many servers read names so, and would find an ID where the gateway found none. */
export function nearTest(name: string): NameTest {
  const both = Array.from(name, (character) => {
    const upper = character.toUpperCase();
    const lower = character.toLowerCase();
    const forms =
      upper === lower || upper.length !== lower.length ? [character] : [upper, lower, ...(LIKE[lower] ?? "")];
    return `(?:${forms.map((form) => nameTest(form).source.slice(1, -1)).join("|")})`;
  });
  return new RegExp(`^${both.join("")}$`, "iu");
}

const hexOf = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;

/**
 * The values of a name in a query or a form, decoded, in their order; one more than a request may have at most. An
 * undecodable value stays as it is: no such text is an ID or the name of a region.
 */
export const parameterValues = (text: string, name: NameTest): readonly string[] =>
  rawValues(text, name).map((value) => decode(value) ?? value);

/** Whether a value of the name cannot be decoded. */
export const isUndecodable = (text: string, name: NameTest): boolean =>
  rawValues(text, name).some((value) => decode(value) === undefined);

function rawValues(text: string, name: NameTest): readonly string[] {
  const values: string[] = [];
  for (let start = 0; start < text.length && values.length <= PLACE_IDS_MAX; ) {
    const found = text.indexOf("&", start);
    const end = found === -1 ? text.length : found;
    const pair = text.slice(start, end);
    const equals = pair.indexOf("=");
    if (name.test(equals === -1 ? pair : pair.slice(0, equals))) {
      values.push(equals === -1 ? "" : pair.slice(equals + 1));
    }
    start = end + 1;
  }
  return values;
}

/** A name of the query or form that differs from a place's in its case alone. */
export function nearName(text: string, { test, near }: { test: NameTest; near: NameTest }): string | undefined {
  const names = text.split("&").map((pair) => pair.split("=", 1)[0] ?? "");
  return names.find((name) => near.test(name) && !test.test(name));
}

function decode(text: string): string | undefined {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

/** Between lines of a field that the runtime has joined (RFC 9110 §5.3), if a cookie follows. */
const JOIN = /, (?=[ \t]*[!#$%&'*+.^_`|~\w-]+[ \t]*=)/;

/**
 * The values of a cookie; `undefined` where the field can be read in two ways that differ. A comma alone belongs to a value,
 * as user agents send it (RFC 6265 §5.4). With a space behind it, it may be the end of a line, since no value should have one (§4.1.1).
 */
export function cookieValues(field: string | undefined, name: string): readonly string[] | undefined {
  if (field === undefined) return [];
  const pairs = field.split(";");
  const inLines = valuesIn(
    pairs.flatMap((pair) => pair.split(JOIN)),
    name,
  );
  if (!JOIN.test(field)) return inLines;
  const certain = new Set(
    valuesIn(
      pairs.filter((pair) => !JOIN.test(pair)),
      name,
    ),
  );
  return certain.size === 0 || inLines.every((value) => certain.has(value)) ? inLines : undefined;
}

export const ambiguousCookie = (name: string): string =>
  `The cookie ${name} has one value if the field is one line, and another if the comma in it joins two.`;

const valuesIn = (pairs: readonly string[], name: string): readonly string[] =>
  pairs.flatMap((pair) => {
    const equals = pair.indexOf("=");
    return equals !== -1 && withoutSpace(pair.slice(0, equals)) === name ? [withoutSpace(pair.slice(equals + 1))] : [];
  });

/**
 * Without the spaces and tabs around it (OWS of RFC 9110 §5.6.3, RFC 6265 §5.2): other white space belongs to a text. A run of
 * them is looked at once, wherever it stands.
 */
export const withoutSpace = (text: string): string => text.replace(/^[ \t]+/, "").replace(/(?<![ \t])[ \t]+$/, "");

/**
 * Parts of a header field (RFC 9110 §5.6.1, §5.6.6): those between the separators outside of quotes, without the white space around them; some may be empty. A part with a
 * quote that nothing closes reaches to the end.
 */
export function splitOutsideQuotes(text: string, separator: "," | ";"): readonly string[] {
  if (!text.includes('"')) return text.split(separator).map(withoutSpace);
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isQuoted && character === "\\") at++;
    else if (character === '"') isQuoted = !isQuoted;
    else if (character === separator && !isQuoted) {
      parts.push(withoutSpace(text.slice(start, at)));
      start = at + 1;
    }
  }
  parts.push(withoutSpace(text.slice(start)));
  return parts;
}

/** The text of a quoted string (RFC 9110 §5.6.4). `quoted`: between its quotes. */
export const unescaped = (quoted: string): string => quoted.replace(/\\(.)/g, "$1");

/** Names of hosts have no case (RFC 9110 §4.2.3); neither a port nor the dot of a full name makes another host. */
export const hostOf = (host: string): string => host.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");

export const labelOf = (host: string): readonly [label: string, rest: string] => {
  const dot = host.indexOf(".");
  return dot === -1 ? [host, ""] : [host.slice(0, dot), host.slice(dot)];
};
