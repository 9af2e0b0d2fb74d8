import fc from "fast-check";
import {
  declareLayout,
  everyLayout,
  fieldValue,
  type Layout,
  parseId,
  type RandomWords,
  TEXT_NAMES,
  type Words,
} from "../../src/ids/index.ts";
import { anyTable } from "../../test/ids/arbitraries.ts";
import { slowDecode, slowFits, slowInRange, slowMintedAtMs } from "../../test/ids/oracle.ts";
import { needed, randomBelow, seededWords } from "../lib/random.ts";
import type { Bench, Section } from "../lib/report.ts";

/** All layouts, and random declared ones, against a slow reader that works on strings of bits. */
export const oracleBench: Bench = {
  name: "oracle",
  run: async ({ count = VALUES_DEFAULT, progress }) => [compare(count, progress)],
};

const VALUES_DEFAULT = 1_000_000;
const DECLARED_TABLES = 500;
/** Larger times are not exact as numbers. */
const EXACT_MAX = 2n ** 53n;

interface Tally {
  readonly name: string;
  readonly values: number;
  readonly fitting: number;
}

function compare(count: number, progress: (line: string) => void): Section {
  const random = seededWords(count);
  const tallies: Tally[] = [];
  let failure: string | undefined;
  const tryAll = (name: string, layouts: readonly Layout[], values: number): void => {
    if (failure !== undefined) return;
    let fitting = 0;
    for (let value = 0; value < values; value++) {
      const layout = layouts[value % layouts.length] as Layout;
      const words = anyWords(layout, random);
      if (layout.fits(words)) fitting += 1;
      const difference = differenceOf(layout, words);
      if (difference === undefined) continue;
      failure = `${layout.name}, words ${words.join()}: ${difference}`;
      return;
    }
    tallies.push({ name, values, fitting });
    progress(`Oracle: ${name}: ${values} values, ${fitting} of them IDs`);
  };
  const share = Math.ceil(count / (2 * everyLayout.length));
  for (const layout of everyLayout) tryAll(layout.name, [layout], share);
  tryAll(`${DECLARED_TABLES} declared tables`, declaredLayouts(), Math.max(1, count - share * everyLayout.length));
  return {
    title: "Oracle: compiled layouts against strings of bits",
    note: "Fields, time, fixed bits and ranges of random values. For valid IDs also their text, parsed in two ways, and their encoding.",
    columns: ["layout", "values", "IDs among them"],
    rows: tallies.map(({ name, values, fitting }) => [name, `${values}`, `${fitting}`]),
    ...(failure === undefined ? {} : { failure }),
  };
}

/** Random bits, with the fixed ones set in half of the cases. Sometimes a word is all zeros or all ones. */
function anyWords({ fixed, table }: Layout, random: RandomWords): Words {
  const isFitting = randomBelow(random, 2) === 0;
  const top = 2 ** (((table.text.bits - 1) % 32) + 1) - 1;
  return fixed.mask.map((mask, index) => {
    const choice = randomBelow(random, 16);
    const word = choice === 0 ? 0 : choice === 1 ? 0xffffffff : random.word();
    const fitted = isFitting ? (word & ~mask) | (fixed.value[index] as number) : word;
    return (index === 0 ? fitted & top : fitted) >>> 0;
  });
}

/** How the layout differs from the slow reader; `undefined` if they agree. */
function differenceOf(layout: Layout, words: Words): string | undefined {
  const { table } = layout;
  const slow = slowDecode(table, words);
  const fields = layout.decode(words);
  for (const field of layout.fields) {
    const value = slow[field.name];
    if (value !== BigInt(fieldValue(field, words))) return `${field.name} is ${value}, read as ${fields[field.name]}`;
  }
  if (Object.keys(fields).join() !== Object.keys(slow).join()) return `fields ${Object.keys(fields)}`;
  const mintedAtMs = slowMintedAtMs(table, slow);
  const isExact = mintedAtMs === undefined || (mintedAtMs < EXACT_MAX && mintedAtMs > -EXACT_MAX);
  const fast = layout.mintedAtMs?.(words);
  if (isExact && fast !== (mintedAtMs === undefined ? undefined : Number(mintedAtMs))) {
    return `minted at ${mintedAtMs}, read as ${fast}`;
  }
  const isId = slowFits(table, words) && slowInRange(table, words);
  if (layout.fits(words) !== isId) return `${isId ? "a valid" : "no"} ID, but fits() says ${isId ? "no" : "yes"}`;
  return textDifference(layout, words, isId);
}

function textDifference(layout: Layout, words: Words, isId: boolean): string | undefined {
  const text = layout.format(words);
  const parsed = layout.parse(text);
  const brief = parseId(layout.table, text);
  if (parsed.ok !== brief.ok) return `parseId reads ${text} differently`;
  // Bits that are no valid ID need no valid text.
  if (!isId) return undefined;
  if (!parsed.ok || !brief.ok) return `its text ${text} is rejected`;
  if (!sameWords(parsed.value, words)) return `text ${text} has other bits`;
  const fields = layout.decode(words);
  const names = Object.keys(fields);
  const isSame = names.every((name) => brief.value.fields[name] === fields[name]);
  if (!isSame || names.length !== Object.keys(brief.value.fields).length) return `parseId reads ${text} differently`;
  const encoded = layout.encode(fields);
  return encoded.ok && sameWords(encoded.value, words) ? undefined : "its fields make another ID";
}

const sameWords = (a: Words, b: Words): boolean => a.length === b.length && a.every((word, index) => word === b[index]);

/** Random layouts of any shape, width, byte order and text. Deterministic. */
function declaredLayouts(): readonly Layout[] {
  const declarations = fc.constantFrom(32, 64, 72, 96, 120, 128, 160).chain((bits) =>
    fc.record({
      table: anyTable(bits),
      text: fc.constantFrom(...TEXT_NAMES.filter((name) => name !== "uuid" || bits === 128)),
      prefix: fc.constantFrom("", "ord_", "a", "X-y_"),
    }),
  );
  const samples = fc.sample(declarations, { numRuns: DECLARED_TABLES, seed: 1 });
  return samples.map(({ table: { rows, octetOrder }, text, prefix }, index) =>
    needed(
      declareLayout({
        name: `declared-${index}`,
        rows,
        text,
        ...(octetOrder === undefined ? {} : { octetOrder }),
        ...(prefix === "" ? {} : { prefix }),
      }),
    ),
  );
}
