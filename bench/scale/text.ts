import type { Figure } from "./figures.ts";

/** How the page writes figures and tables. */

const WORDS: readonly (readonly [from: number, word: string])[] = [
  [1e12, "trillion"],
  [1e9, "billion"],
  [1e6, "million"],
];

/** Three digits that count: no figure here is worth more. */
export function shown(value: number): string {
  for (const [from, word] of WORDS) if (Math.abs(value) >= from) return `${shown(value / from)} ${word}`;
  return grouped(Number(value.toPrecision(3)));
}

/** As it stands in the inputs. */
export const exact = (value: number): string => grouped(Number.isInteger(value) ? value : Number(value.toPrecision(3)));

export const money = (value: number): string => `$${value >= 1e6 ? shown(value) : grouped(Math.round(three(value)))}`;

const three = (value: number): number => (value >= 100 ? Number(value.toPrecision(3)) : value);

/** Written out rather than by a locale, so that the page is the same wherever it is made. */
function grouped(value: number): string {
  const [whole = "", rest] = String(value).split(".");
  const parts = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return rest === undefined ? parts : `${parts}.${rest}`;
}

/** A table of Markdown; `align` has an `l` or an `r` for each column. */
export function table(align: string, heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const rule = [...align].map((side) => (side === "r" ? "--:" : "---"));
  return [heads, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`);
}

/** Figures with how far the simulation is from each that it counts. */
export const checkedTable = (figures: readonly Figure[], deviations: ReadonlyMap<string, string>): string[] =>
  table(
    "llrlr",
    ["what", "formula", "value", "unit", "simulation"],
    figures.map(({ what, formula, value, unit }) => [what, formula, shown(value), unit, deviations.get(what) ?? ""]),
  );

export const figureTable = (figures: readonly Figure[], heads = ["what", "formula", "value", "unit"]): string[] =>
  table(
    "llrl",
    heads,
    figures.map(({ what, formula, value, unit }) => [what, formula, shown(value), unit]),
  );
