import type { Field, Layout, Role, Words } from "../ids/index.ts";
import type { Runtime, Style } from "./world.ts";

/** Colours by what a field is for; fields of one role take turns. */
const STYLES: Readonly<Record<Role, readonly Style[]>> = {
  fixed: ["red"],
  time: ["cyan"],
  key: ["green", "yellow"],
  node: ["blue", "magenta"],
  counter: ["yellow"],
  random: ["dim"],
};

const WORD_BITS = 32;

interface BitSpan {
  readonly field: Field;
  readonly letter: string;
  readonly style: Style;
}

/**
 * The bits of an ID, a word to a line, each in the colour of its field. Where there are no colours, a letter under each bit
 * says the same.
 */
export const bitDiagram = (layout: Layout, words: Words, paint: Runtime["paint"]): readonly string[] => {
  const hasColours = paint("red", "x") !== "x";
  const stretches = spansOf(layout.fields);
  const lines = words.flatMap((word, index) => {
    const owners = Array.from({ length: WORD_BITS }, (_, bit) => ownerOf(stretches, index, bit));
    const hex = word.toString(16).padStart(8, "0");
    const bits = owners.map((owner, bit) => paintAs(owner, `${(word >>> (WORD_BITS - 1 - bit)) & 1}`, paint));
    const letters = owners.map((owner) => owner?.letter ?? " ");
    return [`${hex}  ${inFours(bits)}`, ...(hasColours ? [] : [`${" ".repeat(10)}${inFours(letters)}`])];
  });
  const legend = stretches.map((pageQuery) =>
    paintAs(pageQuery, hasColours ? pageQuery.field.name : `${pageQuery.letter} ${pageQuery.field.name}`, paint),
  );
  return [...lines, legend.join(hasColours ? "  " : ", ")];
};

const spansOf = (fields: readonly Field[]): readonly BitSpan[] => {
  const seen = new Map<Role, number>();
  return fields.map((field, index) => {
    const turn = seen.get(field.role) ?? 0;
    seen.set(field.role, turn + 1);
    const styles = STYLES[field.role];
    return { field, letter: String.fromCharCode(97 + index), style: styles[turn % styles.length] as Style };
  });
};

const ownerOf = (stretches: readonly BitSpan[], word: number, bit: number): BitSpan | undefined =>
  stretches.find(({ field }) => (((field.mask[word] as number) >>> (WORD_BITS - 1 - bit)) & 1) === 1);

const paintAs = (pageQuery: BitSpan | undefined, text: string, paint: Runtime["paint"]): string =>
  pageQuery === undefined ? text : paint(pageQuery.style, text);

const inFours = (cells: readonly string[]): string =>
  cells.map((cell, index) => (index % 4 === 0 && index > 0 ? ` ${cell}` : cell)).join("");
