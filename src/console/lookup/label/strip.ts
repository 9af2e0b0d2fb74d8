import type { Layout, Role, TextForm, Words } from "../../../ids/index.ts";
import { type Run, runsOf, WORD_BITS } from "../../../ids/layout/runs.ts";

/** The bits of an ID as the bar code of a label: which are set, what they are, and which characters of the text have them. Pure. */

/** `key`: they decide. Nodes and counters look like times: they are read, and decide nothing. */
export type BitKind = "key" | "time" | "fixed" | "random";

/** Contiguous bits of one field. */
export interface StripRun {
  readonly field: string;
  readonly kind: BitKind;
  /** From the text's most significant bit. */
  readonly first: number;
  readonly bits: number;
  /** Bits that are 1, as first and count. None where they are not known. */
  readonly bars: readonly (readonly [first: number, count: number])[];
}

/** How much is known of the bits of an ID. */
export interface StripOf {
  readonly layout: Layout;
  readonly words: Words;
  /** A short key has no random bits. */
  readonly isShort?: boolean;
  /** Names of fields that decide beside the keys, such as a time that a route asks for. */
  readonly deciding?: ReadonlySet<string>;
}

const KINDS: Readonly<Record<Role, BitKind>> = {
  key: "key",
  time: "time",
  node: "time",
  counter: "time",
  fixed: "fixed",
  random: "random",
};

export function kindOf(layout: Layout, field: string, deciding: ReadonlySet<string> | undefined): BitKind {
  return deciding?.has(field) ? "key" : KINDS[layout.field(field)?.role ?? "random"];
}

/** From left to right, as the text has them. */
export function stripOf({ layout, words, isShort = false, deciding }: StripOf): readonly StripRun[] {
  const runs = runsOf(layout.table).toSorted((a, b) => a.textBit - b.textBit);
  return runs.map((run) => {
    const kind = kindOf(layout, run.field, deciding);
    const isUnknown = isShort && kind === "random";
    return {
      field: run.field,
      kind,
      first: run.textBit,
      bits: run.bits,
      bars: isUnknown ? [] : barsOf(words, layout.table.text.bits, run),
    };
  });
}

function barsOf(words: Words, allBits: number, { textBit, bits }: Run): readonly (readonly [number, number])[] {
  const bars: [number, number][] = [];
  for (let at = textBit; at < textBit + bits; at++) {
    if (bitAt(words, allBits, at) === 0) continue;
    const last = bars.at(-1);
    if (last !== undefined && last[0] + last[1] === at) last[1]++;
    else bars.push([at, 1]);
  }
  return bars;
}

/** A bit of the text, counted from its most significant one. */
function bitAt(words: Words, allBits: number, at: number): number {
  const bit = words.length * WORD_BITS - allBits + at;
  return ((words[Math.floor(bit / WORD_BITS)] ?? 0) >>> (WORD_BITS - 1 - (bit % WORD_BITS))) & 1;
}

const HEX = "0123456789abcdef";

/**
 * A text in pieces: those with `isMarked` have bits that decide. One piece where a digit has no bits of its own, as in base 62,
 * where each depends on all.
 */
export function markedText({ layout, words, isShort, deciding }: StripOf, text: string) {
  const whole = [{ text, isMarked: false }];
  if (isShort) return whole;
  const form = layout.texts.find((each) => each.read(text, 0, text.length) !== undefined);
  const places = form && placesOf(form, text, words);
  if (places === undefined) return whole;
  const marked = stripOf({ layout, words, ...(deciding && { deciding }) }).filter(({ kind }) => kind === "key");
  const pieces: { text: string; isMarked: boolean }[] = [];
  for (const [at, character] of [...text].entries()) {
    const place = places[at];
    const isMarked =
      place !== undefined && marked.some(({ first, bits }) => place.end > first && place.begin < first + bits);
    const last = pieces.at(-1);
    if (last?.isMarked === isMarked) last.text += character;
    else pieces.push({ text: character, isMarked });
  }
  return pieces;
}

interface BitPlace {
  readonly begin: number;
  readonly end: number;
}

/** The bits of each character; `undefined` where characters have none of their own. */
function placesOf(form: TextForm, text: string, words: Words): readonly (BitPlace | undefined)[] | undefined {
  const digits = form.numeral?.digits ?? (form.name === "uuid" ? HEX : "");
  const width = Math.log2(digits.length);
  if (!Number.isInteger(width) || width === 0 || /[^\x21-\x7e]/.test(text)) return undefined;
  const digitOf = (character: string): number =>
    Math.max(digits.indexOf(character), form.isCaseless ? digits.toLowerCase().indexOf(character.toLowerCase()) : -1);
  const prefix = form.prefix?.length ?? 0;
  const values = [...text].map((character, at) => (at < prefix ? -1 : digitOf(character)));
  const count = values.filter((value) => value !== -1).length;
  let begin = form.bits - count * width;
  const places = values.map((value) => {
    if (value === -1) return undefined;
    const place = { begin, end: begin + width, value };
    begin += width;
    return place;
  });
  // A form may put its bits elsewhere: then nothing is marked, before something wrong is.
  const isTrue = places.every(
    (place) =>
      place === undefined ||
      Array.from({ length: width }, (_, at) => place.begin + at).every(
        (bit, at) => ((place.value >>> (width - 1 - at)) & 1) === (bit < 0 ? 0 : bitAt(words, form.bits, bit)),
      ),
  );
  return isTrue ? places : undefined;
}
