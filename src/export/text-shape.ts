import type { TextForm, Words } from "../ids/layout/layout.ts";

/**
 * A text form as one number in one numeral system: what every engine can read. It is found out by trying the form's own
 * reader, then held against it on many texts. A form that differs on any of them has no shape, and is left to Waybill.
 */
export interface TextShape {
  /** Constant beginning, with its case. */
  readonly prefix: string;
  /** Length after the prefix; shorter texts only where `isFixed` is false. */
  readonly length: number;
  readonly isFixed: boolean;
  /** Places after the prefix that hold a separator, and the separator. */
  readonly separators: ReadonlyMap<number, string>;
  /** The value of each digit, by its character; both cases where the form reads both. */
  readonly digits: ReadonlyMap<string, number>;
  readonly radix: number;
  readonly bits: number;
  /** How the canonical text of a readable one is written. */
  readonly canonical: "same" | "lower" | "upper";
}

/** Built-in layouts have no more, and each word is an argument more of every function. */
export const LUA_BITS_MAX = 160;

/** Whether each eight digits are a word. */
export const isHexText = ({ radix, isFixed, bits, length, separators }: TextShape): boolean =>
  radix === 16 && isFixed && bits % 32 === 0 && (length - separators.size) * 4 === bits;

const VISIBLE = Array.from({ length: 0x7e - 0x21 + 1 }, (_, at) => String.fromCharCode(0x21 + at));

const PROBES = 600;

const read = (form: TextForm, text: string): Words | undefined => form.read(text, 0, text.length);

/** The shape of a form; `undefined` where it is none of one number. */
export const shapeOf = (form: TextForm): TextShape | undefined => {
  const prefix = form.prefix ?? "";
  const wordCount = Math.ceil(form.bits / 32);
  const zeroText = form.format(new Array<number>(wordCount).fill(0)).slice(prefix.length);
  const zero = zeroText[0];
  if (zero === undefined) return undefined;
  const isFixed = prefix.length + zeroText.length === form.lengthMax;
  if (!isFixed && zeroText.length !== 1) return undefined;
  const separators = new Map(
    Array.from(zeroText).flatMap((character, at) => (character === zero ? [] : [[at, character]])),
  );
  // Behind the last digit stands a suffix.
  const lastAt = isFixed ? zeroText.lastIndexOf(zero) : 0;
  const head = prefix + zeroText.slice(0, lastAt);
  const tail = zeroText.slice(lastAt + 1);
  const digits = new Map<string, number>();
  for (const character of VISIBLE) {
    const words = read(form, head + character + tail);
    if (words === undefined) continue;
    if (words.length !== wordCount || words.slice(0, -1).some((word) => word !== 0)) return undefined;
    digits.set(character, words.at(-1) as number);
  }
  const values = new Set(digits.values());
  const radix = values.size;
  if (radix < 2 || [...values].some((value) => value >= radix)) return undefined;
  const length = form.lengthMax - prefix.length;
  const shape = {
    prefix,
    length,
    isFixed,
    separators,
    digits,
    radix,
    bits: form.bits,
    canonical: caseOf(form, digits),
  };
  return isFaithful(form, shape) ? shape : undefined;
};

const caseOf = (form: TextForm, digits: ReadonlyMap<string, number>): TextShape["canonical"] => {
  const isFolded = [...digits].some(([character, value]) => {
    const other = character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase();
    return other !== character && digits.get(other) === value;
  });
  if (!isFolded) return "same";
  const shown = form.format(Array.from({ length: Math.ceil(form.bits / 32) }, (_, at) => (at === 0 ? 0 : 0xffffffff)));
  const own = shown.slice((form.prefix ?? "").length);
  return own === own.toLowerCase() ? "lower" : "upper";
};

/** The words of a text by its shape alone; `undefined` where it has another. The engines' readers do the same. */
export const readShape = (shape: TextShape, text: string): Words | undefined => {
  const { prefix, length, isFixed, separators, digits, radix, bits } = shape;
  if (!text.startsWith(prefix)) return undefined;
  const own = text.slice(prefix.length);
  if (isFixed ? own.length !== length : own.length < 1 || own.length > length) return undefined;
  if (!isFixed && own.length > 1 && digits.get(own[0] as string) === 0) return undefined;
  let value = 0n;
  for (let at = 0; at < own.length; at++) {
    const separator = separators.get(at);
    if (separator !== undefined) {
      if (own[at] !== separator) return undefined;
      continue;
    }
    const digit = digits.get(own[at] as string);
    if (digit === undefined) return undefined;
    value = value * BigInt(radix) + BigInt(digit);
  }
  if (value >> BigInt(bits) !== 0n) return undefined;
  const count = Math.ceil(bits / 32);
  return Array.from({ length: count }, (_, word) => Number((value >> BigInt(32 * (count - 1 - word))) & 0xffffffffn));
};

/** Tests the shape against the form: on texts of all lengths, in range and out of it, and with other characters than digits. */
const isFaithful = (form: TextForm, shape: TextShape): boolean => {
  const { prefix, length, isFixed, separators, digits } = shape;
  const characters = [...digits.keys()];
  const zero = characters.find((character) => digits.get(character) === 0) as string;
  const greatest = characters.find((character) => digits.get(character) === shape.radix - 1) as string;
  let state = 0x2545f491;
  const pick = (count: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
  const textOf = (digitAt: (at: number) => string, count: number): string =>
    prefix + Array.from({ length: count }, (_, at) => separators.get(at) ?? digitAt(at)).join("");
  const agrees = (text: string): boolean => {
    const own = read(form, text);
    const ours = readShape(shape, text);
    if (own === undefined || ours === undefined) return own === ours;
    if (!own.every((word, at) => word === ours[at])) return false;
    return form.format(own) === canonicalText(shape, text);
  };
  for (let at = 0; at < length; at++) {
    for (const character of [...characters, "!", "é"]) {
      if (!agrees(textOf((place) => (place === at ? character : zero), length))) return false;
    }
  }
  for (let top = 0; top < shape.radix; top++) {
    const first = characters.find((character) => digits.get(character) === top) as string;
    if (!agrees(textOf((at) => (at === 0 ? first : greatest), length))) return false;
    if (!agrees(textOf((at) => (at === 0 ? first : zero), length))) return false;
  }
  for (let probe = 0; probe < PROBES; probe++) {
    const count = isFixed ? length + pick(3) - 1 : pick(length + 2);
    const low = pick(3) === 0 ? pick(count + 1) : 0;
    if (!agrees(textOf((at) => (at < low ? zero : (characters[pick(characters.length)] as string)), count)))
      return false;
  }
  return true;
};

export const canonicalText = ({ prefix, canonical }: TextShape, text: string): string => {
  const own = text.slice(prefix.length);
  return prefix + (canonical === "lower" ? own.toLowerCase() : canonical === "upper" ? own.toUpperCase() : own);
};
