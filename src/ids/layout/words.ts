import type { Field, FieldValue, Layout, Role, Words } from "./layout.ts";
import { NUMBER_BITS_MAX, type Piece, WORD_BITS } from "./runs.ts";

/** Arithmetic on the words of IDs: what is compiled once for each layout and run for each ID. */

/** Builds a field from its pieces: closures of shifts and masks, so that reads allocate nothing. */
export const compileField = (
  name: string,
  role: Role,
  pieces: readonly Piece[],
  wordCount: number,
  max?: FieldValue,
): Field => {
  const bits = pieces.reduce((sum, piece) => sum + piece.bits, 0);
  const greatest = max ?? (1n << BigInt(bits)) - 1n;
  return {
    name,
    role,
    bits,
    max: bits <= NUMBER_BITS_MAX ? Number(greatest) : BigInt(greatest),
    read: bits <= NUMBER_BITS_MAX ? reader(pieces) : refuseRead(name, bits),
    readBig: bigReader(pieces),
    write: writer(pieces),
    mask: fieldMask(pieces, wordCount),
  };
};

/** A field that the layout must have. Throws otherwise, since that is a bug. */
export const fieldOf = (layout: Layout, name: string): Field => {
  const field = layout.field(name);
  if (field === undefined) throw new Error(`layout ${layout.name} has no field ${name}`);
  return field;
};

/** The name of the built-in layout whose IDs these are, whatever they are called and however written. */
export const kindOf = ({ table }: Pick<Layout, "table">): string => table.like ?? table.name;

export const maskOf = (layout: Layout, name: string, word: number): number =>
  fieldOf(layout, name).mask[word] as number;

export const ofRole = (fields: readonly Field[], role: Role): readonly Field[] =>
  fields.filter((field) => field.role === role);

/** The widest field, the first among equals. */
export const widest = (fields: readonly Field[]): Field | undefined => fields.toSorted((a, b) => b.bits - a.bits)[0];

export const greatestOf = (field: Field): string => field.max.toString();

/** Whether a value is an integer that fits the field. */
export const holds = ({ max }: Field, value: FieldValue): boolean =>
  (typeof value === "bigint" || Number.isSafeInteger(value)) && value >= 0 && value <= max;

const reader = (pieces: readonly Piece[]): Field["read"] => {
  const [first, second] = pieces as readonly [Piece, ...Piece[]];
  if (second === undefined) return onePieceReader(first);
  if (pieces.length === 2) return twoPieceReader(first, second);
  if (pieces.length <= 4 && pieces.every(({ bits, place }) => bits + place <= WORD_BITS))
    return fourPieceReader(pieces);
  const readers = pieces.map(scaledReader);
  return (words) => {
    let value = 0;
    for (const read of readers) value += read(words);
    return value;
  };
};

/** Reads up to four pieces of a value of at most 32 bits, such as HotGuid's little-endian shard key. */
const fourPieceReader = (pieces: readonly Piece[]): Field["read"] => {
  const nothing = { word: 0, shift: 0, bits: 0, place: 0 };
  const [first, second, third, fourth = nothing] = pieces as readonly [Piece, Piece, Piece, Piece?];
  const { word: wordA, shift: shiftA, place: placeA } = first;
  const { word: wordB, shift: shiftB, place: placeB } = second;
  const { word: wordC, shift: shiftC, place: placeC } = third;
  const { word: wordD, shift: shiftD, place: placeD } = fourth;
  const maskA = lowBits(first.bits);
  const maskB = lowBits(second.bits);
  const maskC = lowBits(third.bits);
  const maskD = lowBits(fourth.bits);
  return (words) =>
    (((((words[wordA] as number) >>> shiftA) & maskA) << placeA) |
      ((((words[wordB] as number) >>> shiftB) & maskB) << placeB) |
      ((((words[wordC] as number) >>> shiftC) & maskC) << placeC) |
      ((((words[wordD] as number) >>> shiftD) & maskD) << placeD)) >>>
    0;
};

const onePieceReader = ({ word, shift, bits }: Piece): Field["read"] => {
  const mask = lowBits(bits);
  return (words) => (((words[word] as number) >>> shift) & mask) >>> 0;
};

const twoPieceReader = (high: Piece, low: Piece): Field["read"] => {
  const { word: highWord, shift: highShift } = high;
  const { word: lowWord, shift: lowShift } = low;
  const highMask = lowBits(high.bits);
  const lowMask = lowBits(low.bits);
  const highScale = 2 ** high.place;
  return (words) =>
    ((((words[highWord] as number) >>> highShift) & highMask) >>> 0) * highScale +
    ((((words[lowWord] as number) >>> lowShift) & lowMask) >>> 0);
};

