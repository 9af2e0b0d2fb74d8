import type { Cell, Section } from "../lib/report.ts";
import { quantile, spread } from "../lib/sample.ts";

/** A figure of the gateway, and what it is to be at most, or at least. */
export interface Target {
  readonly name: string;
  readonly isFloor?: true;
  readonly target: number;
  readonly stretch: number;
}

const ceiling = (name: string, at: number, stretch: number): Target => ({ name, target: at, stretch });
const floor = (name: string, at: number, stretch: number): Target => ({ ...ceiling(name, at, stretch), isFloor: true });

export const TARGETS = {
  standardRate: floor("standard, small answers: requests/s of the Worker by hand", 1.1, 1.25),
  standardProcessor: ceiling("standard, small answers: processor time of bare", 1.4, 1.25),
  minimalRate: floor("minimal, small answers: requests/s of the Worker by hand", 1.3, 1.4),
  answers64k: ceiling("standard, answers of 64 KiB: processor time of bare", 1.2, 1.1),
  answers1m: ceiling("standard, answers of 1 MiB: processor time of bare", 1.1, 1.05),
  uploads1m: ceiling("standard, uploads of 1 MiB: processor time of bare", 1.15, 1.05),
  p99: ceiling("standard, half of its saturating rate: p99 of bare", 1.2, 1),
  firstOf10: ceiling("first answer, ten routes: ms over bare", 25, 15),
  firstOf1000: ceiling("first answer, 1,000 routes: ms over bare", 35, 20),
  nextRequests: ceiling("requests 2 to 100 of a process: processor time of bare", 1.5, 1.3),
} as const satisfies Record<string, Target>;

type Verdict = "reached" | "not reached" | "not decided";

/** Fewer say nothing of a shared machine. */
const ROUNDS_MIN = 9;

/** Decided if the quartiles of the rounds are on one side, with as much between as the reference differs from itself. */
export function judge(figures: readonly number[], bound: number, isFloor: boolean, noise = 0): Verdict {
  if (figures.length < ROUNDS_MIN || ![noise, ...figures].every(Number.isFinite)) return "not decided";
  const low = quantile(figures, 0.25) * (1 - noise);
  const high = quantile(figures, 0.75) * (1 + noise);
  if (isFloor ? low >= bound : high <= bound) return "reached";
  return (isFloor ? high < bound : low > bound) ? "not reached" : "not decided";
}

/** The figure of each round; without a target it stands beside another. */
export interface Measurement {
  readonly target: Target | { readonly name: string };
  /** The case that was measured, if there are several. */
  readonly of?: string;
  readonly figures: readonly number[];
  /** Noise of a ratio: by how much the reference differs from itself. */
  readonly noise?: number;
}

export function targetSection(measurements: readonly Measurement[], note: string): Section {
  const rows = measurements.map(({ target, of, figures, noise }): Cell[] => {
    const bounds = "target" in target ? [target.target, target.stretch] : [];
    const isFloor = "isFloor" in target;
    const judged = bounds.flatMap((bound) => [
      `${isFloor ? "≥" : "≤"} ${bound}`,
      judge(figures, bound, isFloor, noise),
    ]);
    const quartiles = [0.25, 0.75].map((share) => (figures.length === 0 ? null : quantile(figures, share)));
    const median = figures.length === 0 ? null : spread(figures);
    const name = of === undefined ? target.name : `${target.name}; ${of}`;
    return [name, median, ...quartiles, noise ?? null, ...(judged.length === 0 ? ["", "", "", ""] : judged)];
  });
  return {
    title: "Targets of the gateway",
    note:
      `Reached or not if the quartiles of at least ${ROUNDS_MIN} rounds are on one side of the target, with the noise added: how far the ` +
      `median of the bare Worker is from itself. ${note}`,
    columns: [
      "figure",
      "median (range)",
      "quartile 1",
      "quartile 3",
      "noise",
      "target",
      "verdict",
      "stretch",
      "verdict",
    ],
    rows,
  };
}
