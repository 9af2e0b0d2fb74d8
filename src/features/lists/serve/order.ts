import { memberText } from "../../../routing/index.ts";
import { memberOf } from "../../../routing/resolve/region-sources.ts";
import { KEY_BYTES_MAX } from "../table/limits.ts";
import { timeKey } from "../table/time.ts";
import type { KeyType, ListOrder } from "../table/types.ts";

/** The total order of a list: by a key, then by the text of the ID. */

/** Where an item stands. `key`: compared as a text. `keyText`: what the key is made of again. */
export interface Position {
  readonly key: string;
  readonly keyText: string;
  readonly id: string;
}

const encoder = /* @__PURE__ */ new TextEncoder();

export const positionOf = (keyText: string, id: string, type: KeyType): Position | undefined => {
  // Written into a cursor, a character may take six bytes.
  const isShort =
    keyText.length * 6 <= KEY_BYTES_MAX || encoder.encode(JSON.stringify(keyText)).length <= KEY_BYTES_MAX;
  const key = isShort ? keyOf(keyText, type) : undefined;
  return key === undefined ? undefined : { key, keyText, id };
};

const keyOf = (text: string, type: KeyType): string | undefined => {
  if (type === "string") return text;
  return type === "number" ? numberKey(text) : timeKey(text);
};

/** RFC 8259 §6. */
const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const EXPONENT_MAX = 1e9;

/** A text that sorts as the number does, with all its digits: databases have decimals that no double holds. */
const numberKey = (text: string): string | undefined => {
  const [found, sign, whole = "", fraction = "", exponent = "0"] = NUMBER.exec(text) ?? [];
  if (found === undefined || Math.abs(Number(exponent)) > EXPONENT_MAX) return undefined;
  const written = whole + fraction;
  const digits = written.replace(/^0+/, "");
  if (digits === "") return "1";
  // The number is 0.DIGITS × 10^magnitude.
  const magnitude = Number(exponent) + whole.length - (written.length - digits.length);
  const significant = digits.replace(/(?<!0)0+$/, "");
  if (sign === "") return `2${magnitudeKey(magnitude)}${significant}`;
  // Negative numbers sort by the complement of their digits; `:` sorts behind all digits.
  const turned = significant.replaceAll(/\d/g, (digit) => String(9 - Number(digit)));
  return `0${magnitudeKey(-magnitude)}${turned}:`;
};

const magnitudeKey = (magnitude: number): string => String(magnitude + 2 * EXPONENT_MAX).padStart(10, "0");

/** The text of an item's key; `undefined` where the item has none. A number keeps all its digits. */
export function keyTextOf(item: unknown, text: string, path: readonly string[], type: KeyType): string | undefined {
  const value = path.reduce(memberOf, item);
  if (typeof value === "string") return value;
  if (typeof value !== "number" || type !== "number") return undefined;
  return Number.isSafeInteger(value) ? String(value) : exactText(text, path);
}

/** The value at a path of a JSON text, as it is written there. */
export const exactText = (text: string, path: readonly string[]): string | undefined =>
  path.reduce((rest: string | undefined, name) => rest && memberText(rest.trim(), name), text)?.trim();

/** The text of an item's ID. */
export function idTextOf(item: unknown, text: string, path: readonly string[]): string | undefined {
  const value = path.reduce(memberOf, item);
  if (typeof value === "string") return value;
  if (typeof value !== "number" || value < 0) return undefined;
  return Number.isSafeInteger(value) ? String(value) : exactText(text, path);
}

/** Negative where `a` comes before `b` in the list. */
export function comparePositions(a: Position, b: Position, { isDescending, hasDecimalIds }: ListOrder): number {
  const order = compareTexts(a.key, b.key) || compareIds(a.id, b.id, hasDecimalIds);
  return isDescending ? -order : order;
}

const compareIds = (a: string, b: string, areDecimal: boolean): number =>
  (areDecimal ? a.length - b.length : 0) || compareTexts(a, b);

/** By code point, as databases compare UTF-8 bytes: a surrogate stands above all that is no surrogate. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const end = Math.min(a.length, b.length);
  let at = 0;
  while (at < end && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  if (at === end) return a.length - b.length;
  return rank(a.charCodeAt(at)) - rank(b.charCodeAt(at));
}

const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);