/** Multiplies instead of shifting, since a value can exceed 32 bits. */
const scaledReader = (piece: Piece): Field["read"] => {
  const read = onePieceReader(piece);
  const scale = 2 ** piece.place;
  return (words) => read(words) * scale;
};

const bigReader = (pieces: readonly Piece[]): Field["readBig"] => {
  // Made when first used: a start makes some for each field of each layout.
  let parts: readonly { readonly read: Field["read"]; readonly place: bigint }[] | undefined;
  return (words) => {
    parts ??= pieces.map((piece) => ({ read: onePieceReader(piece), place: BigInt(piece.place) }));
    return parts.reduce((value, { read, place }) => value | (BigInt(read(words)) << place), 0n);
  };
};

const refuseRead =
  (name: string, bits: number): Field["read"] =>
  () => {
    throw new Error(`field ${name} has ${bits} bits; use readBig`);
  };

const writer = (pieces: readonly Piece[]): Field["write"] => {
  const parts = pieces.map(({ word, shift, bits, place }) => ({
    word,
    shift,
    place: BigInt(place),
    scale: 2 ** place,
    partMask: lowBits(bits),
    keepMask: ~(lowBits(bits) << shift),
  }));
  return (words, value) => {
    for (const { word, shift, place, scale, partMask, keepMask } of parts) {
      // `>>> 0` takes the low 32 bits of any `number`, as BigInt.asUintN does for a bigint.
      const part =
        typeof value === "number" ? (value / scale) >>> 0 : Number(BigInt.asUintN(WORD_BITS, value >> place));
      words[word] = (((words[word] as number) & keepMask) | ((part & partMask) << shift)) >>> 0;
    }
  };
};

const fieldMask = (pieces: readonly Piece[], wordCount: number): Words => {
  const mask = new Array<number>(wordCount).fill(0);
  for (const { word, shift, bits } of pieces) mask[word] = ((mask[word] as number) | (lowBits(bits) << shift)) >>> 0;
  return mask;
};

/** A word with its lowest `bits` bits set. */
const lowBits = (bits: number): number => (bits === WORD_BITS ? 0xffffffff : (1 << bits) - 1);

/** Compares only words that have fixed bits. Most layouts have them in two words or in none. */
export const compileFits = ({ mask, value }: Layout["fixed"]): Layout["fits"] => {
  const checks = mask.flatMap((bits, word) => (bits === 0 ? [] : [{ word, bits, value: value[word] as number }]));
  const [first, second = first] = checks;
  if (first === undefined || second === undefined) return () => true;
  if (checks.length > 2) {
    return (words) => checks.every((check) => (((words[check.word] as number) ^ check.value) & check.bits) === 0);
  }
  const { word: firstWord, bits: firstBits, value: firstValue } = first;
  const { word: secondWord, bits: secondBits, value: secondValue } = second;
  return (words) =>
    ((((words[firstWord] as number) ^ firstValue) & firstBits) |
      (((words[secondWord] as number) ^ secondValue) & secondBits)) ===
    0;
};

/** Not for the hot path. */
export const wordsToBig = (words: Words): bigint =>
  words.reduce((value, word) => (value << BigInt(WORD_BITS)) | BigInt(word), 0n);

/** The lowest `count` words of a value, most significant first. */
export const bigToWords = (value: bigint, count: number): number[] =>
  Array.from({ length: count }, (_, word) =>
    Number(BigInt.asUintN(WORD_BITS, value >> BigInt(WORD_BITS * (count - 1 - word)))),
  );

/** -1, 0 or 1: the bitwise order of two IDs, which is the order of UUID texts. Different lengths compare as numbers. */
export const compareWords = (a: Words, b: Words): -1 | 0 | 1 => {
  if (a.length < b.length) return compareWords([0, ...a], b);
  if (a.length > b.length) return compareWords(a, [0, ...b]);
  for (let word = 0; word < a.length; word++) {
    const difference = (a[word] as number) - (b[word] as number);
    if (difference !== 0) return difference < 0 ? -1 : 1;
  }
  return 0;
};

/**
 * The order in which SQL Server compares the bytes of a uniqueidentifier, most significant first. With rows in this
 * order the random part increases in SQL Server's order.
 */
export const SQL_ORDER = [10, 11, 12, 13, 14, 15, 8, 9, 7, 6, 5, 4, 3, 2, 1, 0] as const;

/** A 32-bit hash of an ID: MurmurHash3's finalizer over its words. It is not collision-resistant against chosen IDs. */
export const mixWords = (words: Words): number => {
  let hash = 0;
  for (let at = 0; at < words.length; at++) {
    hash = Math.imul(hash ^ (words[at] as number), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return hash >>> 0;
};
