import { checkTable } from "../layout/check-table.ts";
import type { LayoutTable } from "../layout/layout.ts";
import { bitsOf, type Run, runsOf, WORD_BITS } from "../layout/runs.ts";

type Cell = { readonly label: string; readonly bits: number };

/**
 * The bit layout in the style of RFCs, 32 bits per line in text order. A split field shows its bits in each place:
 * `counter[7:0]` is its last eight. A label that does not fit its cell becomes a letter, explained below the diagram.
 * Throws if `compileLayout` rejects the table.
 */
export const diagram = (table: LayoutTable): string => {
  const fault = checkTable(table);
  if (fault !== undefined) throw new Error(`no diagram of layout ${table.name}: ${JSON.stringify(fault)}`);

  const letters = new Map<string, string>();
  const lines = linesOf(table).map((cells) => drawCells(cells, letters));
  const width = Math.min(bitsOf(table), WORD_BITS);
  const border = `+${"-+".repeat(width)}`;
  const drawing = [...ruler(width), border, ...lines.flatMap((line) => [line, border])];
  const legend = [...letters].map(([label, letter]) => ` ${letter}: ${label}`);
  return [...drawing, ...legend].join("\n");
};

/** Two lines: tens above ones. */
const ruler = (width: number): readonly string[] => {
  const bits = Array.from({ length: width }, (_, bit) => bit);
  const tens = bits.map((bit) => (bit % 10 === 0 ? ` ${bit / 10}` : "  ")).join("");
  return [tens.trimEnd(), bits.map((bit) => ` ${bit % 10}`).join("")];
};

const linesOf = (table: LayoutTable): readonly (readonly Cell[])[] => {
  const runs = runsOf(table);
  const lines = Array.from({ length: Math.ceil(bitsOf(table) / WORD_BITS) }, (): Cell[] => []);
  for (const run of runs.toSorted((a, b) => a.textBit - b.textBit)) {
    const label = labelOf(run, runs);
    for (let done = 0; done < run.bits; ) {
      const bit = run.textBit + done;
      const bits = Math.min(run.bits - done, WORD_BITS - (bit % WORD_BITS));
      lines[Math.floor(bit / WORD_BITS)]?.push({ label, bits });
      done += bits;
    }
  }
  return lines;
};

const labelOf = (run: Run, runs: readonly Run[]): string => {
  const whole = runs.every((other) => other === run || other.field !== run.field);
  return whole ? run.field : `${run.field}[${run.place + run.bits - 1}:${run.place}]`;
};

const drawCells = (cells: readonly Cell[], letters: Map<string, string>): string =>
  `|${cells.map((cell) => `${centre(fitting(cell, letters), widthOf(cell))}|`).join("")}`;

/** Each bit takes two columns, the second for the border. */
const widthOf = ({ bits }: Cell): number => 2 * bits - 1;

const fitting = (cell: Cell, letters: Map<string, string>): string => {
  if (cell.label.length <= widthOf(cell)) return cell.label;
  const letter = letters.get(cell.label) ?? letterOf(letters.size);
  letters.set(cell.label, letter);
  return letter;
};

/** A to Z, a to z, then Latin letters with diacritics: more letters than an ID has bits. */
const letterOf = (index: number): string => {
  if (index < 26) return String.fromCharCode(0x41 + index);
  return String.fromCharCode(index < 52 ? 0x61 + index - 26 : 0x100 + index - 52);
};

const centre = (text: string, width: number): string => {
  const before = Math.floor((width - text.length) / 2);
  return text.padStart(text.length + before).padEnd(width);
};
