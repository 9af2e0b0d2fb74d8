import type { LayoutTable } from "./layout.ts";

/** A part of a field that is contiguous and in order in the text. */
export interface Run {
  readonly field: string;
  /** The run's first bit in the text, counted from the most significant bit. */
  readonly textBit: number;
  readonly bits: number;
  /** The run's position in the field's value: the distance of its last bit from the value's last bit. */
  readonly place: number;
}

/** A part of a run within one 32-bit word: `(words[word] >>> shift) & mask`, times 2^place. */
export type Piece = { readonly word: number; readonly shift: number; readonly bits: number; readonly place: number };

export const WORD_BITS = 32;
/** A `number` is exact up to 2^53. */
export const NUMBER_BITS_MAX = 53;
const BYTE_BITS = 8;

export const bitsOf = (table: Pick<LayoutTable, "rows">): number => table.rows.reduce((sum, row) => sum + row.bits, 0);

export const wordsFor = (bits: number): number => Math.ceil(bits / WORD_BITS);

/** The runs of all rows of a valid table in row order, with the byte order applied and neighbours merged. */
export const runsOf = (table: LayoutTable): readonly Run[] => {
  const bitsLeft = new Map<string, number>();
  for (const row of table.rows) bitsLeft.set(row.field, (bitsLeft.get(row.field) ?? 0) + row.bits);

  const runs: Run[] = [];
  let rowBit = 0;
  for (const row of table.rows) {
    for (let done = 0; done < row.bits; ) {
      const bits = chunkBits(table, rowBit, row.bits - done);
      const place = (bitsLeft.get(row.field) as number) - bits;
      append(runs, { field: row.field, textBit: textBitOf(table, rowBit), bits, place });
      bitsLeft.set(row.field, place);
      rowBit += bits;
      done += bits;
    }
  }
  return runs;
};

/** Splits the runs of one field at word boundaries. */
export const piecesOf = (runs: readonly Run[], layoutBits: number): readonly Piece[] => {
  const unusedBits = wordsFor(layoutBits) * WORD_BITS - layoutBits;
  return runs.flatMap((run) => {
    const pieces: Piece[] = [];
    for (let done = 0; done < run.bits; ) {
      const bit = unusedBits + run.textBit + done;
      const bitInWord = bit % WORD_BITS;
      const bits = Math.min(run.bits - done, WORD_BITS - bitInWord);
      done += bits;
      pieces.push({
        word: (bit - bitInWord) / WORD_BITS,
        shift: WORD_BITS - bitInWord - bits,
        bits,
        place: run.place + run.bits - done,
      });
    }
    return pieces;
  });
};

/** How many bits of a row are contiguous: the rest of the byte if bytes are reordered, else all. */
const chunkBits = (table: LayoutTable, rowBit: number, bitsLeft: number): number =>
  table.octetOrder === undefined ? bitsLeft : Math.min(bitsLeft, BYTE_BITS - (rowBit % BYTE_BITS));

const textBitOf = (table: LayoutTable, rowBit: number): number => {
  if (table.octetOrder === undefined) return rowBit;
  const bitInByte = rowBit % BYTE_BITS;
  const textByte = table.octetOrder[(rowBit - bitInByte) / BYTE_BITS] as number;
  return textByte * BYTE_BITS + bitInByte;
};

/** Runs of a field arrive in order, so adjacent runs in the text are adjacent in the value. */
const append = (runs: Run[], run: Run): void => {
  const last = runs.at(-1);
  if (last?.field === run.field && last.textBit + last.bits === run.textBit) {
    runs[runs.length - 1] = { ...last, bits: last.bits + run.bits, place: run.place };
  } else runs.push(run);
};
