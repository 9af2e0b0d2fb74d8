import type { Layout } from "../../src/ids/index.ts";

/** Slow parsers of ID texts, by patterns and whole numbers, independent of the library's. */

/** The whole number of a text; `undefined` if it does not match the form. */
export type Reader = (text: string) => bigint | undefined;

const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER = "abcdefghijklmnopqrstuvwxyz";
const DIGITS = "0123456789";
const BASE62 = DIGITS + UPPER + LOWER;
const BASE36 = DIGITS + LOWER;
const BASE32HEX = BASE36.slice(0, 32);

const numberOf = (text: string, digits: string): bigint => {
  const radix = BigInt(digits.length);
  let value = 0n;
  for (const character of text) value = value * radix + BigInt(digits.indexOf(character));
  return value;
};

const numeral =
  (pattern: RegExp, digits: string, bits: number): Reader =>
  (text) => {
    if (!pattern.test(text)) return undefined;
    const value = numberOf(text, digits);
    return value < 1n << BigInt(bits) ? value : undefined;
  };

const hex =
  (pattern: RegExp): Reader =>
  (text) =>
    pattern.test(text) ? BigInt(`0x${text.replaceAll("-", "")}`) : undefined;

/** Two 64-bit numbers, one per group of the pattern. */
const pair =
  (pattern: RegExp, digits: string, bits = 64): Reader =>
  (text) => {
    const [, ...groups] = pattern.exec(text) ?? [];
    const [high, low] = groups.map((group) => numberOf(group, digits));
    const end = 1n << BigInt(bits);
    return high === undefined || low === undefined || high >= end || low >= end ? undefined : (high << 64n) | low;
  };

const uuid = hex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);
const hex32 = hex(/^[0-9a-f]{32}$/i);
const decimal64 = numeral(/^(?:0|[1-9][0-9]{0,19})$/, DIGITS, 64);
const ownPrefixed = numeral(/^[0-9A-Za-z]{17}$/, BASE62, 96);

const crockford: Reader = (text) => {
  const value = numeral(/^[0-9A-HJKMNP-TV-Z]{26}$/, "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 128);
  return /^[0-9A-Za-z]{26}$/.test(text) ? value(text.toUpperCase()) : undefined;
};

/** 96 bits in 100; the last four are zero. */
const xid: Reader = (text) => {
  const value = numeral(/^[0-9a-v]{20}$/, BASE32HEX, 100)(text) ?? 1n;
  return value % 16n === 0n ? value / 16n : undefined;
};

const cuid: Reader = (text) => {
  const [, ...groups] = /^c([0-9a-z]{8})([0-9a-z]{4})([0-9a-z]{4})([0-9a-z]{8})$/.exec(text) ?? [];
  if (groups.length === 0) return undefined;
  return groups.reduce((value, group) => (value << (group.length === 8 ? 42n : 21n)) | numberOf(group, BASE36), 0n);
};

/** By layout, then by text form. All other layouts are UUIDs or 64-bit decimals. */
const READERS: Readonly<Record<string, Readonly<Record<string, Reader>>>> = {
  "distributed-id": {
    decimal: numeral(/^[0-9]{28}$/, DIGITS, 128),
    base62: pair(/^([0-9A-Za-z]{5})([0-9A-Za-z]{11})$/, BASE62),
    hex: hex(/^[0-9a-f]{26}$/i),
    uuid,
  },
  "distributed-id-128": {
    uuid,
    hex: hex32,
    base62: pair(/^([0-9A-Za-z]{11})([0-9A-Za-z]{11})$/, BASE62),
    decimal: numeral(/^[1-9][0-9]{37,38}$/, DIGITS, 128),
    longs: pair(/^(0|[1-9][0-9]{0,18}),(0|[1-9][0-9]{0,18})$/, DIGITS, 63),
  },
  "lexical-uuid": { "grouped-hex": hex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{16}$/i) },
  flake: {
    base62: numeral(/^(?:0|[1-9A-Za-z][0-9A-Za-z]{0,21})$/, BASE62, 128),
    decimal: numeral(/^(?:0|[1-9][0-9]{0,38})$/, DIGITS, 128),
    hex: hex32,
  },
  "flake-id": { decimal: decimal64, hex: hex(/^[0-9a-f]{16}$/i) },
  ksuid: { base62: numeral(/^[0-9A-Za-z]{27}$/, BASE62, 160) },
  elasticflake: { base64url: numeral(/^[0-9A-Za-z_-]{20}$/, `${UPPER}${LOWER}${DIGITS}-_`, 120) },
  ulid: { base32: crockford },
  "own-base32": { base32: crockford },
  "own-prefixed": { base62: (text) => (text.startsWith("ord_") ? ownPrefixed(text.slice(4)) : undefined) },
  sid: {
    decimal: pair(/^(0|[1-9][0-9]{0,19})-([0-9]{19})$/, DIGITS),
    hex: pair(/^([0-9a-f]{16})-([0-9a-f]{16})$/, BASE32HEX.slice(0, 16)),
    base32: pair(/^([0-9a-v]{13})-([0-9a-v]{13})$/, BASE32HEX),
    base64: pair(/^([0-9A-Z_a-z~]{11})-([0-9A-Z_a-z~]{11})$/, `${DIGITS}${UPPER}_${LOWER}~`),
  },
  "push-id": { "push-id": numeral(/^[0-9A-Z_a-z-]{20}$/, `-${DIGITS}${UPPER}_${LOWER}`, 120) },
  xid: { base32hex: xid },
  "object-id": { hex: hex(/^[0-9a-f]{24}$/i) },
  cuid: { cuid },
};

/** A layout's readers by text form. Throws for a form without one. */
export function readersOf({ name, texts }: Layout): readonly (readonly [form: string, reader: Reader])[] {
  const own = READERS[name] ?? (texts[0]?.bits === 64 ? { decimal: decimal64 } : { uuid });
  return texts.map(({ name: form }) => {
    const reader = own[form];
    if (reader === undefined) throw new Error(`layout ${name} has no slow reader of its form ${form}`);
    return [form, reader];
  });
}
