/** A figure by its formula and by the simulation, and how far their ratio may be from 1. */
export interface Compared {
  readonly what: string;
  /** The row of the page's tables that stands or falls with it; the sizes differ, and the formula is one. */
  readonly figure?: string;
  readonly unit: string;
  readonly formula: number;
  readonly simulated: number;
  readonly band: number;
}

export const isWithin = ({ formula, simulated, band }: Compared): boolean => Math.abs(simulated / formula - 1) <= band;

/** By how much the simulation differs, by the rows of the page's tables: `+1.3 %`. */
export const deviations = (compared: readonly Compared[]): ReadonlyMap<string, string> =>
  new Map(compared.flatMap(({ figure, ...one }) => (figure === undefined ? [] : [[figure, deviation(one)] as const])));

function deviation({ formula, simulated }: Pick<Compared, "formula" | "simulated">): string {
  const percent = 100 * (simulated / formula - 1);
  const sign = Math.abs(percent) < 0.05 ? "±" : percent < 0 ? "−" : "+";
  return `${sign}${Math.abs(percent).toFixed(1)} %`;
}
