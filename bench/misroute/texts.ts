import { type FieldValue, formatAs, type RandomWords, type Row, type Words } from "../../src/ids/index.ts";
import { ticksIn, timeValue } from "../../src/ids/layout/time.ts";
import { randomValue } from "../../src/ids/mint/mint.ts";
import { randomBelow } from "../lib/random.ts";
import { PACKS } from "./packs.ts";
import { NOW_MS, type Subject, WINDOW_AHEAD_MS, WINDOW_FROM_MS } from "./subjects.ts";

/** An ID with chosen fields, so its region is known without parsing it. */
export interface MintedText {
  readonly text: string;
  readonly words: Words;
  readonly mintedMs: number | undefined;
  /** The field that routes depend on. */
  readonly key: bigint | undefined;
}

type TimeRow = Extract<Row, { readonly role: "time" }>;

/** An ID with a random time and key, sometimes at the boundary of a route. */
export function mintText(subject: Subject, random: RandomWords): MintedText {
  const { layout, key } = subject;
  const row = layout.table.rows.find((candidate): candidate is TimeRow => candidate.role === "time");
  for (;;) {
    const words = layout.fixed.value.slice();
    let mintedMs: number | undefined;
    let keyValue: FieldValue | undefined;
    for (const field of layout.fields) {
      if (field.role === "fixed") continue;
      if (field.name === row?.field) {
        mintedMs = anyTime(subject, row, random);
        field.write(words, timeValue(row.unit, ticksIn(row.unit, mintedMs - row.epochMs)));
        continue;
      }
      const value = field === key?.field ? anyKey(subject.name, key, random) : randomValue(field, random);
      if (field === key?.field) keyValue = value;
      field.write(words, value);
    }
    // Some layouts have a minimum above the start of the window.
    if (!layout.fits(words)) continue;
    const text = anyForm(subject, words, random);
    return { text, words, mintedMs, key: keyValue === undefined ? undefined : BigInt(keyValue) };
  }
}

/** Half of the texts are canonical. Some forms cannot express some IDs. */
function anyForm({ layout }: Subject, words: Words, random: RandomWords): string {
  const form = layout.texts[randomBelow(random, 2 * layout.texts.length)] ?? layout.table.text;
  const text = formatAs(layout, form.name, words);
  return text.ok ? text.value : layout.format(words);
}

/** One in this many values is at a boundary. */
const EDGE_ONE_IN = 16;

/** A multiple of every unit, so that the ID represents the time exactly. */
function anyTime({ cutMs = 0 }: Subject, { unit, epochMs }: TimeRow, random: RandomWords): number {
  const stepMs = unit === "s" ? 1000 : 10;
  const firstMs = Math.max(WINDOW_FROM_MS, Math.ceil(epochMs / stepMs) * stepMs);
  const lastMs = NOW_MS + WINDOW_AHEAD_MS;
  const edges = [firstMs, cutMs, cutMs - stepMs, lastMs];
  const steps = Math.floor((lastMs - firstMs) / stepMs);
  const any = firstMs + Math.floor(((random.word() + random.word() / 2 ** 32) / 2 ** 32) * steps) * stepMs;
  const atEdge = randomBelow(random, EDGE_ONE_IN) === 0;
  const chosen = atEdge ? (edges[randomBelow(random, edges.length)] as number) : any;
  // An epoch may be between two steps.
  return chosen < firstMs ? firstMs : epochMs + Math.floor((chosen - epochMs) / stepMs) * stepMs;
}

function anyKey(name: string, { field, third }: NonNullable<Subject["key"]>, random: RandomWords): FieldValue {
  const last = Number(field.max);
  const edges = [0, third - 1, third, 2 * third - 1, 2 * third, last];
  const ranges = PACKS.get(name)?.ranges ?? [];
  switch (randomBelow(random, EDGE_ONE_IN)) {
    case 0:
      return edges[randomBelow(random, edges.length)] as number;
    case 1: {
      const range = ranges[randomBelow(random, ranges.length)];
      if (range === undefined) break;
      const near = [range.from - 1, range.from, range.to, range.to + 1][randomBelow(random, 4)] as number;
      return Math.min(last, Math.max(0, near));
    }
  }
  return randomValue(field, random);
}

const CHARACTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_~%.\u0660\u212a\u017f";

const anyCharacter = (random: RandomWords): string => CHARACTERS.charAt(randomBelow(random, CHARACTERS.length));

/** An ID with flipped bits, or with one to three edits: substitution, insertion, deletion, case, move. */
export function mutateText({ layout }: Subject, { text, words }: MintedText, random: RandomWords): string {
  if (randomBelow(random, 2) === 0) return layout.format(flipBits(words, layout.table.text.bits, random));
  let mutated = text;
  for (let fault = randomBelow(random, 3); fault >= 0; fault--) mutated = editText(mutated, random);
  return mutated;
}

function flipBits(words: Words, bits: number, random: RandomWords): Words {
  const flipped = words.slice();
  for (let flip = randomBelow(random, 4); flip >= 0; flip--) {
    const bit = randomBelow(random, bits);
    const word = flipped.length - 1 - (bit >>> 5);
    flipped[word] = ((flipped[word] as number) ^ (1 << (bit & 31))) >>> 0;
  }
  return flipped;
}

function editText(text: string, random: RandomWords): string {
  const at = randomBelow(random, text.length + 1);
  const before = text.slice(0, at);
  const here = text.charAt(at);
  const after = text.slice(at + 1);
  switch (randomBelow(random, 5)) {
    case 0:
      return before + anyCharacter(random) + after;
    case 1:
      return before + anyCharacter(random) + here + after;
    case 2:
      return before + after;
    case 3:
      return before + (here === here.toLowerCase() ? here.toUpperCase() : here.toLowerCase()) + after;
    default:
      return here + before + after;
  }
}

/** Random bits formatted by a layout, random digits of its length, or random characters. */
export function randomText({ layout }: Subject, random: RandomWords): string {
  const { bits, lengthMax } = layout.table.text;
  const kind = randomBelow(random, 4);
  if (kind < 2) {
    const top = 2 ** (((bits - 1) % 32) + 1) - 1;
    return layout.format(
      layout.fixed.mask.map((_, index) => (index === 0 ? (random.word() & top) >>> 0 : random.word())),
    );
  }
  const length = kind === 2 ? lengthMax - randomBelow(random, 3) : randomBelow(random, 45);
  const digits = [10, 16, 36, 62, CHARACTERS.length][randomBelow(random, 5)] as number;
  return Array.from({ length }, () => CHARACTERS.charAt(randomBelow(random, digits))).join("");
}
